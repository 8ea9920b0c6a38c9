/* For a T: copy one element to all, elements in reverse, and any others; a vector of elements that are not neighbours takes twice as
 * long. */

GRADSPEC_WIDE static void TYPED(copy)(char *y, npy_intp to, const char *x, npy_intp from, npy_intp n) {
    if (to == sizeof(T) && from == 0) {
        T *restrict filled = (T *) y;
        const T item = *(const T *) x;
        for (npy_intp i = 0; i < n; i++) filled[i] = item;
    } else if (to == sizeof(T) && from == -(npy_intp) sizeof(T)) {
        T *restrict filled = (T *) y;
        const T *last = (const T *) x;
        for (npy_intp i = 0; i < n; i++) filled[i] = last[-i];
    } else {
        for (npy_intp i = 0; i < n; i++) *(T *) (y + i * to) = *(const T *) (x + i * from);
    }
}
