/* Elementary functions for doubles, error below 1 ulp, branch-free so that compilers vectorise them.
 *
 * Rounding errors are kept in a second number where a digit of the result would depend on them.  Products are added by explicit
 * fused instructions, so that the result does not depend on the compiler.  The polynomials are interpolated at Chebyshev nodes,
 * from values of 60 digits; each is within 2**-57 of its function.
 */
#ifndef GRADSPEC_ELEMENTARY_H
#define GRADSPEC_ELEMENTARY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

#if defined(__GNUC__)
#define GRADSPEC_INLINE static inline __attribute__((always_inline)) /* inlined into the copy for each processor */
#else
#define GRADSPEC_INLINE static inline
#endif

typedef struct {
    double high, low;
} gradspec_twofold; /* a number and its rounding error */

GRADSPEC_INLINE double gradspec_of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

GRADSPEC_INLINE uint64_t gradspec_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

GRADSPEC_INLINE double gradspec_signed(double size, double sign) {
    return gradspec_of_bits((gradspec_bits(size) & ~(UINT64_C(1) << 63)) | (gradspec_bits(sign) & (UINT64_C(1) << 63)));
}

GRADSPEC_INLINE double gradspec_size(double x) {
    return gradspec_of_bits(gradspec_bits(x) & ~(UINT64_C(1) << 63));
}

GRADSPEC_INLINE double gradspec_fused(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}

/* The sum of two numbers; the first is the larger. */
GRADSPEC_INLINE gradspec_twofold gradspec_onto(double a, double b) {
    double s = a + b;
    return (gradspec_twofold){s, (a - s) + b};
}

GRADSPEC_INLINE gradspec_twofold gradspec_sum(double a, double b) {
    double s = a + b, t = s - a;
    return (gradspec_twofold){s, (a - (s - t)) + (b - t)};
}

/* (exp(r) - 1 - r) / r**2, |r| < 0.35. */
GRADSPEC_INLINE double gradspec_bend_of_exp(double r) {
    double p = 0x1.1f7340dbc337ep-29;
    p = gradspec_fused(p, r, 0x1.af4e554377204p-26);
    p = gradspec_fused(p, r, 0x1.27e4db46cddd1p-22);
    p = gradspec_fused(p, r, 0x1.71de01fdbf9cap-19);
    p = gradspec_fused(p, r, 0x1.a01a01a6e1e2ap-16);
    p = gradspec_fused(p, r, 0x1.a01a01abf85abp-13);
    p = gradspec_fused(p, r, 0x1.6c16c16c162c3p-10);
    p = gradspec_fused(p, r, 0x1.11111111100bep-7);
    p = gradspec_fused(p, r, 0x1.5555555555556p-5);
    p = gradspec_fused(p, r, 0x1.5555555555557p-3);
    return gradspec_fused(p, r, 0.5);
}

/* exp(r + rest) - 1, |r| < 0.35. */
GRADSPEC_INLINE gradspec_twofold gradspec_near_expm1(double r, double rest) {
    return gradspec_onto(r, gradspec_fused(r * r, gradspec_bend_of_exp(r), gradspec_fused(rest, r, rest)));
}

/* 2**k, where k is in the low bits of 1.5 * 2**52 + k. */
GRADSPEC_INLINE double gradspec_scale(double shifted) {
    return gradspec_of_bits((gradspec_bits(shifted) << 52) + UINT64_C(0x3ff0000000000000));
}

/* exp(r) - 1 and the 2**k of x = k log(2) + r. */
GRADSPEC_INLINE gradspec_twofold gradspec_part_expm1(double x, double *scale) {
    double shifted = gradspec_fused(x, 0x1.71547652b82fep+0, 0x1.8p52), k = shifted - 0x1.8p52;
    double first = gradspec_fused(k, -0x1.62e42fefa2000p-1, x), r = gradspec_fused(k, -0x1.9ef35793c7673p-41, first);
    *scale = gradspec_scale(shifted);
    return gradspec_near_expm1(r, gradspec_fused(k, -0x1.9ef35793c7673p-41, first - r));
}

