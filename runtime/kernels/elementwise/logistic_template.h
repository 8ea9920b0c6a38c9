/* For a T, and the integers BITS, SIGN, THOUSAND and INFINITE: comparing floats would raise a flag at NaN. */

/* -scale * |x|, clamped where all three functions have reached their limits. */
GRADSPEC_WIDE static void TYPED(exponents)(const T *x, T scale, T *e, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        BITS b;
        T a;
        memcpy(&b, x + i, sizeof(T));
        b &= ~SIGN;
        b = ((b > THOUSAND) & (b <= INFINITE)) ? THOUSAND : b;
        memcpy(&a, &b, sizeof(T));
        e[i] = -scale * a;
    }
}

GRADSPEC_WIDE static void TYPED(sigmoid)(const T *x, const T *e, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        BITS b;
        memcpy(&b, x + i, sizeof(T));
        y[i] = (b & SIGN ? e[i] : (T) 1) / ((T) 1 + e[i]);
    }
}

GRADSPEC_WIDE static void TYPED(slope)(const T *e, T factor, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = e[i] / (((T) 1 + e[i]) * ((T) 1 + e[i])) * factor;
}

/* The larger of two numbers, and minus their distance; the steps are 0 or 1. */
GRADSPEC_WIDE static void TYPED(apart)(const T *a, const T *b, T *m, T *e, npy_intp n, npy_intp p, npy_intp q) {
    for (npy_intp i = 0; i < n; i++) {
        T s = a[i * p], t = b[i * q], d = s == t ? 0 : s - t;
        m[i] = d > 0 ? s : t;
        e[i] = d > 0 ? -d : d;
    }
}

GRADSPEC_WIDE static void TYPED(together)(const T *m, const T *e, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = m[i] + e[i];
}

#undef T
#undef BITS
#undef SIGN
#undef THOUSAND
#undef INFINITE
