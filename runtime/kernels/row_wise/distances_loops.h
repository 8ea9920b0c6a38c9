/* Sums over differences of rows, in double, in tiles of four rows and eight columns that stay in registers. */
#ifndef GRADSPEC_DISTANCES_LOOPS_H
#define GRADSPEC_DISTANCES_LOOPS_H

#include <float.h>
#include <math.h>

#include "../loops/copies.h"
#include "../loops/typed.h"

enum { GRADSPEC_ROWS = 4, GRADSPEC_COLUMNS = 8, GRADSPEC_TILE = GRADSPEC_ROWS * GRADSPEC_COLUMNS };

#if defined(__GNUC__)
typedef double gradspec_lanes __attribute__((vector_size(32), aligned(8), may_alias));
#else
typedef double gradspec_lanes;
#endif

enum { GRADSPEC_VECTORS = GRADSPEC_COLUMNS * sizeof(double) / sizeof(gradspec_lanes) };

/* sums[r][k] += the sum of (a[i][r] - b[i][k])**2 over n. */
GRADSPEC_WIDE static void gradspec_add_squares(
        const double *restrict a, const double *restrict b, double *restrict sums, npy_intp n) {
    gradspec_lanes total[GRADSPEC_ROWS][GRADSPEC_VECTORS], *place = (gradspec_lanes *) sums;
    GRADSPEC_ALL for (int r = 0; r < GRADSPEC_ROWS; r++)
        GRADSPEC_ALL for (int v = 0; v < GRADSPEC_VECTORS; v++) total[r][v] = place[r * GRADSPEC_VECTORS + v];
    for (npy_intp i = 0; i < n; i++, a += GRADSPEC_ROWS, b += GRADSPEC_COLUMNS)
        GRADSPEC_ALL for (int v = 0; v < GRADSPEC_VECTORS; v++) {
            const gradspec_lanes other = ((const gradspec_lanes *) b)[v];
            GRADSPEC_ALL for (int r = 0; r < GRADSPEC_ROWS; r++) {
                const gradspec_lanes apart = other - a[r];
                total[r][v] += apart * apart;
            }
        }
    GRADSPEC_ALL for (int r = 0; r < GRADSPEC_ROWS; r++)
        GRADSPEC_ALL for (int v = 0; v < GRADSPEC_VECTORS; v++) place[r * GRADSPEC_VECTORS + v] = total[r][v];
}

/* sums[r][k] = the sum of weight[i][r] * (a[r][k] - b[i][k]) over n. */
GRADSPEC_WIDE static void gradspec_add_weighted(
        const double *restrict weight, const double *restrict a, const double *restrict b, double *restrict sums, npy_intp n) {
    gradspec_lanes total[GRADSPEC_ROWS][GRADSPEC_VECTORS], *place = (gradspec_lanes *) sums;
    GRADSPEC_ALL for (int r = 0; r < GRADSPEC_ROWS; r++)
        GRADSPEC_ALL for (int v = 0; v < GRADSPEC_VECTORS; v++) total[r][v] = (gradspec_lanes) {0};
    for (npy_intp i = 0; i < n; i++, weight += GRADSPEC_ROWS, b += GRADSPEC_COLUMNS)
        GRADSPEC_ALL for (int v = 0; v < GRADSPEC_VECTORS; v++) {
            const gradspec_lanes other = ((const gradspec_lanes *) b)[v];
            GRADSPEC_ALL for (int r = 0; r < GRADSPEC_ROWS; r++)
                total[r][v] += (((const gradspec_lanes *) a)[r * GRADSPEC_VECTORS + v] - other) * weight[r];
        }
    GRADSPEC_ALL for (int r = 0; r < GRADSPEC_ROWS; r++)
        GRADSPEC_ALL for (int v = 0; v < GRADSPEC_VECTORS; v++) place[r * GRADSPEC_VECTORS + v] = total[r][v];
}

#define T float
#include "distances_loops_template.h"
#undef T

#define T double
#include "distances_loops_template.h"
#undef T

#endif
