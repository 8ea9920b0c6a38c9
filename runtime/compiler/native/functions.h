/* The functions that an exported module may contain, for compilers and editors: `spelling` writes the template's text. */
#ifndef GRADSPEC_NATIVE_FUNCTIONS_H
#define GRADSPEC_NATIVE_FUNCTIONS_H

#include "../../kernels/loops/typed.h"
#include <math.h>

#define T float
#define F(name) name##f
#include "functions_template.h"
#undef F
#undef T

#define T double
#define F(name) name
#include "functions_template.h"
#undef F
#undef T

#endif
