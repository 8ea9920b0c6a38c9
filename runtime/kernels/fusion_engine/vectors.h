/* Vector loops for NumPy's ufuncs, and the range of arguments for each of them. */
#ifndef GRADSPEC_VECTORS_H
#define GRADSPEC_VECTORS_H

#include "../loops/typed.h"
#include "elementary.h"
#include "elementary_float.h"
#include "elementary_inverse.h"
#include "elementary_single.h"
#include "fused.h"
#include <stdint.h>
#include <string.h>

#define GRADSPEC_VECTOR_BLOCK 512 /* elements at a time */

typedef void (*gradspec_inner_loop)(char **, const npy_intp *, const npy_intp *, void *);

#define T float
#define BITS int32_t
#define NATURAL uint32_t
#define MAGNITUDE INT32_C(0x7fffffff)
#include "vectors_template.h"
#include "vectors_pair_template.h"
#undef MAGNITUDE
#undef NATURAL
#undef BITS
#undef T

#define T double
#define BITS int64_t
#define NATURAL uint64_t
#define MAGNITUDE INT64_C(0x7fffffffffffffff)
#include "vectors_template.h"
#include "vectors_pair_template.h"
#undef MAGNITUDE
#undef NATURAL
#undef BITS
#undef T

#define OVER(T, name, function) \
    GRADSPEC_FUSED static void gradspec_##name##_##T(const T *x, T *y, npy_intp n, void *unused) { \
        (void) unused; \
        for (npy_intp i = 0; i < n; i++) y[i] = (T) function(x[i]); \
    }
#define OVER_BOTH(name) OVER(float, name, gradspec_float_##name) OVER(double, name, gradspec_##name)
OVER_BOTH(exp)
OVER_BOTH(exp2)
OVER_BOTH(expm1)
OVER_BOTH(log)
OVER_BOTH(log1p)
OVER_BOTH(tanh)
#undef OVER_BOTH
#define OVER_BOTH(name) OVER(float, name, gradspec_single_##name) OVER(double, name, gradspec_##name)
OVER_BOTH(log2)
OVER_BOTH(log10)
OVER_BOTH(sinh)
OVER_BOTH(cosh)
OVER_BOTH(sin)
OVER_BOTH(cos)
OVER_BOTH(tan)
OVER_BOTH(asin)
OVER_BOTH(acos)
OVER_BOTH(atan)
OVER_BOTH(asinh)
OVER_BOTH(acosh)
OVER_BOTH(atanh)
OVER_BOTH(cbrt)
#undef OVER_BOTH
#undef OVER

/* exp(x - most) for numbers whose maximum is most, so that no result is extreme. */
GRADSPEC_FUSED static void gradspec_exp_less(const float *x, float most, float *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = gradspec_float_exp(x[i] - most);
}

#define OVER(T, name, function) \
    GRADSPEC_FUSED static void gradspec_##name##_##T(const T *a, const T *b, T *y, npy_intp n) { \
        for (npy_intp i = 0; i < n; i++) y[i] = (T) function(a[i], b[i]); \
    }
OVER(float, hypot, gradspec_single_hypot)
OVER(double, hypot, gradspec_hypot)
OVER(float, atan2, gradspec_single_atan2)
OVER(double, atan2, gradspec_atan2)
OVER(float, floor_divide, gradspec_floor_divide)
OVER(double, floor_divide, gradspec_floor_divide)
#undef OVER

#define GRADSPEC_BOTH(name) gradspec_##name##_float, gradspec_##name##_double

#define GRADSPEC_TRIPLE(name) GRADSPEC_BOTH(name), name

/* Other floats: the C library's function of doubles, rounded once, with the flags that this raises.  NumPy's loop for floats has
 * errors of up to 3 ulp if the processor has AVX-512. */
static void gradspec_rounded_loop(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    double (*function)(double) = *(double (**)(double)) data;
    for (npy_intp i = 0; i < *size; i++)
        *(float *) (args[1] + i * steps[1]) = (float) function(*(const float *) (args[0] + i * steps[0]));
}

/* NumPy's names, our loops, the C library's function, and the range of our loops: arguments with results that are normal and
 * finite, or known.  A largest argument of -1 is no bound. */
