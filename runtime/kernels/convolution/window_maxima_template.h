/* For a T: the first largest element of each window, and its position; a NaN exceeds all numbers. */

WIDE static void TYPED(take_larger)(
        const T *restrict x, npy_intp stride, CODE code, T *restrict best, CODE *restrict codes, npy_intp n) {
    npy_intp k;
#define TAKE(X) \
    { \
        const int more = !((X) <= best[k]) & (best[k] == best[k]); \
        best[k] = more ? (X) : best[k]; \
        codes[k] = more ? code : codes[k]; \
    }
    if (stride == 1) for (k = 0; k < n; k++) TAKE(x[k])
    else if (stride == 2) for (k = 0; k < n; k++) TAKE(x[2 * k])
    else for (k = 0; k < n; k++) TAKE(x[stride * k])
#undef TAKE
}

/* One window of any extent. */
static void TYPED(max_window)(
        const gradspec_windows *w, const T *x, npy_intp i, npy_intp j, npy_intp k, T *y, npy_intp *index) {
    npy_intp a, b, c, place = (w->first[0][i] * w->dims[1] + w->first[1][j]) * w->dims[2] + w->first[2][k];
    T best = x[place];
    for (a = w->first[0][i]; a < w->last[0][i]; a += w->step[0])
        for (b = w->first[1][j]; b < w->last[1][j]; b += w->step[1])
            for (c = w->first[2][k]; c < w->last[2][k]; c += w->step[2]) {
                const npy_intp here = (a * w->dims[1] + b) * w->dims[2] + c;
                if (!(x[here] <= best) && best == best) best = x[here], place = here;
            }
    *y = best;
    *index = place;
}

/* A row of windows of equal extent; y contains the maxima so far, codes their positions relative to the windows' starts. */
static void TYPED(max_strip)(
        const gradspec_windows *w, const T *x, npy_intp i, npy_intp j, npy_intp k, T *y, npy_intp *indices, npy_intp n) {
    CODE codes[GRADSPEC_STRIP];
    const npy_intp begin = w->first[2][k];
    npy_intp a, b, q, m, place;
    int fresh = 1;
    for (a = w->first[0][i]; a < w->last[0][i]; a += w->step[0])
        for (b = w->first[1][j]; b < w->last[1][j]; b += w->step[1])
            for (q = 0; q < w->count; q++) {
                place = (a * w->dims[1] + b) * w->dims[2] + q * w->step[2];
                if (fresh) for (m = 0; m < n; m++) y[m] = x[place + begin + m * w->stride], codes[m] = (CODE) place;
                else TYPED(take_larger)(x + place + begin, w->stride, (CODE) place, y, codes, n);
                fresh = 0;
            }
    for (m = 0; m < n; m++) indices[m] = codes[m] + begin + m * w->stride;
}

static void TYPED(max_planes)(void *context, npy_intp start, npy_intp stop) {
    const gradspec_windows *w = (const gradspec_windows *) context;
    npy_intp p, i, j, k, n;
    for (p = start; p < stop; p++) {
        const T *x = (const T *) w->x + p * w->dims[0] * w->dims[1] * w->dims[2];
        for (i = 0; i < w->sizes[0]; i++)
            for (j = 0; j < w->sizes[1]; j++) {
                const npy_intp row = ((p * w->sizes[0] + i) * w->sizes[1] + j) * w->sizes[2];
                T *y = (T *) w->y + row;
                npy_intp *indices = w->indices + row;
                for (k = 0; k < w->low; k++) TYPED(max_window)(w, x, i, j, k, y + k, indices + k);
                for (; k < w->high; k += n) {
                    n = w->high - k < GRADSPEC_STRIP ? w->high - k : GRADSPEC_STRIP;
                    TYPED(max_strip)(w, x, i, j, k, y + k, indices + k, n);
                }
                for (; k < w->sizes[2]; k++) TYPED(max_window)(w, x, i, j, k, y + k, indices + k);
            }
    }
}
