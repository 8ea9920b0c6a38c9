/* Copy one element after another, with distances in bytes.  No operand overlaps another. */
#ifndef GRADSPEC_COPYING_H
#define GRADSPEC_COPYING_H

#include "copies.h"
#include "typed.h"
#include <numpy/npy_common.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t parts[2];
} gradspec_sixteen;

#define T uint8_t
#include "copying_template.h"
#undef T

#define T uint16_t
#include "copying_template.h"
#undef T

#define T uint32_t
#include "copying_template.h"
#undef T

#define T uint64_t
#include "copying_template.h"
#undef T

#define T gradspec_sixteen
#include "copying_template.h"
#undef T

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
