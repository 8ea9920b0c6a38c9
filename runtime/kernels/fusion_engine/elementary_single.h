/* Elementary functions for floats that need more than float arithmetic for 1 ulp, or do not have it yet, error below 0.51 ulp:
 * in double, by polynomials within 2**-34; the caller rounds once.  Quotients and roots start from floats: a processor divides twice
 * as many of these at a time. */
#ifndef GRADSPEC_ELEMENTARY_SINGLE_H
#define GRADSPEC_ELEMENTARY_SINGLE_H

#include "elementary_float.h"

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

/* The root of 0 or of a number from 2**-100 to 1: steps of Newton's method from a guess by the exponent, for the reciprocal. */
GRADSPEC_INLINE double gradspec_single_root(float x) {
    float half = 0.5f * x, y = gradspec_float_of_bits(UINT32_C(0x5f375a86) - (gradspec_float_bits(x) >> 1));
    y = gradspec_float_fused(y, gradspec_float_fused(-half * y, y, 0.5f), y);
    y = gradspec_float_fused(y, gradspec_float_fused(-half * y, y, 0.5f), y);
    double root = (double) x * y, off = gradspec_fused(-root, y, 1.0);
    return gradspec_fused(root * off, gradspec_fused(off, 0.375, 0.5), root);
}

/* asin(x) for x from 0 to 1/2, for others half of acos(x). */
GRADSPEC_INLINE double gradspec_single_arc(float x) {
    double root = gradspec_single_root(gradspec_float_fused(-0.5f, x, 0.5f)), t = x > 0.5f ? root : x, z = t * t, p = 0x1.e0231588b1e55p-6;
    p = gradspec_fused(p, z, 0x1.64b97e009bd03p-8);
    p = gradspec_fused(p, z, 0x1.3c5053c2afce1p-6);
    p = gradspec_fused(p, z, 0x1.6a9e3262c37dbp-6);
    p = gradspec_fused(p, z, 0x1.f208eb1ddd0fbp-6);
    p = gradspec_fused(p, z, 0x1.6db5cfb6af282p-5);
    p = gradspec_fused(p, z, 0x1.333334ceb6520p-4);
    p = gradspec_fused(p, z, 0x1.55555554ee47bp-3);
    return gradspec_fused(t * z, p, t);
}

GRADSPEC_INLINE double gradspec_single_asin(float x) {
    float size = gradspec_float_size(x);
    double arc = gradspec_single_arc(size);
    return gradspec_signed(size > 0.5f ? gradspec_fused(-2.0, arc, 0x1.921fb54442d18p+0) : arc, x);
}

GRADSPEC_INLINE double gradspec_single_acos(float x) {
    float size = gradspec_float_size(x);
    double arc = gradspec_single_arc(size), angle = size > 0.5f ? 2.0 * arc : 0x1.921fb54442d18p+0 - arc;
    return x < 0.0f ? 0x1.921fb54442d18p+1 - angle : angle;
}

/* atan(n / d) for positive n and d, both between 2**-100 and 2**100; one may be 0. */
GRADSPEC_INLINE double gradspec_single_angle(float n, float d) {
    uint32_t a = gradspec_float_bits(n), b = gradspec_float_bits(d); /* the larger by integers, as in gradspec_float_near */
    float low = gradspec_float_of_bits(a < b ? a : b), high = gradspec_float_of_bits(a < b ? b : a), inverse = 1.0f / high;
    double q = (double) low * inverse, t = gradspec_fused(gradspec_fused(-q, high, low), inverse, q), z = t * t, p = -0x1.8c3df2f8025f2p-12;
    p = gradspec_fused(p, z, 0x1.78e5494f454ddp-9);
    p = gradspec_fused(p, z, -0x1.501b58d7c5d83p-7);
    p = gradspec_fused(p, z, 0x1.7ce6bf2e13f66p-6);
    p = gradspec_fused(p, z, -0x1.3d9456c30b29cp-5);
    p = gradspec_fused(p, z, 0x1.b1b76c9c6a591p-5);
    p = gradspec_fused(p, z, -0x1.09b5c76aff80ep-4);
    p = gradspec_fused(p, z, 0x1.39851af4a0e9ep-4);
    p = gradspec_fused(p, z, -0x1.7425acb13e55ep-4);
    p = gradspec_fused(p, z, 0x1.c717c7c1bc05ap-4);
    p = gradspec_fused(p, z, -0x1.24922eae8609bp-3);
    p = gradspec_fused(p, z, 0x1.9999992244316p-3);
    p = gradspec_fused(p, z, -0x1.555555552843ap-2);
    p = gradspec_fused(t * z, p, t);
    return a < b ? p : 0x1.921fb54442d18p+0 - p;
}

GRADSPEC_INLINE double gradspec_single_atan(float x) {
    return gradspec_signed(gradspec_single_angle(gradspec_float_near(x, 0x1p60f), 1.0f), x);
}

GRADSPEC_INLINE double gradspec_single_atan2(float a, float b) {
    double angle = gradspec_single_angle(gradspec_float_size(a), gradspec_float_size(b));
    return gradspec_signed(b < 0.0f ? 0x1.921fb54442d18p+1 - angle : angle, a);
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
