/* Elementary functions for floats in float arithmetic, with twice as many elements in a vector as for doubles: error below 1 ulp.
 *
 * Rounding errors are kept in a second number where the last digit would depend on them, as in elementary.h.  Each polynomial is
 * the best approximation with float coefficients, within 2**-26 of its function.  There are no branches: -infinity, saturated and
 * subnormal elements are computed in the same way as all others.
 */
#ifndef GRADSPEC_ELEMENTARY_FLOAT_H
#define GRADSPEC_ELEMENTARY_FLOAT_H

#include "elementary.h"

typedef struct {
    float high, low;
} gradspec_float_pair; /* a number and its rounding error */

GRADSPEC_INLINE float gradspec_float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

GRADSPEC_INLINE uint32_t gradspec_float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

GRADSPEC_INLINE float gradspec_float_signed(float size, float sign) {
    uint32_t bits = gradspec_float_bits(sign) & (UINT32_C(1) << 31);
    return gradspec_float_of_bits((gradspec_float_bits(size) & ~(UINT32_C(1) << 31)) | bits);
}

GRADSPEC_INLINE float gradspec_float_size(float x) {
    return gradspec_float_of_bits(gradspec_float_bits(x) & ~(UINT32_C(1) << 31));
}

/* The modulus, clamped: by integer selection, which compilers do not move behind an overflowing operation. */
GRADSPEC_INLINE float gradspec_float_near(float x, float most) {
    uint32_t size = gradspec_float_bits(x) & ~(UINT32_C(1) << 31), limit = gradspec_float_bits(most);
    return gradspec_float_of_bits(size > limit ? limit : size);
}

