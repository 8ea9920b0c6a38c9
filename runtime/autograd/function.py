"""Custom Functions as users import them; what they do is in `gradspec.engine.function`."""

from ..engine.function import Function, once_differentiable
from ..engine.function_node import FunctionNode as BackwardCFunction  # noqa: F401 (PyTorch's names)

__all__ = ["Function", "once_differentiable"]


def __dir__():
    return __all__
