/* GRADSPEC_WIDE: for a function with a copy for each vector width; the processor's features select one. */
#ifndef GRADSPEC_COPIES_H
#define GRADSPEC_COPIES_H

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#ifdef GRADSPEC_WITHOUT_AVX512 /* to test the loops for other processors: the option avx512 of meson.options */
#define GRADSPEC_WIDE __attribute__((target_clones("arch=x86-64-v3", "default")))
#define GRADSPEC_COPIES 2
#else
#define GRADSPEC_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define GRADSPEC_COPIES 3
#endif
#else
#define GRADSPEC_WIDE
#define GRADSPEC_COPIES 1
#endif

#if defined(__GNUC__)
#define GRADSPEC_UNUSED __attribute__((unused)) /* not every includer uses it */
#define GRADSPEC_UNROLL _Pragma("GCC unroll 8") /* at most eight steps, in the shortest vectors too */
#else
#define GRADSPEC_UNUSED
#define GRADSPEC_UNROLL
#endif

/* Functions may have an __attribute__((target)). */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define GRADSPEC_HAS_TARGETS
#endif

/* The bytes of the processor's vectors; 0 if the compiler has none. */
GRADSPEC_UNUSED static int gradspec_vectors(void) {
#ifdef GRADSPEC_HAS_TARGETS
    __builtin_cpu_init();
#ifndef GRADSPEC_WITHOUT_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
            && __builtin_cpu_supports("avx512bw"))
        return 64;
#endif
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 32 : 16;
#elif defined(__GNUC__)
    return 16;
#else
    return 0;
#endif
}

/* Before a loop of up to four turns over variables in registers. */
#if defined(__clang__)
#define GRADSPEC_ALL _Pragma("unroll")
#elif defined(__GNUC__)
#define GRADSPEC_ALL _Pragma("GCC unroll 4")
#else
#define GRADSPEC_ALL
#endif

#endif
