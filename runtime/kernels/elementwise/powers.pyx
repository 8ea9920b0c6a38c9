"""Powers with one whole exponent for all elements, by products.

Owns loops for float32 and float64 and exponents up to 64.  float32 is computed in double; float64 in pairs of numbers, the
product and what it was rounded by, so that the result is off by little more than half of its last digit.  The C library's pow
takes what over- or underflows on the way, and raises the flags; NumPy's loop everything else: of a negative base it calls that
library for each element, which takes a hundred times as long.  The limit is memory.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport npy_intp
from ..loops.copies cimport GRADSPEC_COPIES  # no-cython-lint  (C reads what stands beside it)
from ..loops.flags cimport fp_clear
from ..program.ufunc cimport Ufunc, pointwise

cnp.import_array()

cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>
    #include <string.h>

    enum { GRADSPEC_MOST_EXPONENT = 64, GRADSPEC_POWERS = 256 };  /* the latter at once */

    GRADSPEC_WIDE static void gradspec_powers_float(const float *x, float *y, npy_intp n, int k) {
        double b[GRADSPEC_POWERS], r[GRADSPEC_POWERS];
        int bits = k < 0 ? -k : k;
        for (npy_intp i = 0; i < n; i++) { b[i] = x[i]; r[i] = 1; }
        for (;; bits >>= 1) {
            if (bits & 1) for (npy_intp i = 0; i < n; i++) r[i] *= b[i];
            if (bits <= 1) break;
            for (npy_intp i = 0; i < n; i++) b[i] *= b[i];
        }
        if (k < 0) for (npy_intp i = 0; i < n; i++) r[i] = 1 / r[i];
        for (npy_intp i = 0; i < n; i++) y[i] = (float) r[i];
    }

    /* (h, l) *= (a, s): sums of two numbers, of which the second is what the first was rounded by. */
    #define GRADSPEC_TIMES(h, l, a, s) { \\
        const double p = h * a, e = fma(h, a, -p) + (h * s + l * a), t = p + e; \\
        l = e - (t - p); \\
        h = t; \\
    }
    GRADSPEC_WIDE static void gradspec_powers_double(const double *x, double *y, npy_intp n, int k) {
        double b[GRADSPEC_POWERS], s[GRADSPEC_POWERS], r[GRADSPEC_POWERS], l[GRADSPEC_POWERS];
        int bits = k < 0 ? -k : k;
        for (npy_intp i = 0; i < n; i++) { b[i] = x[i]; s[i] = 0; r[i] = 1; l[i] = 0; }
        for (;; bits >>= 1) {
            if (bits & 1) for (npy_intp i = 0; i < n; i++) GRADSPEC_TIMES(r[i], l[i], b[i], s[i])
            if (bits <= 1) break;
            for (npy_intp i = 0; i < n; i++) { const double a = b[i], t = s[i]; GRADSPEC_TIMES(b[i], s[i], a, t) }
        }
        if (k < 0) {
            for (npy_intp i = 0; i < n; i++) {
                const double q = 1 / r[i];
                y[i] = q + q * (fma(-q, r[i], 1) - q * l[i]);
            }
        } else for (npy_intp i = 0; i < n; i++) y[i] = r[i];
    }

    /* Zeros with their signs; whether the products have lost anything, and what that is: as integers, all at once. */
    #define GRADSPEC_MEND(T, BITS, SIGN, LEAST, MOST) \\
        GRADSPEC_WIDE static int gradspec_lost_##T(const T *restrict x, T *restrict y, npy_intp n, int k) { \\
            const BITS odd = k & 1 ? ~(BITS) 0 : 0, positive = k > 0 ? ~(BITS) 0 : 0; \\
            BITS any = 0; \\
            for (npy_intp i = 0; i < n; i++) { \\
                BITS a, p, zero, size; \\
                memcpy(&a, x + i, sizeof(T)); \\
                memcpy(&p, y + i, sizeof(T)); \\
                zero = (a & ~SIGN) == 0 ? positive : 0; \\
                p = (p & ~zero) | (a & odd & zero); \\
                size = p & ~SIGN; \\
                any |= (size - LEAST < MOST - LEAST ? 0 : ~(BITS) 0) & ~zero; \\
                memcpy(y + i, &p, sizeof(T)); \\
            } \\
            return any != 0; \\
        } \\
        static void gradspec_mend_##T(const T *x, T *y, npy_intp n, int k) { \\
            for (npy_intp i = 0; i < n; i++) { \\
                BITS size; \\
                memcpy(&size, y + i, sizeof(T)); \\
                if ((size & ~SIGN) - LEAST >= MOST - LEAST && !(x[i] == 0 && k > 0)) y[i] = (T) pow(x[i], k); \\
            } \\
        }
    /* From the smallest normal number of float32, and 1e-290, to the largest, and 1e290. */
    GRADSPEC_MEND(float, uint32_t, UINT32_C(0x80000000), UINT32_C(0x00800000), UINT32_C(0x7f7fffff))
    GRADSPEC_MEND(double, uint64_t, UINT64_C(0x8000000000000000), UINT64_C(0x03d0000000000000), UINT64_C(0x7c20000000000000))
    """
    enum: GRADSPEC_MOST_EXPONENT, GRADSPEC_POWERS
    void gradspec_powers_float(const float*, float*, npy_intp, int) noexcept nogil
    void gradspec_powers_double(const double*, double*, npy_intp, int) noexcept nogil
    int gradspec_lost_float(const float*, float*, npy_intp, int) noexcept nogil
    int gradspec_lost_double(const double*, double*, npy_intp, int) noexcept nogil
    void gradspec_mend_float(const float*, float*, npy_intp, int) noexcept nogil
    void gradspec_mend_double(const double*, double*, npy_intp, int) noexcept nogil

ctypedef fused real:
    float
    double

cdef Ufunc _power = Ufunc(np.power, "pow")


cdef inline int whole(real value) noexcept nogil:
    """The exponent if products are to be taken; else 0."""
    cdef int k
    if not -GRADSPEC_MOST_EXPONENT <= value <= GRADSPEC_MOST_EXPONENT:
        return 0
    k = <int> value
    return k if k == value else 0


cdef inline void by_products(real* x, real* y, npy_intp n, int k) noexcept nogil:
    cdef npy_intp start = 0, some
    cdef int lost = 0
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
        fp_clear()  # of what is about to be mended
        if real is float:
            gradspec_mend_float(x, y, n, k)
        else:
            gradspec_mend_double(x, y, n, k)


cdef void power_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    cdef int k = whole((<float*> args[1])[0]) if steps[1] == 0 and steps[0] != 0 else 0
    if k:
        by_products(<float*> args[0], <float*> args[2], size[0], k)
    else:
        _power.loops[0](args, size, steps, _power.loop_data[0])


cdef void power_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    cdef int k = whole((<double*> args[1])[0]) if steps[1] == 0 and steps[0] != 0 else 0
    if k:
        by_products(<double*> args[0], <double*> args[2], size[0], k)
    else:
        _power.loops[1](args, size, steps, _power.loop_data[1])


power = pointwise(np.power, ("a", "b"), [power_float, power_double, NULL, NULL])
(<Ufunc> power).loops[2], (<Ufunc> power).loops[3] = _power.loops[2], _power.loops[3]
(<Ufunc> power).loop_data[2], (<Ufunc> power).loop_data[3] = _power.loop_data[2], _power.loop_data[3]
