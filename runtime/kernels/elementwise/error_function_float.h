/* erf, erfc, the inverse of erf and gelu for floats in float arithmetic, in the style of elementary_float.h: error below 1.5 ulp.
 *
 * exp(z * z) erfc(z) is u times a polynomial in u = 1 / (z + 2.5), within 2**-27 for z from 0.5 to 10.4.  Half of exp(x * x / 2)
 * erfc(x / sqrt(2)) is the same with u = 1 / (x + 3.5), within 2**-26 from 0.5 to 14.7.  Closer to 0 the odd part of either is x
 * times a polynomial in x * x.  The inverse divided by x is a polynomial in w = -log(1 - x * x) up to 5, and in the root of w
 * beyond, within 2**-26.
 */
#ifndef GRADSPEC_ERROR_FUNCTION_FLOAT_H
#define GRADSPEC_ERROR_FUNCTION_FLOAT_H

#include "../fusion_engine/elementary_float.h"
#include "../fusion_engine/fused.h"
#include <numpy/npy_common.h>

/* Up to 1 from a polynomial for erf(x) / x - 1 in x * x, beyond as 1 - exp(-x p(x)) from a polynomial for -log(erfc(x)) / x. */
GRADSPEC_INLINE float gradspec_float_erf(float x) {
    uint32_t k;
    float near = gradspec_float_near(x, 4.0f), z = near * near, p = 0x1.4771fcp-14f, q = 0x1.d45f70p-17f;
    p = gradspec_float_fused(p, z, -0x1.a3515ep-11f);
    p = gradspec_float_fused(p, z, 0x1.53f224p-8f);
    p = gradspec_float_fused(p, z, -0x1.b7f71ap-6f);
    p = gradspec_float_fused(p, z, 0x1.ce2ce6p-4f);
    p = gradspec_float_fused(p, z, -0x1.81273ep-2f);
    p = gradspec_float_fused(p, z, 0x1.06eba8p-3f);
    q = gradspec_float_fused(q, near, -0x1.6f9572p-12f);
    q = gradspec_float_fused(q, near, 0x1.ec7b30p-9f);
    q = gradspec_float_fused(q, near, -0x1.896050p-6f);
    q = gradspec_float_fused(q, near, 0x1.b45960p-4f);
    q = gradspec_float_fused(q, near, 0x1.451ac0p-1f);
    q = gradspec_float_fused(q, near, 0x1.20f21cp+0f);
    float exponent = -q * near;
    gradspec_float_pair r = gradspec_float_reduced(exponent, &k), s;
    r.low -= gradspec_float_fused(q, near, exponent);
    s = gradspec_float_part_exp(r);
    float e = gradspec_float_of_bits(gradspec_float_bits(s.high + s.low) + (k << 23));
    float y = gradspec_float_signed(near < 1.0f ? gradspec_float_fused(near, p, near) : 1.0f - e, x);
    return x == x ? y : x;
}

/* A polynomial whose last term is c + rest; p is the polynomial without that term, divided by t. */
GRADSPEC_INLINE gradspec_float_pair gradspec_float_last(float p, float t, float c, float rest) {
    return gradspec_float_onto(c, gradspec_float_fused(p, t, rest));
}

/* exp(-square) u P for u = 1 / d, over 2**k: the product with P, with the rounding error of u corrected by the slope of u P. */
GRADSPEC_INLINE gradspec_float_pair gradspec_float_tail(gradspec_float_pair square, float u, gradspec_float_pair p, float more, uint32_t *k) {
    gradspec_float_pair r = gradspec_float_reduced(-square.high, k), e, g;
    e = gradspec_float_part_exp(r);
    e = gradspec_float_onto(e.high, e.low);
    e.low = gradspec_float_fused(-square.low, e.high, e.low); /* the square's rest is too large to be added to r's */
    g.high = u * p.high;
    g.low = gradspec_float_fused(u, p.high, -g.high) + gradspec_float_fused(u, p.low, more);
    float high = e.high * g.high;
    return (gradspec_float_pair){high, gradspec_float_fused(e.high, g.high, -high) + gradspec_float_fused(e.low, g.high, e.high * g.low)};
}

