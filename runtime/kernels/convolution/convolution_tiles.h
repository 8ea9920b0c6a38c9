/* Sums of products of rows at offsets, a block of four channels times three vectors in registers. */
#ifndef GRADSPEC_CONVOLUTION_TILES_H
#define GRADSPEC_CONVOLUTION_TILES_H

#include <numpy/npy_common.h>

enum { GRADSPEC_TOGETHER = 4, GRADSPEC_SLACK = 64 }; /* channels; bytes of a cache line */

/* y[r * pitch + m] = the sum of w[k * rows + r] * x[offsets[k] + m], for 4 rows or 1, and at least one vector of m. */
typedef void (*gradspec_tile_float)(
    const float *x, const npy_intp *offsets, npy_intp count, const float *w, float *y, npy_intp pitch, npy_intp n);
typedef void (*gradspec_tile_double)(
    const double *x, const npy_intp *offsets, npy_intp count, const double *w, double *y, npy_intp pitch, npy_intp n);

/* y[r * count + k] += the sum of g[r * pitch + m] * x[offsets[k] + m], where n is a multiple of the vector length. */
typedef void (*gradspec_gather_float)(
    const float *g, npy_intp pitch, const float *x, const npy_intp *offsets, npy_intp count, float *y, npy_intp n);
typedef void (*gradspec_gather_double)(
    const double *g, npy_intp pitch, const double *x, const npy_intp *offsets, npy_intp count, double *y, npy_intp n);

#if defined(__GNUC__)
#include "../loops/copies.h"
#include "../loops/typed.h"

/* Load a vector once, instead of in each instruction that reads it. */
#if defined(__x86_64__)
#define GRADSPEC_KEEP(vector) __asm__("" : "+v"(vector))
#else
#define GRADSPEC_KEEP(vector) ((void) 0)
#endif

#define VECTOR GRADSPEC_JOIN(TYPED(vector), BYTES)
#define TILED(name) GRADSPEC_JOIN(GRADSPEC_JOIN(GRADSPEC_JOIN(TYPED(name), BYTES), ROWS), VECTORS)

typedef float gradspec_least_float __attribute__((vector_size(16), aligned(4), may_alias));
typedef double gradspec_least_double __attribute__((vector_size(16), aligned(8), may_alias));
#define GRADSPEC_ADD_float(parts) ((parts[0] + parts[2]) + (parts[1] + parts[3]))
#define GRADSPEC_ADD_double(parts) (parts[0] + parts[1])

#define BYTES 16
#define TARGET
#define T float
#include "convolution_tiles_template.h"
#undef T
#define T double
#include "convolution_tiles_template.h"
#undef T
#undef TARGET
#undef BYTES

#ifdef GRADSPEC_HAS_TARGETS

#define BYTES 32
#define TARGET __attribute__((target("arch=x86-64-v3")))
#define T float
#include "convolution_tiles_template.h"
#undef T
#define T double
#include "convolution_tiles_template.h"
#undef T
#undef TARGET
#undef BYTES

#define BYTES 64
#define TARGET __attribute__((target("arch=x86-64-v4")))
#define T float
#include "convolution_tiles_template.h"
#undef T
#define T double
#include "convolution_tiles_template.h"
#undef T
#undef TARGET
#undef BYTES

#define GRADSPEC_TABLES(name) {GRADSPEC_TABLE(name##_16), GRADSPEC_TABLE(name##_32), GRADSPEC_TABLE(name##_64)}

#else
#define GRADSPEC_TABLES(name) {GRADSPEC_TABLE(name##_16)}
#endif
#define GRADSPEC_TABLE(name) {name##_4_3, name##_4_1, name##_1_3, name##_1_1}
#else
#define GRADSPEC_TABLES(name) {{0}}
#endif

/* [vector width][4 rows and 3 vectors, 4 and 1, 1 and 3, 1 and 1] */
static const gradspec_tile_float gradspec_tiles_float[][4] = GRADSPEC_TABLES(gradspec_tile_float);
static const gradspec_tile_double gradspec_tiles_double[][4] = GRADSPEC_TABLES(gradspec_tile_double);
static const gradspec_gather_float gradspec_gathers_float[][4] = GRADSPEC_TABLES(gradspec_gather_float);
static const gradspec_gather_double gradspec_gathers_double[][4] = GRADSPEC_TABLES(gradspec_gather_double);

#endif
