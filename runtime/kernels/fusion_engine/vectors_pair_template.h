/* For a T, its integer type BITS, and its MAGNITUDE mask: a binary inner loop around a vector loop. */

/* The data of an inner loop: the vector loop, the range of its magnitudes, and the loop for the rest. */
typedef struct {
    void (*vectors)(const T *, const T *, T *, npy_intp);
    gradspec_inner_loop rest;
    void *rest_data;
    BITS least[2], largest[2]; /* for each operand */
} TYPED(pair_loop);

static void TYPED(set_magnitudes)(TYPED(pair_loop) *loop, int operand, T least, T largest) {
    memcpy(loop->least + operand, &least, sizeof(T));
    memcpy(loop->largest + operand, &largest, sizeof(T));
}

/* Negative if the vector loop does not support the operands. */
static inline BITS TYPED(is_other_pair)(const TYPED(pair_loop) *loop, const T *a, const T *b) {
    BITS p, q;
    memcpy(&p, a, sizeof(T));
    memcpy(&q, b, sizeof(T));
    p &= MAGNITUDE;
    q &= MAGNITUDE;
    return (p - loop->least[0]) | (loop->largest[0] - p) | (q - loop->least[1]) | (loop->largest[1] - q);
}

GRADSPEC_FUSED static int TYPED(has_other_pairs)(const TYPED(pair_loop) *loop, const T *a, const T *b, npy_intp n) {
    const TYPED(pair_loop) held = *loop;
    BITS found = 0;
    for (npy_intp i = 0; i < n; i++) found |= TYPED(is_other_pair)(&held, a + i, b + i);
    return found < 0;
}

/* A block with some elements outside the vector loop's range: these are gathered and passed to the other loop. */
static void TYPED(mixed_pairs)(const TYPED(pair_loop) *loop, const T *a, const T *b, T *y, npy_intp n) {
    T others[2][GRADSPEC_VECTOR_BLOCK], taken[2][GRADSPEC_VECTOR_BLOCK];
    char *args[3] = {(char *) others[0], (char *) others[1], (char *) others[0]};
    npy_intp places[GRADSPEC_VECTOR_BLOCK], count = 0;
    const npy_intp steps[3] = {sizeof(T), sizeof(T), sizeof(T)};
    for (npy_intp i = 0; i < n; i++) {
        taken[0][i] = a[i];
        taken[1][i] = b[i];
        if (TYPED(is_other_pair)(loop, a + i, b + i) < 0) {
            taken[0][i] = taken[1][i] = 1;
            others[0][count] = a[i];
            others[1][count] = b[i];
            places[count++] = i;
        }
    }
    loop->vectors(taken[0], taken[1], y, n);
    loop->rest(args, &count, steps, loop->rest_data);
    for (npy_intp i = 0; i < count; i++) y[places[i]] = others[0][i];
}

/* The elements of an operand, made contiguous. */
static inline const T *TYPED(together)(const char *from, npy_intp step, T *near, npy_intp n) {
    if (step == sizeof(T)) return (const T *) from;
    for (npy_intp i = 0; i < n; i++) near[i] = *(const T *) (from + i * step);
    return near;
}

/* The inner loop of a ufunc; `data` is its pair_loop. */
static void TYPED(inner_pair_loop)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const TYPED(pair_loop) *loop = data;
    T near[3][GRADSPEC_VECTOR_BLOCK];
    const char *first = args[0], *second = args[1];
    char *to = args[2];
    for (npy_intp left = *size, n; left > 0; left -= n) {
        n = left < GRADSPEC_VECTOR_BLOCK ? left : GRADSPEC_VECTOR_BLOCK;
        const T *a = TYPED(together)(first, steps[0], near[0], n), *b = TYPED(together)(second, steps[1], near[1], n);
        T *y = steps[2] == sizeof(T) ? (T *) to : near[2];
        if (TYPED(has_other_pairs)(loop, a, b, n))
            TYPED(mixed_pairs)(loop, a, b, y, n);
        else
            loop->vectors(a, b, y, n);
        if (y == near[2])
            for (npy_intp i = 0; i < n; i++) *(T *) (to + i * steps[2]) = y[i];
        first += n * steps[0];
        second += n * steps[1];
        to += n * steps[2];
    }
}

/* The remainder has the sign of the divisor, also if it is zero. */
GRADSPEC_FUSED static void TYPED(remainder)(const T *a, const T *b, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        double whole;
        T r = (T) gradspec_signed(gradspec_left(a[i], b[i], &whole), a[i]);
        y[i] = r == 0 ? (T) gradspec_signed(0.0, b[i]) : (r < 0) != (b[i] < 0) ? r + b[i] : r;
    }
}
