"""Maxima under windows, sums along one axis with given weights, and elements by their number in a plane.

Owns the loops over memory, for each width of number, without the interpreter's lock.  What the windows and weights are comes
from the module `pooling`.
"""

cimport cython
from ..capi cimport npy_intp

ctypedef fused ordered:
    float
    double
    long double
    long long
    unsigned long long

ctypedef fused number:
    float
    double
    long double
    float complex
    double complex
    long double complex
    long long
    unsigned long long


@cython.boundscheck(False)
@cython.wraparound(False)
def max_windows(const ordered[:, :, :, ::1] x, const npy_intp[:, ::1] first, const npy_intp[:, ::1] last,
                const npy_intp[::1] step, ordered[:, :, :, ::1] y, npy_intp[:, :, :, ::1] indices):
    """Into `y` the first largest element of each window, a NaN before all others; into `indices` where in its plane it stands.

    Windows are the products of ranges: along axis k those from first[k, i] up to but without last[k, i], by step[k].
    """
    cdef npy_intp p, i, j, k, a, b, c, place
    cdef ordered best, found
    with nogil:
        for p in range(y.shape[0]):
            for i in range(y.shape[1]):
                for j in range(y.shape[2]):
                    for k in range(y.shape[3]):
                        place = (first[0, i] * x.shape[2] + first[1, j]) * x.shape[3] + first[2, k]
                        best = x[p, first[0, i], first[1, j], first[2, k]]
                        a = first[0, i]
                        while a < last[0, i]:
                            b = first[1, j]
                            while b < last[1, j]:
                                c = first[2, k]
                                while c < last[2, k]:
                                    found = x[p, a, b, c]
                                    if found > best or found != found and best == best:
                                        best = found
                                        place = (a * x.shape[2] + b) * x.shape[3] + c
                                    c += step[2]
                                b += step[1]
                            a += step[0]
                        y[p, i, j, k] = best
                        indices[p, i, j, k] = place


@cython.boundscheck(False)
@cython.wraparound(False)
def weighted_sums(const number[:, :, ::1] x, const npy_intp[::1] starts, const npy_intp[::1] places,
                  const double[::1] weights, number[:, :, ::1] y):
    """y[o, i] += weights[j] * x[o, places[j]] for each j from starts[i] up to but without starts[i + 1]."""
    cdef npy_intp o, i, j, c
    with nogil:
        for o in range(y.shape[0]):
            for i in range(y.shape[1]):
                for j in range(starts[i], starts[i + 1]):
                    for c in range(y.shape[2]):
                        y[o, i, c] += <number> (x[o, places[j], c] * weights[j])


@cython.boundscheck(False)
@cython.wraparound(False)
def weighted_spread(const number[:, :, ::1] x, const npy_intp[::1] starts, const npy_intp[::1] places,
                    const double[::1] weights, number[:, :, ::1] y):
    """y[o, places[j]] += weights[j] * x[o, i] for each j from starts[i] up to but without starts[i + 1]: the adjoint."""
    cdef npy_intp o, i, j, c
    with nogil:
        for o in range(x.shape[0]):
            for i in range(x.shape[1]):
                for j in range(starts[i], starts[i + 1]):
                    for c in range(x.shape[2]):
                        y[o, places[j], c] += <number> (x[o, i, c] * weights[j])


@cython.boundscheck(False)
@cython.wraparound(False)
def take_numbers(const number[:, ::1] x, const npy_intp[:, ::1] indices, number[:, ::1] y):
    """y[p, i] = x[p, indices[p, i]]; the indices are in range."""
    cdef npy_intp p, i
    with nogil:
        for p in range(y.shape[0]):
            for i in range(y.shape[1]):
                y[p, i] = x[p, indices[p, i]]


@cython.boundscheck(False)
@cython.wraparound(False)
def add_numbers(const number[:, ::1] x, const npy_intp[:, ::1] indices, number[:, ::1] y):
    """y[p, indices[p, i]] += x[p, i]; the indices are in range."""
    cdef npy_intp p, i
    with nogil:
        for p in range(x.shape[0]):
            for i in range(x.shape[1]):
                y[p, indices[p, i]] += x[p, i]
