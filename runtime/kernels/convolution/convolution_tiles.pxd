"""Sums of products of rows at offsets, a block of four channels times three vectors in registers.

Declares the loops and the choice among them: one copy for each vector width of processors, none if the compiler has no vectors.
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
