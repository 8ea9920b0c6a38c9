/* The passes of softmax over a row other than exponentials and sums. */
#ifndef GRADSPEC_SOFTMAX_PASSES_H
#define GRADSPEC_SOFTMAX_PASSES_H

#include "../loops/copies.h"
#include "../loops/typed.h"

#define T float
#include "softmax_passes_template.h"
#undef T

#define T double
#include "softmax_passes_template.h"
#undef T

#endif
