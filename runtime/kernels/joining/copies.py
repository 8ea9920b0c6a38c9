"""Padded, rotated and repeated arrays: copies into parts of a new array."""

import numpy as np

from .copying import copy_into
from .joining import pad_widths

__all__ = ["pad", "roll", "tile"]

_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def pad(x, pad_width, mode, constant_values):
    """``np.pad`` for the modes that are linear in `x`."""
    if mode not in _MODES:
        raise ValueError(f"mode is one of {', '.join(_MODES)}, linear_ramp, maximum, mean, median, minimum, not {mode!r}")
    widths = pad_widths(pad_width, x.ndim)
    if mode != "constant" or not np.isscalar(constant_values) or min(map(min, widths), default=0) < 0:
        return np.pad(x, widths, mode, **({"constant_values": constant_values} if mode == "constant" else {}))
    shape = [before + n + after for (before, after), n in zip(widths, x.shape)]
    y = np.full(shape, constant_values, x.dtype) if constant_values else np.zeros(shape, x.dtype)
    copy_into(y[tuple([slice(before, before + n) for (before, _), n in zip(widths, x.shape)])], x)
    return y


def roll(x, shift, axis):
    """Elements rotated along axes, as ``np.roll``."""
    shifts, axes = (value if isinstance(value, tuple) or value is None else (value,) for value in (shift, axis))
    if axes is None or len(shifts) != 1 or len(axes) != 1 or not -x.ndim <= axes[0] < x.ndim:
        return np.roll(x, shift, axis)
    lead, length = (slice(None),) * (axes[0] % x.ndim), x.shape[axes[0]]
    moved = shifts[0] % length if length else 0
    y = np.empty_like(x)
    copy_into(y[(*lead, slice(moved, None))], x[(*lead, slice(length - moved))])
    copy_into(y[(*lead, slice(moved))], x[(*lead, slice(length - moved, None))])
    return y


def tile(x, reps):
    """``np.tile``, for a tuple of counts."""
    reps, shape = (1,) * (x.ndim - len(reps)) + reps, (1,) * (len(reps) - x.ndim) + x.shape
    y = np.empty([count * length for count, length in zip(reps, shape)], x.dtype)
    copies = y.reshape([n for pair in zip(reps, shape) for n in pair])  # a view
    copy_into(copies, x.reshape([n for length in shape for n in (1, length)]))
    return y
