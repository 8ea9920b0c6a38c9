"""PyTorchTensor: PyTorch's names for the properties of a tensor's array.

Defines the names that NumPy lacks: axes, elements and memory counted in elements, conversions named after dtypes, `to`, and the
products of SciPy's linear operators.  Also defines the two methods that differ between NumPy and PyTorch.  A layer of methods
between TensorBase and ArrayTensor; the values come from the array.
"""

import operator

import numpy as np

from ..support.capi cimport PyArray_NDIM
from ..support.dispatch import ops
from ..support.error_hints cimport answer_calls
from ..support.keywords import is_idle
from ..core.leaf_gradient cimport grad_dtype_of, set_grad_dtype
from ..core.conversion import tensor
from ..core.tensor cimport TensorBase

answer_calls()


cdef object order_of(int ndim, tuple axes):
    """The order of axes for `transpose(*axes)`: NumPy's, or PyTorch's exchange if two ints name two of more than two axes."""
    cdef object first, second
    if len(axes) != 2 or ndim < 2:
        return axes[0] if len(axes) == 1 else axes or None
    first, second = [operator.index(axis) for axis in axes]
    if not (-ndim <= first < ndim and -ndim <= second < ndim):
        raise IndexError(f"transpose: axes {first} and {second} of a tensor of {ndim} axes")
    first, second = first % ndim, second % ndim
    if ndim == 2 and first < second:
        raise TypeError(f"transpose: ({axes[0]}, {axes[1]}) changes nothing in NumPy and exchanges two axes in PyTorch; "
                        "write x.T or x.swapaxes(0, 1) for the exchange")
    order = list(range(ndim))
    order[first], order[second] = second, first
    return tuple(order)


cdef int check_layout(str method, object memory_format) except -1:
    """Refuse a memory format that PyTorch does not have."""
    if memory_format is not None and not is_idle("memory_format", memory_format):
        raise ValueError(f"{method}: memory_format is {memory_format!r}; write nothing: a layout is NumPy's to choose")
    return 0


