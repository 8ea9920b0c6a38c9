/* Powers with one integer exponent, by products: for float in double, for double in pairs of numbers. */
#ifndef GRADSPEC_POWERS_H
#define GRADSPEC_POWERS_H

#include "../fusion_engine/fused.h"
#include "../loops/copies.h"
#include "../loops/typed.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { GRADSPEC_MOST_EXPONENT = 64, GRADSPEC_POWERS = 256 }; /* the latter: numbers at a time */

/* Exponents for a single product or quotient, which is rounded once. */
#define GRADSPEC_IS_SIMPLE(k) ((k) >= -1 && (k) <= 2)

GRADSPEC_WIDE static void gradspec_powers_float(const float *x, float *y, npy_intp n, int k) {
    double b[GRADSPEC_POWERS], r[GRADSPEC_POWERS];
    int bits = k < 0 ? -k : k;
    if (k == -2) {
        for (npy_intp i = 0; i < n; i++) y[i] = (float) (1 / ((double) x[i] * x[i]));
        return;
    }
    for (npy_intp i = 0; i < n; i++) {
        b[i] = x[i];
        r[i] = 1;
    }
    for (;; bits >>= 1) {
        if (bits & 1)
            for (npy_intp i = 0; i < n; i++) r[i] *= b[i];
        if (bits <= 1) break;
        for (npy_intp i = 0; i < n; i++) b[i] *= b[i];
    }
    if (k < 0)
        for (npy_intp i = 0; i < n; i++) r[i] = 1 / r[i];
    for (npy_intp i = 0; i < n; i++) y[i] = (float) r[i];
}

/* (h, l) *= (a, s): pairs of a number and its rounding error. */
#define GRADSPEC_TIMES(h, l, a, s) \
    { \
        const double p = h * a, e = fma(h, a, -p) + (h * s + l * a), t = p + e; \
        l = e - (t - p); \
        h = t; \
    }

GRADSPEC_WIDE static void gradspec_powers_double(const double *x, double *y, npy_intp n, int k) {
    double b[GRADSPEC_POWERS], s[GRADSPEC_POWERS], r[GRADSPEC_POWERS], l[GRADSPEC_POWERS];
    int bits = k < 0 ? -k : k;
    if (k == -2) {
        for (npy_intp i = 0; i < n; i++) {
            const double p = x[i] * x[i], e = fma(x[i], x[i], -p), q = 1 / p;
            y[i] = q + q * (fma(-q, p, 1) - q * e);
        }
        return;
    }
    for (npy_intp i = 0; i < n; i++) {
        b[i] = x[i];
        s[i] = 0;
        r[i] = 1;
        l[i] = 0;
    }
    for (;; bits >>= 1) {
        if (bits & 1)
            for (npy_intp i = 0; i < n; i++) GRADSPEC_TIMES(r[i], l[i], b[i], s[i])
        if (bits <= 1) break;
        for (npy_intp i = 0; i < n; i++) {
            const double a = b[i], t = s[i];
            GRADSPEC_TIMES(b[i], s[i], a, t)
        }
    }
    if (k < 0) {
        for (npy_intp i = 0; i < n; i++) {
            const double q = 1 / r[i];
            y[i] = q + q * (fma(-q, r[i], 1) - q * l[i]);
        }
    } else {
        for (npy_intp i = 0; i < n; i++) y[i] = r[i];
    }
}

/* From the smallest normal number of float32, and 1e-290, to the largest, and 1e290. */

#define T float
#define FMA fmaf
#define COPYSIGN copysignf
#define BITS uint32_t
#define SIGN UINT32_C(0x80000000)
#define LEAST UINT32_C(0x00800000)
#define MOST UINT32_C(0x7f7fffff)
#define LEAST_CUBED UINT32_C(0x2f000000) /* 2**-33 */
#define MOST_CUBED UINT32_C(0x54800000) /* 2**42 */
#include "powers_template.h"

#define T double
#define FMA fma
#define COPYSIGN copysign
#define BITS uint64_t
#define SIGN UINT64_C(0x8000000000000000)
#define LEAST UINT64_C(0x03d0000000000000)
#define MOST UINT64_C(0x7c20000000000000)
#define LEAST_CUBED UINT64_C(0x2d30000000000000) /* 2**-300 */
#define MOST_CUBED UINT64_C(0x5530000000000000) /* 2**340 */
#include "powers_template.h"

#endif
