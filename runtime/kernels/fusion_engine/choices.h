/* Vector loops for maximum and minimum with one number, sign, copysign and sqrt: without AVX-512, NumPy's loops process one element
 * at a time, and its square roots have the narrowest vectors.  A comparison with NaN may raise a flag, which is cleared. */
#ifndef GRADSPEC_CHOICES_H
#define GRADSPEC_CHOICES_H

#include "../loops/copies.h"
#include "../loops/flags.h"
#include "../loops/typed.h"
#include "vectors.h"
#include <math.h>

/* The data of such a loop: NumPy's loop, for other layouts. */
typedef struct {
    gradspec_inner_loop rest;
    void *rest_data;
} gradspec_choice;

#define T float
#define BITS uint32_t
#define SIGN UINT32_C(0x80000000)
#define ROOT sqrtf
#include "choices_template.h"
#undef ROOT
#undef SIGN
#undef BITS
#undef T

#define T double
#define BITS uint64_t
#define SIGN UINT64_C(0x8000000000000000)
#define ROOT sqrt
#include "choices_template.h"
#undef ROOT
#undef SIGN
#undef BITS
#undef T

#define GRADSPEC_CHOICE(name) gradspec_##name##_choice_float, gradspec_##name##_choice_double

static const struct {
    const char *name;
    gradspec_inner_loop single, twice;
} gradspec_own_choices[] = {
    {"maximum", GRADSPEC_CHOICE(maximum)},
    {"minimum", GRADSPEC_CHOICE(minimum)},
    {"sign", GRADSPEC_CHOICE(sign)},
    {"copysign", GRADSPEC_CHOICE(copysign)},
    {"sqrt", GRADSPEC_CHOICE(sqrt)},
};

#define GRADSPEC_OWN_CHOICE_COUNT ((int) (sizeof gradspec_own_choices / sizeof *gradspec_own_choices))

#endif
