/* Elementary functions for floats that need more than float arithmetic for 1 ulp, or do not have it yet, error below 0.51 ulp:
 * in double, by polynomials within 2**-34; the caller rounds once. */
#ifndef GRADSPEC_ELEMENTARY_SINGLE_H
#define GRADSPEC_ELEMENTARY_SINGLE_H

#include "elementary.h"

/* exp(r) - 1, |r| < 0.35. */
GRADSPEC_INLINE double gradspec_single_near_expm1(double r) {
    double p = 0x1.a113930ccbff5p-16;
    p = gradspec_fused(p, r, 0x1.a152099da25bap-13);
    p = gradspec_fused(p, r, 0x1.6c1685542fcb2p-10);
    p = gradspec_fused(p, r, 0x1.1110c5ed7d6c9p-7);
    p = gradspec_fused(p, r, 0x1.5555555c910d6p-5);
    p = gradspec_fused(p, r, 0x1.555555676c1bbp-3);
    p = gradspec_fused(p, r, 0.5);
    return gradspec_fused(r * r, p, r);
}

/* exp(r) - 1 and the 2**k of x = k log(2) + r. */
GRADSPEC_INLINE double gradspec_single_part(double x, double *scale) {
    double shifted = gradspec_fused(x, 0x1.71547652b82fep+0, 0x1.8p52);
    *scale = gradspec_scale(shifted);
    return gradspec_single_near_expm1(gradspec_fused(shifted - 0x1.8p52, -0x1.62e42fefa39efp-1, x));
}

GRADSPEC_INLINE double gradspec_single_exp(double x) {
    double scale, t = gradspec_single_part(x < -200.0 ? -200.0 : x, &scale);
    return gradspec_fused(scale, t, scale);
}

GRADSPEC_INLINE double gradspec_single_expm1_of(double x) {
    double scale, t = gradspec_single_part(x, &scale);
    return gradspec_fused(scale, t, scale - 1.0);
}

GRADSPEC_INLINE double gradspec_single_sinh(double x) {
    double e = gradspec_single_expm1_of(gradspec_size(x));
    return gradspec_signed(0.5 * (e + e / (1.0 + e)), x);
}

GRADSPEC_INLINE double gradspec_single_cosh(double x) {
    double e = gradspec_single_exp(gradspec_size(x));
    return 0.5 * (e + 1.0 / e);
}

