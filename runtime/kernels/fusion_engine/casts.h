/* Inner loops that convert an array to a wider dtype as NumPy casts, with a copy for each vector width. */
#ifndef GRADSPEC_CASTS_H
#define GRADSPEC_CASTS_H

#include "../loops/copies.h"
#include <numpy/npy_common.h>

/* From `parts` numbers an element; `imaginary` stores the imaginary part of a complex result. */
#define CAST(name, S, parts, T, wanted, imaginary) \
    GRADSPEC_WIDE static void gradspec_##name(char **args, const npy_intp *size, const npy_intp *steps, void *data) { \
        const S *x = (const S *) args[0]; T *y = (T *) args[1]; \
        (void) steps, (void) data; \
        for (npy_intp i = 0, n = *size; i < n; i++) y[wanted * i] = (T) x[parts * i], imaginary; \
    }
CAST(float_to_double, float, 1, double, 1, (void) 0)
CAST(bool_to_float, npy_bool, 1, float, 1, (void) 0)
CAST(bool_to_double, npy_bool, 1, double, 1, (void) 0)
CAST(float_to_complex64, float, 1, float, 2, y[2 * i + 1] = 0)
CAST(float_to_complex128, float, 1, double, 2, y[2 * i + 1] = 0)
CAST(double_to_complex128, double, 1, double, 2, y[2 * i + 1] = 0)
CAST(complex64_to_complex128, float, 2, double, 2, y[2 * i + 1] = x[2 * i + 1])
CAST(bool_to_complex64, npy_bool, 1, float, 2, y[2 * i + 1] = 0)
CAST(bool_to_complex128, npy_bool, 1, double, 2, y[2 * i + 1] = 0)
#undef CAST

/* From one dtype to a wider one, in the order of the slots: float, double, complex float, complex double, bool; NULL for other pairs. */
static void (*const gradspec_casts[5][4])(char **, const npy_intp *, const npy_intp *, void *) = {
    {NULL, gradspec_float_to_double, gradspec_float_to_complex64, gradspec_float_to_complex128},
    {NULL, NULL, NULL, gradspec_double_to_complex128},
    {NULL, NULL, NULL, gradspec_complex64_to_complex128},
    {NULL, NULL, NULL, NULL},
    {gradspec_bool_to_float, gradspec_bool_to_double, gradspec_bool_to_complex64, gradspec_bool_to_complex128},
};

#endif