GRADSPEC_INLINE float gradspec_float_erfc(float x) {
    uint32_t k;
    float z = gradspec_float_near(x, 10.4f), high = z * z, p = 0x1.ca2bc4p+7f, q = 0x1.338930p-8f;
    gradspec_float_pair d = gradspec_float_onto(z > 2.5f ? z : 2.5f, z > 2.5f ? 2.5f : z), c, s, near;
    float u = 1.0f / d.high, t = u - 0x1.745d18p-3f, off = gradspec_float_fused(u, d.high, -1.0f) + u * d.low;
    p = gradspec_float_fused(p, t, -0x1.501490p+1f);
    p = gradspec_float_fused(p, t, -0x1.318446p+6f);
    p = gradspec_float_fused(p, t, -0x1.1e93e0p+4f);
    p = gradspec_float_fused(p, t, 0x1.3ba344p+4f);
    p = gradspec_float_fused(p, t, 0x1.40a33ap+4f);
    p = gradspec_float_fused(p, t, 0x1.46f076p+3f);
    p = gradspec_float_fused(p, t, 0x1.d0d1b6p+1f);
    q = gradspec_float_fused(q, high, -0x1.b63410p-6f);
    q = gradspec_float_fused(q, high, 0x1.ce2358p-4f);
    q = gradspec_float_fused(q, high, -0x1.81272ep-2f);
    near = gradspec_float_last(q, high, 0x1.20dd74p+0f, 0x1.f85e60p-25f);
    c = gradspec_float_last(p, t, 0x1.f81138p-1f, -0x1.6edcb4p-26f);
    /* The slope of exp(z * z) erfc(z) is 2 z times the function minus 2 / sqrt(pi). */
    float more = off * d.high * gradspec_float_fused(2.0f * z, u * c.high, -0x1.20dd76p+0f);
    s = gradspec_float_tail((gradspec_float_pair){high, gradspec_float_fused(z, z, -high)}, u, c, more, &k);
    float far = gradspec_float_scaled(s.high + s.low, k), small = gradspec_float_fused(-x, near.low, gradspec_float_fused(-x, near.high, 1.0f));
    float y = z < 0.5f ? small : x < 0.0f ? 2.0f - far : far;
    return x == x ? y : x;
}

/* Half of exp(x * x / 2) erfc(x / sqrt(2)) / u without its last term, divided by t; and the odd part of half of erfc(-x / sqrt(2)),
 * divided by x. */
GRADSPEC_INLINE float gradspec_float_gelu_far(float t) {
    float p = 0x1.0868a8p+11f;
    p = gradspec_float_fused(p, t, 0x1.95f752p+6f);
    p = gradspec_float_fused(p, t, -0x1.83f73cp+8f);
    p = gradspec_float_fused(p, t, -0x1.3bbf46p+6f);
    p = gradspec_float_fused(p, t, 0x1.7eed9ap+5f);
    p = gradspec_float_fused(p, t, 0x1.2bbeb8p+5f);
    p = gradspec_float_fused(p, t, 0x1.be626cp+3f);
    return gradspec_float_fused(p, t, 0x1.c9e316p+1f);
}

GRADSPEC_INLINE float gradspec_float_gelu_near(float square) {
    float q = 0x1.6479e6p-13f;
    q = gradspec_float_fused(q, square, -0x1.435602p-10f);
    q = gradspec_float_fused(q, square, 0x1.4730bcp-7f);
    q = gradspec_float_fused(q, square, -0x1.10592cp-4f);
    return gradspec_float_fused(q, square, 0x1.988454p-2f);
}

/* Half of exp(z * z / 2) erfc(z / sqrt(2)) / u, and the correction of its product with the rounded u. */
GRADSPEC_INLINE gradspec_float_pair gradspec_float_half_erfcx(float z, float *u, float *more) {
    gradspec_float_pair d = gradspec_float_onto(z > 3.5f ? z : 3.5f, z > 3.5f ? 3.5f : z), c;
    *u = 1.0f / d.high;
    float t = *u - 0x1.09f95ap-3f, off = gradspec_float_fused(*u, d.high, -1.0f) + *u * d.low;
    c = gradspec_float_last(gradspec_float_gelu_far(t), t, 0x1.641b7cp-1f, 0x1.ecccdcp-26f);
    /* The slope here is z times the function minus 1 / sqrt(2 pi). */
    *more = off * d.high * gradspec_float_fused(z, *u * c.high, -0x1.988454p-2f);
    return c;
}

