/* For a T and its integer types BITS and NATURAL: an inner loop around a vector loop. */

/* The data of an inner loop: the vector loop and its range of arguments, and the loop for the rest.
 *
 * The range is that of the arguments' bits in two orders.  Signed integers have negative arguments by magnitude first, and natural
 * numbers have positive ones first; NaN is behind infinity in both. */
typedef struct {
    void (*vectors)(const T *, T *, npy_intp, void *);
    void *function;         /* data of that loop */
    gradspec_inner_loop rest;
    void *rest_data;
    BITS least, largest;    /* signed: the least negative and the largest positive argument */
    NATURAL first, last;    /* natural: the least positive and the largest negative argument */
    int bounds;             /* 2 if the range has all four, 1 without the least and the first, 0 if the loop is for all arguments */
    T harmless;             /* an argument within the range */
} TYPED(vector_loop);

/* Set the range: between two positive numbers, and between two magnitudes of negative ones; -1 means that there are none. */
static void TYPED(set_range)(TYPED(vector_loop) *loop, T least, T largest, T least_below, T largest_below) {
    loop->bounds = least > 0 || least_below > 0 ? 2 : 1;
    memcpy(&loop->first, &least, sizeof(T));
    memcpy(&loop->largest, &largest, sizeof(T));
    loop->least = 0;
    loop->last = (NATURAL) loop->largest;
    if (largest_below < 0) return;
    least_below = -least_below;
    largest_below = -largest_below;
    memcpy(&loop->least, &least_below, sizeof(T));
    memcpy(&loop->last, &largest_below, sizeof(T));
}

/* Whether the vector loop does not support the argument. */
static inline int TYPED(is_other)(const TYPED(vector_loop) *loop, const T *x) {
    BITS bits;
    memcpy(&bits, x, sizeof(T));
    return bits < loop->least || bits > loop->largest || (NATURAL) bits < loop->first || (NATURAL) bits > loop->last;
}

/* Whether some argument is outside the range. */
GRADSPEC_FUSED static int TYPED(has_others)(const TYPED(vector_loop) *loop, const T *x, npy_intp n) {
    BITS bits, least = loop->largest, largest = loop->least;
    NATURAL first = loop->last, last = loop->first;
    const int bounds = loop->bounds;
    for (npy_intp i = 0; i < n && bounds > 0; i++) {
        memcpy(&bits, x + i, sizeof(T));
        largest = bits > largest ? bits : largest;
        last = (NATURAL) bits > last ? (NATURAL) bits : last;
    }
    for (npy_intp i = 0; i < n && bounds > 1; i++) {
        memcpy(&bits, x + i, sizeof(T));
        least = bits < least ? bits : least;
        first = (NATURAL) bits < first ? (NATURAL) bits : first;
    }
    return bounds && (least < loop->least || largest > loop->largest || first < loop->first || last > loop->last);
}

/* A block with some elements outside the vector loop's range: these are gathered and passed to the other loop. */
static void TYPED(mixed)(const TYPED(vector_loop) *loop, const T *x, T *y, npy_intp n) {
    T others[GRADSPEC_VECTOR_BLOCK], taken[GRADSPEC_VECTOR_BLOCK];
    char *args[2] = {(char *) others, (char *) others};
    npy_intp places[GRADSPEC_VECTOR_BLOCK], count = 0;
    const npy_intp steps[2] = {sizeof(T), sizeof(T)};
    for (npy_intp i = 0; i < n; i++) {
        taken[i] = x[i];
        if (TYPED(is_other)(loop, x + i)) {
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
