"""Array basics before any computation: NumPy's `array`, `shape`, `from_dlpack` and similar, PyTorch's `is_tensor`."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.conversion import asarray
from ..core.tensor import TensorBase

if TYPE_CHECKING:
    from ..generated.tensor import Tensor


def array(object: Any, dtype: Any = None, *, copy: bool = True, requires_grad: bool = False) -> "Tensor":
    """A tensor with the values of numbers, arrays, tensors, or nested lists of them.

    Parameters
    ----------
    object : array_like
        For a tensor, or a list with a tensor, the result is computed and keeps the history.
    dtype : dtype, optional
    copy : bool
        False shares the memory of an array if possible, as `asarray` does.
    requires_grad : bool
        Whether the result is a leaf that collects a gradient.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.array([1, 2.5]).tolist()
    [1.0, 2.5]
    >>> gs.func.grad(lambda x: gs.array([x, x * x, 1.0]).sum())(3.0).item()
    7.0
    """
    return asarray(object, dtype, requires_grad=requires_grad, copy=True if copy else None)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> "Tensor":
    """A tensor around the memory of another library's array.

    Parameters
    ----------
    x : object
        Has `__dlpack__`, or is a capsule from it.
    device : str, optional
        "cpu".
    copy : bool, optional

    Returns
    -------
    Tensor
    """
    if device not in (None, "cpu"):
        raise ValueError(f"tensors are on the device 'cpu', got {device!r}")
    asked = {} if copy is None else {"copy": copy}
    if type(x).__name__ == "PyCapsule":
        x = _Capsule(x)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: a {type(x).__name__} has no __dlpack__; write gs.asarray(x)")
    return asarray(np.from_dlpack(x, **asked))


class _Capsule:
    """A capsule as an object that NumPy reads; NumPy finds the device in the capsule itself."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **asked: Any) -> Any:
        if asked.get("copy"):
            raise BufferError("from_dlpack: a capsule cannot be asked for a copy; write from_dlpack(capsule).clone()")
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor.

    Parameters
    ----------
    x : object

    Returns
    -------
    bool
    """
    return isinstance(x, TensorBase)


def ndim(x: Any) -> int:
    """The number of axes.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    int
    """
    return len(shape(x))


def shape(x: Any) -> tuple[int, ...]:
    """The lengths of the axes.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    tuple of int
    """
    return tuple(x.shape) if hasattr(x, "shape") else asarray(x).shape


def size(x: Any, axis: int | None = None) -> int:
    """The number of elements, or the length of an axis.

    Parameters
    ----------
    x : array_like
    axis : int, optional

    Returns
    -------
    int
    """
    lengths = shape(x)
    return math.prod(lengths) if axis is None else lengths[axis]
