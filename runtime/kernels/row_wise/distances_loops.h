/* Differences of rows, weighted and added up in double. */
#ifndef GRADSPEC_DISTANCES_LOOPS_H
#define GRADSPEC_DISTANCES_LOOPS_H

#include "../loops/copies.h"
#include "../loops/typed.h"

#define T float
#include "distances_loops_template.h"
#undef T

#define T double
#include "distances_loops_template.h"
#undef T

#endif
