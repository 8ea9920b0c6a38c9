"""ArrayTensor: what a tensor has of an array."""

from .pytorch_tensor cimport PyTorchTensor

cdef class ArrayTensor(PyTorchTensor):
    pass
