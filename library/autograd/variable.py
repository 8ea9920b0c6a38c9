"""Variable, the former name of tensors in a graph, and the engine under its former name."""

from typing import Any

import gradspec  # noqa: F401 (waits for it)

from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..engine.engine import queue_callback

__all__ = ["Variable"]
__dir__ = __all__.copy


class _Engine:
    """`Variable._execution_engine`, with the methods that Python code uses."""

    queue_callback = staticmethod(queue_callback)


class _VariableMeta(type):
    def __instancecheck__(cls, value):
        return isinstance(value, TensorBase)


class Variable(metaclass=_VariableMeta):
    """Every tensor is a Variable; a call returns a leaf that shares memory with `data`.

    Parameters
    ----------
    data : Tensor
    requires_grad : bool
    """

    _execution_engine = _Engine()

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        return asarray(data).detach().requires_grad_(requires_grad)
