/* Add rows to rows. */
#ifndef GRADSPEC_SCATTERING_LOOPS_H
#define GRADSPEC_SCATTERING_LOOPS_H

#include <numpy/npy_common.h>

/* y += x; the two do not overlap. */

static inline void gradspec_add_float(float *restrict y, const float *restrict x, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] += x[i];
}

static inline void gradspec_add_double(double *restrict y, const double *restrict x, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] += x[i];
}

static inline void gradspec_add_int64(npy_int64 *restrict y, const npy_int64 *restrict x, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] += x[i];
}

#endif
