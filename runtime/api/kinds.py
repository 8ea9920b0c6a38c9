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


class _Kind(type):
    """The metaclass of the classes, which have no instances of their own."""

    dtype: np.dtype[Any]  # so that NumPy, too, takes the class for a dtype

    def __call__(cls, *data: Any) -> Tensor:
        if all(isinstance(length, int) for length in data):
            return ops.empty(data or (0,), dtype=cls.dtype)
        if len(data) != 1:
            raise TypeError(f"{cls.__name__}: expected data, or the length of each axis, got {len(data)} arguments")
        return tensor(data[0], dtype=cls.dtype)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, TensorBase) and value.dtype == cls.dtype


def _kind(name: str, dtype: str) -> _Kind:
    text = f"A tensor of {dtype}: of data, or of lengths of axes."
    return _Kind(name, (), {"dtype": np.dtype(dtype), "__module__": __name__, "__doc__": text})


BoolTensor, ByteTensor, CharTensor = _kind("BoolTensor", "bool"), _kind("ByteTensor", "uint8"), _kind("CharTensor", "int8")
ShortTensor, IntTensor, LongTensor = _kind("ShortTensor", "int16"), _kind("IntTensor", "int32"), _kind("LongTensor", "int64")
HalfTensor, FloatTensor, DoubleTensor = (
    _kind("HalfTensor", "float16"), _kind("FloatTensor", "float32"), _kind("DoubleTensor", "float64"),
)  # fmt: skip
