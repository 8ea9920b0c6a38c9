/* For vectors of BYTES and the TARGET that has them: sums over a tile and a panel. */

#define SIZED(name) GRADSPEC_JOIN(name, BYTES)
#define LANES SIZED(gradspec_lanes)
#define VECTORS (GRADSPEC_COLUMNS * (int) sizeof(double) / BYTES)

/* sums[r][k] += the sum of (a[i][r] - b[i][k])**2 over n. */
TARGET static void SIZED(gradspec_add_squares)(
        const double *restrict a, const double *restrict b, double *restrict sums, npy_intp n) {
    LANES total[GRADSPEC_ROWS][VECTORS], *place = (LANES *) sums;
    GRADSPEC_ALL for (int r = 0; r < GRADSPEC_ROWS; r++)
        GRADSPEC_ALL for (int v = 0; v < VECTORS; v++) total[r][v] = place[r * VECTORS + v];
    for (npy_intp i = 0; i < n; i++, a += GRADSPEC_ROWS, b += GRADSPEC_COLUMNS)
        GRADSPEC_ALL for (int v = 0; v < VECTORS; v++) {
            const LANES other = ((const LANES *) b)[v];
            GRADSPEC_ALL for (int r = 0; r < GRADSPEC_ROWS; r++) {
                const LANES apart = other - a[r];
                total[r][v] += apart * apart;
            }
        }
    GRADSPEC_ALL for (int r = 0; r < GRADSPEC_ROWS; r++)
        GRADSPEC_ALL for (int v = 0; v < VECTORS; v++) place[r * VECTORS + v] = total[r][v];
}

/* sums[r][k] = the sum of weight[i][r] * (a[r][k] - b[i][k]) over n. */
TARGET static void SIZED(gradspec_add_weighted)(
        const double *restrict weight, const double *restrict a, const double *restrict b, double *restrict sums, npy_intp n) {
    LANES total[GRADSPEC_ROWS][VECTORS], *place = (LANES *) sums;
    GRADSPEC_ALL for (int r = 0; r < GRADSPEC_ROWS; r++)
        GRADSPEC_ALL for (int v = 0; v < VECTORS; v++) total[r][v] = (LANES) {0};
    for (npy_intp i = 0; i < n; i++, weight += GRADSPEC_ROWS, b += GRADSPEC_COLUMNS)
        GRADSPEC_ALL for (int v = 0; v < VECTORS; v++) {
            const LANES other = ((const LANES *) b)[v];
            GRADSPEC_ALL for (int r = 0; r < GRADSPEC_ROWS; r++)
                total[r][v] += (((const LANES *) a)[r * VECTORS + v] - other) * weight[r];
        }
    GRADSPEC_ALL for (int r = 0; r < GRADSPEC_ROWS; r++)
        GRADSPEC_ALL for (int v = 0; v < VECTORS; v++) place[r * VECTORS + v] = total[r][v];
}

#undef VECTORS
#undef LANES
#undef SIZED
