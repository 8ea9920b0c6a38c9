/* Floating-point flags of loops, in NumPy's numbering, collected from several threads. */
#ifndef GRADSPEC_BLOCKS_H
#define GRADSPEC_BLOCKS_H

#include <fenv.h>

/* Convert the flags of gradspec/kernels/loops/flags.h: bits of the processor's control word, or of <fenv.h>. */
static inline int gradspec_numpy_flags(int flags) {
#if defined(__x86_64__) && defined(__GNUC__)
    return ((flags & 4) ? 1 : 0) | ((flags & 8) ? 2 : 0) | ((flags & 1) ? 8 : 0);
#else
    return ((flags & FE_DIVBYZERO) ? 1 : 0) | ((flags & FE_OVERFLOW) ? 2 : 0) | ((flags & FE_INVALID) ? 8 : 0);
#endif
}

static inline void gradspec_note(int* flags, int raised) {
#if defined(__GNUC__)
    __atomic_fetch_or(flags, raised, __ATOMIC_RELAXED);
#else
    *flags |= raised;
#endif
}

#endif
