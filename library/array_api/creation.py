"""Creation of arrays, on the only device, "cpu"."""

from ..api.arrays import from_dlpack as from_dlpack
from ..core.conversion import asarray as tensor_around
from ..support.dispatch import ops


def on_cpu(device):
    """Refuse any device except "cpu"."""
    if device is not None and device != "cpu":
        raise ValueError(f"tensors are on the device 'cpu', got {device!r}")


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """A tensor that shares the memory of `obj`, or has a copy; a tensor keeps its history.

    Parameters
    ----------
    obj : array_like
        Also nested lists of tensors, which are stacked.
    dtype : dtype, optional
    device : str, optional
        "cpu".
    copy : bool, optional
        False refuses to copy.

    Returns
    -------
    Tensor
    """
    on_cpu(device)
    return tensor_around(obj, dtype, copy=copy)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Evenly spaced numbers, `stop` excluded."""
    on_cpu(device)
    return ops.arange(start, stop, step, dtype=dtype)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """`num` evenly spaced numbers."""
    on_cpu(device)
    return ops.linspace(start, stop, num, endpoint=endpoint, dtype=dtype)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on the `k`-th diagonal."""
    on_cpu(device)
    return ops.eye(n_rows, n_cols, k=k, dtype=dtype)


def empty(shape, *, dtype=None, device=None):
    """An uninitialised tensor."""
    on_cpu(device)
    return ops.empty(shape, dtype=dtype)


def zeros(shape, *, dtype=None, device=None):
    """Zeros."""
    on_cpu(device)
    return ops.zeros(shape, dtype=dtype)


def ones(shape, *, dtype=None, device=None):
    """Ones."""
    on_cpu(device)
    return ops.ones(shape, dtype=dtype)


def full(shape, fill_value, *, dtype=None, device=None):
    """One number in every element."""
    on_cpu(device)
    return ops.full(shape, fill_value, dtype=dtype)


def empty_like(x, /, *, dtype=None, device=None):
    """An uninitialised tensor of the shape of `x`."""
    on_cpu(device)
    return ops.empty_like(x, dtype=dtype)


def zeros_like(x, /, *, dtype=None, device=None):
    """Zeros in the shape of `x`."""
    on_cpu(device)
    return ops.zeros_like(x, dtype=dtype)


def ones_like(x, /, *, dtype=None, device=None):
    """Ones in the shape of `x`."""
    on_cpu(device)
    return ops.ones_like(x, dtype=dtype)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """One number in every element, in the shape of `x`."""
    on_cpu(device)
    return ops.full_like(x, fill_value, dtype=dtype)
