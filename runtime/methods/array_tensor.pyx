"""ArrayTensor: the array methods of a tensor.

Defines shape, dtype and memory layout, the conversions to NumPy and Python, printing, copying and pickling.  A layer of methods
between PyTorchTensor, with PyTorch's names for the same, and the generated Tensor, with the operators.
"""

from importlib import import_module

import numpy as np

from ..support.capi cimport PyArray_NDIM, ndarray
from ..support.devices import CPU
from ..support.dispatch import ops
from ..support.scipy_operands import left_by_scipy
from ..core.arguments cimport as_ints
from ..core.forward_ad cimport levels_of, tangent_of
from ..core.events cimport note_event
from ..core.grad_mode cimport GRAD_DISABLED, LISTENING, ThreadState, thread_state
from .lost_history import let_out, warn_of_number
from .numpy_protocol cimport UniversalCalls, call_function
from .pytorch_tensor cimport PyTorchTensor
from ..saved.copy_on_write cimport begin_write
from ..core.tensor cimport REQUIRES_GRAD, TANGENT, VIEW, TensorBase, check_view, leave_accumulator
from ..saved.view cimport check_inplace

# They import this module, so they are imported by name on demand.
NAMESPACE = __name__.partition(".")[0] + ".array_api"
AT = __name__.partition(".")[0] + ".compat.jax_at"


class Size(int):
    """The number of elements: an int, as NumPy's `x.size`, and callable, as PyTorch's `x.size()`.  It has the tensor's shape."""

    def __call__(self, dim=None):
        """PyTorch's `x.size()`, which is `x.shape`, and `x.size(dim)`, which is `x.shape[dim]`.

        Parameters
        ----------
        dim : int, optional

        Returns
        -------
        tuple of int, or int
        """
        return self.shape if dim is None else self.shape[dim]

    def __reduce__(self):
        return int, (int(self),)


