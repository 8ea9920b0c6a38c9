/* Names of the definitions in a header that ends in _template.h: its includer defines T, and includes it once for each T. */
#ifndef GRADSPEC_TYPED_H
#define GRADSPEC_TYPED_H

#include <numpy/npy_common.h> /* npy_intp */

#define GRADSPEC_JOIN_EXPANDED(a, b) a##_##b
#define GRADSPEC_JOIN(a, b) GRADSPEC_JOIN_EXPANDED(a, b)

/* gradspec_name_float if T is float. */
#define TYPED(name) GRADSPEC_JOIN(GRADSPEC_JOIN(gradspec, name), T)

#endif
