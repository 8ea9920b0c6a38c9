/* For a T: loops over neighbouring elements of one row. */

GRADSPEC_WIDE static void TYPED(standard)(
        const T *restrict x, T mean, T rate, T scale, T shift, T *restrict z, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) z[i] = (x[i] - mean) * rate * scale + shift;
}

GRADSPEC_WIDE static void TYPED(affine)(
        const T *restrict x, T mean, T rate, const T *restrict scale, const T *restrict shift, T *restrict z, npy_intp n) {
    npy_intp i;
    if (shift)
        for (i = 0; i < n; i++) z[i] = (x[i] - mean) * rate * scale[i] + shift[i];
    else
        for (i = 0; i < n; i++) z[i] = (x[i] - mean) * rate * scale[i];
}

/* rate * (a * scale - mean - y * slope), where y = (x - centre) * factor */
GRADSPEC_WIDE static void TYPED(adjoint)(
        const T *restrict a, const T *restrict x, T centre, T factor, T scale, T rate, T mean, T slope, T *restrict b,
        npy_intp n) {
    for (npy_intp i = 0; i < n; i++) b[i] = rate * (a[i] * scale - mean - (x[i] - centre) * factor * slope);
}

/* The same with a scale for each element; products += a * y, sums += a. */
GRADSPEC_WIDE static void TYPED(affine_adjoint)(
        const T *restrict a, const T *restrict x, T centre, const T *restrict scale, T rate, T mean, T slope,
        T *restrict products, T *restrict sums, T *restrict b, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        T y = (x[i] - centre) * rate;
        products[i] += a[i] * y;
        sums[i] += a[i];
        b[i] = rate * (a[i] * scale[i] - mean - y * slope);
    }
}

GRADSPEC_WIDE static void TYPED(add)(T *restrict y, const T *restrict x, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] += x[i];
}
