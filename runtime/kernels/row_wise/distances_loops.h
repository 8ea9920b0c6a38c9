/* Sums over differences of rows, in double, in tiles of four rows and eight columns that stay in registers. */
#ifndef GRADSPEC_DISTANCES_LOOPS_H
#define GRADSPEC_DISTANCES_LOOPS_H

#include <float.h>
#include <math.h>

#include "../loops/copies.h"
#include "../loops/typed.h"

enum { GRADSPEC_ROWS = 4, GRADSPEC_COLUMNS = 8, GRADSPEC_TILE = GRADSPEC_ROWS * GRADSPEC_COLUMNS };

#if defined(__GNUC__)
typedef double gradspec_lanes_16 __attribute__((vector_size(16), aligned(8), may_alias));
#define BYTES 16
#else
typedef double gradspec_lanes_8;
#define BYTES 8
#endif
#define TARGET
#include "distances_tile_template.h"
#undef TARGET
#undef BYTES

#ifdef GRADSPEC_HAS_TARGETS

typedef double gradspec_lanes_32 __attribute__((vector_size(32), aligned(8), may_alias));
#define BYTES 32
#define TARGET __attribute__((target("arch=x86-64-v3")))
#include "distances_tile_template.h"
#undef TARGET
#undef BYTES

typedef double gradspec_lanes_64 __attribute__((vector_size(64), aligned(8), may_alias));
#define BYTES 64
#define TARGET __attribute__((target("arch=x86-64-v4")))
#include "distances_tile_template.h"
#undef TARGET
#undef BYTES

#define GRADSPEC_SIZED(name, vectors) ((vectors) == 64 ? name##_64 : (vectors) == 32 ? name##_32 : name##_16)
#elif defined(__GNUC__)
#define GRADSPEC_SIZED(name, vectors) name##_16
#else
#define GRADSPEC_SIZED(name, vectors) name##_8
#endif

/* `vectors` are the bytes of the processor's vectors. */

static void gradspec_add_squares(const double *a, const double *b, double *sums, npy_intp n, int vectors) {
    GRADSPEC_SIZED(gradspec_add_squares, vectors)(a, b, sums, n);
}

static void gradspec_add_weighted(const double *weight, const double *a, const double *b, double *sums, npy_intp n, int vectors) {
    GRADSPEC_SIZED(gradspec_add_weighted, vectors)(weight, a, b, sums, n);
}

#define T float
#include "distances_loops_template.h"
#undef T

#define T double
#include "distances_loops_template.h"
#undef T

#endif
