/* For a T, its integer type BITS, and its MAGNITUDE mask: an inner loop around a vector loop. */

/* The data of an inner loop: the vector loop and its range of arguments, and the loop for the rest. */
typedef struct {
    void (*vectors)(const T *, T *, npy_intp, void *);
    void *function;         /* data of that loop */
    gradspec_inner_loop rest;
    void *rest_data;
    BITS above[2];          /* the least and the largest positive argument */
    BITS differs[2];        /* the differences of the magnitudes of negative ones */
    T harmless;             /* an argument within the range */
} TYPED(vector_loop);

/* Set the range: between two positive numbers, and between two magnitudes of negative ones; -1 means that there are none. */
static void TYPED(set_range)(TYPED(vector_loop) *loop, T least, T largest, T least_below, T largest_below) {
    BITS below[2] = {MAGNITUDE, 0};
    memcpy(loop->above, &least, sizeof(T));
    memcpy(loop->above + 1, &largest, sizeof(T));
    if (largest_below >= 0) {
        memcpy(below, &least_below, sizeof(T));
        memcpy(below + 1, &largest_below, sizeof(T));
    }
    loop->differs[0] = loop->above[0] ^ below[0];
    loop->differs[1] = loop->above[1] ^ below[1];
}

/* Negative if the vector loop does not support the argument. */
static inline BITS TYPED(is_other)(const TYPED(vector_loop) *loop, const T *x) {
    BITS bits, size, below;
    memcpy(&bits, x, sizeof(T));
    size = bits & MAGNITUDE;
    below = bits < 0 ? -1 : 0;
    return (size - (loop->above[0] ^ (loop->differs[0] & below))) | ((loop->above[1] ^ (loop->differs[1] & below)) - size);
}

/* Whether some argument is outside the range. */
GRADSPEC_FUSED static int TYPED(has_others)(const TYPED(vector_loop) *loop, const T *x, npy_intp n) {
    const TYPED(vector_loop) held = *loop;
    BITS found = 0;
    if (held.above[0] == 0 && held.above[1] == MAGNITUDE) return 0;  /* the loop is for all */
    for (npy_intp i = 0; i < n; i++) found |= TYPED(is_other)(&held, x + i);
    return found < 0;
}

/* A block with some elements outside the vector loop's range: these are gathered and passed to the other loop. */
static void TYPED(mixed)(const TYPED(vector_loop) *loop, const T *x, T *y, npy_intp n) {
    T others[GRADSPEC_VECTOR_BLOCK], taken[GRADSPEC_VECTOR_BLOCK];
    char *args[2] = {(char *) others, (char *) others};
    npy_intp places[GRADSPEC_VECTOR_BLOCK], count = 0;
    const npy_intp steps[2] = {sizeof(T), sizeof(T)};
    for (npy_intp i = 0; i < n; i++) {
        taken[i] = x[i];
        if (TYPED(is_other)(loop, x + i) < 0) {
            taken[i] = loop->harmless;
            others[count] = x[i];
            places[count++] = i;
        }
    }
    loop->vectors(taken, y, n, loop->function);
    loop->rest(args, &count, steps, loop->rest_data);
    for (npy_intp i = 0; i < count; i++) y[places[i]] = others[i];
}

/* The inner loop of a ufunc; `data` is its vector_loop. */
static void TYPED(inner_loop)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const TYPED(vector_loop) *loop = data;
    T near_x[GRADSPEC_VECTOR_BLOCK], near_y[GRADSPEC_VECTOR_BLOCK];
    const char *from = args[0];
    char *to = args[1];
    for (npy_intp left = *size, n; left > 0; left -= n) {
        const T *x = (const T *) from;
        T *y = steps[1] == sizeof(T) ? (T *) to : near_y;
        n = left < GRADSPEC_VECTOR_BLOCK ? left : GRADSPEC_VECTOR_BLOCK;
        if (steps[0] != sizeof(T)) {
            for (npy_intp i = 0; i < n; i++) near_x[i] = *(const T *) (from + i * steps[0]);
            x = near_x;
        }
        if (TYPED(has_others)(loop, x, n))
            TYPED(mixed)(loop, x, y, n);
        else
            loop->vectors(x, y, n, loop->function);
        if (y == near_y)
            for (npy_intp i = 0; i < n; i++) *(T *) (to + i * steps[1]) = near_y[i];
        from += n * steps[0];
        to += n * steps[1];
    }
}
