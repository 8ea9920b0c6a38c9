/* For a T, a VECTOR, ROWS and VECTORS: one tile, and one gathering. */

TARGET static void TILED(tile)(
        const T *x, const npy_intp *offsets, npy_intp count, const T *w, T *y, npy_intp pitch, npy_intp n) {
    const npy_intp lanes = sizeof(VECTOR) / sizeof(T), width = VECTORS * lanes;
    npy_intp m = 0, k, next;
    int r, v;
    for (;; m = next) {
        VECTOR sums[ROWS][VECTORS];
        GRADSPEC_ALL for (r = 0; r < ROWS; r++)
            GRADSPEC_ALL for (v = 0; v < VECTORS; v++) sums[r][v] = (VECTOR) {0};
        for (k = 0; k < count; k++) {
            VECTOR some[VECTORS];
            GRADSPEC_ALL for (v = 0; v < VECTORS; v++) some[v] = *(const VECTOR *) (x + offsets[k] + m + v * lanes);
            GRADSPEC_ALL for (r = 0; r < ROWS; r++)
                GRADSPEC_ALL for (v = 0; v < VECTORS; v++) sums[r][v] += some[v] * w[k * ROWS + r];
        }
        GRADSPEC_ALL for (r = 0; r < ROWS; r++)
            GRADSPEC_ALL for (v = 0; v < VECTORS; v++) *(VECTOR *) (y + r * pitch + m + v * lanes) = sums[r][v];
        if (m + width >= n) return;
        next = m + 2 * width <= n ? m + width : n - width; /* the last vector overlaps its predecessor */
    }
}

TARGET static void TILED(gather)(
        const T *g, npy_intp pitch, const T *x, const npy_intp *offsets, npy_intp count, T *y, npy_intp n) {
    const npy_intp lanes = sizeof(VECTOR) / sizeof(T);
    VECTOR sums[ROWS][VECTORS];
    npy_intp m;
    int r, v;
    GRADSPEC_ALL for (r = 0; r < ROWS; r++)
        GRADSPEC_ALL for (v = 0; v < VECTORS; v++) sums[r][v] = (VECTOR) {0};
    for (m = 0; m < n; m += lanes) {
        VECTOR some[VECTORS];
        GRADSPEC_ALL for (v = 0; v < VECTORS; v++) some[v] = *(const VECTOR *) (x + offsets[v] + m);
        GRADSPEC_ALL for (r = 0; r < ROWS; r++) {
            VECTOR row = *(const VECTOR *) (g + r * pitch + m);
            GRADSPEC_KEEP(row);
            GRADSPEC_ALL for (v = 0; v < VECTORS; v++) sums[r][v] += some[v] * row;
        }
    }
    GRADSPEC_ALL for (r = 0; r < ROWS; r++)
        GRADSPEC_ALL for (v = 0; v < VECTORS; v++) {
            union {
                VECTOR whole;
                TYPED(least) parts[sizeof(VECTOR) / 16];
            } sum = {sums[r][v]};
            const int parts = sizeof(VECTOR) / 16;
            if (parts > 2) sum.parts[0] += sum.parts[2], sum.parts[1] += sum.parts[parts - 1];
            if (parts > 1) sum.parts[0] += sum.parts[1];
            y[r * count + v] += GRADSPEC_JOIN(GRADSPEC_ADD, T)(sum.parts[0]);
        }
}
