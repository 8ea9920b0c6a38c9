"""PyTorchTensor: PyTorch's names for the properties of a tensor's array."""

from ..core.tensor cimport TensorBase

cdef class PyTorchTensor(TensorBase):
    pass
