"""Floating-point flags: what NumPy looks at after a loop, and then warns of as `numpy.errstate` says."""

cdef extern from *:
    """
    #if defined(__x86_64__) || defined(_M_X64)
    #include <xmmintrin.h>
    /* Invalid, divide by zero, overflow. */
    static inline int fp_raised(void) { return (int)(_mm_getcsr() & 0x0D); }
    static inline void fp_clear(void) { unsigned s = _mm_getcsr(); if (s & 0x0D) _mm_setcsr(s & ~0x0Du); }
    #else
    #include <fenv.h>
    static inline int fp_raised(void) { return fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW); }
    static inline void fp_clear(void) { feclearexcept(FE_ALL_EXCEPT); }
    #endif
    """
    int fp_raised() noexcept nogil
    void fp_clear() noexcept nogil
