/* Inner loops that convert an array to a wider dtype as NumPy casts, with a copy for each vector width. */
#ifndef GRADSPEC_CASTS_H
#define GRADSPEC_CASTS_H

#include "../loops/copies.h"
#include <numpy/npy_common.h>

#define GRADSPEC_REAL_CAST(name, S, T) \
    GRADSPEC_WIDE static void gradspec_##name(char **args, const npy_intp *size, const npy_intp *steps, void *data) { \
        const S *x = (const S *) args[0]; \
        T *y = (T *) args[1]; \
        npy_intp n = *size; \
        (void) steps, (void) data; \
        for (npy_intp i = 0; i < n; i++) y[i] = (T) x[i]; \
    }

/* To complex numbers: the imaginary part of a real number is 0. */
#define GRADSPEC_COMPLEX_CAST(name, S, parts, T) \
    GRADSPEC_WIDE static void gradspec_##name(char **args, const npy_intp *size, const npy_intp *steps, void *data) { \
        const S *x = (const S *) args[0]; \
        T *y = (T *) args[1]; \
        npy_intp n = *size; \
        (void) steps, (void) data; \
        for (npy_intp i = 0; i < n; i++) { \
            y[2 * i] = (T) x[parts * i]; \
            y[2 * i + 1] = parts == 2 ? (T) x[parts * i + 1] : 0; \
        } \
    }

GRADSPEC_REAL_CAST(float_to_double, float, double)
GRADSPEC_REAL_CAST(bool_to_float, npy_bool, float)
GRADSPEC_REAL_CAST(bool_to_double, npy_bool, double)
GRADSPEC_COMPLEX_CAST(float_to_complex64, float, 1, float)
GRADSPEC_COMPLEX_CAST(float_to_complex128, float, 1, double)
GRADSPEC_COMPLEX_CAST(double_to_complex128, double, 1, double)
GRADSPEC_COMPLEX_CAST(complex64_to_complex128, float, 2, double)
GRADSPEC_COMPLEX_CAST(bool_to_complex64, npy_bool, 1, float)
GRADSPEC_COMPLEX_CAST(bool_to_complex128, npy_bool, 1, double)

/* From one dtype to a wider one, in the order of the slots: float, double, complex float, complex double, bool; NULL for other pairs. */
static void (*const gradspec_casts[5][4])(char **, const npy_intp *, const npy_intp *, void *) = {
    {NULL, gradspec_float_to_double, gradspec_float_to_complex64, gradspec_float_to_complex128},
    {NULL, NULL, NULL, gradspec_double_to_complex128},
    {NULL, NULL, NULL, gradspec_complex64_to_complex128},
    {NULL, NULL, NULL, NULL},
    {gradspec_bool_to_float, gradspec_bool_to_double, gradspec_bool_to_complex64, gradspec_bool_to_complex128},
};

#endif
