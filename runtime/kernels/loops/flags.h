/* Floating-point flags: invalid, divide by zero, overflow. */
#ifndef GRADSPEC_FLAGS_H
#define GRADSPEC_FLAGS_H

#if defined(__x86_64__) && defined(__GNUC__)
#include <xmmintrin.h>

/* If NumPy raises a flag explicitly, as in exp of float32, the C library may set it in the x87 unit. */
static inline unsigned gradspec_x87(void) {
    unsigned short status;
    __asm__ volatile("fnstsw %0" : "=a"(status));
    return status;
}

static inline int fp_raised(void) {
    return (int) ((_mm_getcsr() | gradspec_x87()) & 0x0D);
}

static inline void fp_clear(void) {
    unsigned s = _mm_getcsr();
    if (s & 0x0D) _mm_setcsr(s & ~0x0Du);
    if (gradspec_x87() & 0x0D) __asm__ volatile("fnclex");
}

#else
#include <fenv.h>

static inline int fp_raised(void) {
    return fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
}

static inline void fp_clear(void) {
    feclearexcept(FE_ALL_EXCEPT);
}

#endif
#endif
