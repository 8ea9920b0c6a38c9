/* Arrays that loops go through block by block: the next block of each is asked for while this one is computed. */
#ifndef GRADSPEC_AHEAD_H
#define GRADSPEC_AHEAD_H

#include <numpy/npy_common.h> /* npy_intp */

#define GRADSPEC_STREAMS 16

typedef struct {
    int count;
    npy_intp bytes; /* of one element of all */
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

/* Ask for some elements of all: into the second cache, for the first one is full of the block that is computed. */
#if defined(__GNUC__)
__attribute__((always_inline)) /* else the call is taken for one without an effect, and left out */
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
