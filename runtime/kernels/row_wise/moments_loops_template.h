/* For a T: sums over n rows that are `pitch` numbers apart, added row after row, four at a time. */

/* For each column, the sum of the distances from the centre. */
GRADSPEC_WIDE static void TYPED(column_excesses)(
        const T *x, const T *restrict centre, T *restrict sums, npy_intp n, npy_intp pitch, npy_intp columns) {
    npy_intp i, j;
    for (j = 0; j < columns; j++) sums[j] = 0;
    for (i = 0; i + 4 <= n; i += 4, x += 4 * pitch) {
        const T *a = x, *b = x + pitch, *c = x + 2 * pitch, *d = x + 3 * pitch;
        for (j = 0; j < columns; j++)
            sums[j] = (((sums[j] + (a[j] - centre[j])) + (b[j] - centre[j])) + (c[j] - centre[j])) + (d[j] - centre[j]);
    }
    for (; i < n; i++, x += pitch)
        for (j = 0; j < columns; j++) sums[j] += x[j] - centre[j];
}

/* For each column, the sum of the squared distances, too. */
GRADSPEC_WIDE static void TYPED(column_moments)(
        const T *x, const T *restrict centre, T *restrict sums, T *restrict squares, npy_intp n, npy_intp pitch, npy_intp columns) {
    npy_intp i, j;
    for (j = 0; j < columns; j++) sums[j] = squares[j] = 0;
    for (i = 0; i + 4 <= n; i += 4, x += 4 * pitch) {
        const T *y = x + pitch, *z = x + 2 * pitch, *w = x + 3 * pitch;
        for (j = 0; j < columns; j++) {
            const T a = x[j] - centre[j], b = y[j] - centre[j], c = z[j] - centre[j], d = w[j] - centre[j];
            sums[j] = (((sums[j] + a) + b) + c) + d;
            squares[j] = (((squares[j] + a * a) + b * b) + c * c) + d * d;
        }
    }
    for (; i < n; i++, x += pitch)
        for (j = 0; j < columns; j++) {
            const T a = x[j] - centre[j];
            sums[j] += a;
            squares[j] += a * a;
        }
}

/* Each number less the centre of its column, and then less the second centre. */
GRADSPEC_WIDE static void TYPED(less_centres)(
        const T *x, const T *restrict centre, const T *restrict second, T *restrict y, npy_intp n, npy_intp pitch, npy_intp columns) {
    for (npy_intp i = 0; i < n; i++, x += pitch, y += pitch)
        for (npy_intp j = 0; j < columns; j++) y[j] = (x[j] - centre[j]) - second[j];
}
