"""Sums of products of rows at offsets, four channels times three vectors of them in registers.

Owns the loops and the choice among them: one copy for each width of vectors that processors have, none where the compiler
has no vectors.
"""

from ...support.capi cimport npy_intp

cdef extern from "gradspec/kernels/convolution/convolution_tiles.h":
    enum:
        GRADSPEC_TOGETHER
        GRADSPEC_SLACK
    ctypedef void (*TileFloat "gradspec_tile_float")(
        float*, npy_intp*, npy_intp, float*, float*, npy_intp, npy_intp) noexcept nogil
    ctypedef void (*TileDouble "gradspec_tile_double")(
        double*, npy_intp*, npy_intp, double*, double*, npy_intp, npy_intp) noexcept nogil
    ctypedef void (*GatherFloat "gradspec_gather_float")(
        float*, npy_intp, float*, npy_intp*, npy_intp, float*, npy_intp) noexcept nogil
    ctypedef void (*GatherDouble "gradspec_gather_double")(
        double*, npy_intp, double*, npy_intp*, npy_intp, double*, npy_intp) noexcept nogil
    TileFloat[4]* gradspec_tiles_float
    TileDouble[4]* gradspec_tiles_double
    GatherFloat[4]* gradspec_gathers_float
    GatherDouble[4]* gradspec_gathers_double
    int gradspec_vectors() noexcept
