"""The form of a leaf's gradient: its dtype and its memory layout."""

from ..support.capi cimport ndarray
from .tensor cimport TensorBase

cdef enum:
    ANY_TYPE = -1  # the type number in a node's metadata if gradients keep their own dtype

cdef object grad_dtype_of(TensorBase leaf, ndarray array)
cdef int set_grad_dtype(TensorBase leaf, object dtype) except -1
cdef int type_of_gradient(TensorBase leaf, ndarray array) except? -2
cdef bint has_layout_of(ndarray grad, ndarray leaf) noexcept
cdef bint is_dense(ndarray array) noexcept
cdef bint overlaps(ndarray array) except -1
cdef ndarray copy_like(ndarray grad, ndarray leaf)
