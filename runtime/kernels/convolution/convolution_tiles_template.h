/* For a T, vectors of BYTES and the TARGET that has them: tiles of 4 or 1 rows and 3 or 1 vectors. */

typedef T VECTOR __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));

#define ROWS 4
#define VECTORS 3
#include "convolution_tile_template.h"
#undef VECTORS
#define VECTORS 1
#include "convolution_tile_template.h"
#undef VECTORS
#undef ROWS

#define ROWS 1
#define VECTORS 3
#include "convolution_tile_template.h"
#undef VECTORS
#define VECTORS 1
#include "convolution_tile_template.h"
#undef VECTORS
#undef ROWS
