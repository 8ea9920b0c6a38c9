/* For a T: the sum of contiguous numbers in NumPy's order, to the bit: in eight parts up to 128 numbers, else of two halves. */

static inline T TYPED(joined)(const T *s) {
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

/* Up to 128 numbers. */
GRADSPEC_WIDE static T TYPED(sum_of_few)(const T *x, npy_intp n) {
    T s[8], sum = (T) -0.0;
    npy_intp i = 0, k;
    if (n >= 8) {
        for (k = 0; k < 8; k++) s[k] = x[k];
        for (i = 8; i + 8 <= n; i += 8)
            for (k = 0; k < 8; k++) s[k] += x[i + k];
        sum = TYPED(joined)(s);
    }
    for (; i < n; i++) sum += x[i];
    return sum;
}

/* Two such halves at once, the first of a multiple of 8: each addition waits for the one before in its part alone. */
GRADSPEC_WIDE static T TYPED(sum_of_halves)(const T *x, npy_intp half, npy_intp n) {
    const T *z = x + half;
    T s[8], t[8], sum;
    npy_intp i, k;
    for (k = 0; k < 8; k++) s[k] = x[k];
    for (k = 0; k < 8; k++) t[k] = z[k];
    for (i = 8; i < half; i += 8) {
        for (k = 0; k < 8; k++) s[k] += x[i + k];
        for (k = 0; k < 8; k++) t[k] += z[i + k];
    }
    for (; i + 8 <= n - half; i += 8)
        for (k = 0; k < 8; k++) t[k] += z[i + k];
    sum = TYPED(joined)(t);
    for (; i < n - half; i++) sum += z[i];
    return TYPED(joined)(s) + sum;
}

static T TYPED(pairwise)(const T *x, npy_intp n) {
    npy_intp half = n / 2 - n / 2 % 8;
    if (n <= 128) return TYPED(sum_of_few)(x, n);
    if (n - half <= 128) return TYPED(sum_of_halves)(x, half, n);
    return TYPED(pairwise)(x, half) + TYPED(pairwise)(x + half, n - half);
}
