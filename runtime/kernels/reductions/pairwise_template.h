/* For a T: the sum of contiguous numbers in NumPy's order, to the bit: in eight parts up to 128 numbers, else as two halves.
 * Compilers do not vectorise the eight parts across halves, so they are explicit vectors. */

#if defined(__GNUC__)
typedef T TYPED(summands) __attribute__((vector_size(16), aligned(sizeof(T)), may_alias)); /* supported by every processor */
#define LANES ((npy_intp) (16 / sizeof(T)))
#define EACH _Pragma("GCC unroll 4") for (npy_intp k = 0; k < 8 / LANES; k++)
#define BEGIN(s, x) TYPED(summands) s[8 / LANES]; EACH s[k] = *(const TYPED(summands) *) ((x) + k * LANES)
#define ADD(s, x) EACH s[k] += *(const TYPED(summands) *) ((x) + k * LANES)
#define PART(s, k) s[k / LANES][k % LANES]
#else
#define LANES 1
#define EACH for (npy_intp k = 0; k < 8; k++)
#define BEGIN(s, x) T s[8]; EACH s[k] = (x)[k]
#define ADD(s, x) EACH s[k] += (x)[k]
#define PART(s, k) s[k]
#endif
#define JOINED(s) (((PART(s, 0) + PART(s, 1)) + (PART(s, 2) + PART(s, 3))) + ((PART(s, 4) + PART(s, 5)) + (PART(s, 6) + PART(s, 7))))

/* The number of elements in the first half. */
static inline npy_intp TYPED(half)(npy_intp n) {
    return n / 2 - n / 2 % 8;
}

/* Up to 128 numbers. */
GRADSPEC_WIDE static T TYPED(sum_of_few)(const T *x, npy_intp n) {
    T sum = (T) -0.0;
    npy_intp i = 0;
    if (n >= 8) {
        BEGIN(s, x);
        for (i = 8; i + 8 <= n; i += 8) ADD(s, x + i);
        sum = JOINED(s);
    }
    for (; i < n; i++) sum += x[i];
    return sum;
}

/* Two halves at once, so that an addition waits only for its predecessor in the same part. */
GRADSPEC_WIDE static T TYPED(sum_of_halves)(const T *x, npy_intp n) {
    const npy_intp half = TYPED(half)(n);
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
    for (; i < n - half; i++) sum += z[i];
    return JOINED(s) + sum;
}

/* Two such pairs at once; no half is shorter than the first half of the first pair. */
GRADSPEC_WIDE static T TYPED(sum_of_quarters)(const T *x, npy_intp n) {
    const npy_intp half = TYPED(half)(n), first = TYPED(half)(half), third = TYPED(half)(n - half), last = n - half - third;
    const T *b = x + first, *c = x + half, *d = c + third;
    T sum;
    npy_intp i;
    BEGIN(p, x);
    BEGIN(q, b);
    BEGIN(r, c);
    BEGIN(s, d);
    for (i = 8; i < first; i += 8) {
        ADD(p, x + i);
        ADD(q, b + i);
        ADD(r, c + i);
        ADD(s, d + i);
    }
    for (i = first; i < half - first; i += 8) ADD(q, b + i);
    for (i = first; i < third; i += 8) ADD(r, c + i);
    for (i = first; i + 8 <= last; i += 8) ADD(s, d + i);
    sum = JOINED(s);
    for (; i < last; i++) sum += d[i];
    return (JOINED(p) + JOINED(q)) + (JOINED(r) + sum);
}

static T TYPED(pairwise)(const T *x, npy_intp n) {
    const npy_intp half = TYPED(half)(n), rest = n - half;
    if (n <= 128) return TYPED(sum_of_few)(x, n);
    if (rest <= 128) return TYPED(sum_of_halves)(x, n);
    if (half > 128 && rest - TYPED(half)(rest) <= 128) return TYPED(sum_of_quarters)(x, n);
    return TYPED(pairwise)(x, half) + TYPED(pairwise)(x + half, rest);
}

/* The sum of the numbers that are not NaN, in the order of all numbers. */
static T TYPED(known_sum)(const T *x, npy_intp n) {
    const npy_intp half = TYPED(half)(n);
    T y[512];
    if (n > 512) return TYPED(known_sum)(x, half) + TYPED(known_sum)(x + half, n - half);
    for (npy_intp i = 0; i < n; i++) y[i] = x[i] == x[i] ? x[i] : 0;
    return TYPED(pairwise)(y, n);
}

#undef JOINED
#undef PART
#undef ADD
#undef BEGIN
#undef EACH
#undef LANES
