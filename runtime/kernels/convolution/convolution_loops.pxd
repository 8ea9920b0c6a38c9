"""What a convolution is told: where its operands lie, and which products make which part of the result."""

from ...support.capi cimport npy_intp

ctypedef fused real:
    float
    double

cdef struct Part:               # of the result: the elements from `start` on, `step` apart
    npy_intp[3] start, step, grid
    npy_intp count              # products in each sum
    npy_intp extent             # places, with those beside the ends of rows
    npy_intp* offsets           # in the image
    char* weights               # of each group: blocks of four channels, one element after the other
    npy_intp weights_size       # bytes of a group

cdef struct Job:
    npy_intp shares                     # of the channels of a group, each a unit of work
    npy_intp groups, channels, outer    # of a group: channels of the image, and of the result or the cotangent
    npy_intp[3] lengths, low, phases, dims, sizes
    npy_intp image              # elements of a channel that is padded
    npy_intp parts, examples, blocks
    bint single, failed
    bint bare                   # the image is taken as it is
    char* x
    char* other                 # the bias, or the cotangent
    char* y
    Part* part
