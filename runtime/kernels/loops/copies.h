/* GRADSPEC_WIDE: before a function of which there is a copy for each width of vectors, among which the processor chooses. */
#ifndef GRADSPEC_COPIES_H
#define GRADSPEC_COPIES_H

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#ifdef GRADSPEC_WITHOUT_AVX512 /* to see how the loops do elsewhere: the option avx512 of meson.options */
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
#define GRADSPEC_UNUSED __attribute__((unused)) /* by some of those who include it */
#else
#define GRADSPEC_UNUSED
#endif

#endif
