/* Slopes of atan and asinh, the direction and the slope of an angle, where no square overflows: floats are computed in double. */
#ifndef GRADSPEC_SLOPES_LOOPS_H
#define GRADSPEC_SLOPES_LOOPS_H

#include "../loops/copies.h"
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

/* a / hypot(a, b), and b / hypot(a, b)**2, of numbers from `least` on, whose squares are in range; 0 where both are 0. */
#define OVER(T) \
    GRADSPEC_WIDE static void gradspec_direction_##T(const T *a, const T *b, T *y, npy_intp n, npy_intp p, npy_intp q) { \
        for (npy_intp i = 0; i < n; i++) { \
            double s = a[i * p], t = b[i * q], h = s * s + t * t; \
            y[i] = (T) (s / (h == 0 ? 1 : sqrt(h))); \
        } \
    } \
    GRADSPEC_WIDE static void gradspec_angle_slope_##T(const T *a, const T *b, T *y, npy_intp n, npy_intp p, npy_intp q) { \
        for (npy_intp i = 0; i < n; i++) { \
            double s = a[i * p], t = b[i * q], h = s * s + t * t; \
            y[i] = (T) (t / (h == 0 ? 1 : h)); \
        } \
    } \
    /* Whether some element is no number, infinite, or as a double has a square that is not in range. */ \
    GRADSPEC_WIDE static int gradspec_far_##T(const T *x, npy_intp n, double least, double largest) { \
        int found = 0; \
        for (npy_intp i = 0; i < n; i++) { \
            double size = x[i] < 0 ? -(double) x[i] : (double) x[i]; \
            found |= !(((size >= least) & (size <= largest)) | (size == 0)); \
        } \
        return found; \
    }
OVER(float)
OVER(double)
#undef OVER

#endif
