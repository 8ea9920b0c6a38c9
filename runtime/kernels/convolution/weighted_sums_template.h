/* For a T: weighted sums along one axis. */

WIDE static void TYPED(weigh)(T *restrict y, const T *restrict x, T weight, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] += x[i] * weight;
}

WIDE static void TYPED(first_weigh)(T *restrict y, const T *restrict x, T weight, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = x[i] * weight;
}

/* Along the last axis, four rows at a time. */
static void TYPED(weigh_four)(const gradspec_weighted *w, const T *x, T *y) {
    const T *weights = (const T *) w->weights;
    const npy_intp n = w->length, size = w->size;
    for (npy_intp i = 0; i < size; i++) {
        T a = 0, b = 0, c = 0, d = 0;
        for (npy_intp j = w->starts[i]; j < w->starts[i + 1]; j++) {
            const T *at = x + w->places[j];
            const T weight = weights[j];
            a += at[0] * weight;
            b += at[n] * weight;
            c += at[2 * n] * weight;
            d += at[3 * n] * weight;
        }
        y[i] = a;
        y[size + i] = b;
        y[2 * size + i] = c;
        y[3 * size + i] = d;
    }
}

static void TYPED(weighted)(void *context, npy_intp start, npy_intp stop) {
    const gradspec_weighted *w = (const gradspec_weighted *) context;
    const T *weights = (const T *) w->weights;
    const npy_intp n = w->behind;
    for (npy_intp o = start; o < stop; o++) {
        const T *x = (const T *) w->x + o * w->length * n;
        T *y = (T *) w->y + o * w->size * n;
        if (n == 1 && stop - o >= 4) {
            TYPED(weigh_four)(w, x, y);
            o += 3;
            continue;
        }
        for (npy_intp i = 0; i < w->size; i++, y += n) {
            npy_intp j = w->starts[i];
            if (n == 1) {
                T sum = 0;
                for (; j < w->starts[i + 1]; j++) sum += x[w->places[j]] * weights[j];
                y[0] = sum;
                continue;
            }
            if (j == w->starts[i + 1]) memset(y, 0, n * sizeof(T));
            else TYPED(first_weigh)(y, x + w->places[j] * n, weights[j], n);
            for (j++; j < w->starts[i + 1]; j++) TYPED(weigh)(y, x + w->places[j] * n, weights[j], n);
        }
    }
}
