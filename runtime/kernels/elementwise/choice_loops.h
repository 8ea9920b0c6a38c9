/* Elementwise selection, quotients that may be 0, piecewise functions, and scaled powers. */
#ifndef GRADSPEC_CHOICE_LOOPS_H
#define GRADSPEC_CHOICE_LOOPS_H

#include "../loops/copies.h"
#include "../loops/typed.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    double real, imag;
} gradspec_pair;

#define T uint32_t
#include "where_template.h"
#undef T

#define T uint64_t
#include "where_template.h"
#undef T

#define T gradspec_pair
#include "where_template.h"
#undef T

#define T float
#define BITS uint32_t
#define SIGN UINT32_C(0x80000000)
#define LEAST UINT32_C(0x00800000)
#define ENDLESS UINT32_C(0x7f800000)
#include "choice_loops_template.h"
#undef ENDLESS
#undef LEAST
#undef SIGN
#undef BITS
#undef T

#define T double
#define BITS uint64_t
#define SIGN UINT64_C(0x8000000000000000)
#define LEAST UINT64_C(0x0010000000000000)
#define ENDLESS UINT64_C(0x7ff0000000000000)
#include "choice_loops_template.h"
#undef ENDLESS
#undef LEAST
#undef SIGN
#undef BITS
#undef T

/* Raise the flag for an overflow. */
static inline void gradspec_decline(void) {
    volatile double most = DBL_MAX;
    most = most * most;
}

#endif
