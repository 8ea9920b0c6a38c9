"""The autograd namespace: backward, grad, custom Functions, grad modes, and a module for each further concept.

Defines the names.  `gradcheck` is the function, as in PyTorch; `from gradspec.autograd.gradcheck import gradcheck` still imports
from the module of that name.
"""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from ..core.anomaly_mode import detect_anomaly, is_anomaly_check_nan_enabled, is_anomaly_enabled, set_detect_anomaly
from ..engine.backward import GradientEdge, backward, get_gradient_edge, grad
from ..core.error_nodes import set_missing_derivative
from ..core import memory_events  # noqa: F401 (finds the arrays that listeners are told of)
from ..core.events import Event, Listener
from ..support.errors import GradcheckError
from ..core.grad_mode import (
    _force_original_view_tracking,  # noqa: F401 (PyTorch's name, found but not shown)
    enable_grad,
    inference_mode,
    is_multithreading_enabled,
    is_view_replay_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
    set_mutation_on_saved_tensors,
)
from ..core.node import Node
from ..saved.saved_tensors_hooks import disable_saved_tensors_hooks, saved_tensors_hooks
from ..saved.saved_variable import SavedVariable as SavedTensor  # noqa: F401 (PyTorch's name, found but not shown)
from ..support.lazy_import import later
from .function import Function, once_differentiable
from .gradcheck import gradcheck, gradgradcheck
from .variable import Variable

if TYPE_CHECKING:
    from . import checkpoint as checkpoint, forward_ad as forward_ad, functional as functional, graph as graph
    from . import profiler as profiler, profiler_util as profiler_util
    from .nan_detection import trace_nans
else:
    __getattr__ = later(__name__, {
        "": ("checkpoint", "forward_ad", "functional", "graph", "profiler", "profiler_util"),
        "graph": ("_unsafe_preserve_version_counter",), "profiler": ("ProfilerActivity", "_profiler_enabled", "kineto_available"),
        "nan_detection": ("trace_nans",),
    })  # fmt: skip

__all__ = [
    "Event", "Function", "GradcheckError", "GradientEdge", "Listener", "Node", "Variable", "backward", "checkpoint",
    "detect_anomaly", "disable_saved_tensors_hooks", "enable_grad", "forward_ad", "functional", "get_gradient_edge",
    "grad", "gradcheck", "gradgradcheck", "graph", "inference_mode", "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
    "is_multithreading_enabled", "is_view_replay_enabled", "no_grad", "once_differentiable", "profiler", "profiler_util",
    "saved_tensors_hooks", "set_detect_anomaly", "set_grad_enabled", "set_missing_derivative",
    "set_multithreading_enabled", "set_mutation_on_saved_tensors", "trace_nans",
]  # fmt: skip
