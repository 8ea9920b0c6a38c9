"""PyTorchTensor: what PyTorch asks of a tensor's array, under its names."""

from ..core.tensor cimport TensorBase

cdef class PyTorchTensor(TensorBase):
    pass
