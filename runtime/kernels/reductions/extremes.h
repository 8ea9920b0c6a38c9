/* Largest and smallest elements of rows and of columns. */
#ifndef GRADSPEC_EXTREMES_H
#define GRADSPEC_EXTREMES_H

#include "../loops/copies.h"
#include "../loops/flags.h"
#include "../loops/typed.h"
#include <string.h>

typedef struct {
    const char *x;
    char *y;
    npy_intp length, inner;
    int raised;
} gradspec_extremes;

/* The EXTREME of numbers is the one that is BETTER than all others. */

#define EXTREME largest
#define BETTER >
#define T float
#include "extremes_template.h"
#undef T
#define T double
#include "extremes_template.h"
#undef T
#undef BETTER
#undef EXTREME

#define EXTREME smallest
#define BETTER <
#define T float
#include "extremes_template.h"
#undef T
#define T double
#include "extremes_template.h"
#undef T
#undef BETTER
#undef EXTREME

#endif