GRADSPEC_INLINE float gradspec_float_fused(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

/* The sum of two numbers; the first is the larger. */
GRADSPEC_INLINE gradspec_float_pair gradspec_float_onto(float a, float b) {
    float s = a + b;
    return (gradspec_float_pair){s, (a - s) + b};
}

/* x = k log(2) + r: r in two parts, and the bits of 1.5 * 2**23 + k. */
GRADSPEC_INLINE gradspec_float_pair gradspec_float_reduced(float x, uint32_t *k) {
    float shifted = gradspec_float_fused(x, 0x1.715476p+0f, 0x1.8p23f), n = shifted - 0x1.8p23f;
    float first = gradspec_float_fused(n, -0x1.62e400p-1f, x), r = gradspec_float_fused(n, -0x1.7f7d1cp-20f, first);
    *k = gradspec_float_bits(shifted);
    return (gradspec_float_pair){r, gradspec_float_fused(n, -0x1.7f7d1cp-20f, first - r)};
}

/* (exp(r) - 1 - r) / r**2, |r| < 0.35. */
GRADSPEC_INLINE float gradspec_float_bend(float r) {
    float p = 0x1.6d7238p-10f;
    p = gradspec_float_fused(p, r, 0x1.123dcap-7f);
    p = gradspec_float_fused(p, r, 0x1.5554c8p-5f);
    p = gradspec_float_fused(p, r, 0x1.55548cp-3f);
    return gradspec_float_fused(p, r, 0.5f);
}

/* exp(r), between 0.7 and 1.42, as a number and a summand. */
GRADSPEC_INLINE gradspec_float_pair gradspec_float_part_exp(gradspec_float_pair r) {
    gradspec_float_pair s = gradspec_float_onto(1.0f, r.high);
    s.low = gradspec_float_fused(r.high * r.high, gradspec_float_bend(r.high), s.low + r.low);
    return s;
}

/* The product of a number between 0.3 and 2 and 2**k, k from -150 to 127; it may be subnormal; by two exponents. */
GRADSPEC_INLINE float gradspec_float_scaled(float m, uint32_t k) {
    uint32_t whole = k << 23;
    int far = (int32_t) whole < -100 * (1 << 23);
    return gradspec_float_of_bits(gradspec_float_bits(m) + whole + (far ? UINT32_C(64) << 23 : 0)) * (far ? 0x1p-64f : 1.0f);
}

GRADSPEC_INLINE float gradspec_float_exp(float x) {
    uint32_t k;
    gradspec_float_pair s = gradspec_float_part_exp(gradspec_float_reduced(x < -104.0f ? -104.0f : x, &k));
    return gradspec_float_scaled(s.high + s.low, k);
}

/* exp(x) for x <= 0, in two parts unless it is close to subnormal. */
GRADSPEC_INLINE gradspec_float_pair gradspec_float_exp_below(float x) {
    uint32_t k;
    gradspec_float_pair s = gradspec_float_part_exp(gradspec_float_reduced(x < -104.0f ? -104.0f : x, &k));
    s = gradspec_float_onto(s.high, s.low);
    uint32_t whole = k << 23;
    int far = (int32_t) whole < -100 * (1 << 23);
    float scale = gradspec_float_of_bits(UINT32_C(0x3f800000) + whole + (far ? UINT32_C(64) << 23 : 0));
    return (gradspec_float_pair){s.high * scale * (far ? 0x1p-64f : 1.0f), far ? 0.0f : s.low * scale};
}

/* The same for x from -68 to 0, which is not close to subnormal. */
GRADSPEC_INLINE gradspec_float_pair gradspec_float_exp_close(float x) {
    uint32_t k;
    gradspec_float_pair s = gradspec_float_part_exp(gradspec_float_reduced(x, &k));
    s = gradspec_float_onto(s.high, s.low);
    return (gradspec_float_pair){gradspec_float_of_bits(gradspec_float_bits(s.high) + (k << 23)),
                                 s.low * gradspec_float_of_bits(UINT32_C(0x3f800000) + (k << 23))};
}

GRADSPEC_INLINE float gradspec_float_exp2(float x) {
    float near = x < -151.0f ? -151.0f : x, shifted = near + 0x1.8p23f, part = near - (shifted - 0x1.8p23f);
    float r = part * 0x1.62e430p-1f, rest = gradspec_float_fused(part, 0x1.62e430p-1f, -r);
    gradspec_float_pair s = gradspec_float_part_exp((gradspec_float_pair){r, gradspec_float_fused(part, -0x1.05c610p-29f, rest)});
    return gradspec_float_scaled(s.high + s.low, gradspec_float_bits(shifted));
}

GRADSPEC_INLINE float gradspec_float_expm1(float x) {
    uint32_t k;
    gradspec_float_pair r = gradspec_float_reduced(x < -20.0f ? -20.0f : x, &k), t;
    float p = 0x1.a242f8p-13f;
    p = gradspec_float_fused(p, r.high, 0x1.6d3facp-10f);
    p = gradspec_float_fused(p, r.high, 0x1.111004p-7f);
    p = gradspec_float_fused(p, r.high, 0x1.5554f4p-5f);
    p = gradspec_float_fused(p, r.high, 0x1.555556p-3f);
    p = gradspec_float_fused(p, r.high, 0.5f);
    t = gradspec_float_onto(r.high, gradspec_float_fused(r.high * r.high, p, r.low));
    float scale = gradspec_float_of_bits((k << 23) + UINT32_C(0x3f800000)), a = scale - 1.0f;
    float s = gradspec_float_fused(scale, t.high, a), rest = gradspec_float_fused(scale, t.high, a - s) + ((scale - a) - 1.0f);
    return gradspec_float_signed(s + gradspec_float_fused(scale, t.low, rest), x);
}

/* tanh(x) by a polynomial up to 1, beyond from e = exp(-2 |x|): 1 - 2 e / (1 + e). */
GRADSPEC_INLINE float gradspec_float_tanh_by(float x, float e) {
    float near = gradspec_float_near(x, 9.1f), z = near * near, inverse = 1.0f / (1.0f + e), p = 0x1.e76a14p-14f;
    p = gradspec_float_fused(p, z, -0x1.ae8c22p-11f);
    p = gradspec_float_fused(p, z, 0x1.8f860ep-9f);
    p = gradspec_float_fused(p, z, -0x1.18db62p-7f);
    p = gradspec_float_fused(p, z, 0x1.64c044p-6f);
    p = gradspec_float_fused(p, z, -0x1.b9f6dap-5f);
    p = gradspec_float_fused(p, z, 0x1.11103cp-3f);
    p = gradspec_float_fused(p, z, -0x1.555552p-2f);
    float y = near < 1.0f ? gradspec_float_fused(near * z, p, near) : gradspec_float_fused(-2.0f * e, inverse, 1.0f);
    return gradspec_float_of_bits(gradspec_float_bits(y) | (gradspec_float_bits(x) & (UINT32_C(1) << 31)));
}

/* From 9.1 on the result is 1 whatever the exponential, so subnormals need no care. */
GRADSPEC_INLINE float gradspec_float_tanh(float x) {
    uint32_t k;
    gradspec_float_pair s = gradspec_float_part_exp(gradspec_float_reduced(-2.0f * gradspec_float_near(x, 9.1f), &k));
    return gradspec_float_tanh_by(x, gradspec_float_of_bits(gradspec_float_bits(s.high + s.low) + (k << 23)));
}

/* log(1 + f) - f, f from -1/4 to 1/2. */
GRADSPEC_INLINE float gradspec_float_bent_log(float f) {
    float p = -0x1.71e354p-5f;
    p = gradspec_float_fused(p, f, 0x1.acf4bap-4f);
    p = gradspec_float_fused(p, f, -0x1.0d98f2p-3f);
    p = gradspec_float_fused(p, f, 0x1.28807ap-3f);
    p = gradspec_float_fused(p, f, -0x1.54ed96p-3f);
    p = gradspec_float_fused(p, f, 0x1.99699ep-3f);
    p = gradspec_float_fused(p, f, -0x1.00004ap-2f);
    p = gradspec_float_fused(p, f, 0x1.5555a4p-2f);
    p = gradspec_float_fused(p, f, -0.5f);
    return f * f * p;
}

/* k log(2) + f + rest, where f is the larger part of log(m): x = 2**k m, 3/4 <= m < 3/2. */
GRADSPEC_INLINE float gradspec_float_log_of(float k, float f, float rest) {
    gradspec_float_pair s = gradspec_float_onto(k * 0x1.62e400p-1f, f);
    return s.high + (s.low + gradspec_float_fused(k, 0x1.7f7d1cp-20f, rest));
}

/* For a number that is not subnormal. */
GRADSPEC_INLINE float gradspec_float_log(float x) {
    uint32_t bits = gradspec_float_bits(x) + UINT32_C(0x00400000); /* from 3/4 to 1 */
    float f = gradspec_float_of_bits((bits & UINT32_C(0x007fffff)) + UINT32_C(0x3f400000)) - 1.0f;
    return gradspec_float_log_of((float) ((int32_t) (bits >> 23) - 127), f, gradspec_float_bent_log(f));
}

/* k from the size of 1 + x, and m - 1 from x itself, rounded only once; up to 2**126. */
GRADSPEC_INLINE float gradspec_float_log1p(float x) {
    uint32_t bits = gradspec_float_bits(1.0f + x) + UINT32_C(0x00400000);
    float k = (float) ((int32_t) (bits >> 23) - 127);
    float scale = gradspec_float_of_bits(UINT32_C(0x7f000000) - (bits & UINT32_C(0x7f800000))), a = scale - 1.0f;
    float f = gradspec_float_fused(x, scale, a), rest = gradspec_float_fused(x, scale, a - f);
    rest = gradspec_float_fused(-rest, f, rest); /* divided by m, approximately */
    return gradspec_float_signed(gradspec_float_log_of(k, f, gradspec_float_bent_log(f) + rest), x);
}

/* log(1 + x) for a number from 0 to 1 in two parts. */
GRADSPEC_INLINE float gradspec_float_short_log1p(gradspec_float_pair x) {
    int far = x.high >= 0.5f;
    float f = far ? gradspec_float_fused(0.5f, x.high, -0.5f) : x.high, rest = far ? 0.5f * x.low : x.low;
    return gradspec_float_log_of(far ? 1.0f : 0.0f, f, gradspec_float_fused(-rest, f, rest) + gradspec_float_bent_log(f));
}

#endif
