/* Slopes of atan and asinh, and the direction and the slope of an angle, without overflow of squares: floats are computed in
 * double.  Slopes of asin and atanh. */
#ifndef GRADSPEC_SLOPES_LOOPS_H
#define GRADSPEC_SLOPES_LOOPS_H

#include "../loops/copies.h"
#include "../loops/typed.h"
#include <math.h>
#include <numpy/npy_common.h>
#include <stdint.h>
#include <string.h>

static inline double gradspec_slope_of_atan(double x) {
    double size = x < 0 ? -x : x, near = size > 1 ? 1 / size : size, square = near * near;
    return (size > 1 ? square : 1) / (1 + square);
}

static inline double gradspec_slope_of_asinh(double x) {
    double size = x < 0 ? -x : x, near = size > 0x1p30 ? 0 : size;
    return size > 0x1p30 ? 1 / size : 1 / sqrt(1 + near * near);
}

#define OVER(T, name) \
    GRADSPEC_WIDE static void gradspec_##name##_##T(const T *x, T *y, npy_intp n) { \
        for (npy_intp i = 0; i < n; i++) y[i] = (T) gradspec_slope_of_##name(x[i]); \
    }
OVER(float, atan)
OVER(double, atan)
OVER(float, asinh)
OVER(double, asinh)
#undef OVER

/* The expressions of slopes.py, with their bits and flags. */
#define OVER(T, name, slope) \
    GRADSPEC_WIDE static void gradspec_##name##_##T(const T *x, T *y, npy_intp n) { \
        for (npy_intp i = 0; i < n; i++) y[i] = slope; \
    }
OVER(float, asin, 1 / sqrtf((1 - x[i]) * (1 + x[i])))
OVER(double, asin, 1 / sqrt((1 - x[i]) * (1 + x[i])))
OVER(float, atanh, 1 / (1 - x[i]) / (1 + x[i]))
OVER(double, atanh, 1 / (1 - x[i]) / (1 + x[i]))
#undef OVER

/* x / sqrt(h) for a float x, within 2**-37: a guess at 1 / sqrt(h) from the bits of h, improved by two steps of Halley's method.  It
 * takes fewer cycles than a root and a quotient of doubles. */
static inline double gradspec_over_root_float(double x, double h) {
    uint64_t bits;
    double r, e;
    memcpy(&bits, &h, sizeof bits);
    bits = UINT64_C(0x5fe6eb50c7b537a9) - (bits >> 1);
    memcpy(&r, &bits, sizeof r);
    e = 1 - h * r * r;
    r += r * e * (0.5 + 0.375 * e);
    e = 1 - h * r * r;
    return x * (r + r * e * (0.5 + 0.375 * e));
}

static inline double gradspec_over_root_double(double x, double h) {
    return x / sqrt(h);
}

#define T float
#define BITS int32_t
#define MAGNITUDE INT32_MAX
#define LEAST 1
#define MOST INT32_C(0x7f7fffff)
#include "slopes_loops_template.h"
#undef MOST
#undef LEAST
#undef MAGNITUDE
#undef BITS
#undef T

#define T double
#define BITS int64_t
#define MAGNITUDE INT64_MAX
#define LEAST INT64_C(0x22de7c5f127bd87e) /* 1e-140 */
#define MOST INT64_C(0x5d00cb70d24b7379) /* 1e140 */
#include "slopes_loops_template.h"
#undef MOST
#undef LEAST
#undef MAGNITUDE
#undef BITS
#undef T

#endif
