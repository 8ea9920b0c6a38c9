"""Functions for the generated rules of operators: sums with absent terms, and metadata of operands.

A rule omits the terms of an absent cotangent or tangent, which is None.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.tensor import TensorBase
from ..support.dispatch import ops


def plus(total: Any, term: Any) -> Any:
    """The sum of two terms; either may be absent."""
    if isinstance(term, (list, tuple)):
        return term if total is None else [plus(one, other) for one, other in zip(total, term, strict=True)]
    return term if total is None else ops.add(total, term)


def minus(total: Any, term: Any) -> Any:
    """The difference of two terms; either may be absent."""
    if isinstance(term, (list, tuple)):
        return [minus(one, other) for one, other in zip(total or [None] * len(term), term, strict=True)]
    return ops.negative(term) if total is None else ops.subtract(total, term)


def shape_of(value: Any) -> Any:
    """The shape of an operand, () for a number; for a list of operands a tuple of shapes.

    Parameters
    ----------
    value : array_like or sequence of array_like

    Returns
    -------
    tuple
    """
    if isinstance(value, (list, tuple)):
        return tuple([shape_of(item) for item in value])
    return tuple(value.shape) if isinstance(value, (TensorBase, np.ndarray, np.generic)) else ()


def ndim_of(value: Any) -> int:
    """The number of axes of an operand: the length of `shape_of(value)`."""
    return len(shape_of(value))


def size_of(value: Any) -> int:
    """The number of elements of an operand: the product of `shape_of(value)`."""
    return math.prod(shape_of(value))


def dtype_of(value: Any) -> Any:
    """The dtype of an operand, NumPy's default for a number; for a list of operands a list of dtypes.

    Parameters
    ----------
    value : array_like or sequence of array_like

    Returns
    -------
    dtype or list of dtype
    """
    if isinstance(value, (list, tuple)):
        return [dtype_of(item) for item in value]
    return value.dtype if isinstance(value, (TensorBase, np.ndarray, np.generic)) else np.asarray(value).dtype
