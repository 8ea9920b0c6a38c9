/* Rows added to rows, and whether indices are in range. */
#ifndef GRADSPEC_ROWS_LOOPS_H
#define GRADSPEC_ROWS_LOOPS_H

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

/* Whether each is from -length to length - 1. */
static inline int gradspec_in_range(const npy_intp *places, npy_intp n, npy_intp length) {
    npy_intp i;
    npy_uintp below = 0, above = 0; /* their signs */
    for (i = 0; i < n; i++) {
        below |= (npy_uintp) places[i] + length;
        above |= (npy_uintp) length - 1 - places[i];
    }
    return (npy_intp) (below | above) >= 0;
}

#endif
