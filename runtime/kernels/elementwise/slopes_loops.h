/* Slopes of atan and asinh, and the direction and the slope of an angle, without overflow of squares: floats are computed in
 * double. */
#ifndef GRADSPEC_SLOPES_LOOPS_H
#define GRADSPEC_SLOPES_LOOPS_H

#include "../loops/copies.h"
#include "../loops/typed.h"
#include <math.h>
#include <numpy/npy_common.h>

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

#define T float
#include "slopes_loops_template.h"
#undef T
#define T double
#include "slopes_loops_template.h"
#undef T

#endif
