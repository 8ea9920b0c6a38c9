"""One of two values, element by element: where, and a quotient that is 0 where the divisor is.

Owns loops over contiguous operands, any of which may be one number for all elements.  Both sides of a choice are computed
from what is safe for either, so the only floating-point flags are those of the elements that are taken.  The limit is memory.
"""

cimport numpy as cnp
from numpy cimport npy_intp

import numpy as np

from . import elementwise
from .ufunc cimport pointwise

cnp.import_array()

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    typedef struct { double real, imag; } gradspec_pair;

    /* y = m ? a : b of elements of one size; a step is 0 or that of contiguous elements. */
    #define GRADSPEC_WHERE(T, NAME) \\
        static void gradspec_where_##NAME(char **args, const npy_intp *size, const npy_intp *steps, void *data) { \\
            const npy_bool *m = (const npy_bool *) args[0]; \\
            const T *a = (const T *) args[1], *b = (const T *) args[2]; \\
            T *y = (T *) args[3]; \\
            npy_intp n = size[0], i; \\
            (void) data; \\
            if (steps[0] == 0) { \\
                int taken = m[0] ? 1 : 2; \\
                const T *x = taken == 1 ? a : b; \\
                if (steps[taken] == 0) for (i = 0; i < n; i++) y[i] = x[0]; \\
                else memcpy(y, x, n * sizeof(T)); \\
            } else if (steps[1] == 0 && steps[2] == 0) { \\
                const T p = a[0], q = b[0]; \\
                for (i = 0; i < n; i++) y[i] = m[i] ? p : q; \\
            } else if (steps[1] == 0) { \\
                const T p = a[0]; \\
                for (i = 0; i < n; i++) { const T q = b[i]; y[i] = m[i] ? p : q; } \\
            } else if (steps[2] == 0) { \\
                const T q = b[0]; \\
                for (i = 0; i < n; i++) { const T p = a[i]; y[i] = m[i] ? p : q; } \\
            } else { \\
                for (i = 0; i < n; i++) { const T p = a[i], q = b[i]; y[i] = m[i] ? p : q; } \\
            } \\
        }
    GRADSPEC_WHERE(uint32_t, 4)
    GRADSPEC_WHERE(uint64_t, 8)
    GRADSPEC_WHERE(gradspec_pair, 16)

    #define GRADSPEC_DIVIDE(T) \\
        static void gradspec_divide_##T(char **args, const npy_intp *size, const npy_intp *steps, void *data) { \\
            const T *a = (const T *) args[0], *b = (const T *) args[1]; \\
            T *y = (T *) args[2]; \\
            npy_intp n = size[0], i, p = steps[0] != 0, q = steps[1] != 0; \\
            (void) data; \\
            if (p && q) for (i = 0; i < n; i++) { const T d = b[i], r = a[i] / (d == 0 ? 1 : d); y[i] = d == 0 ? 0 : r; } \\
            else for (i = 0; i < n; i++) { const T d = b[i * q], r = a[i * p] / (d == 0 ? 1 : d); y[i] = d == 0 ? 0 : r; } \\
        }
    GRADSPEC_DIVIDE(float)
    GRADSPEC_DIVIDE(double)
    """
    void gradspec_where_4(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_where_8(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_where_16(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_divide_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_divide_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil


where = pointwise(
    np.where, ("mask", "a", "b"), [gradspec_where_4, gradspec_where_8, gradspec_where_8, gradspec_where_16], masks=True)
divide_or_zero = pointwise(
    elementwise.divide_or_zero, ("a", "b"), [gradspec_divide_float, gradspec_divide_double, NULL, NULL])
