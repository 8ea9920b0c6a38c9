/* lgamma for floats and trigamma for both types, in double. */
#ifndef GRADSPEC_GAMMA_LOOPS_H
#define GRADSPEC_GAMMA_LOOPS_H

#include "../fusion_engine/elementary_single.h"
#include "../fusion_engine/fused.h"
#include <numpy/npy_common.h>

/* The C library's lgamma, without the sign that it stores for the whole process. */
#if defined(__GLIBC__) || defined(__APPLE__)
extern double lgamma_r(double, int *);

static double gradspec_lgamma_of(double x) {
    int sign;
    return lgamma_r(x, &sign);
}
#else
#define gradspec_lgamma_of lgamma
#endif

/* lgamma of positive numbers: near its zeros a polynomial at Chebyshev nodes, within 2**-41, else Stirling's series from 6 on. */
GRADSPEC_INLINE double gradspec_single_lgamma(double x) {
    double w = x, product = 1.0;
#if defined(__GNUC__)
#pragma GCC unroll 8
#endif
    for (int k = 0; k < 6; k++) {
        product *= w < 6.0 ? w : 1.0;
        w += w < 6.0 ? 1.0 : 0.0;
    }
    double inverse = 1.0 / w, z = inverse * inverse, r = 0x1.b951e2b18ff23p-11; /* 1/1188 */
    r = r * z - 0x1.3813813813814p-11;                                         /* 1/1680 */
    r = r * z + 0x1.a01a01a01a01ap-11;                                         /* 1/1260 */
    r = r * z - 0x1.6c16c16c16c17p-9;                                          /* 1/360 */
    r = (r * z + 0x1.5555555555555p-4) * inverse;                              /* 1/12 */
    double far = (w - 0.5) * gradspec_single_log(w) - w + 0x1.d67f1c864beb5p-1 + r - gradspec_single_log(product);

    double t = x - 1.0, p = -0x1.794b183fe4349p-4, u = x - 2.0, q = -0x1.4b06e18246beep-17;
    p = gradspec_fused(p, t, 0x1.97f953c66ea67p-4);
    p = gradspec_fused(p, t, -0x1.6f831527e8748p-4);
    p = gradspec_fused(p, t, 0x1.949e63efa576dp-4);
    p = gradspec_fused(p, t, -0x1.c8379c9685513p-4);
    p = gradspec_fused(p, t, 0x1.0125851fc5d25p-3);
    p = gradspec_fused(p, t, -0x1.27032e106e374p-3);
    p = gradspec_fused(p, t, 0x1.5b404f2be1b45p-3);
    p = gradspec_fused(p, t, -0x1.a8b9c26364ee9p-3);
    p = gradspec_fused(p, t, 0x1.15132328fd9f7p-2);
    p = gradspec_fused(p, t, -0x1.9a4d55be688c1p-2);
    p = gradspec_fused(p, t, 0x1.a51a66250cd90p-1);
    p = gradspec_fused(p, t, -0x1.2788cfc6fb619p-1);
    q = gradspec_fused(q, u, 0x1.676104b10f8c1p-16);
    q = gradspec_fused(q, u, -0x1.789643c351a9ap-15);
    q = gradspec_fused(q, u, 0x1.a0da61f1ce278p-14);
    q = gradspec_fused(q, u, -0x1.d3fdfa39f6b3ap-13);
    q = gradspec_fused(q, u, 0x1.0b370caf9d0b3p-11);
    q = gradspec_fused(q, u, -0x1.38ac5bc660b66p-10);
    q = gradspec_fused(q, u, 0x1.7add6e40c7109p-9);
    q = gradspec_fused(q, u, -0x1.e404fc21c23b3p-8);
    q = gradspec_fused(q, u, 0x1.51322ac7f38cap-6);
    q = gradspec_fused(q, u, -0x1.13e001a5575e9p-4);
    q = gradspec_fused(q, u, 0x1.4a34cc4a60f97p-2);
    q = gradspec_fused(q, u, 0x1.b0ee6072093cep-2);
    double one = gradspec_size(t) < 0.25 ? p * t : far;
    return gradspec_size(u) < 0.25 ? q * u : one;
}

/* Sum of 1 / (x + k)**2, x > 0: eleven terms, and the rest by its series.  The rounding errors of the largest terms are kept. */
GRADSPEC_INLINE double gradspec_trigamma(double x) {
    double w = x < 11.0 ? x + 11.0 : x, rest = x < 11.0 ? (x - (w - 11.0)) : 0.0, inverse = 1.0 / w, z = inverse * inverse;
    double r = 0x1.b7c4f8f13e3c5p+5; /* Bernoulli numbers */
    r = gradspec_fused(r, z, -0x1.c5e5e5e5e5e5ep+2);
    r = gradspec_fused(r, z, 0x1.2aaaaaaaaaaabp+0);
    r = gradspec_fused(r, z, -0x1.0330330330330p-2);
    r = gradspec_fused(r, z, 0x1.364d9364d9365p-4);
    r = gradspec_fused(r, z, -0x1.1111111111111p-5);
    r = gradspec_fused(r, z, 0x1.8618618618618p-6);
    r = gradspec_fused(r, z, -0x1.1111111111111p-5);
    r = gradspec_fused(r, z, 0x1.5555555555555p-3);
    double step = gradspec_fused(-w, inverse, 1.0) * inverse - rest * z;
    gradspec_twofold s = gradspec_onto(inverse, gradspec_fused(r * inverse, z, 0.5 * z));
    s.low += step;
#if defined(__GNUC__)
#pragma GCC unroll 16
#endif
    for (int k = 10; k >= 0; k--) {
        double v = x + k, lost = x - (v - k), i = 1.0 / v, square = i * i;
        double more = gradspec_fused(i, i, -square) + 2.0 * i * (i * gradspec_fused(-v, i, 1.0)) - 2.0 * lost * i * square;
        gradspec_twofold next = gradspec_sum(s.high, x < 11.0 ? square : 0.0);
        s.high = next.high;
        s.low += next.low + (x < 11.0 ? more : 0.0);
    }
    return s.high + s.low;
}

GRADSPEC_FUSED static void gradspec_lgamma_float(const float *x, float *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = (float) gradspec_single_lgamma(x[i]);
}

GRADSPEC_FUSED static void gradspec_trigamma_float(const float *x, float *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = (float) gradspec_trigamma(x[i]);
}

GRADSPEC_FUSED static void gradspec_trigamma_double(const double *x, double *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = gradspec_trigamma(x[i]);
}

#endif
