"""One of some values, element by element: where, clip, a quotient that is 0 where the divisor is, a power where its factor is.

Owns loops over contiguous operands, any of which may be one number for all elements.  Both sides of a choice are computed
from what is safe for either, so the only floating-point flags are those of the elements that are taken.  The limit is memory.
"""

from libc.math cimport INFINITY

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp
from . import elementwise, powers
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain
from ..program.ufunc cimport Ufunc, pointwise

cnp.import_array()

cdef extern from *:
    """
    #include <float.h>
    #include <stdint.h>
    #include <string.h>

    typedef struct { double real, imag; } gradspec_pair;

    /* y = m ? a : b of elements of one size; a step is 0 or that of contiguous elements. */
    #define GRADSPEC_WHERE(T, NAME) \\
        static void gradspec_where_##NAME(char **args, const npy_intp *size, const npy_intp *steps, void *data) { \\
            const npy_bool *m = (const npy_bool *) args[0]; \\
            const T *a = (const T *) args[1], *b = (const T *) args[2]; \\
            T *y = (T *) args[3]; \\
            npy_intp n = size[0], i; \\
            (void) data; \\
            if (steps[0] == 0) { \\
                int taken = m[0] ? 1 : 2; \\
                const T *x = taken == 1 ? a : b; \\
                if (steps[taken] == 0) for (i = 0; i < n; i++) y[i] = x[0]; \\
                else memcpy(y, x, n * sizeof(T)); \\
            } else if (steps[1] == 0 && steps[2] == 0) { \\
                const T p = a[0], q = b[0]; \\
                for (i = 0; i < n; i++) y[i] = m[i] ? p : q; \\
            } else if (steps[1] == 0) { \\
                const T p = a[0]; \\
                for (i = 0; i < n; i++) { const T q = b[i]; y[i] = m[i] ? p : q; } \\
            } else if (steps[2] == 0) { \\
                const T q = b[0]; \\
                for (i = 0; i < n; i++) { const T p = a[i]; y[i] = m[i] ? p : q; } \\
            } else { \\
                for (i = 0; i < n; i++) { const T p = a[i], q = b[i]; y[i] = m[i] ? p : q; } \\
            } \\
        }
    GRADSPEC_WHERE(uint32_t, 4)
    GRADSPEC_WHERE(uint64_t, 8)
    GRADSPEC_WHERE(gradspec_pair, 16)

    #define GRADSPEC_DIVIDE(T) \\
        static void gradspec_divide_##T(char **args, const npy_intp *size, const npy_intp *steps, void *data) { \\
            const T *a = (const T *) args[0], *b = (const T *) args[1]; \\
            T *y = (T *) args[2]; \\
            npy_intp n = size[0], i, p = steps[0] != 0, q = steps[1] != 0; \\
            (void) data; \\
            if (p && q) for (i = 0; i < n; i++) { const T d = b[i], r = a[i] / (d == 0 ? 1 : d); y[i] = d == 0 ? 0 : r; } \\
            else for (i = 0; i < n; i++) { const T d = b[i * q], r = a[i * p] / (d == 0 ? 1 : d); y[i] = d == 0 ? 0 : r; } \\
        }
    GRADSPEC_DIVIDE(float)
    GRADSPEC_DIVIDE(double)

    /* Whether a number is infinite or so small, 0 included, that it may have lost digits; NaN is neither. */
    #define GRADSPEC_EXTREME(T, TINY, MAX) \\
        static int gradspec_extreme_##T(const char *data, npy_intp n) { \\
            const T *x = (const T *) data; \\
            npy_intp i; \\
            int any = 0; \\
            for (i = 0; i < n; i++) { const T size = x[i] < 0 ? -x[i] : x[i]; any |= (size < TINY) | (size > MAX); } \\
            return any; \\
        }
    GRADSPEC_EXTREME(float, FLT_MIN, FLT_MAX)
    GRADSPEC_EXTREME(double, DBL_MIN, DBL_MAX)
    """
    int gradspec_extreme_float(const char*, npy_intp) noexcept nogil
    int gradspec_extreme_double(const char*, npy_intp) noexcept nogil
    void gradspec_where_4(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_where_8(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_where_16(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_divide_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_divide_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil


where = pointwise(
    np.where, ("mask", "a", "b"), [gradspec_where_4, gradspec_where_8, gradspec_where_8, gradspec_where_16], masks=True)
divide_or_zero = pointwise(
    elementwise.divide_or_zero, ("a", "b"), [gradspec_divide_float, gradspec_divide_double, NULL, NULL])
cdef Ufunc multiply = Ufunc(np.multiply, "multiply")
cdef Ufunc power = powers.power
cdef Ufunc raised = Ufunc(np.maximum, "clip", operands=("x", "min"))
cdef Ufunc lowered = Ufunc(np.minimum, "clip", operands=("x", "max"))

cdef enum:
    SHORT = 1 << 14     # elements up to which two loops take less than a call of NumPy's function


def clip(x, min, max):
    """minimum(maximum(x, min), max), either of which may be None, as ``np.clip``.

    Parameters
    ----------
    x : ndarray
    min, max : ndarray, scalar or None

    Returns
    -------
    ndarray
    """
    if not PyArray_CheckExact(x) or PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) or PyArray_SIZE(x) > SHORT:
        return np.clip(x, min, max)  # which holds integers against bounds that are none of theirs
    if min is None and max is None:
        return np.array(x)
    y = x if min is None else raised.binary(x, min)
    return y if max is None else lowered.binary(y, max)


def scaled_pow(c, a, b, n):
    """``c * a**(b - n)``, 0 where ``c`` is 0 or the power is, whatever the other one.

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
    return elementwise.scaled_pow(c, a, b, n) if y is None else y


cdef bint is_real_number(object value) noexcept:
    return type(value) is int or type(value) is float


cdef ndarray constant_power(object c, ndarray a, object b, object n):
    """The same of numbers `b` and `c`, which is finite and not 0; None where the power loses what the product does not."""
    cdef object exponent = b - n
    cdef bint single = PyArray_TYPE(a) == cnp.NPY_FLOAT32
    cdef ndarray y
    if not is_plain(a) or not (single or PyArray_TYPE(a) == cnp.NPY_FLOAT64) or (
            single and not (is_single(b) and is_single(exponent) and 1e-37 < abs(c) < 1e37)):
        return None
    if exponent == 1:
        return multiply.binary(a, c)
    if exponent == 0:
        y = empty(PyArray_NDIM(a), PyArray_DIMS(a), PyArray_TYPE(a))
        y.fill(c)
        return y
    y = power.binary(a, exponent)
    if (gradspec_extreme_float if single else gradspec_extreme_double)(PyArray_BYTES(y), PyArray_SIZE(y)):
        return None
    return multiply.binary(y, c)


cdef bint is_single(object value) except -1:
    """Whether float32 holds a number, every digit of it."""
    return abs(value) <= 1 << 24 and <double> <float> <double> value == <double> value
