/* Prefetch the next block of each array of a blocked loop while the present block is computed. */
#ifndef GRADSPEC_AHEAD_H
#define GRADSPEC_AHEAD_H

#include <numpy/npy_common.h> /* npy_intp */

#define GRADSPEC_STREAMS 16

typedef struct {
    int count;
    npy_intp bytes; /* of one element of each array */
    const char *starts[GRADSPEC_STREAMS];
    npy_intp strides[GRADSPEC_STREAMS];
} gradspec_streams;

/* Note an array, once. */
static void gradspec_add_stream(gradspec_streams *streams, const char *start, npy_intp stride) {
    for (int i = 0; i < streams->count; i++)
        if (streams->starts[i] == start) return;
    if (stride <= 0 || streams->count == GRADSPEC_STREAMS) return;
    streams->starts[streams->count] = start;
    streams->strides[streams->count++] = stride;
    streams->bytes += stride;
}

/* Prefetch some elements of all arrays into the second-level cache: the first level is full of the present block. */
#if defined(__GNUC__)
__attribute__((always_inline)) /* otherwise the compiler drops the call as one without effects */
#endif
static inline void gradspec_ask_for(const gradspec_streams *streams, npy_intp start, npy_intp size) {
#if defined(__GNUC__)
    for (int i = 0; i < streams->count; i++) {
        const char *from = streams->starts[i] + start * streams->strides[i];
        for (npy_intp j = 0; j < size * streams->strides[i]; j += 64) __builtin_prefetch(from + j, 0, 2);
    }
#endif
}

#endif