/* x * erfc(-x / sqrt(2)) / 2. */
GRADSPEC_INLINE float gradspec_float_gelu(float x) {
    uint32_t k;
    float z = gradspec_float_near(x, 14.7f), high = z * z, q = gradspec_float_gelu_near(high), u, more;
    gradspec_float_pair c = gradspec_float_half_erfcx(z, &u, &more), s;
    s = gradspec_float_tail((gradspec_float_pair){0.5f * high, 0.5f * gradspec_float_fused(z, z, -high)}, u, c, more, &k);
    float size = z * s.high, rest = gradspec_float_fused(z, s.high, -size) + z * s.low;
    float lost = gradspec_float_scaled(size + rest, k);
    float far = x < 0.0f ? -lost : x - lost;
    return z < 0.5f ? x * gradspec_float_fused(x, q, 0.5f) : far;
}

/* Its slope; the exponential is rounded once. */
GRADSPEC_INLINE float gradspec_float_gelu_slope(float x) {
    uint32_t k;
    float z = gradspec_float_near(x, 14.7f), high = z * z, q = gradspec_float_gelu_near(high), u, more;
    gradspec_float_pair c = gradspec_float_half_erfcx(z, &u, &more), r = gradspec_float_reduced(-0.5f * high, &k), e;
    r.high += r.low - 0.5f * gradspec_float_fused(z, z, -high);
    r.low = 0.0f;
    e = gradspec_float_part_exp(r);
    float bell = e.high + e.low, first = u * c.high, rest = gradspec_float_fused(u, c.high, -first) + gradspec_float_fused(u, c.low, more);
    float lost = gradspec_float_scaled((gradspec_float_fused(z, -0x1.988454p-2f, first) + rest) * bell, k);
    float far = x < 0.0f ? lost : 1.0f - lost, near = gradspec_float_fused(0x1.988454p-2f, gradspec_float_scaled(bell, k), q);
    float y = z < 0.5f ? gradspec_float_fused(x, near, 0.5f) : far;
    return x == x ? y : x;
}

/* For numbers between -1 and 1. */
GRADSPEC_INLINE float gradspec_float_erfinv(float x) {
    float w = -gradspec_float_log(gradspec_float_fused(-x, x, 1.0f)), t = w - 1.0f, s = sqrtf(w > 5.0f ? w : 5.0f) - 3.0f;
    float p = 0x1.5d4188p-32f, q = 0x1.00c140p-13f;
    p = gradspec_float_fused(p, t, -0x1.d271a6p-27f);
    p = gradspec_float_fused(p, t, 0x1.6be7d0p-23f);
    p = gradspec_float_fused(p, t, -0x1.4008cep-21f);
    p = gradspec_float_fused(p, t, -0x1.236898p-18f);
    p = gradspec_float_fused(p, t, 0x1.4157c2p-15f);
    p = gradspec_float_fused(p, t, 0x1.a3fc32p-14f);
    p = gradspec_float_fused(p, t, -0x1.377bfap-9f);
    p = gradspec_float_fused(p, t, 0x1.16932ap-8f);
    p = gradspec_float_fused(p, t, 0x1.fb8fcep-3f);
    q = gradspec_float_fused(q, s, -0x1.4afd9ap-12f);
    q = gradspec_float_fused(q, s, -0x1.141abap-14f);
    q = gradspec_float_fused(q, s, 0x1.8730e8p-10f);
    q = gradspec_float_fused(q, s, -0x1.d6f50ep-9f);
    q = gradspec_float_fused(q, s, 0x1.748814p-8f);
    q = gradspec_float_fused(q, s, -0x1.f491dep-8f);
    q = gradspec_float_fused(q, s, 0x1.35833ap-7f);
    q = gradspec_float_fused(q, s, 0x1.006dc6p+0f);
    int near = w < 5.0f;
    gradspec_float_pair y = gradspec_float_last(near ? p : q, near ? t : s, near ? 0x1.209b9cp+0f : 0x1.6a9efcp+1f,
        near ? -0x1.2a3030p-26f : -0x1.72d3bcp-26f);
    return gradspec_float_fused(x, y.high, x * y.low);
}

GRADSPEC_OVER_FLOATS(erf)
GRADSPEC_OVER_FLOATS(erfc)
GRADSPEC_OVER_FLOATS(erfinv)
GRADSPEC_OVER_FLOATS(gelu)
GRADSPEC_OVER_FLOATS(gelu_slope)

#endif
