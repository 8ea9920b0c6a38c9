/* For a T: the function SUM, the sum of TERM, which reads p[j], q[j], r[j] and c.  The order depends on n alone: pairwise. */

GRADSPEC_UNUSED GRADSPEC_WIDE static T TYPED(GRADSPEC_JOIN(short, SUM))(
        const T *p, const T *q, const T *r, T c, npy_intp n) {
    T sum = 0;
    npy_intp i = 0, j, k;
    (void) q, (void) r, (void) c;
    if (n >= 64) {
        T sums[32];
        for (k = 0; k < 32; k++) {
            j = k;
            sums[k] = TERM;
        }
        for (i = 32; i + 32 <= n; i += 32)
            for (k = 0; k < 32; k++) {
                j = i + k;
                sums[k] += TERM;
            }
        for (k = 0; k < 16; k++) sums[k] += sums[k + 16];
        for (k = 0; k < 8; k++) sums[k] += sums[k + 8];
        for (k = 0; k < 4; k++) sums[k] += sums[k + 4];
        sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    } else if (n >= 16) {
        T sums[8];
        for (k = 0; k < 8; k++) {
            j = k;
            sums[k] = TERM;
        }
        for (i = 8; i + 8 <= n; i += 8)
            for (k = 0; k < 8; k++) {
                j = i + k;
                sums[k] += TERM;
            }
        for (k = 0; k < 4; k++) sums[k] += sums[k + 4];
        sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    }
    for (j = i; j < n; j++) sum += TERM;
    return sum;
}

GRADSPEC_UNUSED static T TYPED(SUM)(const T *p, const T *q, const T *r, T c, npy_intp n) {
    npy_intp half = (n / 2 + 31) / 32 * 32;
    if (n <= 512) return TYPED(GRADSPEC_JOIN(short, SUM))(p, q, r, c, n);
    return TYPED(SUM)(p, q, r, c, half) + TYPED(SUM)(p + half, q + half, r + half, c, n - half);
}

#undef SUM
#undef TERM
