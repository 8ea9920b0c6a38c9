"""The maximum of contiguous numbers, and their sums, in vectors as wide as the processor has.

Owns the order of a sum, which depends on its length alone: pairwise, as accurate as NumPy's.
"""

from ...support.capi cimport npy_intp
from .copies cimport GRADSPEC_COPIES

cdef extern from *:
    """
    #ifndef GRADSPEC_UNUSED
    #if defined(__GNUC__)
    #define GRADSPEC_UNUSED __attribute__((unused))  /* by some of those who include it */
    #else
    #define GRADSPEC_UNUSED
    #endif

    #define GRADSPEC_MAX(a, b) ((a) > (b) ? (a) : (b))

    #define GRADSPEC_REDUCTIONS(T) \\
        /* The maximum; a NaN raises the flag for an invalid operation. */ \\
        GRADSPEC_UNUSED GRADSPEC_WIDE static T gradspec_highest_##T(const T *x, npy_intp n) { \\
            T most = x[0]; \\
            npy_intp i = 0, k; \\
            if (n >= 64) { \\
                T best[32]; \\
                for (k = 0; k < 32; k++) best[k] = x[k]; \\
                for (i = 32; i + 32 <= n; i += 32) for (k = 0; k < 32; k++) best[k] = GRADSPEC_MAX(x[i + k], best[k]); \\
                for (k = 0; k < 16; k++) best[k] = GRADSPEC_MAX(best[k + 16], best[k]); \\
                for (k = 0; k < 8; k++) best[k] = GRADSPEC_MAX(best[k + 8], best[k]); \\
                for (k = 0; k < 4; k++) best[k] = GRADSPEC_MAX(best[k + 4], best[k]); \\
                for (k = 0; k < 4; k++) most = GRADSPEC_MAX(best[k], most); \\
            } else if (n >= 16) { \\
                T best[8]; \\
                for (k = 0; k < 8; k++) best[k] = x[k]; \\
                for (i = 8; i + 8 <= n; i += 8) for (k = 0; k < 8; k++) best[k] = GRADSPEC_MAX(x[i + k], best[k]); \\
                for (k = 0; k < 8; k++) most = GRADSPEC_MAX(best[k], most); \\
            } \\
            for (; i < n; i++) most = GRADSPEC_MAX(x[i], most); \\
            return most; \\
        }
    GRADSPEC_REDUCTIONS(float)
    GRADSPEC_REDUCTIONS(double)

    /* The sum of TERM, which reads p[j], q[j], r[j] and c. */
    #define GRADSPEC_SUM(NAME, T, TERM) \\
        GRADSPEC_UNUSED GRADSPEC_WIDE static T gradspec_short_##NAME##_##T( \\
            const T *p, const T *q, const T *r, T c, npy_intp n) { \\
            T sum = 0; \\
            npy_intp i = 0, j, k; \\
            (void) q, (void) r, (void) c; \\
            if (n >= 64) { \\
                T sums[32]; \\
                for (k = 0; k < 32; k++) { j = k; sums[k] = TERM; } \\
                for (i = 32; i + 32 <= n; i += 32) for (k = 0; k < 32; k++) { j = i + k; sums[k] += TERM; } \\
                for (k = 0; k < 16; k++) sums[k] += sums[k + 16]; \\
                for (k = 0; k < 8; k++) sums[k] += sums[k + 8]; \\
                for (k = 0; k < 4; k++) sums[k] += sums[k + 4]; \\
                sum = (sums[0] + sums[2]) + (sums[1] + sums[3]); \\
            } else if (n >= 16) { \\
                T sums[8]; \\
                for (k = 0; k < 8; k++) { j = k; sums[k] = TERM; } \\
                for (i = 8; i + 8 <= n; i += 8) for (k = 0; k < 8; k++) { j = i + k; sums[k] += TERM; } \\
                for (k = 0; k < 4; k++) sums[k] += sums[k + 4]; \\
                sum = (sums[0] + sums[2]) + (sums[1] + sums[3]); \\
            } \\
            for (j = i; j < n; j++) sum += TERM; \\
            return sum; \\
        } \\
        GRADSPEC_UNUSED static T gradspec_##NAME##_##T(const T *p, const T *q, const T *r, T c, npy_intp n) { \\
            npy_intp half = (n / 2 + 31) / 32 * 32; \\
            if (n <= 512) return gradspec_short_##NAME##_##T(p, q, r, c, n); \\
            return gradspec_##NAME##_##T(p, q, r, c, half) \\
                + gradspec_##NAME##_##T(p + half, q + half, r + half, c, n - half); \\
        }
    #define GRADSPEC_SUMS(T) \\
        GRADSPEC_SUM(total, T, p[j]) \\
        GRADSPEC_SUM(excess, T, p[j] - c) \\
        GRADSPEC_SUM(moment, T, (p[j] - c) * (p[j] - c)) \\
        GRADSPEC_SUM(dot, T, p[j] * q[j]) \\
        GRADSPEC_SUM(triple, T, p[j] * q[j] * r[j])
    GRADSPEC_SUMS(float)
    GRADSPEC_SUMS(double)
    #endif
    """
    float gradspec_highest_float(float*, npy_intp) noexcept nogil
    double gradspec_highest_double(double*, npy_intp) noexcept nogil
    float gradspec_total_float(float*, float*, float*, float, npy_intp) noexcept nogil
    double gradspec_total_double(double*, double*, double*, double, npy_intp) noexcept nogil
    float gradspec_excess_float(float*, float*, float*, float, npy_intp) noexcept nogil
    double gradspec_excess_double(double*, double*, double*, double, npy_intp) noexcept nogil
    float gradspec_moment_float(float*, float*, float*, float, npy_intp) noexcept nogil
    double gradspec_moment_double(double*, double*, double*, double, npy_intp) noexcept nogil
    float gradspec_dot_float(float*, float*, float*, float, npy_intp) noexcept nogil
    double gradspec_dot_double(double*, double*, double*, double, npy_intp) noexcept nogil
    float gradspec_triple_float(float*, float*, float*, float, npy_intp) noexcept nogil
    double gradspec_triple_double(double*, double*, double*, double, npy_intp) noexcept nogil

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
        return gradspec_total_float(x, x, x, 0, n)
    else:
        return gradspec_total_double(x, x, x, 0, n)


cdef inline real excess(real* x, real centre, npy_intp n) noexcept nogil:
    """The sum of distances from a centre."""
    if real is float:
        return gradspec_excess_float(x, x, x, centre, n)
    else:
        return gradspec_excess_double(x, x, x, centre, n)


cdef inline real moment(real* x, real centre, npy_intp n) noexcept nogil:
    """The sum of squared distances from a centre."""
    if real is float:
        return gradspec_moment_float(x, x, x, centre, n)
    else:
        return gradspec_moment_double(x, x, x, centre, n)


cdef inline real dot(real* a, real* b, npy_intp n) noexcept nogil:
    """The sum of products."""
    if real is float:
        return gradspec_dot_float(a, b, b, 0, n)
    else:
        return gradspec_dot_double(a, b, b, 0, n)


cdef inline real triple(real* a, real* b, real* c, npy_intp n) noexcept nogil:
    """The sum of products of three."""
    if real is float:
        return gradspec_triple_float(a, b, c, 0, n)
    else:
        return gradspec_triple_double(a, b, c, 0, n)
