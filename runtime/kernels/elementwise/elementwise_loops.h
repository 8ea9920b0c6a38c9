/* log(x / (1 - x)), sin(pi x) / (pi x) with its derivative, and rounding to decimals, in the style of elementary.h. */
#ifndef GRADSPEC_ELEMENTWISE_LOOPS_H
#define GRADSPEC_ELEMENTWISE_LOOPS_H

#include "../fusion_engine/elementary_float.h"
#include "../fusion_engine/elementary_inverse.h"
#include "../fusion_engine/elementary_single.h"
#include "../fusion_engine/fused.h"
#include "../loops/copies.h"
#include "../loops/typed.h"
#include <numpy/npy_common.h>

GRADSPEC_INLINE double gradspec_logit(double x) {
    return gradspec_log_of(gradspec_ratio((gradspec_twofold){x, 0.0}, gradspec_sum(1.0, -x)));
}

GRADSPEC_INLINE double gradspec_single_logit(double x) {
    return gradspec_single_log(x / (1.0 - x));
}

/* pi x. */
GRADSPEC_INLINE gradspec_twofold gradspec_pi_times(double x) {
    double p = x * 0x1.921fb54442d18p+1;
    return (gradspec_twofold){p, gradspec_fused(x, 0x1.921fb54442d18p+1, -p) + x * 0x1.1a62633145c07p-53};
}

/* sin(pi x) or cos(pi x), exactly 0 at zeros, for numbers below 2**50. */
GRADSPEC_INLINE gradspec_twofold gradspec_wave_of_pi(double x, int cosine) {
    double shifted = 2.0 * x + 0x1.8p52, r = x - 0.5 * (shifted - 0x1.8p52); /* exact */
    gradspec_twofold a = gradspec_pi_times(r), s, c;
    uint64_t quarter = gradspec_bits(shifted) + (uint64_t) cosine;
    s = gradspec_part_sin(a);
    c = gradspec_part_cos(a);
    s.high = quarter & 1 ? c.high : s.high;
    s.low = quarter & 1 ? c.low : s.low;
    return (gradspec_twofold){quarter & 2 ? -s.high : s.high, quarter & 2 ? -s.low : s.low};
}

/* For numbers between 2**-300 and 2**50; the caller handles all others. */
GRADSPEC_INLINE gradspec_twofold gradspec_twofold_sinc(double x) {
    return gradspec_ratio(gradspec_wave_of_pi(x, 0), gradspec_pi_times(x));
}

GRADSPEC_INLINE double gradspec_sinc(double x) {
    gradspec_twofold y = gradspec_twofold_sinc(gradspec_size(x));
    return y.high + y.low;
}

/* (cos(pi x) - sinc(x)) / x, by a polynomial within 2**-85 where the difference would cancel. */
GRADSPEC_INLINE double gradspec_sinc_slope(double x) {
    double size = gradspec_size(x), t = size > 1.0 ? 1.0 : size * size, p = 0x1.188c6938b025cp-52;
    p = gradspec_fused(p, t, -0x1.698b60a1675f2p-46);
    p = gradspec_fused(p, t, 0x1.7404d0755a96ep-40);
    p = gradspec_fused(p, t, -0x1.43f470037b228p-34);
    p = gradspec_fused(p, t, 0x1.d7d6a721e9574p-29);
    p = gradspec_fused(p, t, -0x1.1a5c8a4d19e62p-23);
    p = gradspec_fused(p, t, 0x1.0fc992ff323c9p-18);
    p = gradspec_fused(p, t, -0x1.99a005b79425ap-14);
    p = gradspec_fused(p, t, 0x1.d2eaa6f80d599p-10);
    p = gradspec_fused(p, t, -0x1.8061c54d78996p-6);
    p = gradspec_fused(p, t, 0x1.ac6805cf350a6p-3);
    p = gradspec_fused(p, t, -0x1.24feab558a48dp+0);
    p = gradspec_fused(p, t, 0x1.9f9cb402bc46cp+1);
    double rest = gradspec_fused(p, t, -0x1.1873d88f85a4dp-54), near = gradspec_fused(size, -0x1.a51a6625307d3p+1, size * rest);
    gradspec_twofold c = gradspec_wave_of_pi(size, 1), s = gradspec_twofold_sinc(size), d = gradspec_minus(c, s);
    gradspec_twofold far = gradspec_ratio(d, (gradspec_twofold){size, 0.0});
    double y = size < 0.3 ? near : far.high + far.low;
    return gradspec_of_bits(gradspec_bits(y) ^ (gradspec_bits(x) & (UINT64_C(1) << 63)));
}

#define OVER(T, name, function) \
    GRADSPEC_FUSED static void gradspec_##name##_##T(const T *x, T *y, npy_intp n) { \
        for (npy_intp i = 0; i < n; i++) y[i] = (T) function(x[i]); \
    }
OVER(float, sinc, gradspec_sinc)
OVER(double, sinc, gradspec_sinc)
OVER(float, sinc_slope, gradspec_sinc_slope)
OVER(double, sinc_slope, gradspec_sinc_slope)
#undef OVER

enum { ODDS_BLOCK = 512, ODDS_STEP = 64 };

#define T float
#define BITS gradspec_float_bits
#define LEAST 0x1p-126f
#define LOGIT gradspec_single_logit
#include "odds_template.h"
#undef T
#undef BITS
#undef LEAST
#undef LOGIT

#define T double
#define BITS gradspec_bits
#define LEAST 0x1p-1022
#define LOGIT gradspec_logit
#include "odds_template.h"
#undef T
#undef BITS
#undef LEAST
#undef LOGIT

#define T float
#define RINT rintf
#include "round_template.h"
#undef T
#undef RINT

#define T double
#define RINT rint
#include "round_template.h"
#undef T
#undef RINT

#endif
