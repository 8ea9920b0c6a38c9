"""The logarithm of the gamma function, and the derivative of digamma.

Loops for float32 and float64.  In single precision both are computed in double, by loops that compilers vectorise; so is trigamma
of doubles, within 1 ulp.  lgamma of doubles is the C library's, on several threads.  Arguments that are not positive and finite
go through the C library or SciPy.  SciPy's functions handle all other dtypes.
"""

from libc.math cimport INFINITY, floor

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport ndarray, npy_intp
from . import scipy_backed
from ..loops.flags cimport fp_clear
from ..fusion_engine.ufunc cimport Ufunc, pointwise

__all__ = ["lgamma", "polygamma"]

cnp.import_array()

cdef extern from "gradspec/kernels/special_functions/gamma_loops.h":
    int gradspec_has_fused() noexcept
    void gradspec_lgamma_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_trigamma_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_trigamma_double(const double*, double*, npy_intp) noexcept nogil
    double gradspec_lgamma_of(double) noexcept nogil

cdef bint _fused = gradspec_has_fused()


cdef inline double one_lgamma(double x) noexcept nogil:
    if x <= 0 and x == floor(x):
        return INFINITY
    return gradspec_lgamma_of(x)


cdef void lgamma_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    cdef float* x = <float*> args[0]
    cdef float* y = <float*> args[1]
    cdef npy_intp i
    gradspec_lgamma_float(x, y, size[0])
    for i in range(size[0]):
        if not (0 < x[i] < INFINITY):
            y[i] = <float> one_lgamma(x[i])
    fp_clear()


cdef void lgamma_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    cdef double* x = <double*> args[0]
    cdef double* y = <double*> args[1]
    cdef npy_intp i
    for i in range(size[0]):
        y[i] = one_lgamma(x[i])
    fp_clear()


cdef void trigamma_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_trigamma_float(<float*> args[0], <float*> args[1], size[0])
    fp_clear()


cdef void trigamma_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_trigamma_double(<double*> args[0], <double*> args[1], size[0])
    fp_clear()


cdef ndarray as_floats(object x):
    """An array in the layout of the loops; None for unsupported dtypes."""
    dtype = np.result_type(x, np.float16).newbyteorder("=")
    return np.array(x, dtype, order="C") if _fused and dtype in (np.float32, np.float64) else None


def _lgamma(x):
    """Logarithm of the modulus of the gamma function."""
    x_ = as_floats(x)
    return scipy_backed.lgamma(x) if x_ is None else lgamma(x_)


def _trigamma(x):
    """Derivative of digamma."""
    x_ = as_floats(x)
    return scipy_backed.polygamma(1, x) if x_ is None else _trigamma_of(x_)


lgamma = pointwise(_lgamma, ("x",), [lgamma_float, lgamma_double, NULL, NULL])
cdef Ufunc _trigamma_of = pointwise(_trigamma, ("x",), [trigamma_float, trigamma_double, NULL, NULL])
if not _fused:
    (<Ufunc> lgamma).loops[0] = (<Ufunc> lgamma).loops[1] = NULL


def polygamma(n, x):
    """Derivative `n` of the digamma function, as `scipy_backed.polygamma`."""
    x_ = as_floats(x) if n == 1 else None
    if x_ is None:
        return scipy_backed.polygamma(n, x)
    least, largest = np.finfo(x_.dtype).tiny ** 0.25, 1e15
    inside = (x_ > least) & (x_ < largest)
    if inside.all():
        return np.asarray(_trigamma_of.unary(x_))
    y = np.asarray(_trigamma_of.unary(np.where(inside, x_, x_.dtype.type(1))))
    y[~inside] = scipy_backed.polygamma(1, x_[~inside])
    return y
