/* For a T: the function SUM, the sum of the NUMBER or VECTOR of contiguous numbers in NumPy's order, to the bit: in eight parts up to
 * 128 numbers, else as two halves; and its sum of rows. */

#define OF(what) TYPED(GRADSPEC_JOIN(SUM, what))

/* Up to 128 numbers. */
GRADSPEC_WIDE static T OF(few)(const T *x, npy_intp n) {
    T sum = (T) -0.0;
    npy_intp i = 0;
    if (n >= 8) {
        BEGIN(s, x);
        for (i = 8; i + 8 <= n; i += 8) ADD(s, x + i);
        sum = JOINED(s);
    }
    for (; i < n; i++) sum += NUMBER(x[i]);
    return sum;
}

/* Two halves at once, so that an addition waits only for its predecessor in the same part. */
GRADSPEC_WIDE static T OF(halves)(const T *x, npy_intp n) {
    const npy_intp half = gradspec_half(n);
    const T *z = x + half;
    T sum;
    npy_intp i;
    BEGIN(s, x);
    BEGIN(t, z);
    for (i = 8; i < half; i += 8) {
        ADD(s, x + i);
        ADD(t, z + i);
    }
    for (; i + 8 <= n - half; i += 8) ADD(t, z + i);
    sum = JOINED(t);
    for (; i < n - half; i++) sum += NUMBER(z[i]);
    return JOINED(s) + sum;
}

/* Two such pairs at once; no half is shorter than the first half of the first pair.  The processor does not recognise four streams
 * that end after a few lines each, so the page ahead is prefetched. */
GRADSPEC_WIDE static T OF(quarters)(const T *x, npy_intp n) {
    const npy_intp half = gradspec_half(n), first = gradspec_half(half), third = gradspec_half(n - half), last = n - half - third;
    const T *b = x + first, *c = x + half, *d = c + third;
    T sum;
    npy_intp i;
    BEGIN(p, x);
    BEGIN(q, b);
    BEGIN(r, c);
    BEGIN(s, d);
    for (i = 8; i < first; i += 8) {
        FETCH(x + 4 * i + 4096 / sizeof(T), 32 * (npy_intp) sizeof(T));
        ADD(p, x + i);
        ADD(q, b + i);
        ADD(r, c + i);
        ADD(s, d + i);
    }
    for (i = first; i < half - first; i += 8) ADD(q, b + i);
    for (i = first; i < third; i += 8) ADD(r, c + i);
    for (i = first; i + 8 <= last; i += 8) ADD(s, d + i);
    sum = JOINED(s);
    for (; i < last; i++) sum += NUMBER(d[i]);
    return (JOINED(p) + JOINED(q)) + (JOINED(r) + sum);
}

static T TYPED(SUM)(const T *x, npy_intp n) {
    const npy_intp half = gradspec_half(n), rest = n - half;
    if (n <= 128) return OF(few)(x, n);
    if (rest <= 128) return OF(halves)(x, n);
    if (half > 128 && rest - gradspec_half(rest) <= 128) return OF(quarters)(x, n);
    return TYPED(SUM)(x, half) + TYPED(SUM)(x + half, rest);
}

/* NumPy's sum begins with 0. */
GRADSPEC_UNUSED static void OF(row)(const char *x, char *y, npy_intp n) {
    *(T *) y = 0 + TYPED(SUM)((const T *) x, n);
}

/* The sums of some adjacent rows of n numbers; for few numbers, compilers add several rows at a time. */
#define ROWS(n) case n: \
    for (npy_intp i = 0; i < rows; i++) { \
        T sum = (T) -0.0; for (npy_intp k = 0; k < n; k++) sum += NUMBER(x[n * i + k]); \
        y[i] = 0 + sum; \
    } \
    break;

GRADSPEC_UNUSED GRADSPEC_WIDE static void OF(rows)(const char *numbers, char *sums, npy_intp rows, npy_intp n) {
    const T *restrict x = (const T *) numbers;
    T *restrict y = (T *) sums;
    switch (n) {
        ROWS(1)
        ROWS(2)
        ROWS(3)
        ROWS(4)
        ROWS(5)
        ROWS(6)
        ROWS(7)
    default:
        for (npy_intp i = 0; i < rows; i++) y[i] = 0 + TYPED(SUM)(x + n * i, n);
    }
}

#undef ROWS

/* The sum of each column of n rows that are `pitch` numbers apart, added row after row, four at a time. */
GRADSPEC_UNUSED GRADSPEC_WIDE static void OF(columns)(
        const char *numbers, char *sums, npy_intp n, npy_intp pitch, npy_intp columns) {
    const T *x = (const T *) numbers;
    T *restrict y = (T *) sums;
    npy_intp i, j;
    for (j = 0; j < columns; j++) y[j] = 0;
    for (i = 0; i + 4 <= n; i += 4, x += 4 * pitch) {
        const T *a = x, *b = x + pitch, *c = x + 2 * pitch, *d = x + 3 * pitch;
        for (j = 0; j < columns; j++) y[j] = (((y[j] + NUMBER(a[j])) + NUMBER(b[j])) + NUMBER(c[j])) + NUMBER(d[j]);
    }
    for (; i < n; i++, x += pitch)
        for (j = 0; j < columns; j++) y[j] += NUMBER(x[j]);
}

#undef OF
#undef VECTOR
#undef NUMBER
#undef SUM
