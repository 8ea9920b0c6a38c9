/* For a T, of which only the size matters: y = m ? a : b; a step is 0 or the step of contiguous elements. */

GRADSPEC_WIDE static void TYPED(where)(char **args, const npy_intp *size, const npy_intp *steps, void *data) {
    const npy_bool *m = (const npy_bool *) args[0];
    const T *a = (const T *) args[1], *b = (const T *) args[2];
    T *y = (T *) args[3];
    npy_intp n = size[0], i;
    (void) data;
    if (steps[0] == 0) {
        int taken = m[0] ? 1 : 2;
        const T *x = taken == 1 ? a : b;
        if (steps[taken] == 0)
            for (i = 0; i < n; i++) y[i] = x[0];
        else
            memcpy(y, x, n * sizeof(T));
    } else if (steps[1] == 0 && steps[2] == 0) {
        const T p = a[0], q = b[0];
        for (i = 0; i < n; i++) y[i] = m[i] ? p : q;
    } else if (steps[1] == 0) {
        const T p = a[0];
        for (i = 0; i < n; i++) {
            const T q = b[i];
            y[i] = m[i] ? p : q;
        }
    } else if (steps[2] == 0) {
        const T q = b[0];
        for (i = 0; i < n; i++) {
            const T p = a[i];
            y[i] = m[i] ? p : q;
        }
    } else {
        for (i = 0; i < n; i++) {
            const T p = a[i], q = b[i];
            y[i] = m[i] ? p : q;
        }
    }
}
