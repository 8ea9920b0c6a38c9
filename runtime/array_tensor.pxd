"""ArrayTensor: what a tensor has of an array."""

from .tensor cimport TensorBase

cdef class ArrayTensor(TensorBase):
    pass
