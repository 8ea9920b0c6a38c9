"""Re-export the functions of autograd.checkpoint under PyTorch's path: `from gradspec.utils.checkpoint import checkpoint`."""

import gradspec  # noqa: F401 (waits for it)

from ..autograd.checkpoint import CheckpointError as CheckpointError
from ..autograd.checkpoint import GraphExecGroup as GraphExecGroup
from ..autograd.checkpoint import checkpoint as checkpoint
from ..autograd.checkpoint import checkpoint_sequential as checkpoint_sequential
from ..autograd.checkpoint import noop_context_fn as noop_context_fn
from ..autograd.checkpoint import set_checkpoint_debug_enabled as set_checkpoint_debug_enabled
from ..autograd.checkpoint import set_checkpoint_early_stop as set_checkpoint_early_stop
from ..support.lazy_import import answer

__all__ = ["CheckpointError", "GraphExecGroup", "checkpoint", "checkpoint_sequential", "noop_context_fn",
           "set_checkpoint_debug_enabled", "set_checkpoint_early_stop"]  # fmt: skip
answer(__name__)
