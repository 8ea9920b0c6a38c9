/* For a T, its functions FMA and COPYSIGN, the integers BITS, SIGN, LEAST and MOST, LEAST_CUBED and MOST_CUBED: find the products
 * that have lost digits, and compute them by the C library. */

/* Set the sign of zeros, and return whether some products have lost digits, by integer operations on all at once. */
GRADSPEC_WIDE static int TYPED(lost)(const T *restrict x, T *restrict y, npy_intp n, int k) {
    const BITS odd = k & 1 ? ~(BITS) 0 : 0, positive = k > 0 ? ~(BITS) 0 : 0;
    BITS any = 0;
    for (npy_intp i = 0; i < n; i++) {
        BITS a, p, zero, size;
        memcpy(&a, x + i, sizeof(T));
        memcpy(&p, y + i, sizeof(T));
        zero = (a & ~SIGN) == 0 ? positive : 0;
        p = (p & ~zero) | (a & odd & zero);
        size = p & ~SIGN;
        any |= ((size - LEAST) | (MOST - 1 - size)) & ~zero; /* the sign bit of a negative difference */
        memcpy(y + i, &p, sizeof(T));
    }
    return (any & SIGN) != 0;
}

GRADSPEC_WIDE static void TYPED(simple_powers)(const T *restrict x, T *restrict y, npy_intp n, int k) {
    npy_intp i;
    if (k == 2)
        for (i = 0; i < n; i++) y[i] = x[i] * x[i];
    else if (k == -1)
        for (i = 0; i < n; i++) y[i] = 1 / x[i];
    else
        for (i = 0; i < n; i++) y[i] = x[i];
}

GRADSPEC_WIDE static int TYPED(any_endless)(const T *x, npy_intp n) {
    int endless = 0;
    for (npy_intp i = 0; i < n; i++) endless |= x[i] == -INFINITY;
    return endless;
}

/* A power of -infinity differs from its root: if there is one, the C library computes all powers. */
static int TYPED(endless_powers)(const T *x, T *y, npy_intp n, T k) {
    if (!TYPED(any_endless)(x, n)) return 0;
    for (npy_intp i = 0; i < n; i++) y[i] = (T) pow(x[i], k);
    return 1;
}

/* Convert roots to powers, or to one over them, corrected by a step of Newton's method; the power of -0 is 0. */
GRADSPEC_WIDE static void TYPED(from_roots)(const T *x, T *y, npy_intp n, int inverse) {
    npy_intp i;
    if (inverse)
        for (i = 0; i < n; i++) {
            const T r = 1 / (y[i] + 0), p = x[i] * r, e = FMA(x[i], r, -p), rest = FMA(-p, r, 1) - e * r, s = r + r * (rest / 2);
            y[i] = s > 0 && s < INFINITY ? s : r;
        }
    else
        for (i = 0; i < n; i++) y[i] += 0;
}

/* The sign bit is set if the cube may be extreme, or lose digits. */
static inline BITS TYPED(is_far)(const T *x) {
    BITS size;
    memcpy(&size, x, sizeof(T));
    size &= ~SIGN;
    return size == 0 ? 0 : (size - LEAST_CUBED) | (MOST_CUBED - size);
}

/* Cubes, by the rounding errors of both products; returns whether some x are far, for mend_cubes. */
GRADSPEC_FUSED static int TYPED(cubes)(const T *restrict x, T *restrict y, npy_intp n) {
    BITS any = 0;
    for (npy_intp i = 0; i < n; i++) {
        const T p = x[i] * x[i], e = FMA(x[i], x[i], -p), q = p * x[i], c = q + (FMA(p, x[i], -q) + e * x[i]);
        any |= TYPED(is_far)(x + i);
        y[i] = COPYSIGN(c, x[i]); /* the cube of -0; a comparison would not be a vector without AVX-512 */
    }
    return (any & SIGN) != 0;
}

static void TYPED(mend_cubes)(const T *x, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++)
        if (TYPED(is_far)(x + i) & SIGN) y[i] = (T) pow(x[i], 3);
}

static void TYPED(mend)(const T *x, T *y, npy_intp n, int k) {
    for (npy_intp i = 0; i < n; i++) {
        BITS size;
        memcpy(&size, y + i, sizeof(T));
        if ((size & ~SIGN) - LEAST >= MOST - LEAST && !(x[i] == 0 && k > 0)) y[i] = (T) pow(x[i], k);
    }
}

#undef T
#undef FMA
#undef COPYSIGN
#undef BITS
#undef SIGN
#undef LEAST
#undef MOST
#undef LEAST_CUBED
#undef MOST_CUBED
