"""PyTorch's path to checkpoints: `gradspec.utils.checkpoint`, with the functions of `autograd.checkpoint`."""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from ..support.lazy_import import later

if TYPE_CHECKING:
    from . import checkpoint as checkpoint
else:
    __getattr__ = later(__name__, {"": ("checkpoint",)})

__all__ = ["checkpoint"]
__dir__ = __all__.copy
