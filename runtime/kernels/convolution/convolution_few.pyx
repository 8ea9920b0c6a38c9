# cython: boundscheck=False, wraparound=False
"""Convolutions with so few products that building patches or tables would dominate the time.

Loops over all pairs of an element and a weight that meet, in float32 and float64.  One set of loops computes the result, the
input's cotangent and the weight's, for each is a sum of products of the other two arrays.  Products with the padding are skipped,
so that infinities and NaNs are left to the module `convolution`, as are computations that raised a floating-point flag.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_DIMS, PyArray_NDIM, PyArray_TYPE, ndarray, npy_intp
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.plain cimport is_plain

cnp.import_array()

ctypedef fused real:
    float
    double

cdef enum Sum:
    RESULT, INPUT, WEIGHT

cdef struct Axis:
    npy_intp length, taps, places, stride, padding, dilation


cdef inline bint within(Axis* axis, npy_intp tap, npy_intp* first, npy_intp* last, npy_intp* begin) noexcept nogil:
    """The places where an element of the kernel meets the image, as a range, and the first element of the image that it meets."""
    cdef npy_intp shift = tap * axis.dilation - axis.padding
    first[0] = (axis.stride - 1 - shift) // axis.stride if shift < 0 else 0
    last[0] = min(axis.places, (axis.length - shift + axis.stride - 1) // axis.stride) if shift < axis.length else 0
    begin[0] = first[0] * axis.stride + shift
    return first[0] < last[0]


cdef void multiply(real* x, real* weight, real* y, Axis* axes, Sum which) noexcept nogil:
    """The products of one channel of the input and one channel of the result."""
    cdef npy_intp a, b, c, a0, a1, b0, b1, c0, c1, i, k, s, t, u, n, from_a, from_b, from_c, stride = axes[2].stride
    cdef real w, total
    cdef real* row
    cdef real* found
    for s in range(axes[0].taps):
        if not within(&axes[0], s, &a0, &a1, &from_a):
            continue
        for t in range(axes[1].taps):
            if not within(&axes[1], t, &b0, &b1, &from_b):
                continue
            for u in range(axes[2].taps):
                if not within(&axes[2], u, &c0, &c1, &from_c):
                    continue
                k = (s * axes[1].taps + t) * axes[2].taps + u
                w, total, n = weight[k], 0, c1 - c0
                for a in range(a1 - a0):
                    for b in range(b1 - b0):
                        i = (from_a + a * axes[0].stride) * axes[1].length + from_b + b * axes[1].stride
                        row = x + i * axes[2].length + from_c
                        found = y + ((a0 + a) * axes[1].places + b0 + b) * axes[2].places + c0
                        if which == RESULT:
                            for c in range(n):
                                found[c] += w * row[c * stride]
                        elif which == INPUT:
                            for c in range(n):
                                row[c * stride] += w * found[c]
                        else:
                            for c in range(n):
                                total += row[c * stride] * found[c]
                if which == WEIGHT:
                    weight[k] += total


cdef bint all_finite(real* x, npy_intp n) noexcept nogil:
    cdef npy_intp i
    cdef bint odd = False
    for i in range(n):
        odd |= x[i] - x[i] != 0
    return not odd


cdef bint run(real* x, real* weight, real* y, npy_intp* sizes, npy_intp[3] channels, npy_intp groups, npy_intp examples,
              Axis* axes, Sum which) noexcept nogil:
    """All pairs of channels; `sizes` are elements per channel of each array, `channels` the channels of a group."""
    cdef npy_intp _n, g, o, c
    cdef npy_intp inner = channels[0], outer = channels[1]
    if which != INPUT and not all_finite(x, examples * groups * inner * sizes[0]):
        return False
    if which != WEIGHT and not all_finite(weight, groups * outer * inner * sizes[1]):
        return False
    if which != RESULT and not all_finite(y, examples * groups * outer * sizes[2]):
        return False
    fp_clear()
    for _n in range(examples):
        for g in range(groups):
            for o in range(outer):
                for c in range(inner):
                    multiply(x + c * sizes[0], weight + ((g * outer + o) * inner + c) * sizes[1], y + o * sizes[2], axes, which)
            x, y = x + inner * sizes[0], y + outer * sizes[2]
    return not fp_raised()


cdef ndarray plain(ndarray x, ndarray alike):
    if PyArray_TYPE(x) == PyArray_TYPE(alike) and is_plain(x):
        return x
    return np.require(x, alike.dtype, "CA")


cdef bint fits(ndarray x, ndarray weight, ndarray y, int spatial, npy_intp groups) noexcept:
    """Whether the arrays have the axes and channels that the loops rely on; if not, other code raises the error."""
    if not 1 <= spatial <= 3 or PyArray_NDIM(weight) != spatial + 2 or PyArray_NDIM(y) != spatial + 2 or groups < 1:
        return False
    return (PyArray_DIMS(y)[0] == PyArray_DIMS(x)[0] and PyArray_DIMS(weight)[0] == PyArray_DIMS(y)[1]
            and PyArray_DIMS(weight)[0] % groups == 0 and PyArray_DIMS(weight)[1] * groups == PyArray_DIMS(x)[1])


def add_products(ndarray x, ndarray weight, ndarray y, int which, tuple stride, tuple padding, tuple dilation,
                 npy_intp groups):
    """Add the products of two of three arrays to the third.

    Parameters
    ----------
    x : ndarray
        (examples, channels, ...)
    weight : ndarray
        (channels out, channels in of a group, ...)
    y : ndarray
        (examples, channels out, ...)
    which : int
        0 for `y`, 1 for `x`, 2 for `weight`: the array of sums, contiguous float32 or float64, which determines the dtype.
    stride, padding, dilation : tuple of int
    groups : int

    Returns
    -------
    bool
        Whether the loops computed it; if not, the sums are invalid.
    """
    cdef Axis[3] axes
    cdef npy_intp[3] sizes, channels
    cdef int k, spatial = PyArray_NDIM(x) - 2, more = 3 - spatial
    cdef npy_intp examples = PyArray_DIMS(x)[0]
    cdef ndarray target = y if which == RESULT else x if which == INPUT else weight
    if not fits(x, weight, y, spatial, groups) or not len(stride) == len(padding) == len(dilation) == spatial:
        return False
    x, weight, y = plain(x, target), plain(weight, target), plain(y, target)
    sizes[0] = sizes[1] = sizes[2] = 1
    for k in range(3):
        axes[k].length = axes[k].taps = axes[k].places = axes[k].stride = axes[k].dilation = 1
        axes[k].padding = 0
        if k >= more:
            axes[k].length = PyArray_DIMS(x)[2 + k - more]
            axes[k].taps = PyArray_DIMS(weight)[2 + k - more]
            axes[k].places = PyArray_DIMS(y)[2 + k - more]
            axes[k].stride, axes[k].padding, axes[k].dilation = stride[k - more], padding[k - more], dilation[k - more]
        sizes[0], sizes[1], sizes[2] = sizes[0] * axes[k].length, sizes[1] * axes[k].taps, sizes[2] * axes[k].places
    channels[0], channels[1] = PyArray_DIMS(weight)[1], PyArray_DIMS(weight)[0] // groups
    if PyArray_TYPE(target) == cnp.NPY_FLOAT32:
        return run(<float*> PyArray_BYTES(x), <float*> PyArray_BYTES(weight), <float*> PyArray_BYTES(y), sizes, channels,
                   groups, examples, axes, <Sum> which)
    return run(<double*> PyArray_BYTES(x), <double*> PyArray_BYTES(weight), <double*> PyArray_BYTES(y), sizes, channels,
               groups, examples, axes, <Sum> which)
