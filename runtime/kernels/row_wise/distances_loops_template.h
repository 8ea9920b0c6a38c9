/* For a T: what goes into tiles and what comes out of them. */

/* y[i][k] = x[i * step + k * pitch] for n rows, and 0 from column `known` to column `columns`. */
static inline void TYPED(pack)(
        const T *x, npy_intp step, npy_intp pitch, npy_intp n, npy_intp known, int columns, double *restrict y) {
    for (npy_intp i = 0; i < n; i++, x += step, y += columns)
        for (int k = 0; k < columns; k++) y[k] = k < known ? (double) x[k * pitch] : 0;
}

static void TYPED(pack_panel)(const T *x, npy_intp step, npy_intp pitch, npy_intp n, npy_intp known, double *y) {
    if (known >= GRADSPEC_COLUMNS)
        TYPED(pack)(x, step, pitch, n, GRADSPEC_COLUMNS, GRADSPEC_COLUMNS, y);
    else
        TYPED(pack)(x, step, pitch, n, known, GRADSPEC_COLUMNS, y);
}

static void TYPED(pack_tile)(const T *x, npy_intp step, npy_intp pitch, npy_intp n, npy_intp known, double *y) {
    if (known >= GRADSPEC_ROWS)
        TYPED(pack)(x, step, pitch, n, GRADSPEC_ROWS, GRADSPEC_ROWS, y);
    else
        TYPED(pack)(x, step, pitch, n, known, GRADSPEC_ROWS, y);
}

static void TYPED(unpack)(const double *sums, T *y, npy_intp pitch, npy_intp rows, npy_intp columns) {
    for (npy_intp r = 0; r < rows && r < GRADSPEC_ROWS; r++)
        for (npy_intp k = 0; k < columns && k < GRADSPEC_COLUMNS; k++) y[r * pitch + k] = (T) sums[r * GRADSPEC_COLUMNS + k];
}

/* Replace sums by their roots; whether no square was out of range.  Squares of a float are never too small for a double. */
GRADSPEC_WIDE static int TYPED(roots)(double *sums) {
    const double least = sizeof(T) < sizeof(double) ? 0 : DBL_MIN / DBL_EPSILON / DBL_EPSILON;
    int known = 1;
    for (int i = 0; i < GRADSPEC_TILE; i++) {
        known &= sums[i] >= least && sums[i] <= DBL_MAX;
        sums[i] = sqrt(sums[i]);
    }
    return known;
}
