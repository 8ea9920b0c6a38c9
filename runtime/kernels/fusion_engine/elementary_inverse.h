/* Inverse functions for doubles, cbrt, hypot and remainder, error below 1 ulp, in the style of elementary.h. */
#ifndef GRADSPEC_ELEMENTARY_INVERSE_H
#define GRADSPEC_ELEMENTARY_INVERSE_H

#include "elementary.h"

GRADSPEC_INLINE gradspec_twofold gradspec_plus(gradspec_twofold a, gradspec_twofold b) {
    gradspec_twofold s = gradspec_sum(a.high, b.high);
    return gradspec_onto(s.high, s.low + (a.low + b.low));
}

GRADSPEC_INLINE gradspec_twofold gradspec_minus(gradspec_twofold a, gradspec_twofold b) {
    return gradspec_plus(a, (gradspec_twofold){-b.high, -b.low});
}

GRADSPEC_INLINE gradspec_twofold gradspec_square(double x) {
    double p = x * x;
    return (gradspec_twofold){p, gradspec_fused(x, x, -p)};
}

/* The root of a number that is not negative, and far from underflow. */
GRADSPEC_INLINE gradspec_twofold gradspec_root(gradspec_twofold s) {
    double h = sqrt(s.high);
    return (gradspec_twofold){h, (gradspec_fused(-h, h, s.high) + s.low) / (h + h + 0x1p-1000)};
}

/* atan(n / d) for numbers that are not negative; one may be 0. */
GRADSPEC_INLINE gradspec_twofold gradspec_angle(gradspec_twofold n, gradspec_twofold d) {
    /* The quotient, or its reciprocal, or the tangent of the angle minus pi/4: at most tan(pi/8). */
    int less = n.high < d.high;
    gradspec_twofold low = {less ? n.high : d.high, less ? n.low : d.low}, high = {less ? d.high : n.high, less ? d.low : n.low};
    int middle = low.high > 0x1.a827999fcef32p-2 * high.high;
    gradspec_twofold above = gradspec_minus(low, high), below = gradspec_plus(low, high), r, s;
    r = gradspec_ratio((gradspec_twofold){middle ? above.high : low.high, middle ? above.low : low.low},
                       (gradspec_twofold){middle ? below.high : high.high, middle ? below.low : high.low});
    double z = r.high * r.high, p = 0x1.0aca40aeebce0p-6, sign = less ? 1.0 : -1.0;
    p = gradspec_fused(p, z, -0x1.1b2f96cc7eca8p-5);
    p = gradspec_fused(p, z, 0x1.74dc387c1a6f4p-5);
    p = gradspec_fused(p, z, -0x1.ac7a3950dffbap-5);
    p = gradspec_fused(p, z, 0x1.e19a07798598ep-5);
    p = gradspec_fused(p, z, -0x1.110e878213482p-4);
    p = gradspec_fused(p, z, 0x1.3b1392d24f335p-4);
    p = gradspec_fused(p, z, -0x1.745d165db0b8dp-4);
    p = gradspec_fused(p, z, 0x1.c71c71c3035c8p-4);
    p = gradspec_fused(p, z, -0x1.249249248d7d1p-3);
    p = gradspec_fused(p, z, 0x1.9999999999953p-3);
    p = gradspec_fused(p, z, -0x1.5555555555555p-2);
    double rest = gradspec_fused(r.high * z, p, gradspec_fused(-z, r.low, r.low));
    double base = middle ? 0x1.921fb54442d18p-1 : less ? 0.0 : 0x1.921fb54442d18p+0;
    double base_low = middle ? 0x1.1a62633145c07p-55 : less ? 0.0 : 0x1.1a62633145c07p-54;
    s = gradspec_onto(base, sign * r.high);
    return gradspec_onto(s.high, s.low + (base_low + sign * rest));
}

/* The same on the other side of the axis if `back` is negative. */
GRADSPEC_INLINE double gradspec_turned_back(gradspec_twofold a, double back) {
    gradspec_twofold s = gradspec_onto(0x1.921fb54442d18p+1, -a.high);
    double far = s.high + (s.low + (0x1.1a62633145c07p-53 - a.low));
    return back < 0 ? far : a.high + a.low;
}

