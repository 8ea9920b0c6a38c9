/* erf, erfc and the inverse of erf for doubles, error below 1 ulp; gelu and its slope, error of some ulp.
 *
 * The polynomials are interpolated at Chebyshev nodes from values of 40 digits and more: erf(x) / x in x * x up to 1, and
 * (1 + 2 z) exp(z * z) erfc(z) in t = (z - 3.75) / (z + 3.75) for z up to 27.5, both within 2**-58, and a shorter one from 0.5 to
 * 6, within 2**-56.  For the inverse they are its
 * quotient by x in w = -log(1 - x * x) up to 5, within 2**-57, and its quotient by s = sqrt(w) in t = (s - 2) / (s + 2), within
 * 2**-20.
 */
#ifndef GRADSPEC_ERROR_FUNCTION_DOUBLE_H
#define GRADSPEC_ERROR_FUNCTION_DOUBLE_H

#include "../fusion_engine/elementary_inverse.h"
#include "../fusion_engine/elementary_single.h"
#include "../fusion_engine/fused.h"
#include "error_function.h"
#include "logistic_double.h"
#include <numpy/npy_common.h>

/* The polynomial for (1 + 2 z) exp(z * z) erfc(z) without its last term, divided by t. */
GRADSPEC_INLINE double gradspec_erfc_bend(double t) {
    double p = -0x1.10b7474af9eb2p-30;
    p = gradspec_fused(p, t, -0x1.5b6445fecfd7cp-28);
    p = gradspec_fused(p, t, 0x1.a54d5bc370666p-33);
    p = gradspec_fused(p, t, 0x1.5f6cf4be694c6p-25);
    p = gradspec_fused(p, t, 0x1.39c750a393018p-26);
    p = gradspec_fused(p, t, -0x1.1a8b11af503efp-22);
    p = gradspec_fused(p, t, -0x1.ce179013f6883p-25);
    p = gradspec_fused(p, t, 0x1.d752841b89653p-20);
    p = gradspec_fused(p, t, -0x1.05b171a5364f7p-20);
    p = gradspec_fused(p, t, -0x1.80143d25934a5p-17);
    p = gradspec_fused(p, t, 0x1.778caaee21353p-16);
    p = gradspec_fused(p, t, 0x1.b14551a4cafb2p-15);
    p = gradspec_fused(p, t, -0x1.303fa4af46391p-12);
    p = gradspec_fused(p, t, 0x1.33fb1d1502b40p-12);
    p = gradspec_fused(p, t, 0x1.cc3a0e50fcd7fp-10);
    p = gradspec_fused(p, t, -0x1.3f603c2bbee97p-7);
    p = gradspec_fused(p, t, 0x1.d0b0037da7358p-6);
    p = gradspec_fused(p, t, -0x1.e0d0fa6e28960p-5);
    p = gradspec_fused(p, t, 0x1.7a14188a99c7cp-4);
    p = gradspec_fused(p, t, -0x1.bda9309a27bdap-4);
    p = gradspec_fused(p, t, 0x1.510169d096820p-4);
    p = gradspec_fused(p, t, 0x1.d5f29481596c2p-9);
    return gradspec_fused(p, t, -0x1.1f367683f89a7p-3);
}

/* exp(-z * z) divided by 2**k, for z from 0 to 28. */
GRADSPEC_INLINE gradspec_twofold gradspec_part_bell(double z, double *scale) {
    gradspec_twofold s = gradspec_square(z), v, m;
    double shifted = gradspec_fused(s.high, -0x1.71547652b82fep+0, 0x1.8p52), k = shifted - 0x1.8p52;
    double first = gradspec_fused(k, -0x1.62e42fefa2000p-1, -s.high), r = gradspec_fused(k, -0x1.9ef35793c7673p-41, first);
    *scale = gradspec_scale(shifted);
    v = gradspec_onto(r, gradspec_fused(k, -0x1.9ef35793c7673p-41, first - r) - s.low);
    v = gradspec_near_expm1(v.high, v.low);
    m = gradspec_onto(1.0, v.high);
    return (gradspec_twofold){m.high, m.low + v.low};
}

