"""PyTorchTensor: what PyTorch asks of a tensor's array, under its names."""

from .tensor cimport TensorBase

cdef class PyTorchTensor(TensorBase):
    pass
