/* For a T: a number between bounds, a quotient that is 0 if the divisor is, piecewise functions, and scaled powers. */

/* x, or the bound that it is beyond; NaN if any of the three is. */
static inline T TYPED(between)(T x, T low, T high) {
    const T above = isless(x, low) ? low : x, within = isgreater(above, high) ? high : above;
    const T lowest = isunordered(low, low) ? low : within;
    return isunordered(high, high) ? high : lowest;
}

GRADSPEC_WIDE static void TYPED(clip)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const T *x = (const T *) args[0], *low = (const T *) args[1], *high = (const T *) args[2];
    T *y = (T *) args[3];
    npy_intp n = size[0], i, p = steps[1] != 0, q = steps[2] != 0;
    (void) data;
    if (!p && !q) {
        const T least = low[0], most = high[0];
        for (i = 0; i < n; i++) y[i] = TYPED(between)(x[i], least, most);
    } else {
        for (i = 0; i < n; i++) y[i] = TYPED(between)(x[i], low[i * p], high[i * q]);
    }
}

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

/* The same, but NaN if only the divisor is 0. */
GRADSPEC_WIDE static void TYPED(divide_or_nan)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const T *a = (const T *) args[0], *b = (const T *) args[1];
    T *y = (T *) args[2];
    npy_intp n = size[0], i, p = steps[0] != 0, q = steps[1] != 0;
    (void) data;
    for (i = 0; i < n; i++) {
        const T d = b[i * q], r = a[i * p] / (d == 0 ? 1 : d), lost = r == 0 ? 0 : (T) NAN;
        y[i] = d == 0 ? lost : r;
    }
}

/* x if positive, else its product with the other operand; all elements are multiplied and may raise a flag, as in NumPy. */
GRADSPEC_WIDE static void TYPED(leaky)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const T *x = (const T *) args[0], *slope = (const T *) args[1];
    T *y = (T *) args[2];
    npy_intp n = size[0], i, p = steps[0] != 0, q = steps[1] != 0;
    (void) data;
    if (p && !q) {
        const T factor = slope[0];
        for (i = 0; i < n; i++) y[i] = isgreater(x[i], 0) ? x[i] : factor * x[i];
    } else {
        for (i = 0; i < n; i++) y[i] = isgreater(x[i * p], 0) ? x[i * p] : slope[i * q] * x[i * p];
    }
}

static T TYPED(huber_of)(T error, T delta) {
    const T raised = isless(error, -delta) ? -delta : error, near = isgreater(raised, delta) ? delta : raised;
    return near * (error - (T) 0.5 * near);
}

GRADSPEC_WIDE static void TYPED(huber)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const T *a = (const T *) args[0], *b = (const T *) args[1], *delta = (const T *) args[2];
    T *y = (T *) args[3];
    npy_intp n = size[0], i, p = steps[0] != 0, q = steps[1] != 0, r = steps[2] != 0;
    (void) data;
    if (p && q && !r) {
        const T bound = delta[0];
        for (i = 0; i < n; i++) y[i] = TYPED(huber_of)(a[i] - b[i], bound);
    } else {
        for (i = 0; i < n; i++) y[i] = TYPED(huber_of)(a[i * p] - b[i * q], delta[i * r]);
    }
}

GRADSPEC_WIDE static void TYPED(hardswish)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const T *x = (const T *) args[0];
    T *y = (T *) args[1];
    (void) steps, (void) data;
    for (npy_intp i = 0; i < size[0]; i++) {
        const T above = isless(x[i], -3) ? -3 : x[i], raised = x[i] + 3, share = isless(raised, 0) ? 0 : raised;
        y[i] = above * ((isgreater(share, 6) ? 6 : share) / 6);
    }
}

GRADSPEC_WIDE static void TYPED(hardswish_slope)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const T *x = (const T *) args[0];
    T *y = (T *) args[1];
    (void) steps, (void) data;
    for (npy_intp i = 0; i < size[0]; i++) {
        const T within = (x[i] + (T) 1.5) / 3, below = islessequal(x[i], -3) ? 0 : within;
        y[i] = isgreaterequal(x[i], 3) ? 1 : below;
    }
}

/* Multiply powers of x by a number, and return whether one of the powers is infinite, or so small that it may have lost digits, by
 * integer operations on all at once; a power of 0 that is 0 is exact. */
GRADSPEC_WIDE static int TYPED(scale_powers)(const char *bases, char *powers, T factor, npy_intp n) {
    const T *x = (const T *) bases;
    T *restrict y = (T *) powers;
    BITS any = 0;
    for (npy_intp i = 0; i < n; i++) {
        BITS base, size;
        memcpy(&base, x + i, sizeof(T));
        memcpy(&size, y + i, sizeof(T));
        base &= ~SIGN, size &= ~SIGN;
        any |= ((size - LEAST) & ~((base | size) - 1)) | ((size ^ ENDLESS) - 1); /* the sign bit of a negative difference */
        y[i] *= factor;
    }
    return (any & SIGN) != 0;
}
