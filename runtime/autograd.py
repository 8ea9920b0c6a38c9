"""The autograd namespace: backward, grad, hooks on saved tensors, graph edges and forward mode."""

from . import forward_ad
from .backward import GradientEdge, backward, get_gradient_edge, grad
from .errors import GradcheckError
from .function import Function, once_differentiable
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .gradcheck import gradcheck
from .gradgradcheck import gradgradcheck
from .node import Node
from .saved_variable import disable_saved_tensors_hooks, saved_tensors_hooks

__all__ = [
    "Function", "GradcheckError", "GradientEdge", "Node", "backward", "disable_saved_tensors_hooks", "enable_grad",
    "forward_ad", "get_gradient_edge", "grad", "gradcheck", "gradgradcheck", "inference_mode", "no_grad",
    "once_differentiable", "saved_tensors_hooks", "set_grad_enabled",
]  # fmt: skip
