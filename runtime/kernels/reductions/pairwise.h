/* Sums of contiguous numbers in NumPy's order. */
#ifndef GRADSPEC_PAIRWISE_H
#define GRADSPEC_PAIRWISE_H

#include "../loops/copies.h"
#include "../loops/typed.h"
#include <numpy/npy_common.h>

enum { GRADSPEC_PIECE = 1 << 14 }; /* most numbers of a piece of a row, which a thread adds */

/* The number of elements in the first half. */
static inline npy_intp gradspec_half(npy_intp n) {
    return n / 2 - n / 2 % 8;
}

/* A bound of the number of pieces of a row of n numbers: the halves of a longer row have almost PIECE / 2. */
GRADSPEC_UNUSED static npy_intp gradspec_most_pieces(npy_intp n) {
    return n / (GRADSPEC_PIECE / 4) + 1;
}

/* The number of pieces of a row of n numbers, the last halves that are added; stores their starts and the end of the row. */
GRADSPEC_UNUSED static npy_intp gradspec_cut(npy_intp start, npy_intp n, npy_intp *starts) {
    const npy_intp half = gradspec_half(n);
    npy_intp count;
    if (n <= GRADSPEC_PIECE) {
        starts[0] = start;
        starts[1] = start + n;
        return 1;
    }
    count = gradspec_cut(start, half, starts);
    return count + gradspec_cut(start + half, n - half, starts + count);
}

#define T float
#include "pairwise_template.h"
#undef T

#define T double
#include "pairwise_template.h"
#undef T

/* By whether numbers that are NaN are left out, and by T. */
typedef void (*gradspec_row_adder)(const char *, char *, npy_intp);
typedef void (*gradspec_rows_adder)(const char *, char *, npy_intp, npy_intp);
typedef void (*gradspec_column_adder)(const char *, char *, npy_intp, npy_intp, npy_intp);
typedef void (*gradspec_joiner)(const char *, char *, npy_intp, npy_intp, npy_intp, npy_intp);
GRADSPEC_UNUSED static const gradspec_row_adder gradspec_add_row[2][2] = {
    {gradspec_pairwise_row_float, gradspec_pairwise_row_double}, {gradspec_known_sum_row_float, gradspec_known_sum_row_double}};
GRADSPEC_UNUSED static const gradspec_rows_adder gradspec_add_rows[2][2] = {
    {gradspec_pairwise_rows_float, gradspec_pairwise_rows_double}, {gradspec_known_sum_rows_float, gradspec_known_sum_rows_double}};
GRADSPEC_UNUSED static const gradspec_column_adder gradspec_add_columns[2][2] = {
    {gradspec_pairwise_columns_float, gradspec_pairwise_columns_double},
    {gradspec_known_sum_columns_float, gradspec_known_sum_columns_double}};
GRADSPEC_UNUSED static const gradspec_joiner gradspec_join[2] = {gradspec_join_float, gradspec_join_double};

#endif
