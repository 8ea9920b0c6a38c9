/* For a T, and the integers BITS, SIGN, THOUSAND and INFINITE. */

/* -scale * |x|, clamped where all functions have reached their limits. */
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

/* A function of x, where e is exp(-|x|), or exp(-2 |x|) for the slope of tanh. */
GRADSPEC_WIDE static void TYPED(logistic)(int function, const T *x, const T *e, T *y, npy_intp n) {
    const T factor = function == GRADSPEC_TANH_SLOPE ? 4 : 1;
    for (npy_intp i = 0; i < n; i++) {
        const T d = (T) 1 + e[i], size = x[i] < 0 ? -x[i] : x[i], near = size > 1000 ? 1000 : size;
        const int below = x[i] < 0;
        if (function == GRADSPEC_SIGMOID)
            y[i] = (below ? e[i] : (T) 1) / d;
        else if (function == GRADSPEC_SILU)
            y[i] = below ? -near * (e[i] / d) : x[i] * ((T) 1 / d);
        else if (function == GRADSPEC_SILU_SLOPE)
            y[i] = below ? e[i] / d * (1 - near / d) : (1 + near * (e[i] / d)) / d;
        else
            y[i] = e[i] / (d * d) * factor;
    }
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
