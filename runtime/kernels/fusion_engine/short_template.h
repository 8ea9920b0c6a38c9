/* For a T, the BITS of its size and the WIDTH of a vector: arithmetic on few numbers. */

#if VECTORS
typedef T TYPED(lanes) __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
typedef BITS TYPED(lane_bits) __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
#define LANES(p) (*(TYPED(lanes) *) ((p) + i))
#endif

GRADSPEC_INSIDE T TYPED(magnitude)(T x) {
    BITS bits;
    memcpy(&bits, &x, sizeof bits);
    bits = bits << 1 >> 1;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

#define RESULT T
#define NAME add
#define SIGN +
#include "short_pair_template.h"
#define NAME subtract
#define SIGN -
#include "short_pair_template.h"
#define NAME multiply
#define SIGN *
#include "short_pair_template.h"
#define NAME divide
#define SIGN /
#include "short_pair_template.h"
#undef RESULT

#define NAME negative
#define OF_LANES -x
#define OF_ONE -x
#include "short_one_template.h"
#define NAME absolute
#define OF_LANES (TYPED(lanes)) ((TYPED(lane_bits)) x << 1 >> 1)
#define OF_ONE TYPED(magnitude)(x)
#include "short_one_template.h"
#define NAME square
#define OF_LANES x * x
#define OF_ONE x * x
#include "short_one_template.h"
#define NAME reciprocal
#define OF_LANES 1 / x
#define OF_ONE 1 / x
#include "short_one_template.h"

#undef VECTORS
#define VECTORS 0
#define RESULT unsigned char
#define NAME greater
#define SIGN >
#include "short_pair_template.h"
#define NAME greater_equal
#define SIGN >=
#include "short_pair_template.h"
#define NAME less
#define SIGN <
#include "short_pair_template.h"
#define NAME less_equal
#define SIGN <=
#include "short_pair_template.h"
#define NAME equal
#define SIGN ==
#include "short_pair_template.h"
#define NAME not_equal
#define SIGN !=
#include "short_pair_template.h"
#undef RESULT
#undef VECTORS
#undef LANES
