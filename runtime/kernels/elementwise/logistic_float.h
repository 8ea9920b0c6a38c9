/* The logistic function, its slope and its integral, silu and its slope, and the slope of tanh, for floats, branch-free around exp(-|x|);
 * also functions together with their slopes. */
#ifndef GRADSPEC_LOGISTIC_FLOAT_H
#define GRADSPEC_LOGISTIC_FLOAT_H

#include "../fusion_engine/elementary_float.h"
#include "../fusion_engine/fused.h"
#include "../loops/typed.h"
#include <numpy/npy_common.h>

/* The difference of n / (1 + e) and n * inverse, where inverse is the rounded 1 / (1 + e); e is at most 1. */
GRADSPEC_INLINE float gradspec_float_share(gradspec_float_pair n, gradspec_float_pair e) {
    gradspec_float_pair d = gradspec_float_onto(1.0f, e.high);
    float inverse = 1.0f / d.high, q = n.high * inverse;
    float rest = gradspec_float_fused(-q, d.high, n.high) + gradspec_float_fused(-q, d.low + e.low, n.low);
    return gradspec_float_fused(rest, inverse, q);
}

/* From e = exp(-|x|). */
GRADSPEC_INLINE float gradspec_float_sigmoid_by(float x, gradspec_float_pair e) {
    return gradspec_float_share((gradspec_float_pair){x < 0.0f ? e.high : 1.0f, x < 0.0f ? e.low : 0.0f}, e);
}

/* x * sigmoid(x), 0 at -inf. */
GRADSPEC_INLINE float gradspec_float_silu_by(float x, gradspec_float_pair e) {
    return (x < -1000.0f ? -1000.0f : x) * gradspec_float_sigmoid_by(x, e);
}

/* Its slope, sigmoid(x) * (1 + x * sigmoid(-x)), 0 or 1 far from 0. */
GRADSPEC_INLINE float gradspec_float_silu_slope_by(float x, gradspec_float_pair e) {
    float near = x < -1000.0f ? -1000.0f : x > 1000.0f ? 1000.0f : x;
    return gradspec_float_sigmoid_by(x, e) * (1.0f + near * gradspec_float_sigmoid_by(-x, e));
}

/* e / (1 + e)**2 for e = exp(x), at most 1. */
GRADSPEC_INLINE float gradspec_float_slope_by(gradspec_float_pair e) {
    gradspec_float_pair d = gradspec_float_onto(1.0f, e.high);
    float inverse = 1.0f / d.high, rest = gradspec_float_fused(-inverse, d.low + e.low, gradspec_float_fused(-inverse, d.high, 1.0f));
    float q = e.high * inverse, more = gradspec_float_fused(e.high, inverse, -q) + inverse * e.low;
    float y = q * inverse;
    return y + gradspec_float_fused(2.0f * y, rest, gradspec_float_fused(q, inverse, -y) + more * inverse);
}

/* log(exp(a) + exp(b)): the larger number plus the logarithm of 1 plus an exponential. */
GRADSPEC_INLINE float gradspec_float_logaddexp(float a, float b) {
    float d = a == b ? 0.0f : a - b;
    return (d > 0.0f ? a : b) + gradspec_float_short_log1p(gradspec_float_exp_below(-gradspec_float_size(d)));
}

/* Whether a size is above `most`, or NaN. */
GRADSPEC_INLINE uint8_t gradspec_float_is_beyond(float x, float most) {
    return (gradspec_float_bits(most) - gradspec_float_bits(gradspec_float_size(x))) >> 31;
}

#define GRADSPEC_NEAR_BLOCK 512 /* elements at a time, */
#define GRADSPEC_NEAR_STEP 64   /* a multiple of the elements of a turn */

GRADSPEC_INLINE gradspec_float_pair gradspec_float_exp_minus(float size, int near) {
    return near ? gradspec_float_exp_close(-size) : gradspec_float_exp_below(-size);
}

GRADSPEC_INLINE float gradspec_float_sigmoid(float x, int far) {
    return gradspec_float_sigmoid_by(x, gradspec_float_exp_minus(gradspec_float_size(x), !far));
}

GRADSPEC_INLINE float gradspec_float_sigmoid_slope(float x, int far) {
    return gradspec_float_slope_by(gradspec_float_exp_minus(gradspec_float_size(x), !far));
}

GRADSPEC_INLINE float gradspec_float_tanh_slope(float x, int far) {
    return 4.0f * gradspec_float_slope_by(gradspec_float_exp_minus(2.0f * gradspec_float_size(x), !far));
}

GRADSPEC_INLINE float gradspec_float_silu(float x, int far) {
    return gradspec_float_silu_by(x, gradspec_float_exp_minus(gradspec_float_size(x), !far));
}

GRADSPEC_INLINE float gradspec_float_silu_slope(float x, int far) {
    return gradspec_float_silu_slope_by(x, gradspec_float_exp_minus(gradspec_float_size(x), !far));
}

#define T float
#define MARK uint8_t
#define NAME sigmoid
#define MOST 68.0f
#include "near_or_far_template.h"
#define NAME sigmoid_slope
#define MOST 68.0f
#include "near_or_far_template.h"
#define NAME tanh_slope
#define MOST 34.0f
#include "near_or_far_template.h"
#define NAME silu
#define MOST 68.0f
#include "near_or_far_template.h"
#define NAME silu_slope
#define MOST 68.0f
#include "near_or_far_template.h"
#undef T
#undef MARK

GRADSPEC_INLINE void gradspec_float_sigmoid_and_slope(float x, float *y, float *slope, int far) {
    gradspec_float_pair e = gradspec_float_exp_minus(gradspec_float_size(x), !far);
    *y = gradspec_float_sigmoid_by(x, e);
    *slope = gradspec_float_slope_by(e);
}

GRADSPEC_INLINE void gradspec_float_tanh_and_slope(float x, float *y, float *slope, int far) {
    gradspec_float_pair e = gradspec_float_exp_minus(2.0f * gradspec_float_size(x), !far);
    *y = gradspec_float_tanh_by(x, e.high);
    *slope = 4.0f * gradspec_float_slope_by(e);
}

#define T float
#define NAME sigmoid_and_slope
#define MOST 68.0f
#include "near_or_far_pair_template.h"
#define NAME tanh_and_slope
#define MOST 34.0f
#include "near_or_far_pair_template.h"
#undef T

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
