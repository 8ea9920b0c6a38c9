"""Padded, rotated and repeated arrays: copies into parts of a new array."""

import numpy as np

from ..loops.copying import copy_into, empty_of, zeros_of
from .joining import pad_widths

__all__ = ["pad", "repeat", "roll", "tile"]

_LARGE = 1 << 15  # elements; fewer take one call of NumPy
_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def pad(x, pad_width, mode, constant_values):
    """``np.pad`` for the modes that are linear in `x`."""
    if mode not in _MODES:
        raise ValueError(f"mode is one of {', '.join(_MODES)}, linear_ramp, maximum, mean, median, minimum, not {mode!r}")
    widths = pad_widths(pad_width, x.ndim)
    if mode != "constant" or not np.isscalar(constant_values) or min(map(min, widths), default=0) < 0:
        return np.pad(x, widths, mode, **({"constant_values": constant_values} if mode == "constant" else {}))
    shape = tuple([before + n + after for (before, after), n in zip(widths, x.shape)])
    if x.size < _LARGE:
        y = np.full(shape, constant_values, x.dtype) if constant_values else zeros_of(shape, x)
        y[tuple([slice(before, before + n) for (before, _), n in zip(widths, x.shape)])] = x
        return y
    inner = y = empty_of(shape, x)
    for axis, ((before, after), n) in enumerate(zip(widths, x.shape)):
        lead = (slice(None),) * axis
        for width, edge in ((before, slice(before)), (after, slice(before + n, None))):
            if width:
                copy_into(inner[(*lead, edge)], constant_values)
        inner = inner[(*lead, slice(before, before + n))]
    copy_into(inner, x)
    return y


def repeat(x, repeats, axis):
    """``np.repeat``; by copies if it is one number for a large array."""
    if x.size < _LARGE or type(repeats) is not int or repeats < 0 or axis is not None and not -x.ndim <= axis < x.ndim:
        return x.repeat(repeats, axis)
    shape, axis = ((x.size,), 0) if axis is None else (x.shape, axis % x.ndim)
    parts = (*shape[: axis + 1], repeats, *shape[axis + 1 :])
    y = copy_into(empty_of(parts, x), x.reshape(*shape[: axis + 1], 1, *shape[axis + 1 :]))
    return y.reshape(*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :])


def roll(x, shift, axis):
    """Elements rotated along axes, as ``np.roll``."""
    shifts, axes = (value if isinstance(value, tuple) or value is None else (value,) for value in (shift, axis))
    if axes is None or len(shifts) != 1 or len(axes) != 1 or not -x.ndim <= axes[0] < x.ndim:
        return np.roll(x, shift, axis)
    lead, length = (slice(None),) * (axes[0] % x.ndim), x.shape[axes[0]]
    moved = shifts[0] % length if length else 0
    y = empty_of(x.shape, x)
    copy_into(y[(*lead, slice(moved, None))], x[(*lead, slice(length - moved))])
    copy_into(y[(*lead, slice(moved))], x[(*lead, slice(length - moved, None))])
    return y


def tile(x, reps):
    """``np.tile``, for a tuple of counts."""
    reps, shape = (1,) * (x.ndim - len(reps)) + reps, (1,) * (len(reps) - x.ndim) + x.shape
    y = empty_of(tuple([count * length for count, length in zip(reps, shape)]), x)
    copies = y.reshape([n for pair in zip(reps, shape) for n in pair])  # a view
    copy_into(copies, x.reshape([n for length in shape for n in (1, length)]))
    return y
