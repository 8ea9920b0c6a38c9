/* For a T: loops over the elements of one row. */

GRADSPEC_WIDE static void TYPED(standard)(const T *restrict x, T mean, T rate, T *restrict y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = (x[i] - mean) * rate;
}

GRADSPEC_WIDE static void TYPED(affine)(
        const T *restrict y, const T *restrict scale, const T *restrict shift, T *restrict z, npy_intp n) {
    npy_intp i;
    if (shift)
        for (i = 0; i < n; i++) z[i] = y[i] * scale[i] + shift[i];
    else
        for (i = 0; i < n; i++) z[i] = y[i] * scale[i];
}

/* rate * (a - mean - y * slope), with a * scale instead of a if there is a scale */
GRADSPEC_WIDE static void TYPED(adjoint)(
        const T *restrict a, const T *restrict scale, const T *restrict y, T rate, T mean, T slope, T *restrict b,
        npy_intp n) {
    npy_intp i;
    if (scale)
        for (i = 0; i < n; i++) b[i] = rate * (a[i] * scale[i] - mean - y[i] * slope);
    else
        for (i = 0; i < n; i++) b[i] = rate * (a[i] - mean - y[i] * slope);
}

/* products += a * y, sums += a */
GRADSPEC_WIDE static void TYPED(gather)(
        const T *restrict a, const T *restrict y, T *restrict products, T *restrict sums, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        products[i] += a[i] * y[i];
        sums[i] += a[i];
    }
}

GRADSPEC_WIDE static void TYPED(add)(T *restrict y, const T *restrict x, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] += x[i];
}
