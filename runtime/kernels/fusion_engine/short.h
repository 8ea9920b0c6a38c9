/* Arithmetic on few numbers: one loop interprets a list of instructions, without calls between them. */
#ifndef GRADSPEC_SHORT_H
#define GRADSPEC_SHORT_H

#include "../loops/copies.h"
#include "../loops/typed.h"
#include <string.h>

/* Instructions with operands: six times the number of the operation, plus 3 for doubles, plus one of these. */
enum { GRADSPEC_EACH, GRADSPEC_BY_NUMBER, GRADSPEC_NUMBER_BY };

enum {
    GRADSPEC_ADD, GRADSPEC_SUBTRACT, GRADSPEC_MULTIPLY, GRADSPEC_DIVIDE,
    GRADSPEC_GREATER, GRADSPEC_GREATER_EQUAL, GRADSPEC_LESS, GRADSPEC_LESS_EQUAL, GRADSPEC_EQUAL, GRADSPEC_NOT_EQUAL,
    GRADSPEC_NEGATIVE, GRADSPEC_ABSOLUTE, GRADSPEC_SQUARE, GRADSPEC_RECIPROCAL,
    GRADSPEC_COPY, GRADSPEC_ZERO, GRADSPEC_OPERATIONS
};

typedef struct {
    int operation;
    int size;       /* elements; for a copy and for zeros bytes */
    int slots[3];   /* operands and result, as positions in a table of addresses */
    int start, to;  /* for a copy and for zeros: byte offsets */
} gradspec_short;

#if defined(__GNUC__)
#define GRADSPEC_INSIDE static inline __attribute__((always_inline))
#define GRADSPEC_VECTORS 1
#else
#define GRADSPEC_INSIDE static inline
#define GRADSPEC_VECTORS 0
#endif

#define T float
#define BITS npy_uint32
#define WIDTH 8
#define FILLED(x) {x, x, x, x, x, x, x, x}
#define VECTORS GRADSPEC_VECTORS
#include "short_template.h"
#undef FILLED
#undef WIDTH
#undef BITS
#undef T

#define T double
#define BITS npy_uint64
#define WIDTH 4
#define FILLED(x) {x, x, x, x}
#define VECTORS GRADSPEC_VECTORS
#include "short_template.h"
#undef FILLED
#undef WIDTH
#undef BITS
#undef T

#define CASES(number, name, T) \
    case number + GRADSPEC_EACH: gradspec_##name##_each_##T(a, b, y, n); break; \
    case number + GRADSPEC_BY_NUMBER: gradspec_##name##_by_number_##T(a, b, y, n); break; \
    case number + GRADSPEC_NUMBER_BY: gradspec_##name##_number_by_##T(a, b, y, n); break;
#define CASE(number, name) CASES(6 * number, name, float) CASES(6 * number + 3, name, double)
#define CASE_OF_ONE(number, name) \
    case 6 * number: gradspec_##name##_float(a, y, n); break; \
    case 6 * number + 3: gradspec_##name##_double(a, y, n); break;

/* The bits are those of NumPy's loops: each operation is rounded separately. */
GRADSPEC_WIDE static void gradspec_run_short(const gradspec_short *step, npy_intp count, char **base) {
    for (const gradspec_short *end = step + count; step < end; step++) {
        const char *a = base[step->slots[0]], *b = base[step->slots[1]];
        char *y = base[step->slots[2]];
        npy_intp n = step->size;
        switch (step->operation) {
            CASE(GRADSPEC_ADD, add)
            CASE(GRADSPEC_SUBTRACT, subtract)
            CASE(GRADSPEC_MULTIPLY, multiply)
            CASE(GRADSPEC_DIVIDE, divide)
            CASE(GRADSPEC_GREATER, greater)
            CASE(GRADSPEC_GREATER_EQUAL, greater_equal)
            CASE(GRADSPEC_LESS, less)
            CASE(GRADSPEC_LESS_EQUAL, less_equal)
            CASE(GRADSPEC_EQUAL, equal)
            CASE(GRADSPEC_NOT_EQUAL, not_equal)
            CASE_OF_ONE(GRADSPEC_NEGATIVE, negative)
            CASE_OF_ONE(GRADSPEC_ABSOLUTE, absolute)
            CASE_OF_ONE(GRADSPEC_SQUARE, square)
            CASE_OF_ONE(GRADSPEC_RECIPROCAL, reciprocal)
        case 6 * GRADSPEC_COPY:
            if (n == 8) memcpy(y + step->to, a + step->start, 8);
            else memmove(y + step->to, a + step->start, n);
            break;
        case 6 * GRADSPEC_ZERO: memset(y + step->to, 0, n); break;
        }
    }
}

#undef CASES
#undef CASE
#undef CASE_OF_ONE
#endif
