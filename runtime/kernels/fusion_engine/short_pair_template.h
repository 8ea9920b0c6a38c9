/* For a T, a NAME and a SIGN: a binary operation, where one operand may be a number, with a RESULT type.  If VECTORS is set,
   first in vectors of WIDTH, and then one by one. */

GRADSPEC_INSIDE void TYPED(GRADSPEC_JOIN(NAME, each))(const void *a_, const void *b_, void *y_, npy_intp n) {
    const T *a = a_, *b = b_;
    RESULT *y = y_;
    npy_intp i = 0;
#if VECTORS
    for (; n - i >= WIDTH; i += WIDTH) LANES(y) = LANES(a) SIGN LANES(b);
#endif
    for (; i < n; i++) y[i] = a[i] SIGN b[i];
}

GRADSPEC_INSIDE void TYPED(GRADSPEC_JOIN(NAME, by_number))(const void *a_, const void *b_, void *y_, npy_intp n) {
    const T *a = a_, b = *(const T *) b_;
    RESULT *y = y_;
    npy_intp i = 0;
#if VECTORS
    const TYPED(lanes) all = FILLED(b);
    for (; n - i >= WIDTH; i += WIDTH) LANES(y) = LANES(a) SIGN all;
#endif
    for (; i < n; i++) y[i] = a[i] SIGN b;
}

GRADSPEC_INSIDE void TYPED(GRADSPEC_JOIN(NAME, number_by))(const void *a_, const void *b_, void *y_, npy_intp n) {
    const T a = *(const T *) a_, *b = b_;
    RESULT *y = y_;
    npy_intp i = 0;
#if VECTORS
    const TYPED(lanes) all = FILLED(a);
    for (; n - i >= WIDTH; i += WIDTH) LANES(y) = all SIGN LANES(b);
#endif
    for (; i < n; i++) y[i] = a SIGN b[i];
}

#undef NAME
#undef SIGN
