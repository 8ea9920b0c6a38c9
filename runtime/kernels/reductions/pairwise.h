/* Sums of contiguous numbers in NumPy's order. */
#ifndef GRADSPEC_PAIRWISE_H
#define GRADSPEC_PAIRWISE_H

#include "../loops/copies.h"
#include "../loops/typed.h"
#include <numpy/npy_common.h>

#define T float
#include "pairwise_template.h"
#undef T

#define T double
#include "pairwise_template.h"
#undef T

#endif
