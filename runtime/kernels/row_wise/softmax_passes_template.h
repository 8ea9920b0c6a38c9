/* For a T: a row minus two numbers, a row divided by its sum, and the adjoint of that; passes over columns. */

GRADSPEC_WIDE static void TYPED(less_both)(const T *x, T first, T second, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = (x[i] - first) - second;
}

GRADSPEC_WIDE static void TYPED(shares)(T *y, T sum, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = y[i] / sum;
}

GRADSPEC_WIDE static void TYPED(weighed)(const T *share, const T *x, T mean, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = share[i] * (x[i] - mean);
}

#define GRADSPEC_EACH(statement) \
    for (j = 0; j < n; j++) statement; \
    break

/* One pass over n columns; the rows of an operand are some elements apart, or 0 if it has one row. */
GRADSPEC_WIDE static void TYPED(columns)(
        int pass, const T *restrict a, npy_intp p, const T *restrict b, npy_intp q, T *restrict y, npy_intp r, npy_intp rows,
        npy_intp n) {
    npy_intp j;
    for (; rows > 0; rows--, a += p, b += q, y += r) switch (pass) {
        case GRADSPEC_RAISE: GRADSPEC_EACH(y[j] = a[j] > y[j] ? a[j] : y[j]);
        case GRADSPEC_LESS: GRADSPEC_EACH(y[j] = a[j] - b[j]);
        case GRADSPEC_COPY: GRADSPEC_EACH(y[j] = a[j]);
        case GRADSPEC_ADD: GRADSPEC_EACH(y[j] += a[j]);
        case GRADSPEC_ADD_PRODUCT: GRADSPEC_EACH(y[j] += a[j] * b[j]);
        case GRADSPEC_TAKE_OFF: GRADSPEC_EACH(y[j] -= a[j]);
        case GRADSPEC_MULTIPLY: GRADSPEC_EACH(y[j] *= a[j]);
        case GRADSPEC_DIVIDE: GRADSPEC_EACH(y[j] /= a[j]);
    }
}

#undef GRADSPEC_EACH
