/* The functions of logistic_float.h for doubles: errors of some ulp, from an exponential within 1. */
#ifndef GRADSPEC_LOGISTIC_DOUBLE_H
#define GRADSPEC_LOGISTIC_DOUBLE_H

#include "../fusion_engine/elementary.h"
#include "logistic_float.h"

/* exp(x) over 2**k for x <= 0, between 0.7 and 1.42. */
GRADSPEC_INLINE double gradspec_double_part_exp(double x, double *shifted) {
    double k, first, r, p;
    *shifted = gradspec_fused(x, 0x1.71547652b82fep+0, 0x1.8p52);
    k = *shifted - 0x1.8p52;
    first = gradspec_fused(k, -0x1.62e42fefa2000p-1, x);
    r = gradspec_fused(k, -0x1.9ef35793c7673p-41, first);
    p = gradspec_bend_of_exp(r);
    return 1.0 + gradspec_fused(r * r, p, r);
}

/* exp(x) for x from -708 to 0. */
GRADSPEC_INLINE double gradspec_double_exp_close(double x) {
    double shifted, m = gradspec_double_part_exp(x, &shifted);
    return gradspec_of_bits(gradspec_bits(m) + (gradspec_bits(shifted) << 52));
}

/* The same for all x <= 0, and for NaN. */
GRADSPEC_INLINE double gradspec_double_exp_below(double x) {
    double near = x < -746.0 ? -746.0 : x, shifted, m = gradspec_double_part_exp(near, &shifted);
    return x == x ? gradspec_scaled(m, gradspec_scale(shifted), near) : x;
}

GRADSPEC_INLINE uint8_t gradspec_double_is_beyond(double x, double most) {
    return (gradspec_bits(most) - gradspec_bits(gradspec_size(x))) >> 63;
}

GRADSPEC_INLINE double gradspec_double_exp_minus(double size, int near) {
    return near ? gradspec_double_exp_close(-size) : gradspec_double_exp_below(-size);
}

GRADSPEC_INLINE double gradspec_double_sigmoid(double x, int far) {
    double e = gradspec_double_exp_minus(gradspec_size(x), !far);
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

GRADSPEC_INLINE double gradspec_double_sigmoid_slope(double x, int far) {
    double e = gradspec_double_exp_minus(gradspec_size(x), !far), d = 1.0 + e;
    return e / (d * d);
}

GRADSPEC_INLINE double gradspec_double_tanh_slope(double x, int far) {
    return 4.0 * gradspec_double_sigmoid_slope(2.0 * x, far);
}

GRADSPEC_INLINE double gradspec_double_silu(double x, int far) {
    double e = gradspec_double_exp_minus(gradspec_size(x), !far);
    return (x < -1000.0 ? -1000.0 : x) * (x < 0.0 ? e : 1.0) / (1.0 + e);
}

GRADSPEC_INLINE double gradspec_double_silu_slope(double x, int far) {
    double e = gradspec_double_exp_minus(gradspec_size(x), !far), d = 1.0 + e, near = x < -1000.0 ? -1000.0 : x > 1000.0 ? 1000.0 : x;
    return (x < 0.0 ? e : 1.0) / d * (1.0 + near * ((x < 0.0 ? 1.0 : e) / d));
}

#define T double
#define MARK uint16_t
#define NAME sigmoid
#define MOST 708.0
#include "near_or_far_template.h"
#define NAME sigmoid_slope
#define MOST 708.0
#include "near_or_far_template.h"
#define NAME tanh_slope
#define MOST 354.0
#include "near_or_far_template.h"
#define NAME silu
#define MOST 708.0
#include "near_or_far_template.h"
#define NAME silu_slope
#define MOST 708.0
#include "near_or_far_template.h"
#undef T
#undef MARK

#endif
