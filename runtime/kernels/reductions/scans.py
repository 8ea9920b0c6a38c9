"""Running sums, products and recurrences along one axis."""

import itertools

import numpy as np

from ..elementwise.complex_functions import complex_logaddexp, complex_of
from .numbers import number_as_row

__all__ = []  # the kernels of scans_loops have these names

# With fewer rows than this, a loop over Python floats is faster than NumPy row by row.
_FEW_ROWS = 6


@number_as_row
def cummax(x, axis):
    """Running maximum and its position, of equal elements the last; NaN from the first NaN on."""
    return _running(np.maximum, x, axis)


@number_as_row
def cummin(x, axis):
    """Running minimum and its position, of equal elements the last; NaN from the first NaN on."""
    return _running(np.minimum, x, axis)


def cumprod(x, axis, reverse):
    """Running product, from the end if `reverse`; flattened if `axis` is None."""
    return _scan(np.cumprod, x, axis, reverse)


def cumsum(x, axis, reverse):
    """Running sum, from the end if `reverse`; flattened if `axis` is None."""
    return _scan(np.cumsum, x, axis, reverse)


@number_as_row
def linear_recurrence(a, b, axis, reverse):
    """Solve ``y[i] = a[i] * y[i-1] + b[i]`` along `axis`, with 0 before the first element; from the end if `reverse`."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        raise ValueError(f"linear_recurrence: a has shape {a.shape} and b {b.shape}")
    y = np.empty(a.shape, np.result_type(a, b))
    a, b, rows = (np.moveaxis(array, axis, 0)[:: -1 if reverse else 1, ..., None] for array in (a, b, y))
    if a.size >= _FEW_ROWS * len(a) or y.dtype.char in "fd":  # float32 and float64 come here only if NumPy has to warn
        state = np.zeros(rows.shape[1:], y.dtype)
        for a_row, b_row, row in zip(a, b, rows):
            np.multiply(a_row, state, out=row)
            row += b_row
            state = row
    else:
        for place in np.ndindex(a.shape[1:]):
            at = (slice(None), *place)
            pairs = zip(a[at].tolist(), b[at].tolist())
            rows[at] = list(itertools.accumulate(pairs, lambda state, ab: ab[0] * state + ab[1], initial=0))[1:]
    return y


@number_as_row
def logcumsumexp(x, axis):
    """Logarithm of the running sum of ``exp(x)``; the principal value for complex numbers."""
    x = np.asarray(x)
    if x.dtype.kind != "c":
        return np.logaddexp.accumulate(x, axis)
    y = np.empty_like(x)
    rows, state = np.moveaxis(y, axis, 0), None
    for i, row in enumerate(np.moveaxis(x, axis, 0)):
        state = complex_of(row.real, np.angle(np.exp(1j * row.imag))) if state is None else complex_logaddexp(state, row)
        rows[i] = state
    return y


@number_as_row
def product_of_others(x, axis):
    """The product of all elements along `axis` except one, for each element."""
    return shift(cumprod(x, axis, False), 1, axis, 1) * shift(cumprod(x, axis, True), -1, axis, 1)


@number_as_row
def shift(x, n, axis, fill):
    """Move elements by `n` along `axis`, towards the start if negative, and write `fill` to the vacated places."""
    x = np.asarray(x)
    y = np.full_like(x, fill)
    source, target = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0)
    if n >= 0:
        target[n:] = source[: max(len(source) - n, 0)]
    else:
        target[:n] = source[-n:]
    return y


def _scan(scan, x, axis, reverse):
    """Apply `scan` from either end; a 0-d array counts as one element."""
    x = np.asarray(x)
    if axis is None:
        x, axis = x.ravel(), 0
    return np.flip(scan(np.flip(x, axis), axis), axis) if reverse else scan(x, axis)


def _running(function, x, axis):
    values = function.accumulate(x, axis=axis)
    shape = [1] * x.ndim
    shape[axis] = -1
    places = np.where((x == values) | np.isnan(x), np.arange(x.shape[axis]).reshape(shape), 0)
    return values, np.maximum.accumulate(places, axis=axis, dtype=np.intp)
