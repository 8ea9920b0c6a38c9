/* For a T, BITS and SIGN as integers, LEAST and MOST: which products have lost digits, and their powers by the C library. */

/* Zeros with their signs; whether the products have lost anything: as integers, all at once. */
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
        any |= (size - LEAST < MOST - LEAST ? 0 : ~(BITS) 0) & ~zero;
        memcpy(y + i, &p, sizeof(T));
    }
    return any != 0;
}

static void TYPED(mend)(const T *x, T *y, npy_intp n, int k) {
    for (npy_intp i = 0; i < n; i++) {
        BITS size;
        memcpy(&size, y + i, sizeof(T));
        if ((size & ~SIGN) - LEAST >= MOST - LEAST && !(x[i] == 0 && k > 0)) y[i] = (T) pow(x[i], k);
    }
}

#undef T
#undef BITS
#undef SIGN
#undef LEAST
#undef MOST
