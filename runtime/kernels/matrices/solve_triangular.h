/* Substitution in triangular systems: a diagonal block, or a single right-hand side of any length. */
#ifndef GRADSPEC_SOLVE_TRIANGULAR_H
#define GRADSPEC_SOLVE_TRIANGULAR_H

#include "../loops/copies.h"
#include "../loops/typed.h"

#define T float
#include "solve_triangular_template.h"
#undef T

#define T double
#include "solve_triangular_template.h"
#undef T

#endif
