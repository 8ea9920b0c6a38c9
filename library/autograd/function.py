"""Custom Functions under the name that users import; the implementation is in `gradspec.engine.function`."""

import gradspec  # noqa: F401 (waits for it)

from ..engine.function import Function
from ..engine.function_node import FunctionNode as BackwardCFunction  # noqa: F401 (PyTorch's names)
from ..engine.function_node import FunctionNode as FunctionCtx  # noqa: F401
from ..engine.intermediate_values import once_differentiable
from . import follower  # noqa: F401 (follows what a forward keeps)

__all__ = ["Function", "once_differentiable"]
__dir__ = __all__.copy
