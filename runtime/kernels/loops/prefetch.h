/* Prefetch memory that is about to be read or written: the processor's own prefetching does not cross pages. */
#ifndef GRADSPEC_AHEAD_H
#define GRADSPEC_AHEAD_H

#include <numpy/npy_common.h>

static inline void gradspec_ask_for(const char *x, npy_intp bytes) {
#if defined(__GNUC__)
    for (npy_intp i = 0; i < bytes; i += 64) __builtin_prefetch(x + i, 0, 2);
#else
    (void) x, (void) bytes;
#endif
}

#endif
