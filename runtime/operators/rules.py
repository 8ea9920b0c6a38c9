"""What the generated functions of an operator call beside operators: sums of terms that may be absent, and metadata.

Owns these few functions.  A rule leaves out the terms of an absent cotangent or tangent, which is None.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.tensor import TensorBase
from ..support.dispatch import ops


def plus(total: Any, term: Any) -> Any:
    """A sum whose first part may be absent."""
    if isinstance(term, (list, tuple)):
        return term if total is None else [plus(one, other) for one, other in zip(total, term, strict=True)]
    return term if total is None else ops.add(total, term)


def minus(total: Any, term: Any) -> Any:
    """A difference whose first part may be absent."""
    if isinstance(term, (list, tuple)):
        return [minus(one, other) for one, other in zip(total or [None] * len(term), term, strict=True)]
    return ops.negative(term) if total is None else ops.subtract(total, term)


def shape_of(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple([shape_of(item) for item in value])
    return tuple(value.shape) if isinstance(value, (TensorBase, np.ndarray, np.generic)) else ()


def ndim_of(value: Any) -> int:
    return len(shape_of(value))


def size_of(value: Any) -> int:
    return math.prod(shape_of(value))


def dtype_of(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [dtype_of(item) for item in value]
    return value.dtype if isinstance(value, (TensorBase, np.ndarray, np.generic)) else np.asarray(value).dtype
