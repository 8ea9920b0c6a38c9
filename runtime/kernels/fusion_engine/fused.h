/* GRADSPEC_FUSED: for a function that is only called if the processor has fused multiply-add. */
#ifndef GRADSPEC_FUSED_H
#define GRADSPEC_FUSED_H

#include "../loops/copies.h"

#if GRADSPEC_COPIES > 1
#define GRADSPEC_FUSED GRADSPEC_WIDE
#elif defined(__clang__) && defined(__x86_64__)
#define GRADSPEC_FUSED __attribute__((target("avx2,fma")))
#else
#define GRADSPEC_FUSED
#endif

/* A loop that applies gradspec_float_NAME to an array. */
#define GRADSPEC_OVER_FLOATS(name) \
    GRADSPEC_FUSED static void gradspec_##name##_of_float(const float *x, float *y, npy_intp n) { \
        for (npy_intp i = 0; i < n; i++) y[i] = gradspec_float_##name(x[i]); \
    }

static int gradspec_has_fused(void) {
#if defined(__GNUC__) && defined(__x86_64__) && (GRADSPEC_COPIES > 1 || defined(__clang__))
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#elif defined(__GNUC__) && defined(__aarch64__)
    return 1;
#else
    return 0;
#endif
}

#endif
