/* Maxima over windows, and weighted sums along one axis: over planes, for each dtype. */
#ifndef GRADSPEC_POOLING_LOOPS_H
#define GRADSPEC_POOLING_LOOPS_H

#include "../loops/copies.h"
#include "../loops/typed.h"
#include <string.h>

enum { GRADSPEC_STRIP = 256 }; /* windows computed together */

typedef struct {
    const char *x;
    char *y;
    npy_intp *indices;
    npy_intp dims[3], sizes[3], step[3];
    const npy_intp *first[3], *last[3];
    npy_intp low, high, count, stride; /* the windows along the last axis that have `count` elements and distance `stride` */
} gradspec_windows;

typedef struct {
    const char *x, *weights;
    char *y;
    const npy_intp *starts, *places;
    npy_intp length, size, behind;
} gradspec_weighted;

/* CODE: an integer type at least as wide as T that vectors support; WIDE: GRADSPEC_WIDE if vectors support T. */

#define T float
#define CODE npy_int32
#define WIDE GRADSPEC_WIDE
#include "window_maxima_template.h"
#include "weighted_sums_template.h"
#undef CODE
#undef T

#define T double
#define CODE npy_int64
#include "window_maxima_template.h"
#include "weighted_sums_template.h"
#undef WIDE
#undef T

#define T npy_longdouble
#define WIDE
#include "window_maxima_template.h"
#include "weighted_sums_template.h"
#undef T

#define T npy_longlong
#include "window_maxima_template.h"
#undef T

#define T npy_ulonglong
#include "window_maxima_template.h"
#undef CODE
#undef WIDE
#undef T

#endif
