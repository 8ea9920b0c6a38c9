/* The logistic function, its slope and its integral, silu and its slope, and the slope of tanh, for floats, branch-free around exp(-|x|);
 * also functions together with their slopes. */
#ifndef GRADSPEC_LOGISTIC_FLOAT_H
#define GRADSPEC_LOGISTIC_FLOAT_H

#include "../fusion_engine/elementary_float.h"
#include "../fusion_engine/fused.h"
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

/* A loop over numbers of type T, block by block: in a shorter way, which is for sizes up to `most`, and again if a block has others.
 * It marks those by a MARK of a quarter of a number's bytes, and so compilers compute four vectors of numbers in a turn, which do not
 * wait for one another.  The last numbers are too few for a turn. */
#define GRADSPEC_NEAR_OR_FAR(T, MARK, name, most) \
    GRADSPEC_FUSED GRADSPEC_UNUSED static void gradspec_near_##name##_of_##T(const T *x, T *y, MARK *restrict far, npy_intp n) { \
        for (npy_intp i = 0; i < n / GRADSPEC_NEAR_STEP * GRADSPEC_NEAR_STEP; i++) { \
            far[i] = gradspec_##T##_is_beyond(x[i], most); \
            y[i] = gradspec_##T##_##name(x[i], 0); \
        } \
    } \
    GRADSPEC_FUSED GRADSPEC_UNUSED static void gradspec_far_##name##_of_##T(const T *x, T *y, npy_intp n) { \
        for (npy_intp i = 0; i < n; i++) y[i] = gradspec_##T##_##name(x[i], 1); \
    } \
    GRADSPEC_UNUSED static void gradspec_##name##_of_##T(const T *x, T *y, npy_intp n) { \
        MARK far[GRADSPEC_NEAR_BLOCK]; \
        T kept[GRADSPEC_NEAR_BLOCK]; \
        for (npy_intp size; n >= GRADSPEC_NEAR_STEP; x += size, y += size, n -= size) { \
            size = n < GRADSPEC_NEAR_BLOCK ? n / GRADSPEC_NEAR_STEP * GRADSPEC_NEAR_STEP : GRADSPEC_NEAR_BLOCK; \
            const T *from = x == y ? memcpy(kept, x, size * sizeof(T)) : x; \
            gradspec_near_##name##_of_##T(from, y, far, size); \
            if (memchr(far, 1, size * sizeof(MARK))) gradspec_far_##name##_of_##T(from, y, size); \
        } \
        gradspec_far_##name##_of_##T(x, y, n); \
    }

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

GRADSPEC_NEAR_OR_FAR(float, uint8_t, sigmoid, 68.0f)
GRADSPEC_NEAR_OR_FAR(float, uint8_t, sigmoid_slope, 68.0f)
GRADSPEC_NEAR_OR_FAR(float, uint8_t, tanh_slope, 34.0f)
GRADSPEC_NEAR_OR_FAR(float, uint8_t, silu, 68.0f)
GRADSPEC_NEAR_OR_FAR(float, uint8_t, silu_slope, 68.0f)

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

/* Functions together with their slopes, from one exponential, in such blocks.  They return whether some x is NaN. */
#define WITH_SLOPE(name, most) \
    GRADSPEC_FUSED static void gradspec_near_##name(const float *restrict x, float *restrict y, float *restrict slope, \
                                                    uint8_t *restrict far, npy_intp n) { \
        for (npy_intp i = 0; i < n / GRADSPEC_NEAR_STEP * GRADSPEC_NEAR_STEP; i++) { \
            far[i] = gradspec_float_is_beyond(x[i], most); \
            gradspec_float_##name(x[i], y + i, slope + i, 0); \
        } \
    } \
    GRADSPEC_FUSED static int gradspec_far_##name(const float *restrict x, float *restrict y, float *restrict slope, npy_intp n) { \
        uint32_t found = 0; \
        for (npy_intp i = 0; i < n; i++) { \
            found |= gradspec_float_is_beyond(x[i], INFINITY); \
            gradspec_float_##name(x[i], y + i, slope + i, 1); \
        } \
        return found != 0; \
    } \
    static int gradspec_##name(const float *x, float *y, float *slope, npy_intp n) { \
        uint8_t far[GRADSPEC_NEAR_BLOCK]; \
        int found = 0; \
        for (npy_intp size; n >= GRADSPEC_NEAR_STEP; x += size, y += size, slope += size, n -= size) { \
            size = n < GRADSPEC_NEAR_BLOCK ? n / GRADSPEC_NEAR_STEP * GRADSPEC_NEAR_STEP : GRADSPEC_NEAR_BLOCK; \
            gradspec_near_##name(x, y, slope, far, size); \
            if (memchr(far, 1, size)) found |= gradspec_far_##name(x, y, slope, size); \
        } \
        return gradspec_far_##name(x, y, slope, n) | found; \
    }
WITH_SLOPE(sigmoid_and_slope, 68.0f)
WITH_SLOPE(tanh_and_slope, 34.0f)
#undef WITH_SLOPE

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
