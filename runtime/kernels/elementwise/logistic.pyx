"""The logistic function, its slope and its integral, silu and its slope, and the slope of tanh.

Loops for float32 and float64 around the loop for exp, block by block in cache.  Branch-free loops replace them if the processor
has fused multiply-add.  All functions are computed from exp(-|x|), so nothing overflows and no digits are lost on
either side; no floating-point flag remains visible to users.  The exponential dominates the time.  Other dtypes use NumPy
expressions.
"""

from libc.stdint cimport intptr_t

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport npy_intp
from ..loops.flags cimport fp_clear
from ..fusion_engine.pairs cimport offer_pair
from ..fusion_engine.ufunc cimport Ufunc, pointwise

from .complex_functions import complex_log1p, complex_logaddexp

__all__ = ["log1p", "logaddexp", "sigmoid", "sigmoid_slope", "silu", "silu_slope", "tanh_slope"]

cnp.import_array()

cdef extern from "gradspec/kernels/elementwise/logistic.h":
    void gradspec_exponents_float(const float*, float, float*, npy_intp) noexcept nogil
    void gradspec_exponents_double(const double*, double, double*, npy_intp) noexcept nogil
    enum: GRADSPEC_SIGMOID, GRADSPEC_SIGMOID_SLOPE, GRADSPEC_TANH_SLOPE, GRADSPEC_SILU, GRADSPEC_SILU_SLOPE
    void gradspec_logistic_float(int, const float*, const float*, float*, npy_intp) noexcept nogil
    void gradspec_logistic_double(int, const double*, const double*, double*, npy_intp) noexcept nogil
    void gradspec_apart_float(const float*, const float*, float*, float*, npy_intp, npy_intp, npy_intp) noexcept nogil
    void gradspec_apart_double(const double*, const double*, double*, double*, npy_intp, npy_intp, npy_intp) noexcept nogil
    void gradspec_together_float(const float*, const float*, float*, npy_intp) noexcept nogil
    void gradspec_together_double(const double*, const double*, double*, npy_intp) noexcept nogil

cdef extern from "gradspec/kernels/elementwise/logistic_float.h":
    int gradspec_has_fused() noexcept
    void gradspec_sigmoid_of_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_sigmoid_slope_of_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_tanh_slope_of_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_silu_of_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_silu_slope_of_float(const float*, float*, npy_intp) noexcept nogil
    int gradspec_sigmoid_and_slope(const float*, float*, float*, npy_intp) noexcept nogil
    int gradspec_tanh_and_slope(const float*, float*, float*, npy_intp) noexcept nogil
    void gradspec_logaddexp_of_two(const float*, const float*, float*, npy_intp) noexcept nogil
    void gradspec_logaddexp_of_numbers(const float*, const float*, float*, npy_intp) noexcept nogil
    void gradspec_logaddexp_of_number_first(const float*, const float*, float*, npy_intp) noexcept nogil
    void gradspec_logaddexp_of_number_second(const float*, const float*, float*, npy_intp) noexcept nogil

cdef extern from "gradspec/kernels/elementwise/logistic_double.h":
    void gradspec_sigmoid_of_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_sigmoid_slope_of_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_tanh_slope_of_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_silu_of_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_silu_slope_of_double(const double*, double*, npy_intp) noexcept nogil

ctypedef void (*OfFloats)(const float*, float*, npy_intp) noexcept nogil
ctypedef void (*OfDoubles)(const double*, double*, npy_intp) noexcept nogil

ctypedef fused real:
    float
    double

cdef enum:
    BLOCK = 512     # elements per call of exp

cdef Ufunc _exp = Ufunc(np.exp, "exp")
cdef Ufunc _log1p = Ufunc(np.log1p, "log1p")
cdef Ufunc _tanh = Ufunc(np.tanh, "tanh")


cdef inline void fill(int function, real* x, real* y, npy_intp n) noexcept nogil:
    cdef real[BLOCK] e
    cdef char* args[2]
    cdef npy_intp steps[2]
    cdef int slot = sizeof(real) // 8, scale = 2 if function == GRADSPEC_TANH_SLOPE else 1
    cdef npy_intp start = 0, some
    args[0] = args[1] = <char*> e
    steps[0] = steps[1] = sizeof(real)
    while start < n:
        some = min(n - start, <npy_intp> BLOCK)
        if real is float:
            gradspec_exponents_float(x + start, scale, e, some)
        else:
            gradspec_exponents_double(x + start, scale, e, some)
        _exp.loops[slot](args, &some, steps, _exp.loop_data[slot])
        if real is float:
            gradspec_logistic_float(function, x + start, e, y + start, some)
        else:
            gradspec_logistic_double(function, x + start, e, y + start, some)
        start += some
    fp_clear()  # NaNs raise flags


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


