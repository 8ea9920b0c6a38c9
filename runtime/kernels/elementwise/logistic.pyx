"""The logistic function, its slope and its integral, and the slope of tanh.

Loops for float32 and float64 around the loop for exp, block by block in cache.  Branch-free loops replace those for float32 if
the processor has fused multiply-add.  All functions are computed from exp(-|x|), so nothing overflows and no digits are lost on
either side; no floating-point flag remains visible to users.  The loop for exp dominates the time.  Other dtypes use NumPy
expressions.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport npy_intp
from ..loops.flags cimport fp_clear
from ..fusion_engine.pairs cimport offer_pair
from ..fusion_engine.ufunc cimport Ufunc, pointwise

from .complex_functions import complex_log1p, complex_logaddexp

__all__ = ["log1p", "logaddexp", "sigmoid", "sigmoid_slope", "tanh_slope"]

cnp.import_array()

cdef extern from "gradspec/kernels/elementwise/logistic.h":
    void gradspec_exponents_float(const float*, float, float*, npy_intp) noexcept nogil
    void gradspec_exponents_double(const double*, double, double*, npy_intp) noexcept nogil
    void gradspec_sigmoid_float(const float*, const float*, float*, npy_intp) noexcept nogil
    void gradspec_sigmoid_double(const double*, const double*, double*, npy_intp) noexcept nogil
    void gradspec_slope_float(const float*, float, float*, npy_intp) noexcept nogil
    void gradspec_slope_double(const double*, double, double*, npy_intp) noexcept nogil
    void gradspec_apart_float(const float*, const float*, float*, float*, npy_intp, npy_intp, npy_intp) noexcept nogil
    void gradspec_apart_double(const double*, const double*, double*, double*, npy_intp, npy_intp, npy_intp) noexcept nogil
    void gradspec_together_float(const float*, const float*, float*, npy_intp) noexcept nogil
    void gradspec_together_double(const double*, const double*, double*, npy_intp) noexcept nogil

cdef extern from "gradspec/kernels/elementwise/logistic_float.h":
    int gradspec_has_fused() noexcept
    void gradspec_sigmoid_of_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_sigmoid_slope_of_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_tanh_slope_of_float(const float*, float*, npy_intp) noexcept nogil
    int gradspec_sigmoid_and_slope_near(const float*, float*, float*, npy_intp) noexcept nogil
    int gradspec_sigmoid_and_slope(const float*, float*, float*, npy_intp) noexcept nogil
    int gradspec_tanh_and_slope_near(const float*, float*, float*, npy_intp) noexcept nogil
    int gradspec_tanh_and_slope(const float*, float*, float*, npy_intp) noexcept nogil
    void gradspec_logaddexp_of_two(const float*, const float*, float*, npy_intp) noexcept nogil
    void gradspec_logaddexp_of_numbers(const float*, const float*, float*, npy_intp) noexcept nogil
    void gradspec_logaddexp_of_number_first(const float*, const float*, float*, npy_intp) noexcept nogil
    void gradspec_logaddexp_of_number_second(const float*, const float*, float*, npy_intp) noexcept nogil

ctypedef fused real:
    float
    double

cdef enum:
    BLOCK = 512     # elements per call of exp

cdef enum Function:
    SIGMOID
    SIGMOID_SLOPE
    TANH_SLOPE

cdef Ufunc _exp = Ufunc(np.exp, "exp")
cdef Ufunc _log1p = Ufunc(np.log1p, "log1p")
cdef Ufunc _tanh = Ufunc(np.tanh, "tanh")


cdef inline void fill(Function function, real* x, real* y, npy_intp n) noexcept nogil:
    cdef real[BLOCK] e
    cdef char* args[2]
    cdef npy_intp steps[2]
    cdef int slot = sizeof(real) // 8
    cdef npy_intp start = 0, some
    args[0] = args[1] = <char*> e
    steps[0] = steps[1] = sizeof(real)
    while start < n:
        some = min(n - start, <npy_intp> BLOCK)
        if real is float:
            gradspec_exponents_float(x + start, 2 if function == TANH_SLOPE else 1, e, some)
        else:
            gradspec_exponents_double(x + start, 2 if function == TANH_SLOPE else 1, e, some)
        _exp.loops[slot](args, &some, steps, _exp.loop_data[slot])
        if real is float:
            if function == SIGMOID:
                gradspec_sigmoid_float(x + start, e, y + start, some)
            else:
                gradspec_slope_float(e, 4 if function == TANH_SLOPE else 1, y + start, some)
        else:
            if function == SIGMOID:
                gradspec_sigmoid_double(x + start, e, y + start, some)
            else:
                gradspec_slope_double(e, 4 if function == TANH_SLOPE else 1, y + start, some)
        start += some
    fp_clear()  # only signalling NaNs raise flags


cdef inline void add_exponents(real* a, real* b, real* y, npy_intp n, npy_intp p, npy_intp q) noexcept nogil:
    """m + log1p(exp(-|a - b|)), where m is the larger one; the steps are 0 or 1."""
    cdef real[BLOCK] m
    cdef real[BLOCK] e
    cdef char* args[2]
    cdef npy_intp steps[2]
    cdef int slot = sizeof(real) // 8
    cdef npy_intp start = 0, some
    args[0] = args[1] = <char*> e
    steps[0] = steps[1] = sizeof(real)
    while start < n:
        some = min(n - start, <npy_intp> BLOCK)
        if real is float:
            gradspec_apart_float(a + start * p, b + start * q, m, e, some, p, q)
        else:
            gradspec_apart_double(a + start * p, b + start * q, m, e, some, p, q)
        _exp.loops[slot](args, &some, steps, _exp.loop_data[slot])
        _log1p.loops[slot](args, &some, steps, _log1p.loop_data[slot])
        if real is float:
            gradspec_together_float(m, e, y + start, some)
        else:
            gradspec_together_double(m, e, y + start, some)
        start += some
    fp_clear()  # NaNs and infinite distances raise flags


cdef void straight_logaddexp(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    cdef float* a = <float*> args[0]
    cdef float* b = <float*> args[1]
    if steps[0]:
        (gradspec_logaddexp_of_two if steps[1] else gradspec_logaddexp_of_number_second)(a, b, <float*> args[2], size[0])
    else:
        (gradspec_logaddexp_of_number_first if steps[1] else gradspec_logaddexp_of_numbers)(a, b, <float*> args[2], size[0])
    fp_clear()  # NaNs and infinite distances raise flags


cdef void straight_sigmoid(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_sigmoid_of_float(<float*> args[0], <float*> args[1], size[0])
    fp_clear()  # NaNs raise flags


cdef void straight_sigmoid_slope(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_sigmoid_slope_of_float(<float*> args[0], <float*> args[1], size[0])
    fp_clear()


cdef void straight_tanh_slope(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_tanh_slope_of_float(<float*> args[0], <float*> args[1], size[0])
    fp_clear()


cdef void sigmoid_and_slope(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    if gradspec_sigmoid_and_slope_near(<float*> args[0], <float*> args[1], <float*> args[2], size[0]):
        gradspec_sigmoid_and_slope(<float*> args[0], <float*> args[1], <float*> args[2], size[0])
    fp_clear()


cdef void tanh_and_slope(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    """Both results in one loop; if some element is NaN, by the separate loops: the loop for tanh may raise a flag."""
    cdef char* slope[2]
    if gradspec_tanh_and_slope_near(<float*> args[0], <float*> args[1], <float*> args[2], size[0]):
        if gradspec_tanh_and_slope(<float*> args[0], <float*> args[1], <float*> args[2], size[0]):
            slope[0], slope[1] = args[0], args[2]
            straight_tanh_slope(slope, size, steps, NULL)
            _tanh.loops[0](args, size, steps, _tanh.loop_data[0])
            return
    fp_clear()


cdef void logaddexp_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    add_exponents(<float*> args[0], <float*> args[1], <float*> args[2], size[0], steps[0] != 0, steps[1] != 0)


cdef void logaddexp_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    add_exponents(<double*> args[0], <double*> args[1], <double*> args[2], size[0], steps[0] != 0, steps[1] != 0)


cdef void sigmoid_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill(SIGMOID, <float*> args[0], <float*> args[1], size[0])


cdef void sigmoid_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill(SIGMOID, <double*> args[0], <double*> args[1], size[0])


cdef void sigmoid_slope_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill(SIGMOID_SLOPE, <float*> args[0], <float*> args[1], size[0])


cdef void sigmoid_slope_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill(SIGMOID_SLOPE, <double*> args[0], <double*> args[1], size[0])


cdef void tanh_slope_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill(TANH_SLOPE, <float*> args[0], <float*> args[1], size[0])


cdef void tanh_slope_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill(TANH_SLOPE, <double*> args[0], <double*> args[1], size[0])


def _log1p_of(x):
    """``log(1 + x)``, also for complex numbers."""
    return complex_log1p(x) if np.iscomplexobj(x) else _log1p.function(x)


def _logaddexp(a, b):
    """``log(exp(a) + exp(b))``."""
    dtype = np.result_type(a, b, np.float16)
    if dtype.kind == "c":
        return complex_logaddexp(a, b)
    if dtype not in (np.float32, np.float64):
        return np.logaddexp(a, b)
    a, b = np.broadcast_arrays(np.asarray(a, dtype), np.asarray(b, dtype))
    return logaddexp(np.array(a, order="C"), np.array(b, order="C"))


def _sigmoid(x):
    """``1 / (1 + exp(-x))``, accurate to the last digits also for very negative `x`."""
    x = np.asarray(x)
    if x.dtype.kind == "c":
        small = np.exp(np.where(x.real < 0, x, -x))
        return np.where(x.real < 0, small, 1) / (1 + small)
    x = as_floats(x)
    if x.dtype in (np.float32, np.float64):
        return sigmoid(x)
    # exp(x) / (1 + exp(x)) below 0 and 1 / (1 + exp(-x)) above, in one expression.
    return np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))


def _sigmoid_slope(x):
    """``exp(-x) / (1 + exp(-x))**2``."""
    x = as_floats(np.asarray(x))
    return sigmoid_slope(x) if x.dtype in (np.float32, np.float64) else slope(x, 1, 1)


def _tanh_slope(x):
    """``1 / cosh(x)**2``."""
    x = as_floats(np.asarray(x))
    return tanh_slope(x) if x.dtype in (np.float32, np.float64) else slope(x, 2, 4)


cdef object as_floats(x):
    """An array of an inexact dtype; in the layout of the loops if it is of float32 or float64."""
    dtype = np.result_type(x, np.float16).newbyteorder("=")
    return np.array(x, dtype, order="C") if dtype in (np.float32, np.float64) else x


cdef object slope(x, double scale, double factor):
    """``factor * exp(-scale x) / (1 + exp(-scale x))**2``, which is even: the side without overflow is computed."""
    small = np.exp(-scale * (np.where(np.real(x) < 0, np.negative(x), x) if np.iscomplexobj(x) else np.absolute(x)))
    return factor * small / np.square(1 + small)


log1p = pointwise(_log1p_of, ("x",), [_log1p.loops[0], _log1p.loops[1], NULL, NULL])
(<Ufunc> log1p).loop_data[0], (<Ufunc> log1p).loop_data[1] = _log1p.loop_data[0], _log1p.loop_data[1]
logaddexp = pointwise(_logaddexp, ("a", "b"), [logaddexp_float, logaddexp_double, NULL, NULL])
sigmoid = pointwise(_sigmoid, ("x",), [sigmoid_float, sigmoid_double, NULL, NULL])
sigmoid_slope = pointwise(_sigmoid_slope, ("x",), [sigmoid_slope_float, sigmoid_slope_double, NULL, NULL])
tanh_slope = pointwise(_tanh_slope, ("x",), [tanh_slope_float, tanh_slope_double, NULL, NULL])
if gradspec_has_fused():
    (<Ufunc> logaddexp).loops[0], (<Ufunc> sigmoid).loops[0] = straight_logaddexp, straight_sigmoid
    (<Ufunc> sigmoid_slope).loops[0], (<Ufunc> tanh_slope).loops[0] = straight_sigmoid_slope, straight_tanh_slope
    offer_pair(sigmoid, sigmoid_slope, 0, sigmoid_and_slope)
    offer_pair(_tanh, tanh_slope, 0, tanh_and_slope)
