/* For a T, its integer type BITS, its SIGN bit, and its ROOT: loops for contiguous elements; NumPy's loops handle the rest. */

/* A single instruction, which returns the other operand at NaN. */
GRADSPEC_WIDE static void TYPED(maximum_each)(const T *x, T other, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = other > x[i] ? other : x[i];
}

static void TYPED(maximum_choice)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const gradspec_choice *choice = data;
    int raised = fp_raised();
    if (steps[0] == sizeof(T) && steps[1] == 0 && steps[2] == sizeof(T) && !isunordered(*(const T *) args[1], 0)) {
        TYPED(maximum_each)((const T *) args[0], *(const T *) args[1], (T *) args[2], *size);
        if (!raised) fp_clear();
    } else {
        choice->rest(args, size, steps, choice->rest_data);
    }
}

GRADSPEC_WIDE static void TYPED(minimum_each)(const T *x, T other, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = other < x[i] ? other : x[i];
}

static void TYPED(minimum_choice)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const gradspec_choice *choice = data;
    int raised = fp_raised();
    if (steps[0] == sizeof(T) && steps[1] == 0 && steps[2] == sizeof(T) && !isunordered(*(const T *) args[1], 0)) {
        TYPED(minimum_each)((const T *) args[0], *(const T *) args[1], (T *) args[2], *size);
        if (!raised) fp_clear();
    } else {
        choice->rest(args, size, steps, choice->rest_data);
    }
}

GRADSPEC_WIDE static void TYPED(sign_each)(const T *x, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = isgreater(x[i], 0) ? 1 : isless(x[i], 0) ? -1 : isunordered(x[i], x[i]) ? x[i] : 0;
}

static void TYPED(sign_choice)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const gradspec_choice *choice = data;
    int raised = fp_raised();
    if (steps[0] == sizeof(T) && steps[1] == sizeof(T)) {
        TYPED(sign_each)((const T *) args[0], (T *) args[1], *size);
        if (!raised) fp_clear();
    } else {
        choice->rest(args, size, steps, choice->rest_data);
    }
}

GRADSPEC_WIDE static void TYPED(copysign_each)(const char *a, const char *b, char *to, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        BITS p, q;
        memcpy(&p, a + i * sizeof(T), sizeof(T));
        memcpy(&q, b + i * sizeof(T), sizeof(T));
        p = (p & ~SIGN) | (q & SIGN);
        memcpy(to + i * sizeof(T), &p, sizeof(T));
    }
}

static void TYPED(copysign_choice)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const gradspec_choice *choice = data;
    if (steps[0] == sizeof(T) && steps[1] == sizeof(T) && steps[2] == sizeof(T))
        TYPED(copysign_each)(args[0], args[1], args[2], *size);
    else
        choice->rest(args, size, steps, choice->rest_data);
}

GRADSPEC_WIDE static void TYPED(sqrt_each)(const T *x, T *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = (T) ROOT(x[i]);
}

/* Raises the flags of NumPy's loop: the instruction is the same. */
static void TYPED(sqrt_choice)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const gradspec_choice *choice = data;
    if (steps[0] == sizeof(T) && steps[1] == sizeof(T))
        TYPED(sqrt_each)((const T *) args[0], (T *) args[1], *size);
    else
        choice->rest(args, size, steps, choice->rest_data);
}
