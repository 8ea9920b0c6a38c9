"""TensorBase: one ndarray and its place in the graph.

Holds the fields of a tensor: flags, gradient, hooks, history.  The subclass ArrayTensor adds the attributes of an array, the
generated subclass Tensor the operators.  Knows the node that computed a tensor, but not how nodes run.

Python's cyclic collector does not track a tensor until a hook, a user attribute or a Python Function can close a cycle.
"""

cimport cython
from cpython.object cimport PyTypeObject
from cpython.ref cimport PyObject

import warnings
import weakref

import numpy as np

from ..support cimport capi as cnp
from ..support.capi cimport PyArray_TYPE, PyObject_GC_IsTracked, PyObject_GC_Track, PyObject_GenericSetAttr, Py_REFCNT, ndarray
from .grad_mode cimport INFERENCE, thread_state
from ..support.error_hints import MissingAttribute
from ..support.hooks import RemovableHandle
from ..kernels.loops.memory cimport give_back
from .node cimport accumulator_of
from ..support.recycling cimport (
    Blanks, gradspec_adopt, gradspec_base_dealloc, gradspec_has_weakrefs, gradspec_keep_blank, gradspec_new, gradspec_take_blank,
)

cnp.import_array()

cdef Blanks blanks  # freed plain tensors, for reuse
cdef PyTypeObject* tensor_type = NULL
cdef Refresh refresh_view = NULL
cdef Leave leave_accumulator = NULL
cdef tuple NOTHING = ()
cdef str WAITING = "_waiting_rows"  # among a leaf's attributes: rows of its gradient that have not been read yet


def register_tensor_type(type cls):
    """Make `cls`, which only adds methods, the type of every tensor that the library creates."""
    global tensor_type
    tensor_type = <PyTypeObject*> cls
    gradspec_adopt(tensor_type, <PyTypeObject*> TensorBase, free_tensor)


cdef void free_tensor(PyObject* self) noexcept:
    """Free a tensor; a chain of gradients of gradients is freed iteratively, not recursively."""
    if <PyObject*> (<TensorBase> self).grad_ != <PyObject*> None:
        if <PyObject*> (<TensorBase> self).grad_.grad_ != <PyObject*> None:
            unlink_grads(self)
    give_back(<PyObject*> (<TensorBase> self).array)
    if Py_TYPE(<object> self) != tensor_type or not is_plain_tensor(self):
        gradspec_base_dealloc(self)
        return
    (<TensorBase> self).array = None
    if <PyObject*> (<TensorBase> self).grad_fn_ != <PyObject*> None:
        (<TensorBase> self).grad_fn_ = None  # may free other tensors
    (<TensorBase> self).flags, (<TensorBase> self).output_nr_, (<TensorBase> self).accumulator = 0, 0, NULL
    if not gradspec_keep_blank(&blanks, self):
        gradspec_base_dealloc(self)


cdef inline bint is_plain_tensor(PyObject* self) noexcept:
    """Whether only the array and the history are set."""
    return (<PyObject*> (<TensorBase> self).extra == <PyObject*> None
            and <PyObject*> (<TensorBase> self).counter == <PyObject*> None
            and <PyObject*> (<TensorBase> self).grad_ == <PyObject*> None and not gradspec_has_weakrefs(self)
            and not PyObject_GC_IsTracked(<object> self))


cdef void unlink_grads(PyObject* self) noexcept:
    """Free the chain of gradients of an unreferenced tensor link by link, up to the first link with another reference."""
    cdef TensorBase link = (<TensorBase> self).grad_, following
    (<TensorBase> self).grad_ = None
    while link is not None and Py_REFCNT(link) == 1:
        following, link.grad_ = link.grad_, None
        link, following = following, None


cdef TensorBase wrap(ndarray array):
    """A new tensor around `array` that does not require grad."""
    cdef TensorBase tensor = <TensorBase> (
        gradspec_take_blank(&blanks) if blanks.count else gradspec_new(tensor_type, NOTHING))
    tensor.array = array
    return tensor


cdef bint is_inexact(ndarray array) noexcept:
    cdef int type_num = PyArray_TYPE(array)
    return cnp.PyTypeNum_ISFLOAT(type_num) or cnp.PyTypeNum_ISCOMPLEX(type_num)


@cython.no_gc
@cython.freelist(64)
cdef class VersionCounter:
    """Counts the in-place writes to one buffer, for all tensors that share it."""


cdef class TensorExtra:
    """The rarely used fields of a tensor."""

    cdef TensorExtra copy(self):
        cdef TensorExtra other = TensorExtra.__new__(TensorExtra)
        other.base, other.rebased, other.histories, other.hidden = self.base, self.rebased, self.histories, self.hidden
        other.steps, other.creation, other.is_taken, other.taken = self.steps, self.creation, self.is_taken, self.taken
        other.dual_base, other.owns_tangents, other.before = self.dual_base, self.owns_tangents, self.before
        other.tangents, other.attributes, other.leaf_hooks = self.tangents, self.attributes, self.leaf_hooks
        return other


