"""erf, erfc, the inverse of erf, gelu and its slope.

Loops that compilers vectorise.  On processors with fused multiply-add they have no branches: doubles are within 1 ulp (gelu and
its slope: some ulp), floats in float arithmetic within 1.5 (the slope: some ulp).  On others floats are computed in double around
a loop for exp, block by block in cache, and rounded once; that loop takes about half of the time.  SciPy's functions handle all
other dtypes; they compute one number at a time, which takes five to ten times as long.

The polynomials for single precision are Chebyshev fits of 40-digit values.  One fits erf(x) / x in x * x up to 1, with relative
error 1e-12.  The other fits (1 + 2 z) exp(z * z) erfc(z) in t = (z - 3.75) / (z + 3.75) for z from 0 to 11, with relative error
2e-10.  It follows Shepherd and Laframboise (1981), Chebyshev approximation of (1 + 2x) exp(x^2) erfc x, Math. Comp. 36.
"""

import math

from libc.math cimport INFINITY, NAN

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport ndarray, npy_intp
from ..loops.scipy_fallback import one_by_one, scipy_function
from ..loops.flags cimport fp_clear
from ..fusion_engine.ufunc cimport PyUFuncGenericFunction, Ufunc, pointwise

__all__ = ["erf", "erfc", "erfinv", "gelu_slope"]

cnp.import_array()

cdef extern from "gradspec/kernels/elementwise/error_function.h":
    void gradspec_erf_exponents(const float*, double, double*, double*, npy_intp) noexcept nogil
    void gradspec_erfc_block(const float*, const double*, const double*, float*, npy_intp) noexcept nogil
    void gradspec_erf_block(const float*, const double*, const double*, float*, npy_intp) noexcept nogil
    void gradspec_gelu_block(const float*, const double*, const double*, float*, npy_intp) noexcept nogil

cdef extern from "gradspec/kernels/elementwise/error_function_float.h":
    void gradspec_erf_of_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_erfc_of_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_erfinv_of_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_gelu_of_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_gelu_slope_of_float(const float*, float*, npy_intp) noexcept nogil

cdef extern from "gradspec/kernels/elementwise/error_function_double.h":
    int gradspec_has_fused() noexcept
    void gradspec_erf_of_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_erfc_of_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_erfinv_of_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_gelu_of_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_gelu_slope_of_double(const double*, double*, npy_intp) noexcept nogil

ctypedef void (*Straight)(const float*, float*, npy_intp) noexcept nogil
ctypedef void (*Block)(const float*, const double*, const double*, float*, npy_intp) noexcept nogil

ctypedef fused real:
    float
    double

cdef enum:
    BLOCK = 512     # elements per call of exp

cdef bint _fused = gradspec_has_fused()
cdef double ROOT = math.sqrt(0.5)
cdef Ufunc _exp = Ufunc(np.exp, "exp")
cdef PyUFuncGenericFunction EXP = _exp.loops[1]
cdef void* EXP_DATA = _exp.loop_data[1]


cdef void fill(Straight straight, Block block, double scale, const float* x, float* y, npy_intp n) noexcept nogil:
    """Use the branch-free loop if the processor has fused multiply-add, else blocks around the loop for exp."""
    cdef double[BLOCK] z
    cdef double[BLOCK] s
    cdef char* args[2]
    cdef npy_intp steps[2]
    cdef npy_intp start = 0, some
    args[0] = args[1] = <char*> s
    steps[0] = steps[1] = sizeof(double)
    if _fused:
        straight(x, y, n)
        start = n
    while start < n:
        some = min(n - start, <npy_intp> BLOCK)
        gradspec_erf_exponents(x + start, scale, z, s, some)
        EXP(args, &some, steps, EXP_DATA)
        block(x + start, z, s, y + start, some)
        start += some
    fp_clear()  # comparing NaNs raises flags


cdef void erf_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill(gradspec_erf_of_float, gradspec_erf_block, 1.0, <float*> args[0], <float*> args[1], size[0])


cdef void erfc_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill(gradspec_erfc_of_float, gradspec_erfc_block, 1.0, <float*> args[0], <float*> args[1], size[0])


cdef void erf_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_erf_of_double(<double*> args[0], <double*> args[1], size[0])
    fp_clear()


cdef void erfc_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_erfc_of_double(<double*> args[0], <double*> args[1], size[0])
    fp_clear()


cdef void gelu_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill(gradspec_gelu_of_float, gradspec_gelu_block, ROOT, <float*> args[0], <float*> args[1], size[0])