cdef class ArrayTensor(PyTorchTensor):
    """A tensor as an array."""

    @property
    def shape(self):
        """Tuple of ints."""
        return (<object> self.array).shape

    @property
    def ndim(self):
        return PyArray_NDIM(self.array)

    @property
    def size(self):
        """Number of elements."""
        cdef object array = self.array, size = Size(array.size)
        size.shape = array.shape
        return size

    @property
    def dtype(self):
        return (<object> self.array).dtype

    @property
    def itemsize(self):
        return (<object> self.array).itemsize

    @property
    def nbytes(self):
        return (<object> self.array).nbytes

    @property
    def strides(self):
        """Bytes between neighbours along each axis, as NumPy counts them."""
        return (<object> self.array).strides

    # Python operators composed of others.

    def __divmod__(self, other):
        return ops.floor_divide(self, other), ops.remainder(self, other)

    def __rdivmod__(self, other):
        return ops.floor_divide(other, self), ops.remainder(other, self)

    # Conversions to NumPy and Python.

    def numpy(self):
        """The ndarray itself, not a copy.

        Raises
        ------
        RuntimeError
            If a derivative would be dropped silently: for a tensor that requires grad, outside `no_grad`; for a tensor with a
            tangent, always.
        """
        cdef str reason = history_of(self)
        if reason is not None:
            lost = ", which would be lost" if reason == "carries a tangent" else ""
            raise RuntimeError(f"Can't call numpy() on Tensor that {reason}{lost}. Use tensor.detach().numpy() instead.")
        return left(self, "numpy", self.array)

    def __array__(self, dtype=None, copy=None):
        cdef str reason
        if (found := left_by_scipy(self)) is not None:
            return found
        reason = history_of(self)
        if reason is not None:
            let_out(reason)
        return left(self, "numpy", np.array(self.array, dtype=dtype, copy=copy))

    # Other libraries: the array API's namespace, and exchange of memory.

    def __array_namespace__(self, *, api_version=None):
        """The module with the array API's functions on tensors."""
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"the namespace is that of the array API 2024.12, not {api_version!r}")
        return import_module(NAMESPACE)

    @property
    def device(self):
        """The device of the array: "cpu"."""
        return CPU

    def to_device(self, device, /, *, stream=None):
        """This tensor: there is only one device."""
        if device != "cpu":
            raise ValueError(f"tensors are on the device 'cpu', got {device!r}")
        return self

    def __dlpack__(self, *, stream=None, **asked):
        """A capsule of the array's memory, which has no history."""
        if stream not in (None, -1):
            raise BufferError(f"tensors are on the device 'cpu', which has no streams, got stream={stream!r}")
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self.numpy().__dlpack__(**asked)

    def __dlpack_device__(self):
        return (<object> self.array).__dlpack_device__()

    # NumPy's functions, and its operators with an array on the left, call our operators.

    __array_ufunc__ = UniversalCalls()

    def __array_function__(self, function, types, tuple arguments, dict keywords):
        return call_function(function, arguments, keywords)

    @property
    def at(self):
        """JAX's `x.at[index].set(value)`, `add`, `multiply`, ...: a new tensor that differs from this one at an index."""
        return import_module(AT).At(self)

    def item(self):
        """The only element, as a Python number."""
        if self.array.size != 1:
            raise RuntimeError(f"a Tensor with {self.array.size} elements cannot be converted to a number")
        return left(self, "item", (<object> self.array).item())

    def tolist(self):
        """Nested lists of Python numbers; a number for a 0-d tensor."""
        return left(self, "tolist", (<object> self.array).tolist())

    def __len__(self):
        if PyArray_NDIM(self.array) == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.array.shape[0]

    def __iter__(self):
        if PyArray_NDIM(self.array) == 0:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(self.array.shape[0]))

    def __bool__(self):
        if self.array.size != 1:
            raise RuntimeError(f"the truth value of a Tensor with {self.array.size} elements is ambiguous; "
                               "use any() or all(); PyTorch's torch.equal(a, b) is gradspec.array_equal(a, b)")
        return left(self, "bool", bool((<object> self.array).item()))

    def __int__(self):
        return int(number(self, "int"))

    def __float__(self):
        return float(number(self, "float"))

    def __complex__(self):
        return complex(number(self, "complex"))

    def __index__(self):
        if self.array.size != 1 or self.array.dtype.kind not in "iub":
            raise TypeError("only integer tensors of one element can be converted to an index")
        return int(self.item())

    def __round__(self, digits=None):
        return self.round(0 if digits is None else digits)

    def __format__(self, spec):
        if not spec:
            return str(self)
        if self.array.size == 1:
            return format(self.item(), spec)
        return np.array2string(self.array, separator=", ", formatter={"all": lambda item: format(item, spec)})

    def __repr__(self):
        parts = [np.array2string(self.array, separator=", ", prefix="tensor(")]
        if self.array.dtype != np.float64 and self.array.dtype.kind not in "b" and self.array.dtype != np.int64:
            parts.append(f"dtype={self.array.dtype}")
        if self.array.size == 0 and self.array.ndim != 1:
            parts.append(f"shape={self.shape}")
        try:
            if self.flags & VIEW:
                check_view(self)
            name = None if self.grad_fn_ is None else type(self.grad_fn_).__name__
        except RuntimeError:  # a write to the base gives this view a history that it cannot have
            name = "Invalid"
        if name is not None:
            parts.append(f"grad_fn=<{name}>")
        elif self.flags & REQUIRES_GRAD:
            parts.append("requires_grad=True")
        tangent = tangent_of(self, thread_state().dual_level) if self.flags & TANGENT else None
        if tangent is not None:
            parts.append(f"tangent={tangent!r}")
        return f"tensor({', '.join(parts)})"

    def _repr_html_(self):
        from html import escape  # not imported with gradspec

        about = f"{'&times;'.join(map(str, self.shape)) or 'number'} {self.dtype}"
        return f"<div><small>Tensor {about}</small><pre>{escape(repr(self))}</pre></div>"

    # Other memory.

    def set_(self, source):
        """Take the memory, the shape and the dtype of `source`, in place; both share the memory from then on.

        Parameters
        ----------
        source : Tensor

        Returns
        -------
        Tensor
            This tensor.

        Raises
        ------
        RuntimeError
            If a gradient could flow: call it under `no_grad`.
        """
        cdef TensorBase other
        if not isinstance(source, TensorBase):
            raise TypeError(f"set_: source must be a Tensor, got {type(source).__name__}")
        other = source
        shape = self.shape
        take_memory(self, other.array, self.requires_grad or other.requires_grad, "set_")
        if shape == self.shape:  # else it has been left already
            leave_accumulator(self)
        self.counter = other.shared_counter()
        return self

    def resize_(self, *shape):
        """Change the shape, in place: as many elements as fit are kept, in C order; new elements are zero.

        Parameters
        ----------
        shape : int or tuple of int

        Returns
        -------
        Tensor
            This tensor.

        Raises
        ------
        RuntimeError
            On a tensor that requires grad.
        """
        wanted = as_ints(shape[0] if len(shape) == 1 else shape, "resize_", "shape", -1)
        if wanted == self.shape:
            return self
        array = np.zeros(wanted, self.dtype)
        kept = min(array.size, self.array.size)
        array.reshape(-1)[:kept] = self.array.reshape(-1)[:kept]
        take_memory(self, array, self.requires_grad, "resize_")
        return self

    def __reduce_ex__(self, protocol):
        if self.grad_fn_ is not None:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol and "
                               "pickle: a graph cannot be copied. Use detach() first, or clone() to keep the graph")
        return rebuild, (type(self), self.array, bool(self.flags & REQUIRES_GRAD), self.grad,
                         None if self.extra is None else self.extra.attributes)

    def __copy__(self):
        """A copy of the array, as NumPy's; it keeps the graph."""
        if self.grad_fn is not None:
            return ops.copy(self)
        cls, arguments = self.__reduce_ex__(4)
        return cls(arguments[0], self.array.copy(), *arguments[2:])

    def __deepcopy__(self, memo):
        _, arguments = self.__reduce_ex__(4)
        from copy import deepcopy  # not imported with gradspec

        memo[id(self)] = other = rebuild(arguments[0], *deepcopy(arguments[1:], memo))
        return other


