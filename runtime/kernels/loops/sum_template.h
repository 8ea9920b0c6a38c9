/* For a T: the function SUM, the sum of TERM, which reads p[j], q[j], r[j], c and d.  The order depends on n alone: pairwise. */

#define GRADSPEC_ADD_EIGHT(sums, from) \
    GRADSPEC_UNROLL \
    for (k = 0; k < 8; k++) { \
        j = i + from + k; \
        sums[k] += TERM; \
    }

GRADSPEC_UNUSED GRADSPEC_WIDE static T TYPED(GRADSPEC_JOIN(short, SUM))(
        const T *p, const T *q, const T *r, T c, T d, npy_intp n) {
    T sum = 0;
    npy_intp i = 0, j, k;
    (void) q, (void) r, (void) c, (void) d;
    if (n >= 64) { /* four arrays of eight, which compilers keep in registers, unlike one of 32 */
        T first[8] = {0}, second[8] = {0}, third[8] = {0}, fourth[8] = {0};
        for (; i + 32 <= n; i += 32) {
            GRADSPEC_ADD_EIGHT(first, 0)
            GRADSPEC_ADD_EIGHT(second, 8)
            GRADSPEC_ADD_EIGHT(third, 16)
            GRADSPEC_ADD_EIGHT(fourth, 24)
        }
        for (; i + 8 <= n; i += 8) GRADSPEC_ADD_EIGHT(first, 0)
        for (k = 0; k < 8; k++) first[k] = (first[k] + third[k]) + (second[k] + fourth[k]);
        for (k = 0; k < 4; k++) first[k] += first[k + 4];
        sum = (first[0] + first[2]) + (first[1] + first[3]);
    } else if (n >= 16) {
        T first[8] = {0};
        for (; i + 8 <= n; i += 8) GRADSPEC_ADD_EIGHT(first, 0)
        for (k = 0; k < 4; k++) first[k] += first[k + 4];
        sum = (first[0] + first[2]) + (first[1] + first[3]);
    }
    for (j = i; j < n; j++) sum += TERM;
    return sum;
}

GRADSPEC_UNUSED static T TYPED(SUM)(const T *p, const T *q, const T *r, T c, T d, npy_intp n) {
    npy_intp half = (n / 2 + 31) / 32 * 32;
    if (n <= 512) return TYPED(GRADSPEC_JOIN(short, SUM))(p, q, r, c, d, n);
    return TYPED(SUM)(p, q, r, c, d, half) + TYPED(SUM)(p + half, q + half, r + half, c, d, n - half);
}

#undef GRADSPEC_ADD_EIGHT
#undef SUM
#undef TERM
