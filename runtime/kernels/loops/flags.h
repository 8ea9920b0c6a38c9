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

enum { FP_INVALID = 0x01, FP_DIVIDE = 0x04, FP_OVERFLOW = 0x08 };

#else
#include <fenv.h>
enum { FP_INVALID = FE_INVALID, FP_DIVIDE = FE_DIVBYZERO, FP_OVERFLOW = FE_OVERFLOW };

static inline int fp_raised(void) {
    return fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
}

static inline void fp_clear(void) {
    feclearexcept(FE_ALL_EXCEPT);
}

#endif

/* Flags as NumPy numbers them. */
static inline int fp_as_numpys(int raised) {
    return (raised & FP_DIVIDE ? 1 : 0) | (raised & FP_OVERFLOW ? 2 : 0) | (raised & FP_INVALID ? 8 : 0);
}
#endif
