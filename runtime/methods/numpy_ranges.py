"""NumPy's functions for ranges and constant arrays, when their numbers are tensors.

Composes them from operators, which differentiate with respect to these numbers.
"""

import math

import numpy as np

from ..core.conversion import asarray
from ..support.dispatch import ops
from .numpy_parameters import values_of


def arange(start, stop=None, step=1, *, dtype=None):
    """The number of elements depends on the values; neither it nor the end of the range has a derivative."""
    if stop is None:
        start, stop = 0, start
    start, stop, step = (asarray(value) for value in (start, stop, step))
    if any(value.ndim for value in (start, stop, step)):
        raise ValueError("arange: start, stop and step are numbers, or arrays of no axes")
    count = max(math.ceil((values_of(stop) - values_of(start)) / values_of(step)), 0)
    kind = np.result_type(start.dtype, stop.dtype, step.dtype)
    steps = np.arange(count).astype(kind)
    y = ops.add(ops.add(start, ops.multiply(steps, step)), ops.multiply(stop, 0))
    return ops.astype(y, kind if dtype is None else dtype)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    span = ops.subtract(inexact(stop), inexact(start))
    count = num - 1 if endpoint else num
    real = np.real(np.ones(0, span.dtype)).dtype
    steps = np.arange(num, dtype=real).reshape((num,) + (1,) * span.ndim)
    step = ops.divide(span, count) if count > 0 else ops.multiply(span, np.nan)
    y = ops.add(ops.multiply(steps, step if count > 0 else span), start)
    if endpoint and num > 1:  # exact, without rounding
        last = ops.broadcast_to(ops.astype(asarray(stop), span.dtype), (1, *span.shape))
        y = ops.concat((ops.narrow(y, 0, 0, num - 1), last), 0)
    if dtype is not None and np.dtype(dtype).kind in "iu":
        y = ops.floor(y)
    y = ops.moveaxis(y if dtype is None else ops.astype(y, dtype), 0, axis)
    return (y, step) if retstep else y


def inexact(value):
    """A Python number unchanged, as it does not change an array's dtype; an array as floating point."""
    return value if isinstance(value, (int, float, complex)) else ops.multiply(value, 1.0)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    if np.ndim(base):
        shape = np.broadcast_shapes(*map(np.shape, (start, stop, base)))
        start, stop = ops.broadcast_to(start, shape), ops.broadcast_to(stop, shape)
        base = ops.expand_dims(ops.broadcast_to(base, shape), axis)
    y = ops.pow(base, linspace(start, stop, num, endpoint, axis=axis))
    return y if dtype is None else ops.astype(y, dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    start, stop = ops.multiply(start, 1.0), ops.multiply(stop, 1.0)
    if any((values_of(value) == 0).any() for value in (start, stop)):
        raise ValueError("geomspace: no number of a geometric sequence is 0")
    ratio = ops.divide(stop, start)
    powers = linspace(ops.zeros_like(ratio), ops.log(ratio), num, endpoint)
    y = ops.moveaxis(ops.multiply(start, ops.exp(powers)), 0, axis)
    return y if dtype is None else ops.astype(y, dtype)


def full(shape, fill_value, dtype=None):
    y = ops.copy(ops.broadcast_to(fill_value, shape))
    return y if dtype is None else ops.astype(y, dtype)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    a = asarray(a)
    return full(a.shape if shape is None else shape, fill_value, a.dtype if dtype is None else dtype)
