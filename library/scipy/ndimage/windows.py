"""Compute the positions of filters' windows, and gather their elements.

Handles windows along an axis, and windows of a footprint.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.conversion import asarray
from .edges import each_axis, extended


def along(input: Any, value: int, other: int, axis: int) -> list:
    """A number for each axis of an image, equal for all axes except one."""
    values = [other] * asarray(input).ndim
    values[axis] = value
    return values


def no_output(name: str, output: Any) -> None:
    if output is not None:
        raise ValueError(f"{name}: output must be None: a result is a new tensor")


def axes_of(x: Any, axes: Any) -> list:
    return list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in np.atleast_1d(axes).tolist()]


def before(name: str, size: int, origin: int) -> int:
    """Number of elements before the middle of a window."""
    if not -(size // 2) <= origin <= (size - 1) // 2:
        raise ValueError(f"{name}: origin must lie within a window of {size}, got {origin}")
    return size // 2 + origin


def summed(name: str, x: Any, weights: Any, axis: int, mode: str, cval: Any, before: int) -> Any:
    axis, count = axis % x.ndim, x.shape[axis]
    wide = extended(name, x, axis, before, weights.size - 1 - before, mode, cval)
    cut = (slice(None),) * axis
    terms = [weights[i] * wide[(*cut, slice(i, i + count))] for i in range(weights.size)]
    return sum(terms[1:], terms[0])


def windows(name: str, x: Any, shape: tuple, mode: Any, cval: Any, origins: list, counted: Any = None) -> list:
    """For each position in a window, the image shifted to it."""
    wide = x
    for axis, (size, how, origin) in enumerate(zip(shape, each_axis(name, mode, x.ndim), origins)):
        left = before(name, size, origin)
        wide = extended(name, wide, axis, left, size - 1 - left, how, cval)
    places = [place for place in np.ndindex(*shape) if counted is None or counted[place]]
    return [wide[tuple(slice(i, i + n) for i, n in zip(place, x.shape))] for place in places]
