/* For the NAME of a function of T = float together with its slope, from one exponential: loops as in near_or_far_template.h.  They
 * return whether some x is NaN. */

GRADSPEC_FUSED static void TYPED(GRADSPEC_JOIN(near, NAME))(
        const float *restrict x, float *restrict y, float *restrict slope, uint8_t *restrict far, npy_intp n) {
    for (npy_intp i = 0; i < n / GRADSPEC_NEAR_STEP * GRADSPEC_NEAR_STEP; i++) {
        far[i] = gradspec_float_is_beyond(x[i], MOST);
        GRADSPEC_JOIN(gradspec_float, NAME)(x[i], y + i, slope + i, 0);
    }
}
GRADSPEC_FUSED static int TYPED(GRADSPEC_JOIN(far, NAME))(const float *restrict x, float *restrict y, float *restrict slope, npy_intp n) {
    uint32_t found = 0;
    for (npy_intp i = 0; i < n; i++) {
        found |= gradspec_float_is_beyond(x[i], INFINITY);
        GRADSPEC_JOIN(gradspec_float, NAME)(x[i], y + i, slope + i, 1);
    }
    return found != 0;
}
static int GRADSPEC_JOIN(gradspec, NAME)(const float *x, float *y, float *slope, npy_intp n) {
    uint8_t far[GRADSPEC_NEAR_BLOCK];
    int found = 0;
    for (npy_intp size; n >= GRADSPEC_NEAR_STEP; x += size, y += size, slope += size, n -= size) {
        size = n < GRADSPEC_NEAR_BLOCK ? n / GRADSPEC_NEAR_STEP * GRADSPEC_NEAR_STEP : GRADSPEC_NEAR_BLOCK;
        TYPED(GRADSPEC_JOIN(near, NAME))(x, y, slope, far, size);
        if (memchr(far, 1, size)) found |= TYPED(GRADSPEC_JOIN(far, NAME))(x, y, slope, size);
    }
    return TYPED(GRADSPEC_JOIN(far, NAME))(x, y, slope, n) | found;
}

#undef NAME
#undef MOST