static const struct {
    const char *name;
    void (*single)(const float *, float *, npy_intp, void *);
    void (*twice)(const double *, double *, npy_intp, void *);
    double (*function)(double);
    double above[2], below[2];          /* the least and the largest argument; for negative ones the magnitudes */
    double single_range[3];             /* for floats: the least magnitude, the largest, and the largest of negative ones */
    int left;                           /* whether NumPy's loop of doubles for AVX-512 is quicker, and within 1 ulp */
} gradspec_own[] = {
    {"exp", GRADSPEC_TRIPLE(exp), {0, 709.78}, {0, INFINITY}, {0, 88.72, INFINITY}, 1},
    {"exp2", GRADSPEC_TRIPLE(exp2), {0, 1023.49}, {0, 1021}, {0, 127.99, 160}, 1},
    {"expm1", GRADSPEC_TRIPLE(expm1), {0, 709}, {0, INFINITY}, {0, 88.37, INFINITY}, 1},
    {"log", GRADSPEC_TRIPLE(log), {0x1p-1022, 0x1p1023}, {0, -1}, {0x1p-126, 0x1.fffffep127, -1}, 1},
    {"log2", GRADSPEC_TRIPLE(log2), {0x1p-1022, 0x1p1023}, {0, -1}, {0x1p-149, 0x1.fffffep127, -1}, 1},
    {"log10", GRADSPEC_TRIPLE(log10), {0x1p-1022, 0x1p1023}, {0, -1}, {0x1p-149, 0x1.fffffep127, -1}, 1},
    {"log1p", GRADSPEC_TRIPLE(log1p), {0, 0x1p1023}, {0, 0x1.fffffffffffffp-1}, {0, 0x1p126, 0x1.fffffep-1}, 1},
    {"sinh", GRADSPEC_TRIPLE(sinh), {0, 708}, {0, 708}, {0, 89.41, 89.41}, 1},
    {"cosh", GRADSPEC_TRIPLE(cosh), {0, 708}, {0, 708}, {0, 89.41, 89.41}, 1},
    {"tanh", GRADSPEC_TRIPLE(tanh), {0, INFINITY}, {0, INFINITY}, {0, INFINITY, INFINITY}, 0},
    {"sin", GRADSPEC_TRIPLE(sin), {0, 0x1p30}, {0, 0x1p30}, {0, 0x1p30, 0x1p30}, 0},
    {"cos", GRADSPEC_TRIPLE(cos), {0, 0x1p30}, {0, 0x1p30}, {0, 0x1p30, 0x1p30}, 0},
    {"tan", GRADSPEC_TRIPLE(tan), {0, 0x1p30}, {0, 0x1p30}, {0, 0x1p30, 0x1p30}, 1},
    {"arcsin", GRADSPEC_TRIPLE(asin), {0x1p-300, 1}, {0x1p-300, 1}, {0, 1, 1}, 1},
    {"arccos", GRADSPEC_TRIPLE(acos), {0x1p-300, 1}, {0x1p-300, 1}, {0, 1, 1}, 1},
    {"arctan", GRADSPEC_TRIPLE(atan), {0x1p-300, 0x1p1022}, {0x1p-300, 0x1p1022}, {0, 0x1.fffffep127, 0x1.fffffep127}, 1},
    {"arcsinh", GRADSPEC_TRIPLE(asinh), {0x1p-300, 0x1p500}, {0x1p-300, 0x1p500}, {0, 0x1.fffffep127, 0x1.fffffep127}, 1},
    {"arccosh", GRADSPEC_TRIPLE(acosh), {1, 0x1p500}, {0, -1}, {1, 0x1.fffffep127, -1}, 1},
    {"arctanh", GRADSPEC_TRIPLE(atanh), {0x1p-300, 0x1.fffffffffffffp-1}, {0x1p-300, 0x1.fffffffffffffp-1},
     {0, 0x1.fffffep-1, 0x1.fffffep-1}, 1},
    {"cbrt", GRADSPEC_TRIPLE(cbrt), {0x1p-1022, 0x1p1022}, {0x1p-1022, 0x1p1022}, {0x1p-149, 0x1.fffffep127, 0x1.fffffep127}, 1},
};

