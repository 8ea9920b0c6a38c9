/* For a T: a row minus two numbers, a row divided by its sum, and the adjoint of that. */

GRADSPEC_WIDE static void TYPED(less_both)(const T *x, T first, T second, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = (x[i] - first) - second;
}

GRADSPEC_WIDE static void TYPED(shares)(T *y, T sum, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = y[i] / sum;
}

GRADSPEC_WIDE static void TYPED(weighed)(const T *share, const T *x, T mean, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = share[i] * (x[i] - mean);
}
