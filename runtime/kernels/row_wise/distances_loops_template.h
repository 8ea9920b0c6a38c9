/* For a T: differences of a row from other rows. */

GRADSPEC_WIDE static void TYPED(less)(const T *restrict a, const T *restrict b, T *restrict apart, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) apart[i] = a[i] - b[i];
}

/* total += the sum over four rows of b, at distance n, of w * (a - b) */
GRADSPEC_WIDE static void TYPED(add_apart)(
        const T *restrict w, const T *restrict a, const T *restrict b, double *restrict total, npy_intp n) {
    const double t = w[0], u = w[1], v = w[2], z = w[3];
    const T *restrict p = b + n, *restrict q = b + 2 * n, *restrict r = b + 3 * n;
    for (npy_intp i = 0; i < n; i++) {
        const double at = a[i];
        total[i] += (t * (at - b[i]) + u * (at - p[i])) + (v * (at - q[i]) + z * (at - r[i]));
    }
}
