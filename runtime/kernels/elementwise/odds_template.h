/* For a T, its BITS, its LEAST normal number and LOGIT: the logit, block by block.  Numbers outside [LEAST, 1) are marked, and
 * computed alone, so that only they raise flags.  Marks of fewer bytes than a number make compilers compute several vectors in a
 * turn, which do not wait for one another; there are at least ODDS_STEP numbers for that. */

GRADSPEC_INLINE int TYPED(is_odd)(T x) {
    return BITS(x) - BITS(LEAST) >= BITS((T) 1) - BITS(LEAST);
}
GRADSPEC_FUSED static void TYPED(odds)(const T *x, T *y, uint16_t *restrict odd, npy_intp n) {
    for (npy_intp i = 0; i < n / ODDS_STEP * ODDS_STEP; i++) {
        odd[i] = TYPED(is_odd)(x[i]);
        y[i] = (T) LOGIT(TYPED(is_odd)(x[i]) ? (T) 0.5 : x[i]);
    }
}
GRADSPEC_FUSED static void TYPED(few_odds)(const T *x, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = (T) LOGIT(TYPED(is_odd)(x[i]) ? (T) 0.5 : x[i]);
}
static void TYPED(logit)(const T *x, T *y, npy_intp n) {
    uint16_t odd[ODDS_BLOCK];
    T kept[ODDS_BLOCK];
    for (npy_intp size; n > 0; x += size, y += size, n -= size) {
        size = n < ODDS_STEP ? n : n < ODDS_BLOCK ? n / ODDS_STEP * ODDS_STEP : ODDS_BLOCK;
        const T *from = x == y ? memcpy(kept, x, size * sizeof(T)) : x;
        if (size < ODDS_STEP) TYPED(few_odds)(from, y, size);
        else TYPED(odds)(from, y, odd, size);
        if (size < ODDS_STEP || memchr(odd, 1, size * sizeof *odd))
            for (npy_intp i = 0; i < size; i++)
                if (TYPED(is_odd)(from[i])) y[i] = (T) log((double) from[i] / (1 - (double) from[i]));
    }
}
