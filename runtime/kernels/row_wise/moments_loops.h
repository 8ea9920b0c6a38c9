/* The first and second moments of columns about given centres. */
#ifndef GRADSPEC_MOMENTS_LOOPS_H
#define GRADSPEC_MOMENTS_LOOPS_H

#include "../loops/copies.h"
#include "../loops/typed.h"

#define T float
#include "moments_loops_template.h"
#undef T

#define T double
#include "moments_loops_template.h"
#undef T

#endif
