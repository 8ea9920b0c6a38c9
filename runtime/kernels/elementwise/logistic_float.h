/* The logistic function, its slope and its integral, and the slope of tanh, of floats in straight lines around exp(-|x|);
 * functions with their slopes. */
#ifndef GRADSPEC_LOGISTIC_FLOAT_H
#define GRADSPEC_LOGISTIC_FLOAT_H

#include "../program/elementary_float.h"
#include "../program/fused.h"
#include <numpy/npy_common.h>

/* What is n / (1 + e) beside n * inverse, where inverse is 1 / (1 + e) but for its rounding; e is not above 1. */
GRADSPEC_INLINE float gradspec_float_share(gradspec_float_pair n, gradspec_float_pair e) {
    gradspec_float_pair d = gradspec_float_onto(1.0f, e.high);
    float inverse = 1.0f / d.high, q = n.high * inverse;
    float rest = gradspec_float_fused(-q, d.high, n.high) + gradspec_float_fused(-q, d.low + e.low, n.low);
    return gradspec_float_fused(rest, inverse, q);
}

GRADSPEC_INLINE float gradspec_float_sigmoid(float x) {
    gradspec_float_pair e = gradspec_float_exp_below(-gradspec_float_size(x));
    return gradspec_float_share((gradspec_float_pair){x < 0.0f ? e.high : 1.0f, x < 0.0f ? e.low : 0.0f}, e);
}

/* e / (1 + e)**2 of an e = exp(x) that is not above 1. */
GRADSPEC_INLINE float gradspec_float_slope_by(gradspec_float_pair e) {
    gradspec_float_pair d = gradspec_float_onto(1.0f, e.high);
    float inverse = 1.0f / d.high, rest = gradspec_float_fused(-inverse, d.low + e.low, gradspec_float_fused(-inverse, d.high, 1.0f));
    float q = e.high * inverse, more = gradspec_float_fused(e.high, inverse, -q) + inverse * e.low;
    float y = q * inverse;
    return y + gradspec_float_fused(2.0f * y, rest, gradspec_float_fused(q, inverse, -y) + more * inverse);
}

GRADSPEC_INLINE float gradspec_float_sigmoid_slope(float x) {
    return gradspec_float_slope_by(gradspec_float_exp_below(-gradspec_float_size(x)));
}

GRADSPEC_INLINE gradspec_float_pair gradspec_float_exp_twice(float x) {
    return gradspec_float_exp_below(-2.0f * gradspec_float_size(x));
}

GRADSPEC_INLINE float gradspec_float_tanh_slope(float x) {
    return 4.0f * gradspec_float_slope_by(gradspec_float_exp_twice(x));
}

/* log(exp(a) + exp(b)): the larger number, and the logarithm of 1 and an exponential. */
GRADSPEC_INLINE float gradspec_float_logaddexp(float a, float b) {
    float d = a == b ? 0.0f : a - b;
    return (d > 0.0f ? a : b) + gradspec_float_short_log1p(gradspec_float_exp_below(-gradspec_float_size(d)));
}

GRADSPEC_OVER_FLOATS(sigmoid)
GRADSPEC_OVER_FLOATS(sigmoid_slope)
GRADSPEC_OVER_FLOATS(tanh_slope)

/* A function and its slope, around one exponential: the compiler sees that it is the same. */
GRADSPEC_FUSED static void gradspec_sigmoid_with_slope(const float *restrict x, float *restrict y, float *restrict slope, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        y[i] = gradspec_float_sigmoid(x[i]);
        slope[i] = gradspec_float_sigmoid_slope(x[i]);
    }
}

/* Returns whether some x is no number. */
GRADSPEC_FUSED static int gradspec_tanh_with_slope(const float *restrict x, float *restrict y, float *restrict slope, npy_intp n) {
    uint32_t found = 0;
    for (npy_intp i = 0; i < n; i++) {
        gradspec_float_pair e = gradspec_float_exp_twice(x[i]);
        y[i] = gradspec_float_tanh_by(x[i], e.high);
        slope[i] = 4.0f * gradspec_float_slope_by(e);
        found |= UINT32_C(0x7f800000) - (gradspec_float_bits(x[i]) & ~(UINT32_C(1) << 31));
    }
    return (int32_t) found < 0;
}

#define OVER_PAIR(name, p, q) \
    GRADSPEC_FUSED static void gradspec_logaddexp_##name(const float *a, const float *b, float *y, npy_intp n) { \
        for (npy_intp i = 0; i < n; i++) y[i] = gradspec_float_logaddexp(a[(p) * i], b[(q) * i]); \
    }
OVER_PAIR(of_two, 1, 1)
OVER_PAIR(of_numbers, 0, 0)
OVER_PAIR(of_number_first, 0, 1)
OVER_PAIR(of_number_second, 1, 0)
#undef OVER_PAIR

#endif
