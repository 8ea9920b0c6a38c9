/* For a T: replace y by the solution of a system whose matrix has the strides `row` and `column`, for k right-hand sides.
   Step s processes row s of a lower triangle, or row n - 1 - s of an upper one. */

#define PLACE(step) (lower ? (step) : n - 1 - (step))

/* Columns of right-hand sides that stay in the cache for all rows of a block. */
#define TILE 64

/* Subtract four known rows at a time. */
GRADSPEC_WIDE static void TYPED(substitute)(
        const T *restrict a, T *restrict y, npy_intp n, npy_intp k, npy_intp row, npy_intp column, int lower, int unit) {
    for (npy_intp left = 0; left < k; left += TILE) {
        npy_intp width = k - left < TILE ? k - left : TILE;
        for (npy_intp step = 0; step < n; step++) {
            npy_intp i = PLACE(step), other = 0, j;
            const T *factors = a + i * row;
            T sums[TILE];
            for (j = 0; j < width; j++) sums[j] = y[i * k + left + j];
            for (; other + 4 <= step; other += 4) {
                npy_intp first = PLACE(other), next = lower ? 1 : -1;
                const T *p = y + first * k + left, *f = factors + first * column;
                T f0 = f[0], f1 = f[next * column], f2 = f[2 * next * column], f3 = f[3 * next * column];
                const T *q = p + next * k, *r = p + 2 * next * k, *s = p + 3 * next * k;
                if (width == TILE)
                    for (j = 0; j < TILE; j++) sums[j] -= (f0 * p[j] + f1 * q[j]) + (f2 * r[j] + f3 * s[j]);
                else
                    for (j = 0; j < width; j++) sums[j] -= (f0 * p[j] + f1 * q[j]) + (f2 * r[j] + f3 * s[j]);
            }
            for (; other < step; other++) {
                npy_intp known = PLACE(other);
                T factor = factors[known * column];
                for (j = 0; j < width; j++) sums[j] -= factor * y[known * k + left + j];
            }
            T divisor = unit ? 1 : factors[i * column];
            for (j = 0; j < width; j++) y[i * k + left + j] = unit ? sums[j] : sums[j] / divisor;
        }
    }
}

/* One right-hand side, contiguous matrix rows: sum the known terms of each row in vectors. */
GRADSPEC_WIDE static void TYPED(substitute_rows)(
        const T *restrict a, T *restrict y, npy_intp n, npy_intp row, int lower, int unit) {
    for (npy_intp step = 0; step < n; step++) {
        npy_intp i = PLACE(step), start = lower ? 0 : i + 1, stop = lower ? i : n, j = start, p;
        const T *factors = a + i * row;
        T sums[16] = {0}, sum = 0;
        for (; j + 16 <= stop; j += 16)
            for (p = 0; p < 16; p++) sums[p] += factors[j + p] * y[j + p];
        for (p = 0; p < 8; p++) sums[p] += sums[p + 8];
        for (p = 0; p < 4; p++) sums[p] += sums[p + 4];
        for (; j < stop; j++) sum += factors[j] * y[j];
        y[i] -= ((sums[0] + sums[2]) + (sums[1] + sums[3])) + sum;
        if (!unit) y[i] /= factors[i];
    }
}

/* One right-hand side, contiguous columns: subtract each value from all later rows as soon as it is known. */
GRADSPEC_WIDE static void TYPED(substitute_columns)(
        const T *restrict a, T *restrict y, npy_intp n, npy_intp column, int lower, int unit) {
    for (npy_intp step = 0; step < n; step++) {
        npy_intp i = PLACE(step), j;
        const T *factors = a + i * column;
        if (!unit) y[i] /= factors[i];
        T known = y[i];
        for (j = lower ? i + 1 : 0; j < (lower ? n : i); j++) y[j] -= factors[j] * known;
    }
}

/* Complex numbers with interleaved real and imaginary parts; strides and k count complex numbers. */
GRADSPEC_WIDE static void TYPED(substitute_complex)(
        const T *restrict a, T *restrict y, npy_intp n, npy_intp k, npy_intp row, npy_intp column, int lower, int unit) {
    for (npy_intp left = 0; left < k; left += TILE) {
        npy_intp width = k - left < TILE ? k - left : TILE;
        for (npy_intp step = 0; step < n; step++) {
            npy_intp i = PLACE(step), j;
            const T *factors = a + 2 * i * row;
            T *target = y + 2 * (i * k + left);
            T re[TILE], im[TILE];
            for (j = 0; j < width; j++) re[j] = target[2 * j], im[j] = target[2 * j + 1];
            for (npy_intp other = 0; other < step; other++) {
                npy_intp known = PLACE(other);
                const T *p = y + 2 * (known * k + left), *f = factors + 2 * known * column;
                T f_re = f[0], f_im = f[1];
                for (j = 0; j < width; j++) {
                    re[j] -= f_re * p[2 * j] - f_im * p[2 * j + 1];
                    im[j] -= f_re * p[2 * j + 1] + f_im * p[2 * j];
                }
            }
            if (!unit) { /* Smith's division, which overflows only if the quotient does */
                T d_re = factors[2 * i * column], d_im = factors[2 * i * column + 1];
                int turned = (d_re < 0 ? -d_re : d_re) < (d_im < 0 ? -d_im : d_im);
                T ratio = turned ? d_re / d_im : d_im / d_re, scale = turned ? d_im + d_re * ratio : d_re + d_im * ratio;
                for (j = 0; j < width; j++) {
                    T u = turned ? re[j] * ratio + im[j] : re[j] + im[j] * ratio;
                    T v = turned ? im[j] * ratio - re[j] : im[j] - re[j] * ratio;
                    re[j] = u / scale, im[j] = v / scale;
                }
            }
            for (j = 0; j < width; j++) target[2 * j] = re[j], target[2 * j + 1] = im[j];
        }
    }
}

#undef PLACE
#undef TILE
