/* Copy one element after another, with distances in bytes.  No operand overlaps another. */
#ifndef GRADSPEC_COPYING_H
#define GRADSPEC_COPYING_H

#include "copies.h"
#include <numpy/npy_common.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t parts[2];
} gradspec_sixteen;

/* One element to all, elements in reverse, and any others; a vector of elements that are not neighbours takes twice as long. */
#define GRADSPEC_COPY(T) \
    GRADSPEC_WIDE static void gradspec_copy_##T(char *y, npy_intp to, const char *x, npy_intp from, npy_intp n) { \
        if (to == sizeof(T) && from == 0) { \
            T *restrict filled = (T *) y; \
            const T item = *(const T *) x; \
            for (npy_intp i = 0; i < n; i++) filled[i] = item; \
        } else if (to == sizeof(T) && from == -(npy_intp) sizeof(T)) { \
            T *restrict filled = (T *) y; \
            const T *last = (const T *) x; \
            for (npy_intp i = 0; i < n; i++) filled[i] = last[-i]; \
        } else { \
            for (npy_intp i = 0; i < n; i++) *(T *) (y + i * to) = *(const T *) (x + i * from); \
        } \
    }

GRADSPEC_COPY(uint8_t)
GRADSPEC_COPY(uint16_t)
GRADSPEC_COPY(uint32_t)
GRADSPEC_COPY(uint64_t)
GRADSPEC_COPY(gradspec_sixteen)

/* Elements of `size` bytes, or n bytes in one piece if it is 0. */
static inline void gradspec_copy(int size, char *y, npy_intp to, const char *x, npy_intp from, npy_intp n) {
    if (size == 0)
        memcpy(y, x, n);
    else if (size == 1)
        gradspec_copy_uint8_t(y, to, x, from, n);
    else if (size == 2)
        gradspec_copy_uint16_t(y, to, x, from, n);
    else if (size == 4)
        gradspec_copy_uint32_t(y, to, x, from, n);
    else if (size == 8)
        gradspec_copy_uint64_t(y, to, x, from, n);
    else
        gradspec_copy_gradspec_sixteen(y, to, x, from, n);
}

#endif
