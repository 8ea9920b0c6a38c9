"""Extend an image beyond its edges, by SciPy's names of modes.

Maps positions beyond an edge to positions inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...support.dispatch import ops
from ..values import numbers

MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-constant", "grid-mirror", "grid-wrap")


def floats(name: str, input: Any) -> Any:
    """An image as floating-point numbers."""
    return numbers(name, input)[0]


def each_axis(name: str, value: Any, count: int) -> list:
    """An argument that may be given once for all axes."""
    several = list(value) if isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim else [value] * count
    if len(several) != count:
        raise ValueError(f"{name}: a sequence argument must have as many elements as there are axes, {count}, got {len(several)}")
    return several


def inside(places: Any, size: int, mode: str) -> Any:
    """Positions inside for positions beyond the edges; for "constant" any valid positions."""
    if mode in ("reflect", "grid-mirror"):
        places = places % (2 * size)
        return ops.where(places >= size, 2 * size - 1 - places, places)
    if mode == "mirror":
        period = max(2 * (size - 1), 1)
        places = places % period
        return ops.where(places >= size, period - places, places)
    if mode in ("wrap", "grid-wrap"):
        return places % size
    return ops.clip(places, 0, size - 1)


def extended(name: str, x: Any, axis: int, before: int, after: int, mode: str, cval: Any) -> Any:
    """An image, extended beyond its edges along an axis."""
    if mode not in MODES:
        raise ValueError(f"{name}: mode must be one of {', '.join(map(repr, MODES))}, got {mode!r}")
    size = x.shape[axis]
    if before <= 0 and after <= 0:
        return x
    places = np.arange(-before, size + after)
    found = ops.take(x, inside(places, size, mode), axis=axis)
    if mode in ("constant", "grid-constant"):
        shape = (-1,) + (1,) * (x.ndim - 1 - axis % x.ndim)
        found = ops.where(asarray(((places >= 0) & (places < size)).reshape(shape)), found, cval)
    return found
