"""The logit, a product with a logarithm, sinc and its derivative, and numbers rounded to decimals.

Loops for float32 and float64 that compilers vectorise if the processor has fused multiply-add: float32 is computed in double and
rounded once, float64 is within 1 ulp.  The expressions of `elementwise` handle all other dtypes, higher derivatives, and cases
that need NumPy's warnings.  The loops are bound by the multiplications.
"""

from libc.math cimport INFINITY, M_PI, cos, fabs, floor, sin

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp,
)
from . import elementwise
from ..loops.flags cimport fp_clear
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain, item_size, slot_of
from ..fusion_engine.numbers cimport Number, store_number
from ..fusion_engine.ufunc cimport Ufunc, pointwise

__all__ = ["logit", "round_to", "sinc", "xlogy"]

cnp.import_array()

cdef extern from "gradspec/kernels/elementwise/elementwise_loops.h":
    int gradspec_has_fused() noexcept
    void gradspec_logit_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_logit_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_sinc_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_sinc_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_sinc_slope_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_sinc_slope_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_round_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_round_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil

ctypedef fused real:
    float
    double

cdef enum:
    BLOCK = 512         # elements whose logarithms are computed at once
    EXACT = 22          # digits of the largest power of ten that is exact in float64

cdef bint _fused = gradspec_has_fused()
cdef Ufunc _log = Ufunc(np.log, "log")
cdef Ufunc _rint = Ufunc(np.rint, "round")
cdef Ufunc _rounded = pointwise(
    elementwise.round_to, ("x", "scale", "inverse"), [gradspec_round_float, gradspec_round_double, NULL, NULL], False, False)


cdef void fill_sinc(real* x, real* y, npy_intp n, bint slope) noexcept nogil:
    """Run the loop, then fix numbers that are 0, tiny, NaN or infinite, or so large that they are multiples of a quarter."""
    cdef npy_intp i
    cdef double part, sine, cosine
    if real is float:
        (gradspec_sinc_slope_float if slope else gradspec_sinc_float)(x, y, n)
    else:
        (gradspec_sinc_slope_double if slope else gradspec_sinc_double)(x, y, n)
    for i in range(n):
        if not (1e-60 < x[i] < 1e15 or -1e15 < x[i] < -1e-60):
            if x[i] != x[i]:
                y[i] = x[i]
            elif -1 < x[i] < 1:
                y[i] = <real> (-3.289868133696453 * x[i]) if slope else 1
            elif x[i] == INFINITY or x[i] == -INFINITY:
                y[i] = 0
            else:
                part = fabs(<double> x[i]) - floor(fabs(<double> x[i]))
                sine, cosine = sin(M_PI * part), 0 if part == 0.5 else cos(M_PI * part)
                sine = (1 - 2 * odd(<double> x[i])) * sine / (M_PI * fabs(<double> x[i]))
                cosine = (1 - 2 * odd(<double> x[i])) * cosine
                y[i] = <real> ((cosine - sine) / <double> x[i] if slope else sine)
    fp_clear()


cdef inline int odd(double x) noexcept nogil:
    """Whether the integer before a number, towards 0, is odd."""
    return 0 if x >= 9007199254740992.0 or x <= -9007199254740992.0 else (<long long> x) & 1


cdef void logit_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_logit_float(<float*> args[0], <float*> args[1], size[0])


cdef void logit_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_logit_double(<double*> args[0], <double*> args[1], size[0])


cdef void sinc_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill_sinc(<float*> args[0], <float*> args[1], size[0], False)


cdef void sinc_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill_sinc(<double*> args[0], <double*> args[1], size[0], False)


cdef void sinc_slope_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill_sinc(<float*> args[0], <float*> args[1], size[0], True)


cdef void sinc_slope_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill_sinc(<double*> args[0], <double*> args[1], size[0], True)