cdef class PyTorchTensor(TensorBase):
    """A tensor with PyTorch's attributes and methods."""

    @property
    def grad_dtype(self):
        """The dtype of a leaf's gradient: the tensor's own dtype by default, None for any dtype.

        The engine casts gradients to it, for `.grad`, the hooks of the leaf and `autograd.grad` alike.  It can be set while
        `.grad` is None or has that dtype; views, detached tensors and results have their own `grad_dtype`.

        Raises
        ------
        RuntimeError
            On a non-leaf, for a dtype that is neither floating point nor complex, and for a real dtype if the tensor is
            complex.
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

    ndimension = dim

    def numel(self):
        """Number of elements; PyTorch's spelling of `size`."""
        return (<object> self.array).size

    def nelement(self):
        """Number of elements; PyTorch's spelling of `size`."""
        return (<object> self.array).size

    def element_size(self):
        """Bytes of one element; PyTorch's spelling of `itemsize`."""
        return (<object> self.array).itemsize

    def stride(self, dim=None):
        """Number of elements between neighbours along each axis, or along one; `strides` counts bytes.

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
        """Number of elements before the first one in the memory that a view shares with its base."""
        cdef object array = self.array, owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        return (array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]) // array.itemsize

    def unfold(self, dimension, size, step):
        """Windows of `size` elements, `step` apart along an axis, as a new last axis; a view, read-only if windows overlap."""
        return self.windows(dimension, size, step)

    def transpose(self, *axes, **named):
        """A view with the axes in the given order, reversed by default; two ints exchange two axes, as in PyTorch.

        Parameters
        ----------
        *axes : int, or one tuple of int
            The order of all axes.  For three or more axes, two ints are the axes to exchange.
        **named
            `axes`, or PyTorch's `dim0` and `dim1`.

        Returns
        -------
        Tensor

        Raises
        ------
        TypeError
            For `transpose(0, 1)` of a matrix, which changes nothing in NumPy.
        """
        if "dim0" in named:
            return ops.swapaxes(self, *axes, **named)
        if axes:
            return ops.permute_dims(self, order_of(PyArray_NDIM(self.array), axes), **named)
        return ops.permute_dims(self, **named)

    def transpose_(self, *axes, **named):
        """`transpose` in place."""
        if "dim0" in named:
            return self.swapaxes_(*axes, **named)
        return self.permute_dims_(*([] if not axes else [order_of(PyArray_NDIM(self.array), axes)]), **named)

    def repeat(self, repeats, *further, axis=None):
        """Every element, or every slice along `axis`, repeated in its place; PyTorch's `x.repeat(m, n)` is `x.tile(m, n)`.

        Parameters
        ----------
        repeats : int or sequence of int
            Number of repetitions, one for all or one for each.
        *further
            Not allowed: a second number is an axis in NumPy and a number of copies in PyTorch.
        axis : int, optional
            Axis along which to repeat; by default the tensor is flattened.

        Returns
        -------
        Tensor

        Raises
        ------
        TypeError
            For further numbers.
        """
        if further:
            copies = ", ".join([str(number) for number in (repeats, *further)])
            elements = f", or x.repeat({repeats}, axis={further[0]})" if len(further) == 1 else ""
            raise TypeError(f"repeat: {copies} are numbers of copies in PyTorch, in NumPy the second one is an axis; "
                            f"PyTorch's x.repeat(m, n) is x.tile((m, n)): write x.tile({copies}){elements}")
        return ops.repeat(self, repeats, axis)

    def repeat_interleave(self, repeats, axis=None):
        """Every element, or every slice along `axis`, repeated in place.

        Parameters
        ----------
        repeats : int or sequence of int
            Number of repetitions, one for all or one for each.
        axis : int, optional
            Axis along which to repeat; by default the tensor is flattened.

        Returns
        -------
        Tensor
        """
        return ops.repeat(self, repeats, axis)

    def matvec(self, x):
        """`self @ x`: the name by which SciPy's linear solvers, and `least_squares`, recognise a matrix."""
        return self @ x

    def rmatvec(self, x):
        """`self.mH @ x`, for SciPy's linear solvers."""
        return self.mH @ x

    @property
    def is_cuda(self):
        """False: every tensor is in memory."""
        return False

    @property
    def is_sparse(self):
        """False: a sparse array has a class of its own, `gs.sparse.SparseTensor`."""
        return False

    def is_floating_point(self):
        """Whether the dtype is a real floating-point dtype."""
        return (<object> self.array).dtype.kind == "f"

    def is_complex(self):
        """Whether the dtype is complex."""
        return (<object> self.array).dtype.kind == "c"

    def type_as(self, other):
        """The tensor in the dtype of `other`; the tensor itself if it already has that dtype.

        Parameters
        ----------
        other : Tensor

        Returns
        -------
        Tensor
        """
        return self.to((<TensorBase?> other).array.dtype)

    def is_signed(self):
        """Whether the dtype has negative numbers."""
        return (<object> self.array).dtype.kind in "ifc"

    def new_tensor(self, data, dtype=None, requires_grad=False):
        """A new leaf with a copy of `data`, by default in the dtype of this tensor.

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
        """The tensor in float32; the tensor itself if that is its dtype."""
        return self.to(np.float32)

    def double(self):
        """The tensor in float64; the tensor itself if that is its dtype."""
        return self.to(np.float64)

    def half(self):
        """The tensor in float16; the tensor itself if that is its dtype."""
        return self.to(np.float16)

    def int(self):
        """The tensor in int32; the tensor itself if that is its dtype."""
        return self.to(np.int32)

    def long(self):
        """The tensor in int64; the tensor itself if that is its dtype."""
        return self.to(np.int64)

    def bool(self):
        """The tensor in bool; the tensor itself if that is its dtype."""
        return self.to(np.bool_)

    def type(self, dtype=None):
        """The tensor in another dtype; the tensor itself if it already has that dtype, which is `x.dtype`."""
        if dtype is None:
            raise TypeError("type: a tensor has no type beside its dtype; write x.dtype")
        return self.to(dtype=dtype)

    def cpu(self):
        """The tensor itself: all tensors are in memory."""
        return self

    def to_dense(self, dtype=None, *, masked_grad=None):
        """The tensor itself, in the given dtype: every gradient is dense, also where PyTorch's would be sparse.

        Parameters
        ----------
        dtype : dtype, optional
        masked_grad : bool, optional
            Ignored: nothing is masked.

        Returns
        -------
        Tensor
        """
        return self.to(dtype)

    def resize_as_(self, other, *, memory_format=None):
        """`resize_` to the shape of `other`, in place.

        Parameters
        ----------
        other : Tensor
        memory_format : str, optional
            Has no effect: NumPy chooses the layout.

        Returns
        -------
        Tensor
            This tensor.
        """
        check_layout("resize_as_", memory_format)
        return self.resize_((<TensorBase?> other).shape)

    def contiguous(self, *, memory_format=None):
        """The tensor itself if it is contiguous in C order, otherwise a copy in C order.

        Parameters
        ----------
        memory_format : str, optional
            Has no effect: the order is always C's.

        Returns
        -------
        Tensor
        """
        check_layout("contiguous", memory_format)
        return self if self.is_contiguous() else ops.contiguous(self)

    def to(self, *args, dtype=None, device=None, copy=False, non_blocking=False, memory_format=None):
        """The tensor in the given dtype; the tensor itself if it already has that dtype.

        Parameters
        ----------
        *args
            A dtype, a tensor with the wanted dtype, or "cpu", the only device.
        dtype : dtype, optional
        device : str, optional
        copy : bool
            Whether the result is always a copy.
        non_blocking : bool
            Ignored: there is no other device to copy from.
        memory_format : str, optional
            Has no effect: NumPy chooses the layout.

        Returns
        -------
        Tensor
        """
        check_layout("to", memory_format)
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
