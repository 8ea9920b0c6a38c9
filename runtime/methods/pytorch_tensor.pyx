"""PyTorchTensor: what PyTorch asks of a tensor's array, under its names.

Owns the spellings that NumPy has not: axes, elements and memory counted in elements, conversions named after dtypes, `to`, and
the products that SciPy's linear operators have.  A layer of methods between TensorBase and ArrayTensor; what it says is what the
array says.
"""

import operator

import numpy as np

from ..support.capi cimport PyArray_NDIM
from ..support.dispatch import ops
from ..core.leaf_gradient cimport grad_dtype_of, set_grad_dtype
from ..core.operand import tensor
from ..core.tensor cimport TensorBase


cdef class PyTorchTensor(TensorBase):
    """A tensor as PyTorch's users ask about it."""

    @property
    def grad_dtype(self):
        """The dtype that the gradient of a leaf has: the tensor's own unless another was set, None for whatever arrives.

        The engine casts gradients to it, for `.grad`, the hooks of the leaf and `autograd.grad` alike.  It can be set while
        `.grad` is None or has that dtype; views, detached tensors and results have dtypes of their own.

        Raises
        ------
        RuntimeError
            On a tensor that is no leaf, for a dtype that is neither floating point nor complex, and for a real one where
            the tensor is complex.
        """
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        return grad_dtype_of(self, self.array)

    @grad_dtype.setter
    def grad_dtype(self, dtype):
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        set_grad_dtype(self, dtype)

    def dim(self):
        """Number of axes; PyTorch's spelling of `ndim`."""
        return PyArray_NDIM(self.array)

    def numel(self):
        """Number of elements; PyTorch's spelling of `size`."""
        return (<object> self.array).size

    def element_size(self):
        """Bytes of one element; PyTorch's spelling of `itemsize`."""
        return (<object> self.array).itemsize

    def stride(self, dim=None):
        """How many elements lie between neighbours along each axis, or along one; `strides` counts bytes.

        Parameters
        ----------
        dim : int, optional

        Returns
        -------
        tuple of int, or int
        """
        cdef object array = self.array
        if dim is not None:
            return array.strides[operator.index(dim)] // array.itemsize
        return tuple([step // array.itemsize for step in array.strides])

    def is_contiguous(self):
        """Whether the elements lie in C order without gaps."""
        return (<object> self.array).flags.c_contiguous

    def storage_offset(self):
        """How many elements lie before the first one in the memory that a view shares with its base."""
        cdef object array = self.array, owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        return (array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]) // array.itemsize

    def unfold(self, dimension, size, step):
        """What windows of `size` elements show, `step` apart along an axis, as a last axis; a view, read-only where they overlap."""
        return self.windows(dimension, size, step)

    def matvec(self, x):
        """`self @ x`: by this name SciPy's linear solvers, and `least_squares`, know a matrix."""
        return self @ x

    def rmatvec(self, x):
        """`self.mH @ x`, for SciPy's linear solvers."""
        return self.mH @ x

    def is_signed(self):
        """Whether the dtype has negative numbers."""
        return (<object> self.array).dtype.kind in "ifc"

    def new_tensor(self, data, dtype=None, requires_grad=False):
        """A new leaf with a copy of `data`, of the dtype of this tensor where none is given.

        Parameters
        ----------
        data : array_like
        dtype : dtype, optional
        requires_grad : bool

        Returns
        -------
        Tensor
        """
        return tensor(data, (<object> self.array).dtype if dtype is None else dtype, requires_grad)

    def float(self):
        """`astype` of float32."""
        return ops.astype(self, np.float32)

    def double(self):
        """`astype` of float64."""
        return ops.astype(self, np.float64)

    def half(self):
        """`astype` of float16."""
        return ops.astype(self, np.float16)

    def int(self):
        """`astype` of int32."""
        return ops.astype(self, np.int32)

    def long(self):
        """`astype` of int64."""
        return ops.astype(self, np.int64)

    def bool(self):
        """`astype` of bool."""
        return ops.astype(self, np.bool_)

    def cpu(self):
        """The tensor itself: all are in memory."""
        return self

    def to(self, *args, dtype=None, device=None, copy=False, non_blocking=False):
        """The tensor in another dtype; the tensor itself where it has that already.

        Parameters
        ----------
        *args
            A dtype, or a tensor whose dtype is meant, or "cpu", where all tensors are.
        dtype : dtype, optional
        device : str, optional
        copy : bool
            Whether the result is a copy in any case.
        non_blocking : bool
            Nothing: there is no other place to copy from.

        Returns
        -------
        Tensor
        """
        for wanted in args:
            if isinstance(wanted, TensorBase):
                dtype = (<TensorBase> wanted).array.dtype
            elif isinstance(wanted, str) and wanted.partition(":")[0] in ("cpu", "cuda", "mps", "xpu", "meta"):
                device = wanted
            elif wanted is not None:
                dtype = wanted
        if device is not None and str(device) != "cpu":
            raise ValueError(f"to: every tensor is in memory, none on the device {device!r}")
        if dtype is not None and np.dtype(dtype) != (<object> self.array).dtype:
            return ops.astype(self, dtype)
        return ops.copy(self) if copy else self
