"""Maxima and sums of contiguous numbers, in vectors as wide as the processor has.

The order of a sum depends on its length alone: pairwise, as accurate as NumPy's.
"""

from ...support.capi cimport npy_intp

cdef extern from "gradspec/kernels/loops/wide.h":
    float gradspec_highest_float(float*, npy_intp) noexcept nogil
    double gradspec_highest_double(double*, npy_intp) noexcept nogil
    float gradspec_total_float(float*, float*, float*, float, float, npy_intp) noexcept nogil
    double gradspec_total_double(double*, double*, double*, double, double, npy_intp) noexcept nogil
    float gradspec_excess_float(float*, float*, float*, float, float, npy_intp) noexcept nogil
    double gradspec_excess_double(double*, double*, double*, double, double, npy_intp) noexcept nogil
    float gradspec_moment_float(float*, float*, float*, float, float, npy_intp) noexcept nogil
    double gradspec_moment_double(double*, double*, double*, double, double, npy_intp) noexcept nogil
    float gradspec_dot_float(float*, float*, float*, float, float, npy_intp) noexcept nogil
    double gradspec_dot_double(double*, double*, double*, double, double, npy_intp) noexcept nogil
    float gradspec_product_float(float*, float*, float*, float, float, npy_intp) noexcept nogil
    float gradspec_triple_float(float*, float*, float*, float, float, npy_intp) noexcept nogil
    double gradspec_product_double(double*, double*, double*, double, double, npy_intp) noexcept nogil
    double gradspec_triple_double(double*, double*, double*, double, double, npy_intp) noexcept nogil

ctypedef fused real:
    float
    double


cdef inline real highest(real* x, npy_intp n) noexcept nogil:
    """The maximum; a NaN raises the flag for an invalid operation."""
    if real is float:
        return gradspec_highest_float(x, n)
    else:
        return gradspec_highest_double(x, n)


cdef inline real total(real* x, npy_intp n) noexcept nogil:
    """The sum, pairwise from a few hundred numbers on."""
    if real is float:
        return gradspec_total_float(x, x, x, 0, 0, n)
    else:
        return gradspec_total_double(x, x, x, 0, 0, n)


cdef inline real excess(real* x, real centre, npy_intp n) noexcept nogil:
    """The sum of distances from a centre."""
    if real is float:
        return gradspec_excess_float(x, x, x, centre, 0, n)
    else:
        return gradspec_excess_double(x, x, x, centre, 0, n)


cdef inline real moment(real* x, real centre, npy_intp n) noexcept nogil:
    """The sum of squared distances from a centre."""
    if real is float:
        return gradspec_moment_float(x, x, x, centre, 0, n)
    else:
        return gradspec_moment_double(x, x, x, centre, 0, n)


cdef inline real dot(real* a, real* b, npy_intp n) noexcept nogil:
    """The sum of products."""
    if real is float:
        return gradspec_dot_float(a, b, b, 0, 0, n)
    else:
        return gradspec_dot_double(a, b, b, 0, 0, n)


cdef inline real product(real* a, real* b, real centre, real rate, npy_intp n) noexcept nogil:
    """The sum of products with ``(b - centre) * rate``."""
    if real is float:
        return gradspec_product_float(a, b, b, centre, rate, n)
    else:
        return gradspec_product_double(a, b, b, centre, rate, n)


cdef inline real triple(real* a, real* b, real* c, real centre, real rate, npy_intp n) noexcept nogil:
    """The sum of products of `a`, `b` and ``(c - centre) * rate``."""
    if real is float:
        return gradspec_triple_float(a, b, c, centre, rate, n)
    else:
        return gradspec_triple_double(a, b, c, centre, rate, n)
