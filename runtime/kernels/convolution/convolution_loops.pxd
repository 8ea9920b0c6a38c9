"""Description of a convolution for the loops: the layout of the operands, and the products of each part of the result."""

from ...support.capi cimport npy_intp

ctypedef fused real:
    float
    double

cdef struct Part:               # of the result: the elements from `start` on, in steps of `step`
    npy_intp[3] start, step, grid
    npy_intp count              # products in each sum
    npy_intp extent             # places, including those beyond the ends of rows
    npy_intp* offsets           # in the image
    char* weights               # for each group: blocks of four channels, one element after the other
    npy_intp weights_size       # bytes of a group

cdef struct Job:
    npy_intp shares                     # number of parts of a group's channels, each a unit of work
    npy_intp groups, channels, outer    # per group: channels of the image, and of the result or the cotangent
    npy_intp[3] lengths, low, phases, dims, sizes
    npy_intp image              # elements of a padded channel
    npy_intp parts, examples, blocks
    bint single, failed
    bint bare                   # the image is read directly, without a padded copy
    char* x
    char* other                 # the bias, or the cotangent
    char* y
    Part* part
