"""The namespace of the Python Array API standard, 2024.12, which `x.__array_namespace__()` of a tensor returns.

If NumPy and the standard differ, the main namespace follows NumPy and this one the standard.  Every function keeps the graph.
Most names are the operators themselves.  The module is imported on first access.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from ..support.constants import *
from ..support.counterparts import advice
from ..support.lazy_import import later
from ..generated.ops import (
    abs, acos, acosh, add, all, any, argmax, argmin, argsort, asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_invert,
    bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor, broadcast_to, ceil, clip, concat, conj, copysign, cos,
    cosh, count_nonzero, divide, equal, exp, expand_dims, expm1, flip, floor, floor_divide, greater, greater_equal, hypot,
    imag, isfinite, isinf, isnan, less, less_equal, log, log10, log1p, log2, logaddexp, logical_and, logical_not, logical_or,
    logical_xor, matmul, matrix_transpose, max, maximum, mean, min, minimum, moveaxis, multiply, negative, not_equal,
    permute_dims, positive, pow, real, reciprocal, remainder, repeat, roll, sign, signbit, sin, sinh, sort, sqrt, square,
    squeeze, stack, std, subtract, take, take_along_axis, tan, tanh, tensordot, tile, tril, triu, trunc, var, vecdot, where,
)  # fmt: skip
from .creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from .dtypes import __array_namespace_info__, astype, can_cast, finfo, iinfo, isdtype, result_type
from .functions import (
    broadcast_arrays,
    broadcast_shapes,
    cumulative_prod,
    cumulative_sum,
    diff,
    isin,
    meshgrid,
    nextafter,
    nonzero,
    prod,
    reshape,
    round,
    searchsorted,
    sum,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
    unstack,
)

__array_api_version__ = "2024.12"

_namespaces = ("fft", "linalg", "special")
if TYPE_CHECKING:
    from . import fft, linalg, special
else:
    __getattr__ = later(__name__, {"": _namespaces})



class _Namespace(ModuleType):
    """The class of this module: SciPy's error about tensors beside arrays shows the module, and so says what to write."""

    def __repr__(self) -> str:
        advised = advice()
        return f"<module {self.__name__!r}{advised and f'; gs.asarray(a) for each array{advised}'}>"


sys.modules[__name__].__class__ = _Namespace

_not_public = ("ModuleType", "advice", "sys", "creation", "dtypes", "functions", "gradspec", "later", "TYPE_CHECKING")
__all__ = [name for name in globals() if not name.startswith("_") and name not in _not_public]
__all__ += [*_namespaces, "__array_api_version__", "__array_namespace_info__"]