cdef inline object left(TensorBase tensor, str method, object value):
    """Report to listeners a value that leaves for NumPy or Python, and return it."""
    cdef ThreadState* state = thread_state()
    if state.flags & LISTENING:
        note_event(state, "left", method, (tensor,), value)
    return value


cdef str history_of(TensorBase tensor):
    """The reason why the values alone lose something, in words; None if nothing is lost."""
    if tensor.flags & REQUIRES_GRAD and not thread_state().flags & GRAD_DISABLED:
        return "requires grad"
    if tensor.flags & TANGENT and levels_of((tensor,)):
        return "carries a tangent"
    return None


cdef object number(ArrayTensor tensor, str function):
    """The only element, for a conversion to a number other than `item`, with a warning if history is lost."""
    cdef object value = tensor.item()
    cdef str reason = history_of(tensor)
    if reason is not None:
        warn_of_number(function, reason)
    return value


cdef int take_memory(TensorBase tensor, ndarray array, bint needs_grad, str op) except -1:
    cdef ThreadState* state = thread_state()
    if needs_grad and not state.flags & GRAD_DISABLED:
        raise RuntimeError(f"{op}: a tensor that requires grad cannot take other memory: its history would not be that of its "
                           "values. Call it under no_grad(), or on a detach()ed tensor")
    check_inplace(state, tensor, False, op)
    begin_write(state, tensor, False)
    tensor.replace_array(array)
    if tensor.flags & VIEW:  # no longer a view
        tensor.flags &= ~<unsigned int> VIEW
        tensor.counter = None
    return 0


def rebuild(type cls, ndarray array, requires_grad, grad, attributes):
    """A leaf from its parts; called by pickle and deepcopy."""
    cdef TensorBase tensor = cls.__new__(cls)
    tensor.array = array
    tensor.grad_ = grad
    if attributes:
        for name, value in attributes.items():
            setattr(tensor, name, value)
    return tensor.requires_grad_(requires_grad)
