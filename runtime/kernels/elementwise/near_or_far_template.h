/* For a T, a MARK of a quarter of its bytes, and a function's NAME: a loop over numbers, block by block, in a shorter way, which is
 * for sizes up to MOST.  It marks others, which are gathered and computed again, and so compilers compute four vectors of numbers in
 * a turn, which do not wait for one another.  The last numbers are too few for a turn. */
#define OF(what) GRADSPEC_JOIN(GRADSPEC_JOIN(gradspec, what), GRADSPEC_JOIN(of, T))
#define ONE(what) GRADSPEC_JOIN(GRADSPEC_JOIN(gradspec, T), what)

GRADSPEC_FUSED GRADSPEC_UNUSED static void OF(GRADSPEC_JOIN(near, NAME))(const T *x, T *y, MARK *restrict far, npy_intp n) {
    for (npy_intp i = 0; i < n / GRADSPEC_NEAR_STEP * GRADSPEC_NEAR_STEP; i++) {
        far[i] = ONE(is_beyond)(x[i], MOST);
        y[i] = ONE(NAME)(x[i], 0);
    }
}
GRADSPEC_FUSED GRADSPEC_UNUSED static void OF(GRADSPEC_JOIN(far, NAME))(const T *x, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = ONE(NAME)(x[i], 1);
}
GRADSPEC_UNUSED static void OF(NAME)(const T *x, T *y, npy_intp n) {
    MARK far[GRADSPEC_NEAR_BLOCK];
    T kept[GRADSPEC_NEAR_BLOCK];
    for (npy_intp size; n >= GRADSPEC_NEAR_STEP; x += size, y += size, n -= size) {
        size = n < GRADSPEC_NEAR_BLOCK ? n / GRADSPEC_NEAR_STEP * GRADSPEC_NEAR_STEP : GRADSPEC_NEAR_BLOCK;
        const T *from = x == y ? memcpy(kept, x, size * sizeof(T)) : x;
        OF(GRADSPEC_JOIN(near, NAME))(from, y, far, size);
        if (!memchr(far, 1, size * sizeof(MARK))) continue;
        npy_intp places[GRADSPEC_NEAR_BLOCK], count = 0;
        T others[GRADSPEC_NEAR_BLOCK];
        for (npy_intp i = 0; i < size; count += far[i++]) places[count] = i;
        for (npy_intp i = 0; i < count; i++) others[i] = from[places[i]];
        OF(GRADSPEC_JOIN(far, NAME))(others, others, count);
        for (npy_intp i = 0; i < count; i++) y[places[i]] = others[i];
    }
    OF(GRADSPEC_JOIN(far, NAME))(x, y, n);
}

#undef OF
#undef ONE
#undef NAME
#undef MOST