cdef void sigmoid_and_slope(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_sigmoid_and_slope(<float*> args[0], <float*> args[1], <float*> args[2], size[0])
    fp_clear()


cdef void tanh_and_slope(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    """Both results in one loop; if some element is NaN, by the separate loops: the loop for tanh may raise a flag."""
    cdef bint has_nan = gradspec_tanh_and_slope(<float*> args[0], <float*> args[1], <float*> args[2], size[0])
    fp_clear()
    if has_nan:
        gradspec_tanh_slope_of_float(<float*> args[0], <float*> args[2], size[0])
        fp_clear()
        _tanh.loops[0](args, size, steps, _tanh.loop_data[0])


cdef void logaddexp_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    add_exponents(<float*> args[0], <float*> args[1], <float*> args[2], size[0], steps[0] != 0, steps[1] != 0)


cdef void logaddexp_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    add_exponents(<double*> args[0], <double*> args[1], <double*> args[2], size[0], steps[0] != 0, steps[1] != 0)


cdef void straight_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    (<OfFloats> data)(<float*> args[0], <float*> args[1], size[0])
    fp_clear()  # NaNs raise flags


cdef void straight_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    (<OfDoubles> data)(<double*> args[0], <double*> args[1], size[0])
    fp_clear()


cdef void fill_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill(<int> <intptr_t> data, <float*> args[0], <float*> args[1], size[0])


cdef void fill_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill(<int> <intptr_t> data, <double*> args[0], <double*> args[1], size[0])


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


def _silu(x):
    """``x * sigmoid(x)``, 0 at -inf."""
    if np.iscomplexobj(x):
        return x * _sigmoid(x)
    x = as_floats(np.asarray(x))
    return silu(x) if x.dtype in (np.float32, np.float64) else np.maximum(x, -1000) * _sigmoid(x)


def _silu_slope(x):
    """``sigmoid(x) * (1 + x * sigmoid(-x))``, 0 and 1 at infinity."""
    if np.iscomplexobj(x):
        return _sigmoid(x) * (1 + x * _sigmoid(np.negative(x)))
    x = as_floats(np.asarray(x))
    return silu_slope(x) if x.dtype in (np.float32, np.float64) else _sigmoid(x) * (1 + np.clip(x, -1000, 1000) * _sigmoid(-x))


cdef object as_floats(x):
    """An array of an inexact dtype; in the layout of the loops if it is of float32 or float64."""
    dtype = np.result_type(x, np.float16).newbyteorder("=")
    return np.array(x, dtype, order="C") if dtype in (np.float32, np.float64) else x


cdef object slope(x, double scale, double factor):
    """``factor * exp(-scale x) / (1 + exp(-scale x))**2``, which is even: the side without overflow is computed."""
    small = np.exp(-scale * (np.where(np.real(x) < 0, np.negative(x), x) if np.iscomplexobj(x) else np.absolute(x)))
    return factor * small / np.square(1 + small)


cdef int fill_by(Ufunc ufunc, int number, OfFloats single, OfDoubles twice) except -1:
    """Give a function its loops of floats and of doubles, or the loop of its number in logistic.h if these are not supported."""
    ufunc.loop_data[0] = ufunc.loop_data[1] = <void*> <intptr_t> number
    if gradspec_has_fused():
        ufunc.loops[0], ufunc.loop_data[0] = straight_float, <void*> single
        ufunc.loops[1], ufunc.loop_data[1] = straight_double, <void*> twice
    return 0


log1p = pointwise(_log1p_of, ("x",), [_log1p.loops[0], _log1p.loops[1], NULL, NULL])
(<Ufunc> log1p).loop_data[0], (<Ufunc> log1p).loop_data[1] = _log1p.loop_data[0], _log1p.loop_data[1]
logaddexp = pointwise(_logaddexp, ("a", "b"), [logaddexp_float, logaddexp_double, NULL, NULL])
sigmoid = pointwise(_sigmoid, ("x",), [fill_float, fill_double, NULL, NULL])
sigmoid_slope = pointwise(_sigmoid_slope, ("x",), [fill_float, fill_double, NULL, NULL])
tanh_slope = pointwise(_tanh_slope, ("x",), [fill_float, fill_double, NULL, NULL])
silu = pointwise(_silu, ("x",), [fill_float, fill_double, NULL, NULL])
silu_slope = pointwise(_silu_slope, ("x",), [fill_float, fill_double, NULL, NULL])
fill_by(sigmoid, GRADSPEC_SIGMOID, gradspec_sigmoid_of_float, gradspec_sigmoid_of_double)
fill_by(sigmoid_slope, GRADSPEC_SIGMOID_SLOPE, gradspec_sigmoid_slope_of_float, gradspec_sigmoid_slope_of_double)
fill_by(tanh_slope, GRADSPEC_TANH_SLOPE, gradspec_tanh_slope_of_float, gradspec_tanh_slope_of_double)
fill_by(silu, GRADSPEC_SILU, gradspec_silu_of_float, gradspec_silu_of_double)
fill_by(silu_slope, GRADSPEC_SILU_SLOPE, gradspec_silu_slope_of_float, gradspec_silu_slope_of_double)
if gradspec_has_fused():
    (<Ufunc> logaddexp).loops[0] = straight_logaddexp
    offer_pair(sigmoid, sigmoid_slope, 0, sigmoid_and_slope)
    offer_pair(_tanh, tanh_slope, 0, tanh_and_slope)
