/* The maximum of contiguous numbers, and their sums, in vectors as wide as the processor has. */
#ifndef GRADSPEC_WIDE_H
#define GRADSPEC_WIDE_H

#include "copies.h"
#include "typed.h"

#define GRADSPEC_MAX(a, b) ((a) > (b) ? (a) : (b))

#define T float
#include "wide_template.h"
#undef T

#define T double
#include "wide_template.h"
#undef T

#endif
