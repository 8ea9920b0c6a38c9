/* The passes of softmax over a row other than exponentials and sums. */
#ifndef GRADSPEC_SOFTMAX_PASSES_H
#define GRADSPEC_SOFTMAX_PASSES_H

#include "../loops/copies.h"
#include "../loops/typed.h"

/* What a pass over columns does with elements of its operands. */
enum {
    GRADSPEC_RAISE,     /* y = max(a, y) */
    GRADSPEC_LESS,      /* y = a - b */
    GRADSPEC_COPY,      /* y = a */
    GRADSPEC_ADD,       /* y += a */
    GRADSPEC_ADD_PRODUCT,   /* y += a * b */
    GRADSPEC_TAKE_OFF,  /* y -= a */
    GRADSPEC_MULTIPLY,  /* y *= a */
    GRADSPEC_DIVIDE     /* y /= a */
};

#define T float
#include "softmax_passes_template.h"
#undef T

#define T double
#include "softmax_passes_template.h"
#undef T

#endif