#define GRADSPEC_OWN_COUNT ((int) (sizeof gradspec_own / sizeof *gradspec_own))

/* Functions of two operands, and the least and the largest magnitude for each. */
static const struct {
    const char *name;
    void (*single)(const float *, const float *, float *, npy_intp);
    void (*twice)(const double *, const double *, double *, npy_intp);
    float single_first[2], single_second[2];
    double first[2], second[2];
    int exact;                          /* whether they have exactly NumPy's bits */
} gradspec_own_pairs[] = {
    {"hypot", GRADSPEC_BOTH(hypot), {0, 0x1p126f}, {0, 0x1p126f}, {0x1p-400, 0x1p500}, {0x1p-400, 0x1p500}, 0},
    {"arctan2", GRADSPEC_BOTH(atan2), {0x1p-50f, 0x1p50f}, {0x1p-50f, 0x1p50f}, {0x1p-150, 0x1p150}, {0x1p-150, 0x1p150}, 0},
    {"floor_divide", GRADSPEC_BOTH(floor_divide), {0x1p-30f, 0x1p12f}, {0x1p-10f, 0x1p12f}, {0x1p-900, 0x1p24}, {0x1p-24, 0x1p24}, 1},
    {"remainder", GRADSPEC_BOTH(remainder), {0x1p-120f, 0x1p24f}, {0x1p-24f, 0x1p24f}, {0x1p-900, 0x1p24}, {0x1p-24, 0x1p24}, 1},
};

#define GRADSPEC_OWN_PAIR_COUNT ((int) (sizeof gradspec_own_pairs / sizeof *gradspec_own_pairs))

/* Set the data of an inner loop for one of these. */
static void gradspec_take_pair_float(gradspec_pair_loop_float *loop, int own) {
    loop->vectors = gradspec_own_pairs[own].single;
    gradspec_set_magnitudes_float(loop, 0, gradspec_own_pairs[own].single_first[0], gradspec_own_pairs[own].single_first[1]);
    gradspec_set_magnitudes_float(loop, 1, gradspec_own_pairs[own].single_second[0], gradspec_own_pairs[own].single_second[1]);
}

static void gradspec_take_pair_double(gradspec_pair_loop_double *loop, int own) {
    loop->vectors = gradspec_own_pairs[own].twice;
    gradspec_set_magnitudes_double(loop, 0, gradspec_own_pairs[own].first[0], gradspec_own_pairs[own].first[1]);
    gradspec_set_magnitudes_double(loop, 1, gradspec_own_pairs[own].second[0], gradspec_own_pairs[own].second[1]);
}

/* Set the data of an inner loop for a function of one operand. */
static void gradspec_take_float(gradspec_vector_loop_float *loop, int own) {
    const double *single = gradspec_own[own].single_range;
    loop->vectors = gradspec_own[own].single;
    loop->harmless = single[0] < 1 ? 0.5f : 1;
    gradspec_set_range_float(loop, (float) single[0], (float) single[1], (float) single[0], (float) single[2]);
    loop->rest = gradspec_rounded_loop;
    loop->rest_data = (void *) &gradspec_own[own].function;
}

/* NumPy's loop, on contiguous blocks: with other strides it calls the C library, with other digits. */
static void gradspec_numpys_double(const double *x, double *y, npy_intp n, void *data) {
    const gradspec_vector_loop_double *loop = data;
    char *args[2] = {(char *) x, (char *) y};
    const npy_intp steps[2] = {sizeof(double), sizeof(double)};
    loop->rest(args, &n, steps, loop->rest_data);
}

/* Take the loop for all arguments that NumPy has. */
static void gradspec_take_numpys(gradspec_vector_loop_double *loop) {
    loop->vectors = gradspec_numpys_double;
    loop->function = loop;
    loop->bounds = 0;
}

static void gradspec_take_double(gradspec_vector_loop_double *loop, int own) {
    const double *above = gradspec_own[own].above, *below = gradspec_own[own].below;
    loop->vectors = gradspec_own[own].twice;
    loop->harmless = above[0] < 1 ? 0.5 : 1;
    gradspec_set_range_double(loop, above[0], above[1], below[0], below[1]);
}

#endif
