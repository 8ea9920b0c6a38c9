"""Elementwise selection: where, clip, piecewise functions, and quotients or powers that are 0 if a factor is 0.

Loops over contiguous operands; any operand may be a single number.  Both sides of a selection are computed from operands that are
safe for either, so only selected elements raise floating-point flags.  The exception is leaky_relu: it multiplies all elements.
The loops are bound by memory.
"""

from libc.math cimport INFINITY

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    NPY_ARRAY_WRITEABLE, PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_FLAGS, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE,
    ndarray, npy_intp,
)
from . import choice, powers
from ..loops.copying cimport filled, is_apart
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain, item_size, same_shape, slot_of
from ..fusion_engine.numbers cimport Number, store_number
from ..fusion_engine.ufunc cimport Ufunc, pointwise

__all__ = [
    "clip", "clip_", "divide_or_nan", "divide_or_zero", "hardswish", "hardswish_slope", "huber", "leaky_relu", "masked_fill_",
    "scaled_pow", "where",
]

cnp.import_array()

cdef enum:
    BLOCK = 512     # powers that are scaled while they are in the cache

cdef extern from "gradspec/kernels/elementwise/choice_loops.h":
    int gradspec_scale_powers_float(const char*, char*, float, npy_intp) noexcept nogil
    int gradspec_scale_powers_double(const char*, char*, double, npy_intp) noexcept nogil
    void gradspec_decline() noexcept nogil
    void gradspec_where_uint32_t(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_where_uint64_t(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_where_gradspec_pair(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_clip_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_clip_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_divide_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_divide_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_divide_or_nan_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_divide_or_nan_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_leaky_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_leaky_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_huber_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_huber_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_hardswish_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_hardswish_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_hardswish_slope_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_hardswish_slope_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil


where = pointwise(
    np.where, ("mask", "a", "b"),
    [gradspec_where_uint32_t, gradspec_where_uint64_t, gradspec_where_uint64_t, gradspec_where_gradspec_pair], True, False)
divide_or_zero = pointwise(
    choice.divide_or_zero, ("a", "b"), [gradspec_divide_float, gradspec_divide_double, NULL, NULL], False, False)
divide_or_nan = pointwise(
    choice.divide_or_nan, ("a", "b"), [gradspec_divide_or_nan_float, gradspec_divide_or_nan_double, NULL, NULL], False, False)
leaky_relu = pointwise(
    choice.leaky_relu, ("x", "negative_slope"), [gradspec_leaky_float, gradspec_leaky_double, NULL, NULL], False, False)
huber = pointwise(
    choice.huber, ("x", "target", "delta"), [gradspec_huber_float, gradspec_huber_double, NULL, NULL], False, False)
hardswish = pointwise(choice.hardswish, ("x",), [gradspec_hardswish_float, gradspec_hardswish_double, NULL, NULL], False, False)
hardswish_slope = pointwise(
    choice.hardswish_slope, ("x",), [gradspec_hardswish_slope_float, gradspec_hardswish_slope_double, NULL, NULL], False, False)
cdef Ufunc multiply = Ufunc(np.multiply, "multiply")
cdef Ufunc power = powers.power
cdef Ufunc bounded = pointwise(np.clip, ("x", "min", "max"), [gradspec_clip_float, gradspec_clip_double, NULL, NULL], False, False)


def clip(x, min, max):
    """The bound that an element is beyond, else the element, as ``np.clip``; either bound may be None."""
    y = clipped(x, min, max, False)
    return y if y is not None else np.array(x) if min is None and max is None else np.clip(x, min, max)


def clip_(x, min, max):
    """Write ``clip(x, min, max)`` into `x`; return `x`."""
    if clipped(x, min, max, True) is None and not (min is None and max is None):
        np.clip(x, min, max, out=x)
    return x


cdef object clipped(object x, object min, object max, bint over):
    """A plain array whose elements are bounded, or `x` itself if it may be written over; None for other arrays and bounds."""
    cdef char* args[4]
    cdef npy_intp[4] steps
    cdef Number[2] numbers
    cdef ndarray y
    cdef int slot = slot_of(PyArray_TYPE(x)) if PyArray_CheckExact(x) and is_plain(x) else -1
    if not 0 <= slot < 2 or not (
            placed(x, slot, -INFINITY if min is None else min, &numbers[0], &args[1], &steps[1])
            and placed(x, slot, INFINITY if max is None else max, &numbers[1], &args[2], &steps[2])):
        return None
    if over and not (PyArray_FLAGS(x) & NPY_ARRAY_WRITEABLE and all(
            [is_apart(bound, x) for bound in (min, max) if PyArray_CheckExact(bound)])):
        return None
    y = x if over else empty(PyArray_NDIM(x), PyArray_DIMS(x), PyArray_TYPE(x))
    args[0], args[3], steps[0], steps[3] = PyArray_BYTES(x), PyArray_BYTES(y), item_size(slot), item_size(slot)
    bounded.run(slot, args, PyArray_SIZE(x), steps)
    return y


cdef bint placed(ndarray x, int slot, object value, Number* number, char** arg, npy_intp* step) except -1:
    """Set a loop's operand beside `x`: a plain array of its shape and dtype, or a number; False for any other value."""
    if PyArray_CheckExact(value):
        arg[0], step[0] = PyArray_BYTES(value), item_size(slot)
        return PyArray_TYPE(value) == PyArray_TYPE(x) and is_plain(value) and same_shape(x, value)
    arg[0], step[0] = <char*> number, 0
    return store_number(value, slot, number)


def masked_fill_(ndarray x, mask, value):
    """Write `value` into `x` where `mask` is true; return `x`."""
    cdef char* args[4]
    cdef npy_intp[4] steps
    cdef Number number
    cdef int slot = slot_of(PyArray_TYPE(x))
    if slot < 0 or not is_plain(x) or not PyArray_FLAGS(x) & NPY_ARRAY_WRITEABLE or not PyArray_CheckExact(mask) or (
            PyArray_TYPE(mask) != cnp.NPY_BOOL or not is_plain(mask) or not same_shape(x, mask)) or (
            not store_number(value, slot, &number)):
        return choice.masked_fill_(x, mask, value)
    args[0], args[1], args[2], args[3] = PyArray_BYTES(mask), <char*> &number, PyArray_BYTES(x), PyArray_BYTES(x)
    steps[0], steps[1], steps[2], steps[3] = 1, 0, item_size(slot), item_size(slot)
    (<Ufunc> where).run(slot, args, PyArray_SIZE(x), steps)
    return x


def scaled_pow(c, a, b, n):
    """``c * a**(b - n)``, 0 if ``c`` or the power is 0, whatever the other factor.

    Parameters
    ----------
    c, a, b : ndarray or scalar
        Broadcast together.
    n : int

    Returns
    -------
    ndarray
    """
    cdef ndarray y = None
    if PyArray_CheckExact(a) and is_real_number(b) and is_real_number(c) and c != 0 and abs(c) < INFINITY:
        y = constant_power(c, a, b, n)
    return choice.scaled_pow(c, a, b, n) if y is None else y


cdef bint is_real_number(object value) noexcept:
    return type(value) is int or type(value) is float


cdef ndarray constant_power(object c, ndarray a, object b, object n):
    """The same for numbers `b` and `c`, `c` finite and not 0; None if the power is out of range, but the product may not be."""
    cdef object exponent = b - n
    cdef int slot = slot_of(PyArray_TYPE(a))
    cdef char* args[4]
    cdef npy_intp[4] steps
    cdef Number[2] numbers
    cdef ndarray y
    if not 0 <= slot < 2 or not is_plain(a) or (
            slot == 0 and not (is_single(b) and is_single(exponent) and 1e-37 < abs(c) < 1e37)):
        return None
    if exponent == 1:
        return multiply.binary(a, c)
    if not placed(a, slot, exponent, &numbers[0], &args[1], &steps[1]) or not placed(a, slot, c, &numbers[1], &args[2], &steps[2]):
        return None
    y = empty(PyArray_NDIM(a), PyArray_DIMS(a), PyArray_TYPE(a))
    if exponent == 0:
        return filled(y, args[2])
    args[0], args[3], steps[0], steps[3] = PyArray_BYTES(a), PyArray_BYTES(y), item_size(slot), item_size(slot)
    return y if scaled.run(slot, args, PyArray_SIZE(a), steps) else None


cdef void scale_powers(char** args, npy_intp size, int slot, npy_intp item) noexcept nogil:
    """y = c * a**n, block by block; the flag of an overflow if a power may have lost digits."""
    cdef char* part[3]
    cdef npy_intp[3] steps = [item, 0, item]
    cdef npy_intp start = 0, some
    cdef bint lost = False
    part[1] = args[1]
    while start < size:
        some = min(size - start, <npy_intp> BLOCK)
        part[0], part[2] = args[0] + start * item, args[3] + start * item
        power.loops[slot](part, &some, steps, power.loop_data[slot])
        if slot == 0:
            lost |= gradspec_scale_powers_float(part[0], part[2], (<float*> args[2])[0], some)
        else:
            lost |= gradspec_scale_powers_double(part[0], part[2], (<double*> args[2])[0], some)
        start += some
    if lost:
        gradspec_decline()


cdef void scale_powers_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    scale_powers(args, size[0], 0, sizeof(float))


cdef void scale_powers_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    scale_powers(args, size[0], 1, sizeof(double))


cdef Ufunc scaled = pointwise(choice.scaled_pow, ("a", "n", "c"), [scale_powers_float, scale_powers_double, NULL, NULL])


cdef bint is_single(object value) except -1:
    """Whether float32 represents a number exactly."""
    return abs(value) <= 1 << 24 and <double> <float> <double> value == <double> value
