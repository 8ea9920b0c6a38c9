/* For a T: a quotient that is 0 where the divisor is, and whether numbers may have lost digits. */

GRADSPEC_WIDE static void TYPED(divide)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const T *a = (const T *) args[0], *b = (const T *) args[1];
    T *y = (T *) args[2];
    npy_intp n = size[0], i, p = steps[0] != 0, q = steps[1] != 0;
    (void) data;
    if (p && q)
        for (i = 0; i < n; i++) {
            const T d = b[i], r = a[i] / (d == 0 ? 1 : d);
            y[i] = d == 0 ? 0 : r;
        }
    else
        for (i = 0; i < n; i++) {
            const T d = b[i * q], r = a[i * p] / (d == 0 ? 1 : d);
            y[i] = d == 0 ? 0 : r;
        }
}

/* Whether a number is infinite or so small, 0 included, that it may have lost digits; NaN is neither. */
static int TYPED(extreme)(const char *data, npy_intp n) {
    const T *x = (const T *) data;
    npy_intp i;
    int any = 0;
    for (i = 0; i < n; i++) {
        const T size = x[i] < 0 ? -x[i] : x[i];
        any |= (size < TINY) | (size > LARGE);
    }
    return any;
}