@cython.freelist(256)
cdef class TensorBase:
    """One ndarray, and its place in the graph."""

    __array_priority__ = 1000

    cdef VersionCounter shared_counter(self):
        if self.counter is None:
            self.counter = VersionCounter.__new__(VersionCounter)
            self.counter.saved = self.flags & SAVED
        return self.counter

    cdef TensorExtra ensure_extra(self):
        if self.extra is None:
            self.extra = TensorExtra.__new__(TensorExtra)
        return self.extra

    cdef void track(self) noexcept:
        if not PyObject_GC_IsTracked(self):
            PyObject_GC_Track(self)
        if self.extra is not None and not PyObject_GC_IsTracked(self.extra):
            PyObject_GC_Track(self.extra)

    cdef void bump(self):
        """Count an in-place write."""
        cdef VersionCounter counter = self.shared_counter()
        counter.value += 1

    cdef int replace_array(self, ndarray array) except -1:
        """Replace the array: nodes that saved this tensor no longer find the saved value in it."""
        if self.flags & REQUIRES_GRAD and self.grad_fn_ is None:
            if (<object> self.array).shape != (<object> array).shape:
                leave_accumulator(self)
            elif self.accumulator != NULL:
                (<Node> self.accumulator).describe(0, array)
        self.array = array
        if self.flags & SAVED or self.counter is not None and self.counter.saved:
            self.flags |= REPLACED
        return 0

    cdef TensorBase alias(self):
        """A new tensor with the same array and version, without history."""
        cdef TensorBase other = wrap(self.array)
        other.counter = self.shared_counter()
        return other

    cdef TensorBase alias_with_history(self):
        """`alias` with the same history; `.grad` and other state of this tensor object are not copied."""
        cdef TensorBase other = self.alias()
        if self.flags & VIEW:
            check_view(self)
        if self.flags & REQUIRES_GRAD:
            other.grad_fn_ = self.grad_fn_ if self.grad_fn_ is not None else accumulator_of(self, False)
            other.output_nr_ = self.output_nr_
            other.flags |= REQUIRES_GRAD
        return other

    def __setattr__(self, name, value):
        if hasattr(type(self), name):
            PyObject_GenericSetAttr(self, name, <PyObject*> value)
            return
        if self.ensure_extra().attributes is None:
            self.extra.attributes = {}
        self.extra.attributes[name] = value
        self.track()

    def __delattr__(self, name):
        if name == "grad":
            PyObject_GenericSetAttr(self, name, <PyObject*> None)
        elif name in ("data", "requires_grad", "_grad_fn", "_backward_hooks"):
            raise RuntimeError(f"cannot delete attribute '{name}' of a tensor")
        elif self.extra is not None and self.extra.attributes is not None and name in self.extra.attributes:
            del self.extra.attributes[name]
        else:
            PyObject_GenericSetAttr(self, name, NULL)

    @property
    def requires_grad(self):
        """Whether gradients flow to this tensor; settable on leaves."""
        if self.flags & VIEW:
            check_view(self)
        return self.flags & REQUIRES_GRAD != 0

    @requires_grad.setter
    def requires_grad(self, value):
        if not isinstance(value, (bool, np.bool_)):
            raise RuntimeError(f"requires_grad must be a bool, got {type(value).__name__}")
        if self.grad_fn_ is not None:
            if value:
                return
            raise RuntimeError("you can only change requires_grad flags of leaf variables. If you want to use a computed "
                               "variable in a subgraph that doesn't require differentiation use var.detach().")
        if value:
            if self.flags & INFERENCE_TENSOR and not thread_state().flags & INFERENCE:
                raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed; "
                                   "clone() it")
            if not is_inexact(self.array):
                raise RuntimeError("only Tensors of floating point and complex dtype can require gradients, "
                                   f"this one is {self.dtype}; use astype(float) first")
            if self.counter is not None and not self.flags & (REQUIRES_GRAD | VIEW):
                self.counter.rebased += 1  # its views require grad, too
            self.flags |= REQUIRES_GRAD
        else:
            self.flags &= ~<unsigned int> REQUIRES_GRAD

    def requires_grad_(self, requires_grad=True):
        """Set `requires_grad` in place.

        Parameters
        ----------
        requires_grad : bool

        Returns
        -------
        Tensor
            This tensor.
        """
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self):
        """True if no recorded operation computed this tensor."""
        if self.flags & VIEW:
            check_view(self)
        return self.grad_fn_ is None

    @property
    def grad_fn(self):
        """The node that computed this tensor; None for a leaf."""
        if self.flags & VIEW:
            check_view(self)
        if self.grad_fn_ is not None:
            self.track()  # a hook of the node may now close over this tensor
        return self.grad_fn_

    @property
    def output_nr(self):
        """The number of this output of `grad_fn`."""
        if self.flags & VIEW:
            check_view(self)
        return self.output_nr_

    @property
    def grad(self):
        """The accumulated gradient; None before the first backward."""
        if self.grad_ is None and self.grad_fn_ is not None and not self.flags & RETAINS_GRAD:
            warnings.warn("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. It is not populated in "
                          "autograd.backward(); call .retain_grad() on the tensor if it should be.", stacklevel=2)
        if self.extra is not None and self.extra.attributes is not None and WAITING in self.extra.attributes:
            self.extra.attributes.pop(WAITING).settle(self)
        return self.grad_

    @grad.setter
    def grad(self, value):
        cdef TensorBase other = value if isinstance(value, TensorBase) else None
        if value is not None and other is None:
            raise TypeError(f"assigned grad expected to be a Tensor or None but got {type(value).__name__}")
        if other is self:
            raise RuntimeError("can't assign a Tensor as its own grad")
        wanted = None if other is None else self.grad_dtype if self.grad_fn_ is None else self.dtype
        if wanted is not None and other.dtype != wanted:
            raise RuntimeError(f"attempting to assign a gradient with dtype {other.dtype} to a tensor with grad_dtype {wanted}")
        if other is not None and other.shape != self.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size {list(other.shape)} to a tensor of size {list(self.shape)}")
        if self.extra is not None and self.extra.attributes is not None:
            self.extra.attributes.pop(WAITING, None)
        self.grad_ = other

    @property
    def retains_grad(self):
        """Whether `retain_grad` was called on this non-leaf."""
        return bool(self.flags & RETAINS_GRAD)

    def retain_grad(self):
        """Keep the gradient of this non-leaf in `.grad`; does nothing on a leaf."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self.grad_fn_ is None or self.flags & RETAINS_GRAD:
            return
        self.flags |= RETAINS_GRAD
        self.grad_fn_.ensure_hooks().retains_grad[self.output_nr_] = weakref.ref(self)

    def register_hook(self, hook):
        """Call `hook(grad)` when the gradient of this tensor has been computed; a returned tensor replaces it.

        Parameters
        ----------
        hook : callable

        Returns
        -------
        RemovableHandle
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return RemovableHandle(self.hooks_of_node().tensor_pre.setdefault(self.output_nr_, {}), hook)

    def register_post_accumulate_grad_hook(self, hook):
        """Call `hook(tensor)` after a gradient was accumulated into this leaf's `.grad`.

        Returns
        -------
        RemovableHandle
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self.grad_fn_ is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return RemovableHandle(self.hooks_of_node().post_accumulate, hook)

    cdef NodeHooks hooks_of_node(self):
        """The hooks of the node that receives this tensor's gradient; a leaf keeps them itself."""
        cdef TensorExtra extra
        self.track()
        if self.grad_fn_ is not None:
            return self.grad_fn_.ensure_hooks()
        extra = self.ensure_extra()
        if extra.leaf_hooks is None:
            extra.leaf_hooks = NodeHooks.__new__(NodeHooks)
            if self.accumulator != NULL:
                (<Node> self.accumulator).hooks = extra.leaf_hooks
        self.track()
        return extra.leaf_hooks

    @property
    def _version(self):
        if self.flags & INFERENCE_TENSOR:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self.version()

    @property
    def _base(self):
        """The base of a view, or None."""
        return None if self.extra is None or self.extra.hidden else self.extra.base

    def _is_view(self):
        return bool(self.flags & VIEW) and not self.extra.hidden

    def __getattr__(self, name):
        if self.extra is not None and self.extra.attributes is not None and name in self.extra.attributes:
            return self.extra.attributes[name]
        if name.startswith("_saved_"):
            raise AttributeError(f"a tensor has no {name!r}: it is an attribute of its grad_fn")
        raise MissingAttribute(type(self), name)

    def detach(self):
        """The same array without history; in-place writes to either change, and count for, both.

        Returns
        -------
        Tensor
        """
        cdef TensorBase other = self.alias()
        other.flags = self.flags & INFERENCE_TENSOR
        return other

    def is_inference(self):
        """Whether this is an inference tensor: created inside `inference_mode`, so that no graph may save it."""
        return bool(self.flags & INFERENCE_TENSOR)

    def detach_(self):
        """Drop this tensor's history, in place.

        Raises
        ------
        RuntimeError
            On a view, whose history belongs to the base as well.
        """
        if self.flags & VIEW:
            raise RuntimeError("can't detach views in-place; use detach() instead")
        self.grad_fn_, self.output_nr_ = None, 0
        self.flags &= ~<unsigned int> (REQUIRES_GRAD | RETAINS_GRAD | TANGENT)
        if self.extra is not None:
            self.extra.tangents = None
        return self

    @property
    def data(self):
        """The same array with neither history nor a shared version: writes through it are not counted."""
        return wrap(self.array)

    @data.setter
    def data(self, value):
        if not isinstance(value, TensorBase):
            raise TypeError(f"data must be a Tensor, got {type(value).__name__}")
        if self.flags & REQUIRES_GRAD and not is_inexact((<TensorBase> value).array):
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        self.replace_array((<TensorBase> value).array)