cdef void fill_xlogy(real* a, real* b, real* y, npy_intp n, npy_intp p, npy_intp q) noexcept nogil:
    """Fill `y`; the steps `p` and `q` are 0 or 1."""
    cdef real[BLOCK] t
    cdef char* args[2]
    cdef npy_intp steps[2]
    cdef int slot = sizeof(real) // 8
    cdef npy_intp start = 0, some, i
    args[0] = args[1] = <char*> t
    steps[0] = steps[1] = sizeof(real)
    while start < n:
        some = min(n - start, <npy_intp> BLOCK)
        for i in range(some):
            t[i] = 1 if a[(start + i) * p] == 0 and b[(start + i) * q] == b[(start + i) * q] else b[(start + i) * q]
        _log.loops[slot](args, &some, steps, _log.loop_data[slot])
        for i in range(some):
            y[start + i] = a[(start + i) * p] * t[i]
        start += some


cdef void xlogy_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill_xlogy(<float*> args[0], <float*> args[1], <float*> args[2], size[0], steps[0] != 0, steps[1] != 0)


cdef void xlogy_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill_xlogy(<double*> args[0], <double*> args[1], <double*> args[2], size[0], steps[0] != 0, steps[1] != 0)


def _logit(x):
    """``log(x / (1 - x))``; numbers outside (0, 1) go through NumPy's functions, which warn."""
    dtype = np.result_type(x, np.float16).newbyteorder("=")
    if not _fused or dtype not in (np.float32, np.float64):
        return elementwise.logit(x)
    x = np.array(x, dtype, order="C")
    inside = (x > 0) & (x < 1)
    y = np.asarray(logit(np.where(inside, x, dtype.type(0.5))))
    if not inside.all():
        y[~inside] = elementwise.logit(x[~inside])
    return y


def _xlogy(a, b):
    """``a * log(b)``, 0 if ``a`` is 0 unless ``b`` is NaN; the logarithms have the bits of the loops'."""
    return elementwise.xlogy(a, b, _log.function)


def _sinc(x):
    return elementwise.sinc(x, 0)


def _sinc_slope(x):
    return elementwise.sinc(x, 1)


logit = pointwise(_logit, ("x",), [logit_float, logit_double, NULL, NULL])
xlogy = pointwise(_xlogy, ("a", "b"), [xlogy_float, xlogy_double, NULL, NULL])
cdef Ufunc _sinc_of = pointwise(_sinc, ("x",), [sinc_float, sinc_double, NULL, NULL])
cdef Ufunc _slope_of = pointwise(_sinc_slope, ("x",), [sinc_slope_float, sinc_slope_double, NULL, NULL])
if not _fused:
    (<Ufunc> logit).loops[0] = (<Ufunc> logit).loops[1] = NULL


def sinc(x, n):
    """Derivative `n` of ``sin(pi x) / (pi x)``, as `elementwise.sinc`."""
    cdef Ufunc function = _sinc_of if n == 0 else _slope_of
    if _fused and n in (0, 1):
        if isinstance(x, np.ndarray) and x.dtype.newbyteorder("=") in (np.float32, np.float64):
            return np.asarray(function.unary(np.array(x, x.dtype.newbyteorder("="), order="C", copy=None)))
    return elementwise.sinc(x, n)


def round_to(x, decimals):
    """``np.round``, but `x` unchanged if an intermediate value overflows."""
    cdef char* args[4]
    cdef npy_intp[4] steps
    cdef Number scale, inverse
    cdef ndarray y
    cdef int slot = slot_of(PyArray_TYPE(x)) if PyArray_CheckExact(x) and is_plain(x) else -1
    if not 0 <= slot < 2 or type(decimals) is not int or not -EXACT <= decimals <= EXACT:
        return elementwise.round_to(x, decimals)
    if decimals == 0:
        return _rint.unary(x)
    store_number(10.0 ** abs(decimals), slot, &scale)
    store_number(int(decimals < 0), slot, &inverse)
    y = empty(PyArray_NDIM(x), PyArray_DIMS(x), PyArray_TYPE(x))
    args[0], args[1], args[2], args[3] = PyArray_BYTES(x), <char*> &scale, <char*> &inverse, PyArray_BYTES(y)
    steps[0], steps[1], steps[2], steps[3] = item_size(slot), 0, 0, item_size(slot)
    return y if _rounded.run(slot, args, PyArray_SIZE(x), steps) else elementwise.round_to(x, decimals)
