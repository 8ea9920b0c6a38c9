/* For a T, an EXTREME and what is BETTER: that of a row, of the columns of rows, of all parts of an array. */

#define BEST(a, b) ((a) BETTER (b) ? (a) : (b))
#define NAMED(name) TYPED(GRADSPEC_JOIN(EXTREME, name))

GRADSPEC_WIDE static T NAMED(of)(const T *x, npy_intp n) {
    T best[32], most = x[0];
    npy_intp i = 0, k;
    if (n >= 32) {
        for (k = 0; k < 32; k++) best[k] = x[k];
        for (i = 32; i + 32 <= n; i += 32)
            for (k = 0; k < 32; k++) best[k] = BEST(x[i + k], best[k]);
        for (k = 0; k < 16; k++) best[k] = BEST(best[k + 16], best[k]);
        for (k = 0; k < 8; k++) best[k] = BEST(best[k + 8], best[k]);
        for (k = 0; k < 8; k++) most = BEST(best[k], most);
    }
    for (; i < n; i++) most = BEST(x[i], most);
    return most;
}

GRADSPEC_WIDE static void NAMED(rows)(T *restrict y, const T *restrict x, npy_intp length, npy_intp n) {
    npy_intp i, k;
    memcpy(y, x, n * sizeof(T));
    for (i = 1; i < length; i++)
        for (k = 0; k < n; k++) y[k] = BEST(x[i * n + k], y[k]);
}

/* A NaN raises the flag for an invalid operation. */
static void TYPED(EXTREME)(void *context, npy_intp start, npy_intp stop) {
    gradspec_extremes *job = (gradspec_extremes *) context;
    const npy_intp n = job->inner, size = job->length * n;
    fp_clear();
    for (npy_intp o = start; o < stop; o++) {
        const T *x = (const T *) job->x + o * size;
        T *y = (T *) job->y + o * n;
        if (n == 1) *y = NAMED(of)(x, size);
        else NAMED(rows)(y, x, job->length, n);
    }
    if (fp_raised()) job->raised = 1;
}

#undef NAMED
#undef BEST
