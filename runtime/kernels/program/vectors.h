/* Loops over vectors for NumPy's universal functions, and which arguments each of them takes. */
#ifndef GRADSPEC_VECTORS_H
#define GRADSPEC_VECTORS_H

#include "../loops/copies.h"
#include "../loops/typed.h"
#include "elementary.h"
#include "elementary_single.h"
#include <stdint.h>
#include <string.h>

#define GRADSPEC_VECTOR_BLOCK 512 /* elements at a time */

typedef void (*gradspec_inner_loop)(char **, const npy_intp *, const npy_intp *, void *);

/* GRADSPEC_FUSED: before a function that is only called where the processor multiplies and adds in one instruction. */
#if GRADSPEC_COPIES > 1
#define GRADSPEC_FUSED GRADSPEC_WIDE
#elif defined(__clang__) && defined(__x86_64__)
#define GRADSPEC_FUSED __attribute__((target("avx2,fma")))
#else
#define GRADSPEC_FUSED
#endif

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

#define T float
#define BITS int32_t
#define MAGNITUDE INT32_C(0x7fffffff)
#include "vectors_template.h"
#undef MAGNITUDE
#undef BITS
#undef T

#define T double
#define BITS int64_t
#define MAGNITUDE INT64_C(0x7fffffffffffffff)
#include "vectors_template.h"
#undef MAGNITUDE
#undef BITS
#undef T

#define OVER(T, name, function) \
    GRADSPEC_FUSED static void gradspec_##name##_##T(const T *x, T *y, npy_intp n, void *unused) { \
        (void) unused; \
        for (npy_intp i = 0; i < n; i++) y[i] = (T) function(x[i]); \
    }
#define OVER_BOTH(name) OVER(float, name, gradspec_single_##name) OVER(double, name, gradspec_##name)
OVER_BOTH(exp)
OVER_BOTH(exp2)
OVER_BOTH(expm1)
OVER_BOTH(log)
OVER_BOTH(log2)
OVER_BOTH(log10)
OVER_BOTH(log1p)
OVER_BOTH(sinh)
OVER_BOTH(cosh)
OVER_BOTH(tanh)
OVER_BOTH(sin)
OVER_BOTH(cos)
OVER_BOTH(tan)
OVER(float, asin, gradspec_single_asin)
OVER(float, acos, gradspec_single_acos)
OVER(float, atan, gradspec_single_atan)
OVER(float, asinh, gradspec_single_asinh)
OVER(float, acosh, gradspec_single_acosh)
OVER(float, atanh, gradspec_single_atanh)
OVER(float, cbrt, gradspec_single_cbrt)
#undef OVER_BOTH
#undef OVER

#define GRADSPEC_BOTH(name) gradspec_##name##_float, gradspec_##name##_double
#define GRADSPEC_SINGLE(name) gradspec_##name##_float, NULL

/* NumPy's names, our loops, NULL where there is none, and their arguments: up to where results are normal and finite, or known.
 * A largest argument of -1 says that there is none. */
static const struct {
    const char *name;
    void (*single)(const float *, float *, npy_intp, void *);
    void (*twice)(const double *, double *, npy_intp, void *);
    double above[2], below[2];          /* the least and the largest; of negative ones the magnitudes */
    double single_above, single_below;  /* the largest floats */
} gradspec_own[] = {
    {"exp", GRADSPEC_BOTH(exp), {0, 709.78}, {0, INFINITY}, 88.72, INFINITY},
    {"exp2", GRADSPEC_BOTH(exp2), {0, 1023.49}, {0, 1021}, 127.99, 160},
    {"expm1", GRADSPEC_BOTH(expm1), {0, 709}, {0, INFINITY}, 88.72, INFINITY},
    {"log", GRADSPEC_BOTH(log), {0x1p-1022, 0x1p1023}, {0, -1}, 0x1.fffffep127, -1},
    {"log2", GRADSPEC_BOTH(log2), {0x1p-1022, 0x1p1023}, {0, -1}, 0x1.fffffep127, -1},
    {"log10", GRADSPEC_BOTH(log10), {0x1p-1022, 0x1p1023}, {0, -1}, 0x1.fffffep127, -1},
    {"log1p", GRADSPEC_BOTH(log1p), {0, 0x1p1023}, {0, 0x1.fffffffffffffp-1}, 0x1.fffffep127, 0x1.fffffep-1},
    {"sinh", GRADSPEC_BOTH(sinh), {0, 708}, {0, 708}, 89.41, 89.41},
    {"cosh", GRADSPEC_BOTH(cosh), {0, 708}, {0, 708}, 89.41, 89.41},
    {"tanh", GRADSPEC_BOTH(tanh), {0, INFINITY}, {0, INFINITY}, INFINITY, INFINITY},
    {"sin", GRADSPEC_BOTH(sin), {0, 0x1p30}, {0, 0x1p30}, 0x1p30, 0x1p30},
    {"cos", GRADSPEC_BOTH(cos), {0, 0x1p30}, {0, 0x1p30}, 0x1p30, 0x1p30},
    {"tan", GRADSPEC_BOTH(tan), {0, 0x1p30}, {0, 0x1p30}, 0x1p30, 0x1p30},
    {"arcsin", GRADSPEC_SINGLE(asin), {0, 1}, {0, 1}, 1, 1},
    {"arccos", GRADSPEC_SINGLE(acos), {0, 1}, {0, 1}, 1, 1},
    {"arctan", GRADSPEC_SINGLE(atan), {0, INFINITY}, {0, INFINITY}, INFINITY, INFINITY},
    {"arcsinh", GRADSPEC_SINGLE(asinh), {0, INFINITY}, {0, INFINITY}, 0x1.fffffep127, 0x1.fffffep127},
    {"arccosh", GRADSPEC_SINGLE(acosh), {1, INFINITY}, {0, -1}, 0x1.fffffep127, -1},
    {"arctanh", GRADSPEC_SINGLE(atanh), {0, 1}, {0, 1}, 0x1.fffffep-1, 0x1.fffffep-1},
    {"cbrt", GRADSPEC_SINGLE(cbrt), {0x1p-1022, INFINITY}, {0x1p-1022, INFINITY}, 0x1.fffffep127, 0x1.fffffep127},
};

#define GRADSPEC_OWN_COUNT ((int) (sizeof gradspec_own / sizeof *gradspec_own))

/* Tell an inner loop of one of these; 0 where there is none. */
static int gradspec_take_float(gradspec_vector_loop_float *loop, int own) {
    const double *above = gradspec_own[own].above, *below = gradspec_own[own].below;
    loop->vectors = gradspec_own[own].single;
    loop->harmless = above[0] < 1 ? 0.5f : 1;
    gradspec_set_range_float(loop, above[0] == 0x1p-1022 ? 0x1p-149f : (float) above[0], (float) gradspec_own[own].single_above,
                             below[0] == 0x1p-1022 ? 0x1p-149f : (float) below[0], (float) gradspec_own[own].single_below);
    return loop->vectors != NULL;
}

static int gradspec_take_double(gradspec_vector_loop_double *loop, int own) {
    const double *above = gradspec_own[own].above, *below = gradspec_own[own].below;
    loop->vectors = gradspec_own[own].twice;
    loop->harmless = above[0] < 1 ? 0.5 : 1;
    gradspec_set_range_double(loop, above[0], above[1], below[0], below[1]);
    return loop->vectors != NULL;
}

#endif
