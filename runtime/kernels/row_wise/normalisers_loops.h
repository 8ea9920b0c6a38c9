/* Normalise rows to mean 0 and variance 1, scale and shift them, and the adjoints. */
#ifndef GRADSPEC_NORMALISERS_LOOPS_H
#define GRADSPEC_NORMALISERS_LOOPS_H

#include "../loops/copies.h"
#include "../loops/typed.h"

#define T float
#include "normalisers_loops_template.h"
#undef T

#define T double
#include "normalisers_loops_template.h"
#undef T

#endif