GRADSPEC_INLINE double gradspec_atan(double x) {
    double size = gradspec_size(x);
    gradspec_twofold a = gradspec_angle((gradspec_twofold){size > 0x1p99 ? 0x1p99 : size, 0.0}, (gradspec_twofold){1.0, 0.0});
    return gradspec_signed(a.high + a.low, x);
}

/* sqrt(1 - x * x). */
GRADSPEC_INLINE gradspec_twofold gradspec_across(double x) {
    gradspec_twofold s = gradspec_square(x), d = gradspec_sum(1.0, -s.high);
    return gradspec_root(gradspec_onto(d.high, d.low - s.low));
}

GRADSPEC_INLINE double gradspec_asin(double x) {
    gradspec_twofold a = gradspec_angle((gradspec_twofold){gradspec_size(x), 0.0}, gradspec_across(x));
    return gradspec_signed(a.high + a.low, x);
}

GRADSPEC_INLINE double gradspec_acos(double x) {
    return gradspec_turned_back(gradspec_angle(gradspec_across(x), (gradspec_twofold){gradspec_size(x), 0.0}), x);
}

GRADSPEC_INLINE double gradspec_asinh(double x) {
    double size = gradspec_size(x);
    gradspec_twofold s = gradspec_square(size), t = gradspec_sum(1.0, s.high), h, w;
    t.low += s.low;
    h = gradspec_root(t);
    w = gradspec_sum(h.high, size);
    return gradspec_signed(size < 0x1p-28 ? size : gradspec_log_of(gradspec_onto(w.high, w.low + h.low)), x);
}

GRADSPEC_INLINE double gradspec_acosh(double x) {
    gradspec_twofold s = gradspec_square(x), t = gradspec_sum(s.high, -1.0), h, w;
    h = gradspec_root(gradspec_onto(t.high, t.low + s.low));
    w = gradspec_sum(x, h.high);
    return gradspec_log_of(gradspec_onto(w.high, w.low + h.low));
}

GRADSPEC_INLINE double gradspec_atanh(double x) {
    double size = gradspec_size(x);
    gradspec_twofold u = gradspec_ratio((gradspec_twofold){2.0 * size, 0.0}, gradspec_sum(1.0, -size)), t = gradspec_sum(1.0, u.high);
    return gradspec_signed(size < 0x1p-28 ? size : 0.5 * gradspec_log_of(gradspec_onto(t.high, t.low + u.low)), x);
}

/* exp(log(x) / 3), corrected by one step of Newton's method. */
GRADSPEC_INLINE double gradspec_cbrt(double x) {
    double size = gradspec_size(x), y = gradspec_exp(gradspec_log(size) * 0x1.5555555555555p-2);
    gradspec_twofold s = gradspec_square(y);
    double cube = s.high * y, rest = gradspec_fused(s.high, y, -cube) + s.low * y;
    return gradspec_signed(y - ((cube - size) + rest) / (3.0 * s.high), x);
}

GRADSPEC_INLINE double gradspec_hypot(double a, double b) {
    gradspec_twofold p = gradspec_square(a), q = gradspec_square(b), s = gradspec_sum(p.high, q.high), h;
    s.low += p.low + q.low;
    h = gradspec_root(s);
    return h.high + h.low;
}

GRADSPEC_INLINE double gradspec_single_hypot(double a, double b) {
    return sqrt(gradspec_fused(a, a, b * b));
}

GRADSPEC_INLINE double gradspec_atan2(double a, double b) {
    gradspec_twofold y = {gradspec_size(a), 0.0}, x = {gradspec_size(b), 0.0};
    return gradspec_signed(gradspec_turned_back(gradspec_angle(y, x), b), a);
}

/* The remainder of |a / b|, which is far below 2**51, and the whole part; both exact: a whole part that is 1 too large is
 * detected. */
GRADSPEC_INLINE double gradspec_left(double a, double b, double *whole) {
    double over = gradspec_size(a), by = gradspec_size(b), q = floor(over / by), r = gradspec_fused(-q, by, over);
    *whole = r < 0.0 ? q - 1.0 : q;
    return r < 0.0 ? r + by : r;
}

/* The largest integer that is not above a / b. */
GRADSPEC_INLINE double gradspec_floor_divide(double a, double b) {
    double q, r = gradspec_left(a, b, &q);
    return (a < 0) == (b < 0) ? q : r == 0.0 ? -q : -1.0 - q;
}

#endif
