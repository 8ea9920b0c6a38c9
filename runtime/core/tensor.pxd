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
    SAVED = 32          # some node may have saved this very tensor, at version 0
    REPLACED = 64       # `data` was set while some node may have saved the tensor
    MOVED = 128         # a leaf with former AccumulateGrads: it took an array of a different shape, or other memory by set_
    FOREIGN = 256       # created for an operator from an ndarray, which the user may write to unseen
    ACCUMULATING = 1 << 16  # some thread adds to this `.grad` with the GIL released

# How a view was created, which decides whether a recorded write to it is allowed.
cdef enum Creation:
    PURE_VIEW = -1      # returned by a custom Function that declares its view steps: a write bypasses its backward
    PLAIN
    IN_FUNCTION         # returned by a custom Function
    ONE_OF_SEVERAL      # of an operator that returns a list of views
    IN_NO_GRAD
    IN_INFERENCE

cdef class VersionCounter:
    cdef uint32_t value     # in-place writes so far
    cdef uint32_t rebased   # writes that changed histories or tangents: earlier views are refreshed when they are used
    cdef uint32_t histories  # writes that changed histories
    cdef bint saved         # some node may have saved a tensor of this buffer, at version 0
    cdef object first       # the Snapshot of version 0, once a recorded write has replaced it
    cdef object current     # the Snapshot that nodes hold of the present version

cdef class TensorExtra:
    cdef TensorBase base        # the base of a view; a view itself only after an in-place view operator
    cdef uint32_t rebased       # the buffer's counts when the view was taken or last refreshed
    cdef uint32_t histories
    cdef bint hidden            # it became a view by an in-place view operator: users do not see the base
    cdef object steps           # the last ViewStep from the base to the view; None if both have the same array
    cdef TensorBase dual_base   # the tensor that shares tangents with a view, if not `base`: an alias without the base's tangents
    cdef bint owns_tangents     # an alias, created by make_dual and the like, that shares tangents with no other tensor
    cdef Creation creation      # of a view
    cdef bint is_taken          # of a view of one element, unchanged through this tensor so far:
    cdef char[16] taken         # its bytes when it was taken
    cdef TensorBase before      # this base, with its history, at version 0, once a recorded write has replaced it
    cdef object tangents        # the innermost ForwardGrad, or None
    cdef dict attributes        # attributes that the user set on the tensor
    cdef NodeHooks leaf_hooks   # hooks of a leaf, shared with its AccumulateGrad
    cdef Node former            # of a leaf that moved: the AccumulateGrad of earlier recordings

    cdef TensorExtra copy(self)

cdef class TensorBase:
    cdef ndarray array
    cdef Node grad_fn_              # the node that computed it; None for a leaf
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
    """isinstance(value, TensorBase), with a fast path for the library's own type."""
    return Py_TYPE(value) == tensor_type or isinstance(value, TensorBase)

cdef TensorBase wrap(ndarray array)
cdef bint is_inexact(ndarray array) noexcept

# Updates the history and the tangents of a view after a write to its base; set by `copy_slices`.
ctypedef int (*Refresh)(TensorBase) except -1
cdef Refresh refresh_view

# Makes a leaf a new variable with a new accumulator; set by `accumulate_grad`.
ctypedef int (*Leave)(TensorBase) except -1
cdef Leave leave_accumulator

cdef inline bint is_stale(TensorBase view) noexcept:
    return view.extra.rebased != view.counter.rebased

cdef inline int check_view(TensorBase view) except -1:
    """Refresh a view after a recorded write to its base, or to another view of it."""
    if is_stale(view):
        refresh_view(view)
    return 0
