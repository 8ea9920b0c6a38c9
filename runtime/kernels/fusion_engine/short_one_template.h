/* For a T, a NAME, an EXPRESSION of a[i] and one of a vector `x`: a unary operation. */

GRADSPEC_INSIDE void TYPED(NAME)(const void *a_, void *y_, npy_intp n) {
    const T *a = a_;
    T *y = y_;
    npy_intp i = 0;
#if VECTORS
    for (; n - i >= WIDTH; i += WIDTH) {
        const TYPED(lanes) x = LANES(a);
        LANES(y) = OF_LANES;
    }
#endif
    for (; i < n; i++) {
        const T x = a[i];
        y[i] = OF_ONE;
    }
}

#undef NAME
#undef OF_LANES
#undef OF_ONE
