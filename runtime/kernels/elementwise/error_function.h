/* erf, erfc and gelu of floats, in double, around a loop for exp. */
#ifndef GRADSPEC_ERROR_FUNCTION_H
#define GRADSPEC_ERROR_FUNCTION_H

#include "../loops/copies.h"
#include <numpy/npy_common.h>

/* (1 + 2 z) exp(z * z) erfc(z) in t = (z - 3.75) / (z + 3.75), after the first term. */
#define GRADSPEC_ERFC_FIRST (-6.4227783836978607e-05)
#define GRADSPEC_ERFC_TERMS(STEP) \
    STEP(-0.00040893428010736066) STEP(0.00030552857232619057) STEP(0.0018330080242402282) \
    STEP(-0.0097239389656315275) STEP(0.028345344337265585) STEP(-0.058700901388990659) \
    STEP(0.092305879031464366) STEP(-0.10880309764374466) STEP(0.082276678841674333) \
    STEP(0.0035853844918759675) STEP(-0.14024059779291176) STEP(1.2375126310186628)

#if GRADSPEC_COPIES > 1
#pragma GCC push_options
#pragma GCC optimize ("no-trapping-math")  /* both sides of a selection may be computed */
#endif

/* -z * z for z = |x| * scale, clamped where erfc is 0 in single precision. */
GRADSPEC_WIDE static void gradspec_erf_exponents(const float *x, double scale, double *z, double *s, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        double a = x[i] < 0 ? -(double) x[i] * scale : (double) x[i] * scale;
        z[i] = a > 11.0 ? 11.0 : a;
        s[i] = -z[i] * z[i];
    }
}

/* erfc(z), where s is exp(-z * z). */
static inline double gradspec_erfc(double z, double s) {
    double r = 1.0 / ((1.0 + 2.0 * z) * (z + 3.75));
    double t = (z - 3.75) * (1.0 + 2.0 * z) * r;
    double p = GRADSPEC_ERFC_FIRST;
#define STEP(term) p = p * t + term;
    GRADSPEC_ERFC_TERMS(STEP)
#undef STEP
    return s * p * (z + 3.75) * r;
}

GRADSPEC_WIDE static void gradspec_erfc_block(const float *x, const double *z, const double *s, float *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        double c = gradspec_erfc(z[i], s[i]);
        y[i] = (float) (x[i] < 0 ? 2.0 - c : c);
    }
}

GRADSPEC_WIDE static void gradspec_erf_block(const float *x, const double *z, const double *s, float *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        double u = z[i] * z[i], c = 1.0 - gradspec_erfc(z[i], s[i]), q = 1.0556442271553979e-06;
        q = q * u - 1.38960516515015e-05;
        q = q * u + 0.00011954381993470061;
        q = q * u - 0.00085424514012239752;
        q = q * u + 0.005223774616532618;
        q = q * u - 0.026866130945881351;
        q = q * u + 0.11283791279499396;
        q = q * u - 0.37612638888220595;
        q = q * u + 1.1283791670945633;
        c = x[i] < 0 ? -c : c;
        y[i] = (float) (u < 1.0 ? x[i] * q : c);
    }
}

/* x * erfc(-x / sqrt(2)) / 2, 0 at -inf. */
GRADSPEC_WIDE static void gradspec_gelu_block(const float *x, const double *z, const double *s, float *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        double c = 0.5 * gradspec_erfc(z[i], s[i]);
        double a = x[i] < -50.0f ? -50.0 : x[i];
        y[i] = (float) (a * (x[i] < 0 ? c : 1.0 - c));
    }
}

#if GRADSPEC_COPIES > 1
#pragma GCC pop_options
#endif

#endif