/* erfc(z) divided by the 2**k of exp(-z * z), for z from 0 to 28. */
GRADSPEC_INLINE gradspec_twofold gradspec_part_erfc(double z, double *scale) {
    gradspec_twofold m = gradspec_part_bell(z, scale), q, e;
    double t = (z - 3.75) / (z + 3.75), p = gradspec_erfc_bend(t);
    q = gradspec_onto(0x1.3ccda0b5d5dc2p+0, p * t);
    q.low += gradspec_fused(p, t, -(p * t)) + 0x1.eebafc33ede93p-54;
    e.high = m.high * q.high;
    e.low = gradspec_fused(m.high, q.high, -e.high) + gradspec_fused(m.high, q.low, m.low * q.high);
    return gradspec_ratio(e, gradspec_sum(1.0, 2.0 * z));
}

/* The polynomial for erf(z) / z in t = z * z up to 1 without its last term, divided by t. */
GRADSPEC_INLINE double gradspec_erf_bend(double t) {
    double p = 0x1.0f8a27a51ad26p-34;
    p = gradspec_fused(p, t, -0x1.3c1e91b012003p-30);
    p = gradspec_fused(p, t, 0x1.f8d476ab1a455p-27);
    p = gradspec_fused(p, t, -0x1.5f39372686202p-23);
    p = gradspec_fused(p, t, 0x1.b9e2333703249p-20);
    p = gradspec_fused(p, t, -0x1.f4d21efdafc7dp-17);
    p = gradspec_fused(p, t, 0x1.f9a324ddf0f34p-14);
    p = gradspec_fused(p, t, -0x1.c02db3f4735cbp-11);
    p = gradspec_fused(p, t, 0x1.565bcd0e434bbp-8);
    p = gradspec_fused(p, t, -0x1.b82ce312882f8p-6);
    p = gradspec_fused(p, t, 0x1.ce2f21a042bd7p-4);
    return gradspec_fused(p, t, -0x1.812746b0379e7p-2);
}

/* erf(z) for z from 0 to 1. */
GRADSPEC_INLINE gradspec_twofold gradspec_near_erf(double z) {
    double t = z * z, p = gradspec_erf_bend(t);
    double lost = gradspec_fused(p, gradspec_fused(z, z, -t), gradspec_fused(p, t, -(p * t)));
    gradspec_twofold s = gradspec_onto(0x1.20dd750429b6dp+0, p * t), y;
    y.high = z * s.high;
    y.low = gradspec_fused(z, s.high, -y.high) + z * (s.low + (lost + 0x1.1ae3a914fed80p-56));
    return y;
}

/* exp(z * z) erfc(z) for z from 0.5 to 6: u = 1 / (z + 3.5) times a polynomial in u - 0x1.6cp-3. */
GRADSPEC_INLINE gradspec_twofold gradspec_close_erfcx(double z) {
    gradspec_twofold d = gradspec_sum(3.5, z), slope, q;
    double u = 1.0 / d.high, off = gradspec_fused(u, d.high, -1.0) + u * d.low, t = u - 0x1.6cp-3, p = 0x1.1dafb49dd6da6p+26;
    p = gradspec_fused(p, t, -0x1.0ea86752fa50cp+25);
    p = gradspec_fused(p, t, -0x1.1ece11ba16f33p+23);
    p = gradspec_fused(p, t, 0x1.903666b159e9cp+22);
    p = gradspec_fused(p, t, 0x1.158ab18fe9100p+20);
    p = gradspec_fused(p, t, -0x1.ff860c8f86a9cp+19);
    p = gradspec_fused(p, t, -0x1.8fe8fc20cebe4p+17);
    p = gradspec_fused(p, t, 0x1.41aa6407b0e01p+17);
    p = gradspec_fused(p, t, 0x1.a95f0b1c95cccp+15);
    p = gradspec_fused(p, t, -0x1.51ae4a20222edp+14);
    p = gradspec_fused(p, t, -0x1.f5da7d50a2c7dp+13);
    p = gradspec_fused(p, t, -0x1.6b1b110ef5770p+9);
    p = gradspec_fused(p, t, 0x1.a8f90045b296cp+11);
    p = gradspec_fused(p, t, 0x1.19014b40c806ap+11);
    p = gradspec_fused(p, t, 0x1.b435b4daf706bp+9);
    p = gradspec_fused(p, t, 0x1.ed12f85be1ec1p+7);
    p = gradspec_fused(p, t, 0x1.b28b536a8dc43p+5);
    slope = gradspec_onto(0x1.32c31d7f596bfp+3, p * t);
    q = gradspec_onto(0x1.5d56ba8fb3acap+0, slope.high * t);
    q.low += gradspec_fused(slope.high, t, -(slope.high * t)) + gradspec_fused(slope.low + -0x1.c7b12611c832ep-51, t, -0x1.4c5da145e2256p-55);
    double y = u * q.high, more = off * d.high * gradspec_fused(2.0 * z, y, -0x1.20dd750429b6dp+0); /* by the slope, 2 z y - 2 / sqrt(pi) */
    return (gradspec_twofold){y, gradspec_fused(u, q.high, -y) + gradspec_fused(u, q.low, more)};
}

