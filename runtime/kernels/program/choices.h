/* Loops over vectors for maximum and minimum with one number, sign and copysign: NumPy's take one element at a time where the
 * processor has no AVX-512.  A comparison with NaN may raise a flag, which is taken back. */
#ifndef GRADSPEC_CHOICES_H
#define GRADSPEC_CHOICES_H

#include "../loops/copies.h"
#include "../loops/flags.h"
#include "vectors.h"
#include <math.h>

/* What such a loop is told: NumPy's, for other layouts. */
typedef struct {
    gradspec_inner_loop rest;
    void *rest_data;
} gradspec_choice;

#define GRADSPEC_QUIETLY(call) \
    do { \
        int raised = fp_raised(); \
        call; \
        if (!raised) fp_clear(); \
    } while (0)

#define OVER(T, name, expression) \
    GRADSPEC_WIDE static void gradspec_##name##_each_##T(const T *x, T other, T *y, npy_intp n) { \
        for (npy_intp i = 0; i < n; i++) { \
            T a = x[i], b = other; \
            y[i] = expression; \
        } \
    } \
    static void gradspec_##name##_choice_##T(char **args, const npy_intp *size, const npy_intp *steps, void *data) { \
        const gradspec_choice *choice = data; \
        if (steps[0] == sizeof(T) && steps[1] == 0 && steps[2] == sizeof(T)) \
            GRADSPEC_QUIETLY(gradspec_##name##_each_##T((const T *) args[0], *(const T *) args[1], (T *) args[2], *size)); \
        else \
            choice->rest(args, size, steps, choice->rest_data); \
    }
#define OVER_BOTH(name, expression) OVER(float, name, expression) OVER(double, name, expression)
OVER_BOTH(maximum, isgreaterequal(a, b) | isunordered(a, a) ? a : b)
OVER_BOTH(minimum, islessequal(a, b) | isunordered(a, a) ? a : b)
#undef OVER_BOTH
#undef OVER

#define OVER(T, BITS, SIGN) \
    GRADSPEC_WIDE static void gradspec_sign_each_##T(const T *x, T *y, npy_intp n) { \
        for (npy_intp i = 0; i < n; i++) \
            y[i] = isgreater(x[i], 0) ? 1 : isless(x[i], 0) ? -1 : isunordered(x[i], x[i]) ? x[i] : 0; \
    } \
    static void gradspec_sign_choice_##T(char **args, const npy_intp *size, const npy_intp *steps, void *data) { \
        const gradspec_choice *choice = data; \
        if (steps[0] == sizeof(T) && steps[1] == sizeof(T)) \
            GRADSPEC_QUIETLY(gradspec_sign_each_##T((const T *) args[0], (T *) args[1], *size)); \
        else \
            choice->rest(args, size, steps, choice->rest_data); \
    } \
    GRADSPEC_WIDE static void gradspec_copysign_each_##T(const char *a, const char *b, char *to, npy_intp n) { \
        for (npy_intp i = 0; i < n; i++) { \
            BITS p, q; \
            memcpy(&p, a + i * sizeof(T), sizeof(T)); \
            memcpy(&q, b + i * sizeof(T), sizeof(T)); \
            p = (p & ~SIGN) | (q & SIGN); \
            memcpy(to + i * sizeof(T), &p, sizeof(T)); \
        } \
    } \
    static void gradspec_copysign_choice_##T(char **args, const npy_intp *size, const npy_intp *steps, void *data) { \
        const gradspec_choice *choice = data; \
        if (steps[0] == sizeof(T) && steps[1] == sizeof(T) && steps[2] == sizeof(T)) \
            gradspec_copysign_each_##T(args[0], args[1], args[2], *size); \
        else \
            choice->rest(args, size, steps, choice->rest_data); \
    }
OVER(float, uint32_t, UINT32_C(0x80000000))
OVER(double, uint64_t, UINT64_C(0x8000000000000000))
#undef OVER

#define GRADSPEC_CHOICE(name) gradspec_##name##_choice_float, gradspec_##name##_choice_double

static const struct {
    const char *name;
    gradspec_inner_loop single, twice;
} gradspec_own_choices[] = {
    {"maximum", GRADSPEC_CHOICE(maximum)},
    {"minimum", GRADSPEC_CHOICE(minimum)},
    {"sign", GRADSPEC_CHOICE(sign)},
    {"copysign", GRADSPEC_CHOICE(copysign)},
};

#define GRADSPEC_OWN_CHOICE_COUNT ((int) (sizeof gradspec_own_choices / sizeof *gradspec_own_choices))

#endif
