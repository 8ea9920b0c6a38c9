"""ArrayTensor: the array methods of a tensor."""

from .pytorch_tensor cimport PyTorchTensor

cdef class ArrayTensor(PyTorchTensor):
    pass