/* log(m) of x = 2**k m, sqrt(1/2) <= m < sqrt(2). */
GRADSPEC_INLINE double gradspec_single_part_log(double x, double *k) {
    uint64_t bits = gradspec_bits(x) + UINT64_C(0x00095f619980c433); /* from the root of 1/2 to 1 */
    double f = gradspec_of_bits((bits & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd)) - 1.0;
    double s = f / (2.0 + f), z = s * s, p = 0x1.dddae051676cfp-3;
    p = gradspec_fused(p, z, 0x1.245c0ad6402a0p-2);
    p = gradspec_fused(p, z, 0x1.9999ebdd89092p-2);
    p = gradspec_fused(p, z, 0x1.5555554b9ea4ap-1);
    *k = gradspec_of_bits((bits >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023.0);
    return gradspec_fused(s * z, p, 2.0 * s);
}

GRADSPEC_INLINE double gradspec_single_log(double x) {
    double k, l = gradspec_single_part_log(x, &k);
    return gradspec_fused(k, 0x1.62e42fefa39efp-1, l);
}

GRADSPEC_INLINE double gradspec_single_log2(double x) {
    double k, l = gradspec_single_part_log(x, &k);
    return gradspec_fused(l, 0x1.71547652b82fep+0, k);
}

GRADSPEC_INLINE double gradspec_single_log10(double x) {
    double k, l = gradspec_single_part_log(x, &k);
    return gradspec_fused(k, 0x1.34413509f79ffp-2, l * 0x1.bcb7b1526e50ep-2);
}

/* log(1 + x), ignoring the rounding error of 1 + x if x is large. */
GRADSPEC_INLINE double gradspec_single_log1p_of(double x) {
    double u = 1.0 + x, rest = x - (u - 1.0), k, l = gradspec_single_part_log(u, &k);
    return gradspec_fused(k, 0x1.62e42fefa39efp-1, l) + (u < 0x1p52 ? rest : 0.0) / u;
}

GRADSPEC_INLINE double gradspec_single_asinh(double x) {
    double size = gradspec_size(x), square = size * size;
    return gradspec_signed(gradspec_single_log1p_of(size + square / (1.0 + sqrt(1.0 + square))), x);
}

GRADSPEC_INLINE double gradspec_single_acosh(double x) {
    double t = x - 1.0;
    return gradspec_single_log1p_of(t + sqrt(t * (2.0 + t)));
}

GRADSPEC_INLINE double gradspec_single_atanh(double x) {
    double size = gradspec_size(x);
    return gradspec_signed(0.5 * gradspec_single_log1p_of(2.0 * size / (1.0 - size)), x);
}

GRADSPEC_INLINE double gradspec_single_cbrt(double x) {
    double k, l = gradspec_single_part_log(gradspec_size(x), &k);
    return gradspec_signed(gradspec_single_exp(gradspec_fused(k, 0x1.62e42fefa39efp-1, l) * 0x1.5555555555555p-2), x);
}

/* atan(n / d) for positive finite n and d; one may be 0. */
GRADSPEC_INLINE double gradspec_single_angle(double n, double d) {
    /* The quotient, or its reciprocal, or the tangent of the angle minus pi/4: at most tan(pi/8). */
    double low = n < d ? n : d, high = n < d ? d : n;
    int middle = low > 0x1.a827999fcef32p-2 * high;
    double t = (middle ? low - high : low) / (middle ? low + high : high), z = t * t, p = 0x1.0df3d7740e89ep-5;
    p = gradspec_fused(p, z, -0x1.edbd91278e3e1p-5);
    p = gradspec_fused(p, z, 0x1.377da553e9083p-4);
    p = gradspec_fused(p, z, -0x1.7415a99ae0103p-4);
    p = gradspec_fused(p, z, 0x1.c71962df85f3dp-4);
    p = gradspec_fused(p, z, -0x1.249240d86ba87p-3);
    p = gradspec_fused(p, z, 0x1.9999998859170p-3);
    p = gradspec_fused(p, z, -0x1.5555555552605p-2);
    p = gradspec_fused(t * z, p, t) + (middle ? 0x1.921fb54442d18p-1 : 0.0);
    return n < d ? p : 0x1.921fb54442d18p+0 - p;
}

GRADSPEC_INLINE double gradspec_single_atan(double x) {
    return gradspec_signed(gradspec_single_angle(gradspec_size(x), 1.0), x);
}

GRADSPEC_INLINE double gradspec_single_asin(double x) {
    double size = gradspec_size(x);
    return gradspec_signed(gradspec_single_angle(size, sqrt((1.0 - size) * (1.0 + size))), x);
}

GRADSPEC_INLINE double gradspec_single_acos(double x) {
    return 2.0 * gradspec_single_angle(sqrt(1.0 - x), sqrt(1.0 + x));
}

GRADSPEC_INLINE double gradspec_single_atan2(double a, double b) {
    double angle = gradspec_single_angle(gradspec_size(a), gradspec_size(b));
    return gradspec_signed(b < 0.0 ? 0x1.921fb54442d18p+1 - angle : angle, a);
}

/* The sine and the cosine of x minus a number of quarter turns, which is in the low bits of `quarter`. */
GRADSPEC_INLINE void gradspec_single_turned(double x, uint64_t *quarter, double *sine, double *cosine) {
    double shifted = gradspec_fused(x, 0x1.45f306dc9c883p-1, 0x1.8p52), k = shifted - 0x1.8p52;
    double r = gradspec_fused(k, -0x1.1a62633145c07p-54, gradspec_fused(k, -0x1.921fb54442d18p+0, x)), z = r * r;
    double p = 0x1.6dbbee1f24647p-19, q = -0x1.2473214f428b9p-22;
    p = gradspec_fused(p, z, -0x1.a013a11619d1bp-13);
    p = gradspec_fused(p, z, 0x1.11110dea5e8c0p-7);
    p = gradspec_fused(p, z, -0x1.555555545c0f8p-3);
    q = gradspec_fused(q, z, 0x1.a01291464359ep-16);
    q = gradspec_fused(q, z, -0x1.6c16badbea939p-10);
    q = gradspec_fused(q, z, 0x1.5555555147373p-5);
    q = gradspec_fused(q, z, -0x1.fffffffffe656p-2);
    *quarter = gradspec_bits(shifted);
    *sine = gradspec_fused(r * z, p, r);
    *cosine = gradspec_fused(z, q, 1.0);
}

GRADSPEC_INLINE double gradspec_single_sin(double x) {
    uint64_t quarter;
    double sine, cosine, y;
    gradspec_single_turned(x, &quarter, &sine, &cosine);
    y = gradspec_of_bits(gradspec_bits(quarter & 1 ? cosine : sine) ^ (quarter & 2) << 62);
    return x == 0.0 ? x : y;
}

GRADSPEC_INLINE double gradspec_single_cos(double x) {
    uint64_t quarter;
    double sine, cosine;
    gradspec_single_turned(x, &quarter, &sine, &cosine);
    quarter += 1;
    return gradspec_of_bits(gradspec_bits(quarter & 1 ? cosine : sine) ^ (quarter & 2) << 62);
}

GRADSPEC_INLINE double gradspec_single_tan(double x) {
    uint64_t quarter;
    double sine, cosine, y;
    gradspec_single_turned(x, &quarter, &sine, &cosine);
    y = (quarter & 1 ? -cosine : sine) / (quarter & 1 ? sine : cosine);
    return x == 0.0 ? x : y;
}

#endif