/* Beyond 6 if `far`. */
GRADSPEC_INLINE double gradspec_double_erfc(double x, int far) {
    double size = gradspec_size(x), z = far && size > 6.0 ? 6.0 : size, scale;
    gradspec_twofold m = gradspec_part_bell(z, &scale), g = gradspec_close_erfcx(z), near = gradspec_near_erf(z > 0.5 ? 0.5 : z), c, s, b;
    c.high = m.high * g.high;
    c.low = gradspec_fused(m.high, g.high, -c.high) + gradspec_fused(m.high, g.low, m.low * g.high);
    s = gradspec_onto(1.0, -gradspec_signed(near.high, x));
    b = gradspec_onto(2.0, -c.high * scale);
    double middle = s.high + (s.low - (x < 0.0 ? -near.low : near.low)), right = (c.high + c.low) * scale;
    double y = size < 0.5 ? middle : x < 0.0 ? b.high + (b.low - c.low * scale) : right;
    if (!far) return y;

    z = size > 28.0 ? 28.0 : size;
    c = gradspec_part_erfc(z, &scale);
    right = x < 0.0 ? 2.0 : gradspec_scaled(c.high + c.low, scale, -z * z - 8.0); /* the factor is at least 2**-6 */
    return x == x ? size > 6.0 ? right : y : x;
}

/* exp(r) - 1 and 1.5 * 2**52 + k of s + rest = k log(2) + r. */
GRADSPEC_INLINE double gradspec_rounded_part(double s, double rest, double *shifted) {
    double k, first, r;
    *shifted = gradspec_fused(s, 0x1.71547652b82fep+0, 0x1.8p52);
    k = *shifted - 0x1.8p52;
    first = gradspec_fused(k, -0x1.62e42fefa2000p-1, s);
    r = gradspec_fused(k, -0x1.9ef35793c7673p-41, first) + rest;
    return gradspec_fused(r * r, gradspec_bend_of_exp(r), r);
}

/* exp(z * z) erfc(z), z >= 0, within some ulp; from 0.7 on, where the polynomial is flat, within 2: by one quotient, corrected. */
GRADSPEC_INLINE double gradspec_erfcx(double z) {
    double a = z + 3.75, b = gradspec_fused(2.0, z, 1.0), inverse = 1.0 / (a * b), r = a * inverse;
    double t = gradspec_fused(2.0 * z, b * inverse, -1.0), q = gradspec_fused(gradspec_erfc_bend(t), t, 0x1.3ccda0b5d5dc2p+0), y = q * r;
    return gradspec_fused(gradspec_fused(-y, b, q), r, y);
}

/* Up to 1 by a polynomial, beyond as 1 - exp(p) where p is log(erfc(z)) in z - 1, within 2**-57 of erfc(1) / erfc(z). */
GRADSPEC_INLINE double gradspec_erf_of(double x) {
    double size = gradspec_size(x), z = size > 6.0 ? 6.0 : size, t = z - 1.0, p = 0x1.221147b470c4fp-40, shifted;
    p = gradspec_fused(p, t, -0x1.f74af3d1133f2p-36);
    p = gradspec_fused(p, t, 0x1.926e1c4d64e11p-32);
    p = gradspec_fused(p, t, -0x1.87a4bdc7d76c9p-29);
    p = gradspec_fused(p, t, 0x1.fe3890de74fd6p-27);
    p = gradspec_fused(p, t, -0x1.bd646821162d1p-25);
    p = gradspec_fused(p, t, 0x1.a1332e18806aap-24);
    p = gradspec_fused(p, t, 0x1.343f06ef3b5b5p-23);
    p = gradspec_fused(p, t, -0x1.14908a7d033d5p-19);
    p = gradspec_fused(p, t, 0x1.4271e5ce24ca9p-17);
    p = gradspec_fused(p, t, -0x1.c7a97c4dfb6d5p-16);
    p = gradspec_fused(p, t, 0x1.b8df8e66e6e5ap-16);
    p = gradspec_fused(p, t, 0x1.f1b37f60707b0p-13);
    p = gradspec_fused(p, t, -0x1.033f658b135fcp-9);
    p = gradspec_fused(p, t, 0x1.48c9d3e9c12ecp-7);
    p = gradspec_fused(p, t, -0x1.5477f09bfbcaep-5);
    p = gradspec_fused(p, t, -0x1.afabc11a2964cp-1);
    p = gradspec_fused(p, t, -0x1.51c9b0006c236p+1);
    p = gradspec_fused(p, t, -0x1.d97fbf27aa2a1p+0);
    double v = gradspec_rounded_part(p, 0.0, &shifted), scale = gradspec_scale(shifted);
    gradspec_twofold far = gradspec_onto(1.0, -scale), near = gradspec_near_erf(z > 1.0 ? 1.0 : z);
    return gradspec_signed(z < 1.0 ? near.high + near.low : far.high + gradspec_fused(-scale, v, far.low), x);
}

