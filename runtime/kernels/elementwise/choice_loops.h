/* Elementwise selection, quotients that may be 0, piecewise functions, and a test for extreme numbers. */
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
#define TINY FLT_MIN
#define LARGE FLT_MAX
#include "choice_loops_template.h"
#undef LARGE
#undef TINY
#undef T

#define T double
#define TINY DBL_MIN
#define LARGE DBL_MAX
#include "choice_loops_template.h"
#undef LARGE
#undef TINY
#undef T

#endif
