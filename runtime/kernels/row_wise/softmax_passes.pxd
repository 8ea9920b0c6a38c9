"""The passes of softmax over a row other than exponentials and sums, in vectors as wide as the processor has."""

from ...support.capi cimport npy_intp
from ..loops.wide cimport real

cdef extern from "gradspec/kernels/row_wise/softmax_passes.h":
    void gradspec_less_both_float(const float*, float, float, float*, npy_intp) noexcept nogil
    void gradspec_less_both_double(const double*, double, double, double*, npy_intp) noexcept nogil
    void gradspec_shares_float(float*, float, npy_intp) noexcept nogil
    void gradspec_shares_double(double*, double, npy_intp) noexcept nogil
    void gradspec_weighed_float(const float*, const float*, float, float*, npy_intp) noexcept nogil
    void gradspec_weighed_double(const double*, const double*, double, double*, npy_intp) noexcept nogil


cdef inline void less_both(real* x, real first, real second, real* y, npy_intp n) noexcept nogil:
    """y = (x - first) - second."""
    if real is float:
        gradspec_less_both_float(x, first, second, y, n)
    else:
        gradspec_less_both_double(x, first, second, y, n)


cdef inline void over(real* y, real by, npy_intp n) noexcept nogil:
    """y /= by."""
    if real is float:
        gradspec_shares_float(y, by, n)
    else:
        gradspec_shares_double(y, by, n)


cdef inline void weighed(real* share, real* x, real mean, real* y, npy_intp n) noexcept nogil:
    """y = share * (x - mean)."""
    if real is float:
        gradspec_weighed_float(share, x, mean, y, n)
    else:
        gradspec_weighed_double(share, x, mean, y, n)
