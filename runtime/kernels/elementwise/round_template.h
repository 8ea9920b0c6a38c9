/* For a T and its function RINT: round x * scale, or x / scale, and undo the scaling. */

GRADSPEC_WIDE static void TYPED(round)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const T *x = (const T *) args[0], scale = *(const T *) args[1];
    const int inverse = *(const T *) args[2] != 0;
    T *y = (T *) args[3];
    (void) steps, (void) data;
    if (inverse)
        for (npy_intp i = 0; i < size[0]; i++) y[i] = RINT(x[i] / scale) * scale;
    else
        for (npy_intp i = 0; i < size[0]; i++) y[i] = RINT(x[i] * scale) / scale;
}
