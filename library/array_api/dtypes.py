"""Inspect dtypes and cast between them."""

from types import SimpleNamespace

import numpy as np

from ..core.tensor import TensorBase
from ..support import constants
from ..support.dispatch import ops
from .creation import on_cpu

NAMES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64",
         "complex128")  # fmt: skip
ALL = {name: getattr(constants, name) for name in NAMES}
KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f", "complex floating": "c",
    "numeric": "iufc",
}  # fmt: skip


def dtype_of(value):
    return value.dtype if isinstance(value, (TensorBase, np.ndarray)) else value


def astype(x, dtype, /, *, copy=True, device=None):
    """`x` in another dtype; `x` itself if it has that dtype and `copy` is False."""
    on_cpu(device)
    return x if not copy and x.dtype == dtype else ops.astype(x, dtype)


def can_cast(from_, to, /):
    """Whether promotion can convert `from_` to `to`."""
    return bool(np.can_cast(dtype_of(from_), dtype_of(to)))


def result_type(*arrays_and_dtypes):
    """The dtype that results from promotion; Python numbers are weak."""
    kept = [value if type(value) in (bool, int, float, complex) else dtype_of(value) for value in arrays_and_dtypes]
    return np.result_type(*kept)


def isdtype(dtype, kind):
    """Whether a dtype is of a kind: a name of the standard, a dtype, or a tuple of kinds."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, item) for item in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"isdtype: unknown kind {kind!r}; the kinds are {', '.join(KINDS)}")
        return np.dtype(dtype).kind in KINDS[kind]
    return np.dtype(dtype) == kind


def finfo(type, /):
    """Limits of a floating-point dtype, or of the dtype of an array."""
    found = np.finfo(dtype_of(type))
    return SimpleNamespace(bits=found.bits, eps=float(found.eps), max=float(found.max), min=float(found.min),
                           smallest_normal=float(found.smallest_normal), dtype=np.dtype(found.dtype))  # fmt: skip


def iinfo(type, /):
    """Limits of an integer dtype, or of the dtype of an array."""
    found = np.iinfo(dtype_of(type))
    return SimpleNamespace(bits=found.bits, max=int(found.max), min=int(found.min), dtype=np.dtype(found.dtype))


class Info:
    """The properties of the namespace."""

    def capabilities(self):
        """Boolean indexing, data-dependent shapes, and the largest number of axes, which is NumPy's."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        return "cpu"

    def devices(self):
        return ["cpu"]

    def default_dtypes(self, *, device=None):
        on_cpu(device)
        return {"real floating": ALL["float64"], "complex floating": ALL["complex128"], "integral": ALL["int64"],
                "indexing": ALL["int64"]}  # fmt: skip

    def dtypes(self, *, device=None, kind=None):
        """The dtypes by name, all of them or all of one kind."""
        on_cpu(device)
        return {name: dtype for name, dtype in ALL.items() if kind is None or isdtype(dtype, kind)}


def __array_namespace_info__():
    """Devices, dtypes and optional capabilities of the namespace."""
    return Info()