/* The inverse of erfc, up to 1/2, within 2**-20. */
GRADSPEC_INLINE double gradspec_erfcinv_guess(double inside) {
    double w = sqrt(-gradspec_single_log(inside * (2.0 - inside))), t = (w - 2.0) / (w + 2.0), p = -0x1.0d74ee57bac33p+1;
    p = gradspec_fused(p, t, 0x1.2dd3b96166671p-2);
    p = gradspec_fused(p, t, 0x1.a0fe3eefa2c26p+1);
    p = gradspec_fused(p, t, -0x1.3500b6bb55ac1p-4);
    p = gradspec_fused(p, t, -0x1.0c98a6b3b2327p+1);
    p = gradspec_fused(p, t, -0x1.3877427e3f166p-3);
    p = gradspec_fused(p, t, 0x1.9d41b6e55822fp-1);
    p = gradspec_fused(p, t, 0x1.38caa0683d545p-3);
    p = gradspec_fused(p, t, -0x1.014c22966c8c2p-2);
    p = gradspec_fused(p, t, -0x1.bc5a1407ca0e1p-4);
    p = gradspec_fused(p, t, 0x1.607a77cab26d8p-4);
    p = gradspec_fused(p, t, 0x1.b16399d157bfap-4);
    p = gradspec_fused(p, t, 0x1.d7784d773bcf0p-1);
    return p * w;
}

/* The inverse of erf between -1 and 1, up to 0.996 from w = -log(1 - x * x) alone.  If `far`, beyond as an estimate and a step of
 * Halley's method. */
GRADSPEC_INLINE double gradspec_double_erfinv(double x, int far) {
    gradspec_twofold square = gradspec_square(x), d = gradspec_onto(1.0, -square.high), l, w, t, slope, y;
    double k, p = -0x1.456805d898d1fp-64, scale;
    l = gradspec_part_log(d.high, d.low - square.low, &k);
    w = gradspec_onto(k * 0x1.62e42fefa2000p-1, l.high);
    w = gradspec_onto(w.high, w.low + gradspec_fused(k, 0x1.9ef35793c7673p-41, l.low));
    t = gradspec_onto(-2.5, -w.high);
    p = gradspec_fused(p, t.high, 0x1.919d95d66a44fp-63);
    p = gradspec_fused(p, t.high, 0x1.6a3fd44887a54p-58);
    p = gradspec_fused(p, t.high, -0x1.eee6b35f994bap-56);
    p = gradspec_fused(p, t.high, -0x1.3b05ba9ab6d96p-53);
    p = gradspec_fused(p, t.high, 0x1.1158f64217205p-49);
    p = gradspec_fused(p, t.high, -0x1.9f363c3485a35p-49);
    p = gradspec_fused(p, t.high, -0x1.56d81977413a1p-44);
    p = gradspec_fused(p, t.high, 0x1.2d890a4ff1c9dp-41);
    p = gradspec_fused(p, t.high, 0x1.009541699022cp-40);
    p = gradspec_fused(p, t.high, -0x1.11953fd528876p-35);
    p = gradspec_fused(p, t.high, 0x1.0704bf9879c70p-33);
    p = gradspec_fused(p, t.high, 0x1.f2cba3061bd1dp-31);
    p = gradspec_fused(p, t.high, -0x1.752fda310f5c5p-27);
    p = gradspec_fused(p, t.high, 0x1.ccff743241326p-27);
    p = gradspec_fused(p, t.high, 0x1.01037e3783a20p-21);
    p = gradspec_fused(p, t.high, -0x1.ca9227cafa878p-19);
    p = gradspec_fused(p, t.high, -0x1.4f47fe72ec7cfp-18);
    p = gradspec_fused(p, t.high, 0x1.c9b437ed2ada5p-13);
    p = gradspec_fused(p, t.high, -0x1.4863cdfb6175ap-10);
    p = gradspec_fused(p, t.high, -0x1.11c3c302dfe42p-8);
    slope = gradspec_onto(0x1.f91e8993f0d14p-3, p * t.high); /* from 5/2, close to the slope here */
    y = gradspec_onto(0x1.805c5cfcedef5p+0, slope.high * t.high);
    y.low += gradspec_fused(slope.high, t.high, -(slope.high * t.high)) + gradspec_fused(slope.low, t.high, -0x1.2c78419526c43p-54);
    y.low += slope.high * (t.low - w.low);
    double near = gradspec_signed(gradspec_fused(x, y.high, x * y.low), x);
    if (!far) return near;

    double size = gradspec_size(x), rest = 1.0 - size, inside = rest < 0.5 ? rest : 0.5, z = gradspec_erfcinv_guess(inside);
    gradspec_twofold c = gradspec_part_erfc(z, &scale);
    double gap = gradspec_fused(c.high, scale, -inside) + c.low * scale;
    double step = gap * 0x1.c5bf891b4ef6bp-1 * gradspec_single_exp(z * z);
    return size > 0.996 ? gradspec_signed(z + step / (1.0 - z * step), x) : near;
}

