# cython: boundscheck=False, wraparound=False
"""Maxima under windows, and sums along one axis with given weights.

Owns the loops over contiguous planes, for each width of number, on several threads without the interpreter's lock: windows
that stand side by side are taken together, in vectors.  What the windows and weights are comes from the module `pooling`,
which calls with arrays of equal dtype that are contiguous, and indices that are in range.
"""

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_DIMS, PyArray_TYPE, ndarray, npy_intp
from ..loops.threads cimport Work, parallel
from ..loops.wide cimport highest  # no-cython-lint: for the choice among copies of a loop

cnp.import_array()

cdef extern from *:
    """
    #include <string.h>

    enum { GRADSPEC_STRIP = 256 };

    typedef struct {
        const char *x;
        char *y;
        npy_intp *indices;
        npy_intp dims[3], sizes[3], step[3];
        const npy_intp *first[3], *last[3];
        npy_intp low, high, count, stride;  /* along the last axis those that are `count` long and `stride` apart */
    } gradspec_windows;

    typedef struct {
        const char *x, *weights;
        char *y;
        const npy_intp *starts, *places;
        npy_intp length, size, behind;
    } gradspec_weighted;

    /* A NaN is taken, and stays. */
    #define GRADSPEC_LARGER(X) { \\
            const int more = !((X) <= best[k]) & (best[k] == best[k]); \\
            best[k] = more ? (X) : best[k]; \\
            codes[k] = more ? code : codes[k]; \\
        }

    #define GRADSPEC_WINDOWS(T, NAME, CODE, WIDE) \\
        WIDE static void gradspec_take_larger_##NAME( \\
            const T *restrict x, npy_intp stride, CODE code, T *restrict best, CODE *restrict codes, npy_intp n) { \\
            npy_intp k; \\
            if (stride == 1) for (k = 0; k < n; k++) GRADSPEC_LARGER(x[k]) \\
            else if (stride == 2) for (k = 0; k < n; k++) GRADSPEC_LARGER(x[2 * k]) \\
            else for (k = 0; k < n; k++) GRADSPEC_LARGER(x[stride * k]) \\
        } \\
        /* One window, wherever it ends. */ \\
        static void gradspec_max_window_##NAME( \\
            const gradspec_windows *w, const T *x, npy_intp i, npy_intp j, npy_intp k, T *y, npy_intp *index) { \\
            npy_intp a, b, c, place = (w->first[0][i] * w->dims[1] + w->first[1][j]) * w->dims[2] + w->first[2][k]; \\
            T best = x[place]; \\
            for (a = w->first[0][i]; a < w->last[0][i]; a += w->step[0]) \\
                for (b = w->first[1][j]; b < w->last[1][j]; b += w->step[1]) \\
                    for (c = w->first[2][k]; c < w->last[2][k]; c += w->step[2]) { \\
                        const npy_intp here = (a * w->dims[1] + b) * w->dims[2] + c; \\
                        if (!(x[here] <= best) && best == best) best = x[here], place = here; \\
                    } \\
            *y = best; \\
            *index = place; \\
        } \\
        /* A row of windows that are alike; y holds the best so far, codes where that is, less where the window begins. */ \\
        static void gradspec_max_strip_##NAME( \\
            const gradspec_windows *w, const T *x, npy_intp i, npy_intp j, npy_intp k, T *y, npy_intp *indices, npy_intp n) { \\
            CODE codes[GRADSPEC_STRIP]; \\
            const npy_intp begin = w->first[2][k]; \\
            npy_intp a, b, q, m, place; \\
            int fresh = 1; \\
            for (a = w->first[0][i]; a < w->last[0][i]; a += w->step[0]) \\
                for (b = w->first[1][j]; b < w->last[1][j]; b += w->step[1]) \\
                    for (q = 0; q < w->count; q++) { \\
                        place = (a * w->dims[1] + b) * w->dims[2] + q * w->step[2]; \\
                        if (fresh) for (m = 0; m < n; m++) y[m] = x[place + begin + m * w->stride], codes[m] = (CODE) place; \\
                        else gradspec_take_larger_##NAME(x + place + begin, w->stride, (CODE) place, y, codes, n); \\
                        fresh = 0; \\
                    } \\
            for (m = 0; m < n; m++) indices[m] = codes[m] + begin + m * w->stride; \\
        } \\
        static void gradspec_max_planes_##NAME(void *context, npy_intp start, npy_intp stop) { \\
            const gradspec_windows *w = (const gradspec_windows *) context; \\
            npy_intp p, i, j, k, n; \\
            for (p = start; p < stop; p++) { \\
                const T *x = (const T *) w->x + p * w->dims[0] * w->dims[1] * w->dims[2]; \\
                for (i = 0; i < w->sizes[0]; i++) for (j = 0; j < w->sizes[1]; j++) { \\
                    const npy_intp row = ((p * w->sizes[0] + i) * w->sizes[1] + j) * w->sizes[2]; \\
                    T *y = (T *) w->y + row; \\
                    npy_intp *indices = w->indices + row; \\
                    for (k = 0; k < w->low; k++) gradspec_max_window_##NAME(w, x, i, j, k, y + k, indices + k); \\
                    for (; k < w->high; k += n) { \\
                        n = w->high - k < GRADSPEC_STRIP ? w->high - k : GRADSPEC_STRIP; \\
                        gradspec_max_strip_##NAME(w, x, i, j, k, y + k, indices + k, n); \\
                    } \\
                    for (; k < w->sizes[2]; k++) gradspec_max_window_##NAME(w, x, i, j, k, y + k, indices + k); \\
                } \\
            } \\
        }
    GRADSPEC_WINDOWS(float, float, npy_int32, GRADSPEC_WIDE)
    GRADSPEC_WINDOWS(double, double, npy_int64, GRADSPEC_WIDE)
    GRADSPEC_WINDOWS(npy_longdouble, longdouble, npy_int64,)
    GRADSPEC_WINDOWS(npy_longlong, longlong, npy_int64,)
    GRADSPEC_WINDOWS(npy_ulonglong, ulonglong, npy_int64,)

    #define GRADSPEC_WEIGHTED(T, NAME, WIDE) \\
        WIDE static void gradspec_weigh_##NAME(T *restrict y, const T *restrict x, T weight, npy_intp n) { \\
            for (npy_intp i = 0; i < n; i++) y[i] += x[i] * weight; \\
        } \\
        WIDE static void gradspec_first_weigh_##NAME(T *restrict y, const T *restrict x, T weight, npy_intp n) { \\
            for (npy_intp i = 0; i < n; i++) y[i] = x[i] * weight; \\
        } \\
        /* Along the last axis, four rows at a time. */ \\
        static void gradspec_weigh_four_##NAME(const gradspec_weighted *w, const T *x, T *y) { \\
            const T *weights = (const T *) w->weights; \\
            const npy_intp n = w->length, size = w->size; \\
            for (npy_intp i = 0; i < size; i++) { \\
                T a = 0, b = 0, c = 0, d = 0; \\
                for (npy_intp j = w->starts[i]; j < w->starts[i + 1]; j++) { \\
                    const T *at = x + w->places[j]; \\
                    const T weight = weights[j]; \\
                    a += at[0] * weight; b += at[n] * weight; c += at[2 * n] * weight; d += at[3 * n] * weight; \\
                } \\
                y[i] = a; y[size + i] = b; y[2 * size + i] = c; y[3 * size + i] = d; \\
            } \\
        } \\
        static void gradspec_weighted_##NAME(void *context, npy_intp start, npy_intp stop) { \\
            const gradspec_weighted *w = (const gradspec_weighted *) context; \\
            const T *weights = (const T *) w->weights; \\
            const npy_intp n = w->behind; \\
            for (npy_intp o = start; o < stop; o++) { \\
                const T *x = (const T *) w->x + o * w->length * n; \\
                T *y = (T *) w->y + o * w->size * n; \\
                if (n == 1 && stop - o >= 4) { \\
                    gradspec_weigh_four_##NAME(w, x, y); \\
                    o += 3; \\
                    continue; \\
                } \\
                for (npy_intp i = 0; i < w->size; i++, y += n) { \\
                    npy_intp j = w->starts[i]; \\
                    if (n == 1) { \\
                        T sum = 0; \\
                        for (; j < w->starts[i + 1]; j++) sum += x[w->places[j]] * weights[j]; \\
                        y[0] = sum; \\
                        continue; \\
                    } \\
                    if (j == w->starts[i + 1]) memset(y, 0, n * sizeof(T)); \\
                    else gradspec_first_weigh_##NAME(y, x + w->places[j] * n, weights[j], n); \\
                    for (j++; j < w->starts[i + 1]; j++) gradspec_weigh_##NAME(y, x + w->places[j] * n, weights[j], n); \\
                } \\
            } \\
        }
    GRADSPEC_WEIGHTED(float, float, GRADSPEC_WIDE)
    GRADSPEC_WEIGHTED(double, double, GRADSPEC_WIDE)
    GRADSPEC_WEIGHTED(npy_longdouble, longdouble,)
    """
    ctypedef struct Windows "gradspec_windows":
        char* x
        char* y
        npy_intp* indices
        npy_intp[3] dims, sizes, step
        npy_intp* first[3]
        npy_intp* last[3]
        npy_intp low, high, count, stride

    ctypedef struct Weighted "gradspec_weighted":
        char* x
        char* weights
        char* y
        npy_intp* starts
        npy_intp* places
        npy_intp length, size, behind

    void gradspec_max_planes_float(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_max_planes_double(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_max_planes_longdouble(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_max_planes_longlong(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_max_planes_ulonglong(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_weighted_float(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_weighted_double(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_weighted_longdouble(void*, npy_intp, npy_intp) noexcept nogil

cdef enum:
    CHUNK = 1 << 14  # products or comparisons that are worth a call


def max_windows(ndarray x, ndarray first, ndarray last, tuple step, ndarray y, ndarray indices):
    """Into `y` the first largest element of each window, a NaN before all others; into `indices` where in its plane it stands.

    Windows are the products of ranges: along axis k those from first[k, i] up to but without last[k, i], by step[k].
    All axes but the first one of `x` and `y` make a plane, and these are three.
    """
    cdef Windows job
    cdef Work work
    cdef npy_intp planes = PyArray_DIMS(y)[0], longest = PyArray_DIMS(first)[1], cost = 1
    cdef int k, type_num = PyArray_TYPE(x)
    job.x, job.y, job.indices = PyArray_BYTES(x), PyArray_BYTES(y), <npy_intp*> PyArray_BYTES(indices)
    for k in range(3):
        job.dims[k], job.sizes[k], job.step[k] = PyArray_DIMS(x)[k + 1], PyArray_DIMS(y)[k + 1], step[k]
        job.first[k] = <npy_intp*> PyArray_BYTES(first) + k * longest
        job.last[k] = <npy_intp*> PyArray_BYTES(last) + k * longest
        cost *= job.sizes[k] * ((job.last[k][0] - job.first[k][0] + job.step[k] - 1) // job.step[k])
    find_alike(&job)
    if type_num == cnp.NPY_FLOAT32:
        work = gradspec_max_planes_float
        if job.dims[0] * job.dims[1] * job.dims[2] > 0x7fffffff:
            job.low = job.high = 0
    elif type_num == cnp.NPY_FLOAT64:
        work = gradspec_max_planes_double
    elif cnp.PyTypeNum_ISFLOAT(type_num):
        work = gradspec_max_planes_longdouble
    elif (<object> x).dtype.kind == "i":
        work = gradspec_max_planes_longlong
    else:
        work = gradspec_max_planes_ulonglong
    with nogil:
        parallel(work, &job, planes, max(<npy_intp> 1, CHUNK // cost))


cdef void find_alike(Windows* job) noexcept nogil:
    """The longest windows along the last axis, as far as each begins so many elements behind the one before."""
    cdef npy_intp n = job.sizes[2], k, count
    job.low = job.high = job.count = 0
    job.stride = 1
    for k in range(n):
        count = (job.last[2][k] - job.first[2][k] + job.step[2] - 1) // job.step[2]
        if count > job.count:
            job.low, job.high, job.count = k, k + 1, count
        elif count == job.count and k == job.high:
            if k == job.low + 1:
                job.stride = job.first[2][k] - job.first[2][k - 1]
            if job.first[2][k] - job.first[2][k - 1] == job.stride:
                job.high = k + 1


def weighted_sums(ndarray x, ndarray starts, ndarray places, ndarray weights, ndarray y):
    """y[o, i] = the sum of weights[j] * x[o, places[j]] over j from starts[i] up to but without starts[i + 1].

    The arrays `x` and `y` have three axes, and the dtype of the weights, or the complex one of such parts.
    """
    cdef Weighted job
    cdef Work work
    cdef npy_intp outer = PyArray_DIMS(y)[0], cost
    cdef int type_num = PyArray_TYPE(weights)
    job.x, job.weights, job.y = PyArray_BYTES(x), PyArray_BYTES(weights), PyArray_BYTES(y)
    job.starts, job.places = <npy_intp*> PyArray_BYTES(starts), <npy_intp*> PyArray_BYTES(places)
    job.length, job.size, job.behind = PyArray_DIMS(x)[1], PyArray_DIMS(y)[1], PyArray_DIMS(y)[2]
    if cnp.PyTypeNum_ISCOMPLEX(PyArray_TYPE(x)):
        job.behind *= 2
    if type_num == cnp.NPY_FLOAT32:
        work = gradspec_weighted_float
    elif type_num == cnp.NPY_FLOAT64:
        work = gradspec_weighted_double
    else:
        work = gradspec_weighted_longdouble
    cost = (PyArray_DIMS(places)[0] + job.size) * job.behind
    with nogil:
        parallel(work, &job, outer, max(<npy_intp> 4, CHUNK // cost // 4 * 4))