/* The product of a number between 0.5 and 2 and 2**k, subnormal or 0 if x is far below 0; by two exponents. */
GRADSPEC_INLINE double gradspec_scaled(double m, double scale, double x) {
    uint64_t ahead = x < -708.0 ? UINT64_C(0x0800000000000000) : 0;
    double back = x < -708.0 ? 0x1p-128 : 1.0;
    return gradspec_of_bits(gradspec_bits(m) + gradspec_bits(scale) - UINT64_C(0x3ff0000000000000) + ahead) * back;
}

GRADSPEC_INLINE double gradspec_exp(double x) {
    double scale, near = x < -746.0 ? -746.0 : x;
    gradspec_twofold t = gradspec_part_expm1(near, &scale), s = gradspec_onto(1.0, t.high);
    return gradspec_scaled(s.high + (s.low + t.low), scale, near);
}

GRADSPEC_INLINE double gradspec_exp2(double x) {
    double shifted = x + 0x1.8p52, part = x - (shifted - 0x1.8p52);
    double r = part * 0x1.62e42fefa39efp-1, rest = gradspec_fused(part, 0x1.62e42fefa39efp-1, -r);
    gradspec_twofold t = gradspec_near_expm1(r, gradspec_fused(part, 0x1.abc9e3b39803fp-56, rest)), s;
    s = gradspec_onto(1.0, t.high);
    return gradspec_scaled(s.high + (s.low + t.low), gradspec_scale(shifted), 0.0);
}

GRADSPEC_INLINE gradspec_twofold gradspec_twofold_expm1(double x) {
    double scale;
    gradspec_twofold t = gradspec_part_expm1(x, &scale), a = gradspec_sum(scale, -1.0), s = gradspec_sum(a.high, scale * t.high);
    return gradspec_onto(s.high, s.low + gradspec_fused(scale, t.low, a.low));
}

GRADSPEC_INLINE double gradspec_expm1(double x) {
    gradspec_twofold e = gradspec_twofold_expm1(x < -50.0 ? -50.0 : x);
    return gradspec_signed(e.high, x);
}

/* n / d. */
GRADSPEC_INLINE gradspec_twofold gradspec_ratio(gradspec_twofold n, gradspec_twofold d) {
    double inverse = 1.0 / d.high, q = n.high * inverse;
    return (gradspec_twofold){q, (gradspec_fused(-q, d.high, n.high) + (n.low - q * d.low)) * inverse};
}

GRADSPEC_INLINE double gradspec_tanh(double x) {
    double size = gradspec_size(x);
    gradspec_twofold e = gradspec_twofold_expm1(-2.0 * (size > 20.0 ? 20.0 : size)), d = gradspec_onto(2.0, e.high), y;
    d.low += e.low;
    y = gradspec_ratio(e, d);
    return gradspec_signed(y.high + y.low, x);
}

GRADSPEC_INLINE double gradspec_sinh(double x) {
    gradspec_twofold e = gradspec_twofold_expm1(gradspec_size(x)), d = gradspec_sum(1.0, e.high), y, s;
    d.low += e.low;
    y = gradspec_ratio(e, d);
    s = gradspec_onto(e.high, y.high);
    return gradspec_signed(0.5 * (s.high + (s.low + e.low + y.low)), x);
}

GRADSPEC_INLINE double gradspec_cosh(double x) {
    double scale, inverse;
    gradspec_twofold t = gradspec_part_expm1(gradspec_size(x), &scale), e = gradspec_onto(1.0, t.high), s;
    e.high *= scale;
    e.low = scale * (e.low + t.low);
    inverse = 1.0 / e.high;
    s = gradspec_onto(e.high, inverse);
    return 0.5 * (s.high + (s.low + gradspec_fused(inverse, gradspec_fused(-inverse, e.high, 1.0) - inverse * e.low, e.low)));
}

