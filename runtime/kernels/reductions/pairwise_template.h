/* For a T: sums of contiguous numbers, and of the numbers that are not NaN, in NumPy's order.
 * Compilers do not vectorise the eight parts of a sum across halves, so they are explicit vectors. */

#if defined(__GNUC__)
typedef T TYPED(summands) __attribute__((vector_size(16), aligned(sizeof(T)), may_alias)); /* supported by every processor */
#define LANES ((npy_intp) (16 / sizeof(T)))
#define EACH _Pragma("GCC unroll 4") for (npy_intp k = 0; k < 8 / LANES; k++)
#define LOADED(x) VECTOR(*(const TYPED(summands) *) ((x) + k * LANES))
#define BEGIN(s, x) TYPED(summands) s[8 / LANES]; EACH s[k] = LOADED(x)
#define ADD(s, x) EACH s[k] += LOADED(x)
#define PART(s, k) s[k / LANES][k % LANES]
#define FETCH(x, bytes) for (npy_intp k = 0; k < (bytes); k += 64) __builtin_prefetch((const char *) (x) + k)
#else
#define EACH for (npy_intp k = 0; k < 8; k++)
#define BEGIN(s, x) T s[8]; EACH s[k] = NUMBER((x)[k])
#define ADD(s, x) EACH s[k] += NUMBER((x)[k])
#define PART(s, k) s[k]
#define FETCH(x, bytes) ((void) 0)
#endif
#define JOINED(s) (((PART(s, 0) + PART(s, 1)) + (PART(s, 2) + PART(s, 3))) + ((PART(s, 4) + PART(s, 5)) + (PART(s, 6) + PART(s, 7))))

#define SUM pairwise
#define NUMBER(x) (x)
#define VECTOR(x) (x)
#include "pairwise_sum_template.h"

#define SUM known_sum
#define NUMBER(x) ((x) == (x) ? (x) : 0)
#define VECTOR(x) ((TYPED(summands)) ((__typeof__((x) == (x))) (x) & ((x) == (x)))) /* a comparison is a vector of all bits or none */
#include "pairwise_sum_template.h"

/* The sum of a row of n numbers from the sums of the pieces of gradspec_cut; `step` is 2 for one part of complex numbers. */
GRADSPEC_UNUSED static T TYPED(joined)(const T **sums, npy_intp n, npy_intp step) {
    T sum = **sums;
    if (n > GRADSPEC_PIECE) {
        sum = TYPED(joined)(sums, gradspec_half(n), step);
        return sum + TYPED(joined)(sums, n - gradspec_half(n), step);
    }
    *sums += step;
    return sum;
}

/* The sums of `rows` rows of n numbers from the sums of their pieces. */
GRADSPEC_UNUSED static void TYPED(join)(const char *sums, char *y, npy_intp rows, npy_intp n, npy_intp pieces, npy_intp step) {
    for (npy_intp i = 0; i < rows * step; i++) {
        const T *first = (const T *) sums + i / step * pieces * step + i % step;
        ((T *) y)[i] = 0 + TYPED(joined)(&first, n, step);
    }
}

#undef JOINED
#undef FETCH
#undef PART
#undef ADD
#undef BEGIN
#undef LOADED
#undef EACH
#undef LANES