cdef void gelu_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_gelu_of_double(<double*> args[0], <double*> args[1], size[0])
    fp_clear()


cdef void gelu_slope_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_gelu_slope_of_float(<float*> args[0], <float*> args[1], size[0])
    fp_clear()


cdef void gelu_slope_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_gelu_slope_of_double(<double*> args[0], <double*> args[1], size[0])
    fp_clear()


cdef void erfinv_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    erfinv_fill(<float*> args[0], <float*> args[1], size[0])


cdef void erfinv_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    erfinv_fill(<double*> args[0], <double*> args[1], size[0])


cdef void erfinv_fill(real* x, real* y, npy_intp n) noexcept nogil:
    """Run the loop, then fix the ends of the interval and numbers beyond them."""
    cdef npy_intp i
    if real is float:
        gradspec_erfinv_of_float(x, y, n)
    else:
        gradspec_erfinv_of_double(x, y, n)
    for i in range(n):
        if not (-1 < x[i] < 1):
            y[i] = x[i] * INFINITY if x[i] == 1 or x[i] == -1 else NAN
    fp_clear()


cdef ndarray as_plain(object x, object dtypes):
    """An array of one of the dtypes in the layout of the loops; None for any other argument."""
    if not isinstance(x, np.ndarray) or x.dtype.newbyteorder("=") not in dtypes:
        return None
    return np.array(x, x.dtype.newbyteorder("="), order="C")


def settled(y, x, complement):
    """`y`, with the limit where squaring a complex `x` subtracted equal infinities."""
    if y.dtype.kind != "c":
        return y
    limit = np.copysign(1, np.real(x))
    lost = np.isnan(y) & (np.abs(np.real(x)) == np.abs(np.imag(x))) & np.isfinite(x)
    return np.where(lost, 1 - limit if complement else limit, y)


_erf_of_one, _erfc_of_one = one_by_one(math.erf), one_by_one(math.erfc)
cdef tuple OWN = (np.dtype(np.float32), np.dtype(np.float64)) if _fused else (np.dtype(np.float32),)


def _erf(x):
    """Error function."""
    x_ = as_plain(x, OWN)
    return settled(scipy_function("erf", _erf_of_one)(x), x, 0) if x_ is None else erf(x_)


def _erfc(x):
    """Complementary error function."""
    x_ = as_plain(x, OWN)
    return settled(scipy_function("erfc", _erfc_of_one)(x), x, 1) if x_ is None else erfc(x_)


def _erfinv(x):
    """Inverse error function. Needs SciPy for dtypes without a loop."""
    x_ = as_plain(x, OWN) if _fused else None
    return scipy_function("erfinv")(x) if x_ is None else erfinv(x_)


def _gelu_exact(x):
    """``x`` times the normal distribution function."""
    x_ = as_plain(x, OWN)
    if x_ is not None:
        return gelu_exact(x_)
    above = np.maximum(x, -50)  # below -50 the result is 0, also for -inf
    return above * (_erfc(-ROOT * above) * 0.5)


def _gelu_slope(x):
    """The normal distribution function plus ``x`` times its density."""
    x_ = as_plain(x, OWN) if _fused else None
    if x_ is not None:
        return gelu_slope(x_)
    near = np.clip(x, -50, 50)  # beyond, the result is 0 or 1
    return _erfc(-ROOT * near) * 0.5 + near * np.exp(-0.5 * np.square(near)) * (1 / math.sqrt(2 * math.pi))


erf = pointwise(_erf, ("x",), [erf_float, erf_double, NULL, NULL])
erfc = pointwise(_erfc, ("x",), [erfc_float, erfc_double, NULL, NULL])
erfinv = pointwise(_erfinv, ("x",), [erfinv_float, erfinv_double, NULL, NULL])
gelu_exact = pointwise(_gelu_exact, ("x",), [gelu_float, gelu_double, NULL, NULL])
gelu_slope = pointwise(_gelu_slope, ("x",), [gelu_slope_float, gelu_slope_double, NULL, NULL])
if not _fused:
    (<Ufunc> gelu_exact).loops[1] = (<Ufunc> gelu_slope).loops[1] = (<Ufunc> gelu_slope).loops[0] = NULL
    (<Ufunc> erf).loops[1] = (<Ufunc> erfc).loops[1] = (<Ufunc> erfinv).loops[1] = (<Ufunc> erfinv).loops[0] = NULL
