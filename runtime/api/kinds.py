"""PyTorch's legacy classes, one for each dtype: `LongTensor([1, 2])` creates a tensor, `isinstance(x, LongTensor)` tests one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.conversion import tensor
from ..core.tensor import TensorBase
from ..support.dispatch import ops

if TYPE_CHECKING:
    from ..generated.tensor import Tensor

__all__ = [
    "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor",
    "ShortTensor",
]  # fmt: skip


def data_or_lengths(data: tuple[Any, ...], dtype: Any, name: str) -> Tensor:
    """PyTorch's constructors: `FloatTensor([2, 3])` of data, `FloatTensor(2, 3)` of lengths of axes, with arbitrary numbers."""
    if all(isinstance(length, int) for length in data):
        return ops.empty(data or (0,), dtype=dtype)
    if len(data) != 1:
        raise TypeError(f"{name}: expected data, or the length of each axis, got {len(data)} arguments")
    if isinstance(data[0], tuple) and all(isinstance(length, int) for length in data[0]):
        raise TypeError(f"{name}: {data[0]} may be data or a shape; write gradspec.tensor({list(data[0])}) or "
                        f"gradspec.empty({data[0]})")  # fmt: skip
    return tensor(data[0], dtype)


DOC = """A tensor of {dtype}: of data, or of lengths of axes.

Parameters
----------
*data : array_like, or int
    Data, or the length of each axis: `{name}(2, 3)` has arbitrary elements.

Raises
------
TypeError
    A tuple of integers, which may be data or a shape, or several arguments that are not all integers.
"""


class _Kind(type):
    """The metaclass of the classes, which have no instances of their own."""

    dtype: np.dtype[Any]  # so that NumPy, too, takes the class for a dtype

    def __call__(cls, *data: Any) -> Tensor:
        return data_or_lengths(data, cls.dtype, cls.__name__)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, TensorBase) and value.dtype == cls.dtype


def _kind(name: str, dtype: str) -> _Kind:
    return _Kind(name, (), {"dtype": np.dtype(dtype), "__module__": __name__, "__doc__": DOC.format(dtype=dtype, name=name)})


BoolTensor, ByteTensor, CharTensor = _kind("BoolTensor", "bool"), _kind("ByteTensor", "uint8"), _kind("CharTensor", "int8")
ShortTensor, IntTensor, LongTensor = _kind("ShortTensor", "int16"), _kind("IntTensor", "int32"), _kind("LongTensor", "int64")
HalfTensor, FloatTensor, DoubleTensor = (
    _kind("HalfTensor", "float16"), _kind("FloatTensor", "float32"), _kind("DoubleTensor", "float64"),
)  # fmt: skip