/* log(m) of x + more = 2**k m, sqrt(1/2) <= m < sqrt(2). */
GRADSPEC_INLINE gradspec_twofold gradspec_part_log(double x, double more, double *k) {
    uint64_t bits = gradspec_bits(x) + UINT64_C(0x00095f619980c433); /* from the root of 1/2 to 1 */
    /* The exponent as a number, through the mantissa of 2**52. */
    double f = gradspec_of_bits((bits & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd)) - 1.0;
    double scale = gradspec_of_bits(UINT64_C(0x7fe0000000000000) - (bits & UINT64_C(0x7ff0000000000000)));
    double inverse = 1.0 / (2.0 + f), s = f * inverse, z = s * s, half = 0.5 * f * f, p = 0x1.0c1263e1bac13p-3;
    p = gradspec_fused(p, z, 0x1.0fbd2bafa02d6p-3);
    p = gradspec_fused(p, z, 0x1.3b1c42e3df02cp-3);
    p = gradspec_fused(p, z, 0x1.745cf8c4c7bcap-3);
    p = gradspec_fused(p, z, 0x1.c71c7201f207cp-3);
    p = gradspec_fused(p, z, 0x1.2492492476765p-2);
    p = gradspec_fused(p, z, 0x1.9999999999a3ap-2);
    p = gradspec_fused(p, z, 0x1.5555555555555p-1);
    *k = gradspec_of_bits((bits >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023.0);
    double less = gradspec_fused(-2.0 * s, gradspec_fused(-s, 1.0 - s, 1.0), 1.0); /* 1 / m, within 0.2 % */
    return gradspec_onto(f, gradspec_fused(s, gradspec_fused(z, p, half), more * scale * less) - half);
}

/* log(x + more). */
GRADSPEC_INLINE double gradspec_log_of(gradspec_twofold x) {
    double k;
    gradspec_twofold l = gradspec_part_log(x.high, x.low, &k), s = gradspec_onto(k * 0x1.62e42fefa2000p-1, l.high);
    return s.high + (s.low + gradspec_fused(k, 0x1.9ef35793c7673p-41, l.low));
}

GRADSPEC_INLINE double gradspec_log1p(double x) {
    return gradspec_signed(gradspec_log_of(gradspec_sum(1.0, x)), x);
}

GRADSPEC_INLINE double gradspec_log(double x) {
    return gradspec_log_of((gradspec_twofold){x, 0.0});
}

GRADSPEC_INLINE double gradspec_log2(double x) {
    double k;
    gradspec_twofold l = gradspec_part_log(x, 0.0, &k), s;
    double first = l.high * 0x1.71547652b82fep+0, rest = gradspec_fused(l.high, 0x1.71547652b82fep+0, -first);
    s = gradspec_onto(k, first);
    return s.high + (s.low + gradspec_fused(l.low, 0x1.71547652b82fep+0, gradspec_fused(l.high, 0x1.777d0ffda0d24p-56, rest)));
}

GRADSPEC_INLINE double gradspec_log10(double x) {
    double k;
    gradspec_twofold l = gradspec_part_log(x, 0.0, &k), s;
    double first = l.high * 0x1.bcb7b1526e50ep-2, rest = gradspec_fused(l.high, 0x1.bcb7b1526e50ep-2, -first);
    s = gradspec_onto(k * 0x1.34413509f6000p-2, first);
    rest = gradspec_fused(k, 0x1.9fef311f12b36p-42, gradspec_fused(l.high, 0x1.95355baaafad3p-57, rest));
    return s.high + (s.low + gradspec_fused(l.low, 0x1.bcb7b1526e50ep-2, rest));
}

/* x = k pi/2 + r, |r| <= pi/4: returns r, and k in the low bits of a number. */
GRADSPEC_INLINE gradspec_twofold gradspec_turned(double x, uint64_t *quarter) {
    double shifted = gradspec_fused(x, 0x1.45f306dc9c883p-1, 0x1.8p52), k = shifted - 0x1.8p52;
    double first = gradspec_fused(-k, 0x1.921fb54442d18p+0, x), p = k * 0x1.1a62633145c07p-54;
    double rest = gradspec_fused(k, 0x1.1a62633145c07p-54, -p);
    gradspec_twofold r = gradspec_sum(first, -p);
    *quarter = gradspec_bits(shifted);
    return gradspec_onto(r.high, r.low - gradspec_fused(k, -0x1.f1976b7ed8fbcp-110, rest));
}

GRADSPEC_INLINE gradspec_twofold gradspec_part_sin(gradspec_twofold r) {
    double z = r.high * r.high, p = -0x1.ab161757f0c63p-41;
    p = gradspec_fused(p, z, 0x1.61217c1864fa1p-33);
    p = gradspec_fused(p, z, -0x1.ae64540f0ba18p-26);
    p = gradspec_fused(p, z, 0x1.71de3a545e700p-19);
    p = gradspec_fused(p, z, -0x1.a01a01a019926p-13);
    p = gradspec_fused(p, z, 0x1.1111111111110p-7);
    p = gradspec_fused(p, z, -0x1.5555555555555p-3);
    return gradspec_onto(r.high, gradspec_fused(r.high * z, p, gradspec_fused(-0.5 * z, r.low, r.low)));
}

GRADSPEC_INLINE gradspec_twofold gradspec_part_cos(gradspec_twofold r) {
    double z = r.high * r.high, p = 0x1.ab76cf6e9b365p-45, half = 0.5 * z;
    p = gradspec_fused(p, z, -0x1.9394b76d1f265p-37);
    p = gradspec_fused(p, z, 0x1.1eed8de9ef73ep-29);
    p = gradspec_fused(p, z, -0x1.27e4fb7711e1dp-22);
    p = gradspec_fused(p, z, 0x1.a01a01a019d02p-16);
    p = gradspec_fused(p, z, -0x1.6c16c16c16c16p-10);
    p = gradspec_fused(p, z, 0x1.5555555555555p-5);
    gradspec_twofold s = gradspec_onto(1.0, -half);
    /* The rounding error of the square, and the rest of r. */
    double lost = gradspec_fused(-0.5 * r.high, r.high, half) - r.high * r.low;
    s.low += gradspec_fused(z * z, p, lost);
    return gradspec_onto(s.high, s.low);
}

GRADSPEC_INLINE double gradspec_wave(double x, uint64_t ahead) {
    uint64_t quarter;
    gradspec_twofold r = gradspec_turned(x, &quarter), s = gradspec_part_sin(r), c = gradspec_part_cos(r);
    quarter += ahead;
    double y = quarter & 1 ? c.high : s.high;
    return gradspec_of_bits(gradspec_bits(y) ^ (quarter & 2) << 62);
}

GRADSPEC_INLINE double gradspec_sin(double x) {
    double y = gradspec_wave(x, 0);
    return x == 0.0 ? x : y;
}

GRADSPEC_INLINE double gradspec_cos(double x) {
    return gradspec_wave(x, 1);
}

GRADSPEC_INLINE double gradspec_tan(double x) {
    uint64_t quarter;
    gradspec_twofold r = gradspec_turned(x, &quarter), s = gradspec_part_sin(r), c = gradspec_part_cos(r), n, d, y;
    n.high = quarter & 1 ? -c.high : s.high;
    n.low = quarter & 1 ? -c.low : s.low;
    d.high = quarter & 1 ? s.high : c.high;
    d.low = quarter & 1 ? s.low : c.low;
    y = gradspec_ratio(n, d);
    return x == 0.0 ? x : y.high + y.low;
}

#endif
