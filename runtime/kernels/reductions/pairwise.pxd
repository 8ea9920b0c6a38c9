"""Sums of contiguous numbers in NumPy's order, and long rows cut into pieces for threads."""

from ...support.capi cimport npy_intp

ctypedef void (*AddRow)(const char* x, char* y, npy_intp n) noexcept nogil
ctypedef void (*AddRows)(const char* x, char* y, npy_intp rows, npy_intp n) noexcept nogil
ctypedef void (*AddColumns)(const char* x, char* y, npy_intp n, npy_intp pitch, npy_intp columns) noexcept nogil
ctypedef void (*Join)(const char* sums, char* y, npy_intp rows, npy_intp n, npy_intp pieces, npy_intp step) noexcept nogil

cdef extern from "gradspec/kernels/reductions/pairwise.h":
    enum:
        PIECE "GRADSPEC_PIECE"
    npy_intp half "gradspec_half"(npy_intp) noexcept nogil
    npy_intp most_pieces "gradspec_most_pieces"(npy_intp) noexcept nogil
    npy_intp cut "gradspec_cut"(npy_intp, npy_intp, npy_intp*) noexcept nogil
    float pairwise_float "gradspec_pairwise_float"(const float*, npy_intp) noexcept nogil
    double pairwise_double "gradspec_pairwise_double"(const double*, npy_intp) noexcept nogil
    AddRow add_row "gradspec_add_row"[2][2]
    AddRows add_rows "gradspec_add_rows"[2][2]
    AddColumns add_columns "gradspec_add_columns"[2][2]
    Join join "gradspec_join"[2]
