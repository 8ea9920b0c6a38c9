"""Powers with one integer or half-integer exponent for all elements, by products and square roots.

Loops for float32 and float64, for integer exponents up to 64, and for 0.5 and -0.5.  The exponents 2 and -1 are one product or
quotient, a cube is two products and their rounding errors.  For other exponents float32 is computed in double; float64 in pairs
of numbers, the product and its rounding error, so that the error of the result is little more than half an ulp.  So is one over
a root.  If an intermediate value over- or underflows, the C library's pow computes the element and raises the flags.  NumPy's
loop handles all other exponents: for a negative base it calls the C library for each element, which takes a hundred times as
long.  The loops are bound by memory.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport npy_intp
from ..loops.flags cimport fp_clear
from ..fusion_engine.ufunc cimport Ufunc, pointwise

__all__ = ["power"]

cnp.import_array()

cdef extern from "gradspec/kernels/elementwise/powers.h":
    enum: GRADSPEC_MOST_EXPONENT, GRADSPEC_POWERS
    bint GRADSPEC_IS_SIMPLE(int) noexcept nogil
    void gradspec_simple_powers_float(const float*, float*, npy_intp, int) noexcept nogil
    void gradspec_simple_powers_double(const double*, double*, npy_intp, int) noexcept nogil
    bint gradspec_endless_powers_float(const float*, float*, npy_intp, float) noexcept nogil
    bint gradspec_endless_powers_double(const double*, double*, npy_intp, double) noexcept nogil
    void gradspec_from_roots_float(const float*, float*, npy_intp, bint) noexcept nogil
    void gradspec_from_roots_double(const double*, double*, npy_intp, bint) noexcept nogil
    void gradspec_powers_float(const float*, float*, npy_intp, int) noexcept nogil
    void gradspec_powers_double(const double*, double*, npy_intp, int) noexcept nogil
    int gradspec_has_fused() noexcept
    int gradspec_cubes_float(const float*, float*, npy_intp) noexcept nogil
    int gradspec_cubes_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_mend_cubes_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_mend_cubes_double(const double*, double*, npy_intp) noexcept nogil
    int gradspec_lost_float(const float*, float*, npy_intp, int) noexcept nogil
    int gradspec_lost_double(const double*, double*, npy_intp, int) noexcept nogil
    void gradspec_mend_float(const float*, float*, npy_intp, int) noexcept nogil
    void gradspec_mend_double(const double*, double*, npy_intp, int) noexcept nogil

ctypedef fused real:
    float
    double

cdef bint _fused = gradspec_has_fused()
cdef Ufunc _power = Ufunc(np.power, "pow")
cdef Ufunc _sqrt = Ufunc(np.sqrt, "sqrt")


cdef inline int whole(real value) noexcept nogil:
    """The exponent if it is an integer in the range of products; else 0."""
    cdef int k
    if not -GRADSPEC_MOST_EXPONENT <= value <= GRADSPEC_MOST_EXPONENT:
        return 0
    k = <int> value
    return k if k == value else 0


cdef inline bint by_roots(real* x, real exponent, real* y, npy_intp n) noexcept nogil:
    """Compute the powers if the exponent is 0.5 or -0.5, and return whether it is; NumPy's square root, block by block."""
    cdef npy_intp start = 0, some
    cdef npy_intp[2] steps = [sizeof(real), sizeof(real)]
    cdef char* args[2]
    cdef bint inverse = exponent < 0
    if exponent != 0.5 and exponent != -0.5:
        return False
    if real is float:
        if gradspec_endless_powers_float(x, y, n, exponent):
            return True
    elif gradspec_endless_powers_double(x, y, n, exponent):
        return True
    while start < n:
        some = min(n - start, <npy_intp> GRADSPEC_POWERS * 8)
        args[0], args[1] = <char*> (x + start), <char*> (y + start)
        if real is float:
            _sqrt.loops[0](args, &some, steps, _sqrt.loop_data[0])
            gradspec_from_roots_float(x + start, y + start, some, inverse)
        else:
            _sqrt.loops[1](args, &some, steps, _sqrt.loop_data[1])
            gradspec_from_roots_double(x + start, y + start, some, inverse)
        start += some
    return True


cdef inline void by_products(real* x, real* y, npy_intp n, int k) noexcept nogil:
    cdef npy_intp start = 0, some
    cdef int lost = 0
    if GRADSPEC_IS_SIMPLE(k):
        if real is float:
            gradspec_simple_powers_float(x, y, n, k)
        else:
            gradspec_simple_powers_double(x, y, n, k)
        return
    if k == 3 and _fused:
        if real is float:
            if gradspec_cubes_float(x, y, n):
                fp_clear()
                gradspec_mend_cubes_float(x, y, n)
        elif gradspec_cubes_double(x, y, n):
            fp_clear()
            gradspec_mend_cubes_double(x, y, n)
        return
    while start < n:
        some = min(n - start, <npy_intp> GRADSPEC_POWERS)
        if real is float:
            gradspec_powers_float(x + start, y + start, some, k)
            lost |= gradspec_lost_float(x + start, y + start, some, k)
        else:
            gradspec_powers_double(x + start, y + start, some, k)
            lost |= gradspec_lost_double(x + start, y + start, some, k)
        start += some
    if lost:
        fp_clear()  # raised by elements that are recomputed below
        if real is float:
            gradspec_mend_float(x, y, n, k)
        else:
            gradspec_mend_double(x, y, n, k)


cdef void power_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    cdef int k = whole((<float*> args[1])[0]) if steps[1] == 0 and steps[0] != 0 else 0
    if k:
        by_products(<float*> args[0], <float*> args[2], size[0], k)
    elif steps[1] != 0 or steps[0] == 0 or not by_roots(<float*> args[0], (<float*> args[1])[0], <float*> args[2], size[0]):
        _power.loops[0](args, size, steps, _power.loop_data[0])


cdef void power_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    cdef int k = whole((<double*> args[1])[0]) if steps[1] == 0 and steps[0] != 0 else 0
    if k:
        by_products(<double*> args[0], <double*> args[2], size[0], k)
    elif steps[1] != 0 or steps[0] == 0 or not by_roots(<double*> args[0], (<double*> args[1])[0], <double*> args[2], size[0]):
        _power.loops[1](args, size, steps, _power.loop_data[1])


power = pointwise(np.power, ("a", "b"), [power_float, power_double, NULL, NULL])
(<Ufunc> power).loops[2], (<Ufunc> power).loops[3] = _power.loops[2], _power.loops[3]
(<Ufunc> power).loop_data[2], (<Ufunc> power).loop_data[3] = _power.loop_data[2], _power.loop_data[3]
