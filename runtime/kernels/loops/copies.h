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
#else
#define GRADSPEC_UNUSED
#endif

/* Before a loop of up to four turns over variables in registers. */
#if defined(__clang__)
#define GRADSPEC_ALL _Pragma("unroll")
#elif defined(__GNUC__)
#define GRADSPEC_ALL _Pragma("GCC unroll 4")
#else
#define GRADSPEC_ALL
#endif

#endif