/* m exp(-z * z / 2) for z from 0 to 39; for z up to 37 if it is not `far`. */
GRADSPEC_INLINE double gradspec_times_bell(double m, double z, int far) {
    double half = -0.5 * z, s = half * z, shifted, v = gradspec_rounded_part(s, gradspec_fused(half, z, -s), &shifted);
    int lost = far && s < -690.0;
    return gradspec_fused(m, v, m) * gradspec_scale(lost ? shifted + 128.0 : shifted) * (lost ? 0x1p-128 : 1.0);
}

/* The odd part of the normal distribution function, divided by z, for z from 0 to 1. */
GRADSPEC_INLINE double gradspec_odd_normal(double z) {
    double t = 0.5 * z * z;
    return gradspec_fused(gradspec_erf_bend(t), t * 0x1.6a09e667f3bcdp-2, 0x1.9884533d43651p-2);
}

/* x times the normal distribution function, which is 0 below -39, and the slope of the product. */
GRADSPEC_INLINE double gradspec_double_gelu(double x, int far) {
    double size = gradspec_size(x), z = far && size > 39.0 ? 39.0 : size, c = gradspec_times_bell(0.5 * gradspec_erfcx(z * 0x1.6a09e667f3bcdp-1), z, far);
    c = size < 1.0 ? gradspec_fused(x, gradspec_odd_normal(z), 0.5) : x < 0.0 ? c : 1.0 - c;
    return (far && x < -39.0 ? -39.0 : x) * c;
}

GRADSPEC_INLINE double gradspec_double_gelu_slope(double x, int far) {
    double size = gradspec_size(x), z = far && size > 39.0 ? 39.0 : size, bell = gradspec_times_bell(0x1.9884533d43651p-2, z, far);
    double c = gradspec_fused(gradspec_erfcx(z * 0x1.6a09e667f3bcdp-1), 0x1.40d931ff62706p+0, -z) * bell;
    double odd = gradspec_odd_normal(z), near = gradspec_fused(x, odd, 0.5), rest = gradspec_fused(x, odd, 0.5 - near);
    return size < 1.0 ? near + gradspec_fused(x, bell, rest) : x < 0.0 ? c : 1.0 - c;
}

#define OVER(name) \
    GRADSPEC_FUSED GRADSPEC_UNUSED static void gradspec_##name##_of_double(const double *x, double *y, npy_intp n) { \
        for (npy_intp i = 0; i < n; i++) y[i] = gradspec_##name##_of(x[i]); \
    }
OVER(erf)
#undef OVER

#define T double
#define MARK uint16_t
#define NAME erfc
#define MOST 6.0
#include "near_or_far_template.h"
#define NAME erfinv
#define MOST 0.996
#include "near_or_far_template.h"
#define NAME gelu
#define MOST 37.0
#include "near_or_far_template.h"
#define NAME gelu_slope
#define MOST 37.0
#include "near_or_far_template.h"
#undef T
#undef MARK

#endif
