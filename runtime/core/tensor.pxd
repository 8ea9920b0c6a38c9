"""TensorBase: one ndarray and its place in the graph."""

from cpython.object cimport PyTypeObject, Py_TYPE
from libc.stdint cimport uint32_t

from ..support.capi cimport ndarray
from .node cimport Node, NodeHooks

cdef enum:
    REQUIRES_GRAD = 1
    VIEW = 2            # shares memory with `extra.base`
    INFERENCE_TENSOR = 4
    TANGENT = 8         # `extra.tangents` may hold a tangent of an open level
    RETAINS_GRAD = 16
    SAVED = 32          # some node may hold this very tensor, at version 0
    REPLACED = 64       # `data` was set while some node may have held the tensor
    MOVED = 128         # a leaf with former AccumulateGrads: it took an array of another shape, or other memory by set_
    FOREIGN = 256       # made for an operator out of an ndarray, which its owner may write to unseen
    ACCUMULATING = 1 << 16  # some thread adds to this `.grad` with the GIL given up

# Where a view was made: what decides whether a recorded write to it is allowed.
cdef enum Creation:
    PURE_VIEW = -1      # returned by a custom Function that is its steps: a write goes them, and not through its backward
    PLAIN
    IN_FUNCTION         # returned by a custom Function
    ONE_OF_SEVERAL      # of an operator that gives a list of views
    IN_NO_GRAD
    IN_INFERENCE

cdef class VersionCounter:
    cdef uint32_t value     # in-place writes so far
    cdef uint32_t rebased   # writes that changed histories or tangents: views made before one follow when they are used
    cdef uint32_t histories  # those that changed histories
    cdef bint saved         # some node may hold a tensor of this buffer, at version 0
    cdef object first       # the Snapshot of version 0, once a recorded write has ended it
    cdef object current     # the Snapshot that nodes hold of the present version

cdef class TensorExtra:
    cdef TensorBase base        # what a view was taken from, itself never a view
    cdef uint32_t rebased       # the buffer's counts when the view was taken, or when it followed its base
    cdef uint32_t histories
    cdef bint hidden            # it became a view by an in-place view operator: users do not see the base
    cdef object steps           # the ViewStep that leads from the base to a view; None where both are the same array
    cdef TensorBase dual_base   # whose tangents a view shares, where that is not `base`: an alias without the base's tangents
    cdef bint owns_tangents     # an alias, made by make_dual and the like, that shares nobody's tangents
    cdef Creation creation      # of a view
    cdef bint is_taken          # of a view of one element, which nobody has written to through this tensor:
    cdef char[16] taken         # its bytes when it was taken
    cdef TensorBase before      # this base, with its history, at version 0, once a recorded write has ended it
    cdef object tangents        # the innermost ForwardGrad, or None
    cdef dict attributes        # what the user set on the tensor
    cdef NodeHooks leaf_hooks   # hooks of a leaf, shared with its AccumulateGrad
    cdef Node former            # of a leaf that moved: the AccumulateGrad of what was recorded before

    cdef TensorExtra copy(self)

cdef class TensorBase:
    cdef ndarray array
    cdef Node grad_fn_              # the node that made it; None for a leaf
    cdef int output_nr_
    cdef unsigned int flags
    cdef VersionCounter counter     # shared by views and detached tensors; None: never written to, never shared
    cdef TensorBase grad_
    cdef void* accumulator          # a leaf's AccumulateGrad while some graph holds it, borrowed
    cdef TensorExtra extra          # None until something rare is attached
    cdef object __weakref__

    cdef VersionCounter shared_counter(self)
    cdef TensorExtra ensure_extra(self)
    cdef void track(self) noexcept
    cdef void bump(self)
    cdef int replace_array(self, ndarray array) except -1
    cdef TensorBase alias(self)
    cdef TensorBase alias_with_history(self)
    cdef NodeHooks hooks_of_node(self)

    cdef inline uint32_t version(self) noexcept:
        return 0 if self.counter is None else self.counter.value

cdef PyTypeObject* tensor_type

cdef inline bint is_tensor(object value) noexcept:
    """isinstance(value, TensorBase), quick for what the library makes itself."""
    return Py_TYPE(value) == tensor_type or isinstance(value, TensorBase)

cdef TensorBase wrap(ndarray array)
cdef bint is_inexact(ndarray array) noexcept

# How a view takes the history and the tangents of a base that was written to; set by the module of views.
ctypedef int (*Refresh)(TensorBase) except -1
cdef Refresh refresh_view

# How a leaf becomes another variable, whose gradients go elsewhere; set by the module of AccumulateGrad.
ctypedef int (*Leave)(TensorBase) except -1
cdef Leave leave_accumulator

cdef inline bint is_stale(TensorBase view) noexcept:
    return view.extra.rebased != view.counter.rebased

cdef inline int check_view(TensorBase view) except -1:
    """Bring a view up to the last recorded write to its base, or to another view of it."""
    if is_stale(view):
        refresh_view(view)
    return 0
