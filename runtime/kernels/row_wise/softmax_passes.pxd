"""The passes of softmax over a row other than exponentials and sums, in vectors as wide as the processor has."""

from ...support.capi cimport npy_intp
from ..loops.wide cimport real

cdef extern from "gradspec/kernels/row_wise/softmax_passes.h":
    cdef enum:
        RAISE "GRADSPEC_RAISE"
        LESS "GRADSPEC_LESS"
        COPY "GRADSPEC_COPY"
        ADD "GRADSPEC_ADD"
        ADD_PRODUCT "GRADSPEC_ADD_PRODUCT"
        TAKE_OFF "GRADSPEC_TAKE_OFF"
        MULTIPLY "GRADSPEC_MULTIPLY"
        DIVIDE "GRADSPEC_DIVIDE"
    void gradspec_columns_float(
        int, const float*, npy_intp, const float*, npy_intp, float*, npy_intp, npy_intp, npy_intp) noexcept nogil
    void gradspec_columns_double(
        int, const double*, npy_intp, const double*, npy_intp, double*, npy_intp, npy_intp, npy_intp) noexcept nogil
    void gradspec_less_both_float(const float*, float, float, float*, npy_intp) noexcept nogil
    void gradspec_less_both_double(const double*, double, double, double*, npy_intp) noexcept nogil
    void gradspec_shares_float(float*, float, npy_intp) noexcept nogil
    void gradspec_shares_double(double*, double, npy_intp) noexcept nogil
    void gradspec_weighed_float(const float*, const float*, float, float*, npy_intp) noexcept nogil
    void gradspec_weighed_double(const double*, const double*, double, double*, npy_intp) noexcept nogil


cdef inline void columns(
    int task, real* a, npy_intp p, real* b, npy_intp q, real* y, npy_intp r, npy_intp rows, npy_intp n
) noexcept nogil:
    """One pass over n columns; the rows of an operand are some elements apart, or 0 if it has one row."""
    if real is float:
        gradspec_columns_float(task, a, p, b, q, y, r, rows, n)
    else:
        gradspec_columns_double(task, a, p, b, q, y, r, rows, n)


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
