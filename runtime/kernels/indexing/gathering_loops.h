/* Whether indices are in range. */
#ifndef GRADSPEC_GATHERING_LOOPS_H
#define GRADSPEC_GATHERING_LOOPS_H

#include <numpy/npy_common.h>

/* Whether each index is from -length to length - 1. */
static inline int gradspec_in_range(const npy_intp *places, npy_intp n, npy_intp length) {
    npy_intp i;
    npy_uintp below = 0, above = 0; /* sign bits */
    for (i = 0; i < n; i++) {
        below |= (npy_uintp) places[i] + length;
        above |= (npy_uintp) length - 1 - places[i];
    }
    return (npy_intp) (below | above) >= 0;
}

#endif
