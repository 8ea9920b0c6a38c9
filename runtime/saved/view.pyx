"""Views: track shared memory, and update a view's history after writes to its base.

Holds the metadata of bases and views, and the steps that lead from a base to a view.  A view of a base that was written to takes
its history and its tangents from the base again, by the same steps, on its next use.  A write to a view that cannot be replayed
from its base is refused.
"""

cimport cython
from libc.stdint cimport uint32_t
from libc.string cimport memcmp, memcpy

import numpy as np

from ..support cimport capi as cnp
from ..support.capi cimport NPY_ARRAY_OWNDATA, PyArray_BYTES, PyArray_FLAGS, PyArray_ITEMSIZE, PyArray_NDIM, Py_REFCNT, ndarray
from ..core.events cimport call_wrapper
from ..core.grad_mode cimport FORWARD_DISABLED, GRAD_DISABLED, INFERENCE, ThreadState, thread_state
from ..core.tensor cimport (
    FOREIGN, IN_INFERENCE, IN_NO_GRAD, INFERENCE_TENSOR, ONE_OF_SEVERAL, PLAIN, REQUIRES_GRAD, RETAINS_GRAD, TANGENT,
    VIEW, Creation, TensorBase, TensorExtra, check_view, is_inexact, wrap,
)
from .modes cimport put_back

cdef extern from "gradspec/support/cpython.h":
    bint gradspec_is_temporary(object, Py_ssize_t)

cnp.import_array()


cdef enum:
    WATCHED = 1 << 30  # a watched view's count `rebased` differs from its buffer's by this bit, whatever is written


cdef object owner_of(ndarray array):
    """The object that owns the memory: the end of NumPy's chain of bases."""
    cdef object base = array
    while isinstance(base, ndarray) and base.base is not None:
        base = base.base
    return base


@cython.freelist(64)
@cython.no_gc
cdef class ViewStep:
    """One view operator and its arguments: a step from the viewed tensor to the view, replayable on a different base."""

    def __dealloc__(self):
        cdef ViewStep step = self.previous
        cdef ViewStep previous
        self.previous = None
        while step is not None and Py_REFCNT(step) == 1:  # a chain of any length is freed without recursion
            previous, step.previous = step.previous, None
            step, previous = previous, None


cdef int attach_alias(TensorBase view, object operand) except -1:
    """Record that `view` shares the memory of `operand`, if it really does; returns 1 in this case."""
    cdef unsigned int modes
    cdef TensorExtra extra, before = None
    cdef TensorBase source
    if not isinstance(operand, TensorBase):  # a Python number
        return 0
    source = operand
    if view.flags & source.flags & INFERENCE_TENSOR:  # no version, no history: nothing to track
        return 0
    if view.array is not source.array and owner_of(view.array) is not owner_of(source.array):
        return 0
    if source.flags & INFERENCE_TENSOR:
        view.flags |= INFERENCE_TENSOR
        return 0
    view.flags = (view.flags & ~<unsigned int> INFERENCE_TENSOR) | VIEW
    view.counter = source.shared_counter()
    extra = view.ensure_extra()
    if source.flags & VIEW:
        check_view(source)
    extra.base = source
    if source.flags & VIEW:
        before = source.extra
        extra.base, extra.steps, extra.creation = before.base, before.steps, before.creation
        extra.dual_base = source if before.dual_base is None and before.owns_tangents else before.dual_base
    view.flags |= source.flags & FOREIGN
    modes = thread_state().flags
    if modes & (GRAD_DISABLED | INFERENCE):
        extra.creation = IN_INFERENCE if modes & INFERENCE else IN_NO_GRAD
        if source.flags & REQUIRES_GRAD and is_inexact(view.array):  # so that a recorded write to it is detected, and refused
            view.flags |= REQUIRES_GRAD
    note_writes(view)
    return 1


cdef uint32_t history_writes(TensorBase view) noexcept:
    """The number of writes so far that change the history of a view; a view taken without recording counts every write."""
    return view.counter.value if view.extra.creation >= IN_NO_GRAD else view.counter.histories


cdef int note_writes(TensorBase view) except -1:
    """Count from now on the writes after which a view is refreshed, or refused, on its next use."""
    view.extra.rebased, view.extra.histories = view.counter.rebased, history_writes(view)
    watch(view)
    return 0


cdef int watch(TensorBase view) except -1:
    """Have a view that was taken without recording checked on every use: unrecorded writes do not change `rebased`."""
    if view.extra.creation >= IN_NO_GRAD and base_of(view).flags & REQUIRES_GRAD:
        view.extra.rebased = view.counter.rebased ^ WATCHED
    return 0


cdef bint is_watched(TensorBase view) noexcept:
    """Whether a view is checked on every use, and nothing else has happened to it."""
    return view.extra.creation >= IN_NO_GRAD and view.extra.rebased == view.counter.rebased ^ WATCHED


cdef int attach_dual(TensorBase view, TensorBase operand) except -1:
    """`attach_alias` for a tensor with its own tangents: a write to one does not change the tangents of the other."""
    if attach_alias(view, operand):
        view.extra.owns_tangents, view.extra.dual_base = True, None
    return 0


cdef inline bint is_array_of(object operand, ndarray array) noexcept:
    return isinstance(operand, TensorBase) and (<TensorBase> operand).array is array


cdef int attach_view(TensorBase view, object operand, void* operator, tuple statics) except -1:
    """Record that `view` is `operator(operand, *statics)`, if the two really share memory."""
    if PyArray_FLAGS(view.array) & NPY_ARRAY_OWNDATA and not is_array_of(operand, view.array):
        return 0
    return attach_step(view, operand, operator, statics, -1)


cdef int attach_views(list views, object operand, void* operator, tuple statics) except -1:
    """`attach_view` for an operator that returns a list of views."""
    cdef int i
    for i in range(len(views)):
        attach_step(views[i], operand, operator, statics, i)
    return 0


cdef object normal(object value):
    """An argument of a step; an inference tensor is replaced by a tensor that may be saved when the step is replayed."""
    if not isinstance(value, TensorBase) or not (<TensorBase> value).flags & INFERENCE_TENSOR:
        return value
    cdef TensorBase tensor = wrap((<TensorBase> value).array)
    tensor.flags &= ~<unsigned int> INFERENCE_TENSOR
    return tensor


cdef int attach_step(TensorBase view, object operand, void* operator, tuple statics, int index) except -1:
    cdef ViewStep step
    if attach_alias(view, operand):
        step = ViewStep.__new__(ViewStep)
        if view.extra.creation == IN_INFERENCE:
            statics = tuple([normal(value) for value in statics])
        step.operator, step.statics, step.index = operator, statics, index
        step.previous = view.extra.steps
        view.extra.steps = step
        if PyArray_NDIM(view.array) == 0 and PyArray_ITEMSIZE(view.array) <= 16:
            memcpy(&view.extra.taken[0], PyArray_BYTES(view.array), PyArray_ITEMSIZE(view.array))
            view.extra.is_taken = True
        if index >= 0 and view.extra.creation < ONE_OF_SEVERAL:
            view.extra.creation = ONE_OF_SEVERAL
    return 0


cdef object assigned(TensorBase target, object value):
    """The value for `target[index] = value`: an element that was overwritten since it was read has its value of that time.

    This agrees with NumPy, so `x[i], x[j] = x[j], x[i]` swaps.  But x[i] is a view, which shows its memory: one with a name is
    refused.
    """
    cdef TensorBase view, read
    cdef ndarray array
    if not isinstance(value, TensorBase) or not (<TensorBase> value).flags & VIEW:
        return value
    view = value
    if view.counter is not target.counter or not view.extra.is_taken:
        return value
    if memcmp(&view.extra.taken[0], PyArray_BYTES(view.array), PyArray_ITEMSIZE(view.array)) == 0:
        return value
    if not gradspec_is_temporary(value, 1):
        raise RuntimeError("an element was assigned that has been overwritten since it was read, x[i] being a view of it: take "
                           "x[i].clone() for what it was, or x[i] again for what it is")
    array = np.empty((), view.array.dtype)
    memcpy(PyArray_BYTES(array), &view.extra.taken[0], PyArray_ITEMSIZE(array))
    read = wrap(array)
    read.grad_fn_, read.output_nr_ = view.grad_fn_, view.output_nr_
    read.flags = view.flags & (REQUIRES_GRAD | TANGENT)
    if view.flags & TANGENT:
        read.ensure_extra().tangents = view.extra.tangents
    return read


cdef object take(ViewStep step, object source):
    """Apply the operator of a step to a different source."""
    cdef object result = call_wrapper(step.operator, (source, *step.statics))
    return result if step.index < 0 else result[step.index]


cdef object replayed(ViewStep last, ViewStep stop, object base):
    """Apply the steps after `stop`, up to `last`, to `base`: recorded if `base` needs a gradient."""
    cdef list steps = []
    while last is not stop:
        steps.append(last)
        last = last.previous
    for step in reversed(steps):
        base = take(step, base)
    return base


cdef ndarray array_view(ViewStep last, ViewStep stop, ndarray base):
    """`replayed` on arrays."""
    cdef ThreadState* state = thread_state()
    cdef unsigned int flags = state.flags
    cdef TensorBase view
    state.flags |= GRAD_DISABLED | FORWARD_DISABLED
    try:
        view = replayed(last, stop, wrap(base))
    finally:
        put_back(state, flags)
    if owner_of(view.array) is not owner_of(base):
        raise RuntimeError("a view cannot be taken again: of memory in another order its operator makes a copy")
    return view.array


def replay(TensorBase view, TensorBase base):
    """Take from `base` the view that `view` is of its own base.

    Parameters
    ----------
    view : Tensor
        A tensor computed by operators that share memory.
    base : Tensor
        A tensor with the shape and dtype of the view's base.

    Returns
    -------
    Tensor
    """
    if not view.flags & VIEW:
        raise ValueError("replay: the first tensor is not a view")
    return replayed(view.extra.steps, None, base)


cdef TensorBase base_of(TensorBase tensor):
    """The base of a view, found recursively, as an in-place view operator can make a base a view; else the tensor itself."""
    if not tensor.flags & VIEW:
        return tensor
    return base_of(tensor.extra.base)


cdef ViewStep steps_of(TensorBase tensor):
    """The last step from its base to a tensor; None if it is its own base."""
    return tensor.extra.steps if tensor.flags & VIEW else None


cdef TensorBase dual_base_of(TensorBase view):
    """The tensor that shares its tangents with `view`."""
    cdef TensorExtra extra = view.extra
    if not view.flags & VIEW or extra.owns_tangents:
        return view
    return base_of(view) if extra.dual_base is None else extra.dual_base


cdef int adopt(TensorBase target, TensorBase value) except -1:
    """Give `target` the history of `value`."""
    cdef object keeper
    if target.flags & RETAINS_GRAD and target.grad_fn_ is not None:
        keeper = target.grad_fn_.ensure_hooks().retains_grad.pop(target.output_nr_, None)
        if keeper is not None:
            value.grad_fn_.ensure_hooks().retains_grad[value.output_nr_] = keeper
    target.grad_fn_, target.output_nr_ = value.grad_fn_, value.output_nr_
    target.flags |= REQUIRES_GRAD
    if value.grad_fn_.tracked:
        target.track()
    return 0


cdef dict AMBIGUOUS = {
    IN_NO_GRAD: ("no_grad", "no_grad block", "with grad mode enabled"),
    IN_INFERENCE: ("inference", "inference_mode block", "in normal mode"),
}


cdef int refuse(TensorBase view, str op, str written) except -1:
    """Raise an error: the write would give the view a history that it cannot have."""
    cdef Creation creation = view.extra.creation
    cdef str made = "A view was created in", output
    prefix = f"{op}: " if op else ""
    output = "A tensor is a view"
    if view.grad_fn_ is not None:
        output = f"Output {view.output_nr_} of {type(view.grad_fn_).__name__.removesuffix('Backward')} is a view"
    if creation == IN_NO_GRAD or creation == IN_INFERENCE:
        mode, block, otherwise = AMBIGUOUS[creation]
        if view.grad_fn_ is not None:
            made = output + " of a view which was created in"
        raise RuntimeError(f"{prefix}{made} {mode} mode and {written} modified inplace {otherwise}. What was meant cannot be "
                           f"known, so it is refused: put both the view and the write inside the {block}, if the write is not "
                           "to be recorded, or both outside.")
    if creation == ONE_OF_SEVERAL:
        raise RuntimeError(f"{prefix}{output} and {written} modified inplace. This view is the output of a function that returns "
                           "multiple views, and such views cannot be written to: use the out-of-place operator, or index the "
                           "base.")
    raise RuntimeError(f"{prefix}{output} and {written} modified inplace. This view was created inside a custom Function (or an "
                       "input was returned as-is), and the write would pass by the Function's own backward: clone() its output "
                       "first.")


cdef int check_inplace(ThreadState* state, TensorBase target, bint recording, str op) except -1:
    """Refuse in-place writes that would have wrong gradients; called before anything has changed."""
    if target.flags & INFERENCE_TENSOR and not state.flags & INFERENCE:
        raise RuntimeError(f"{op}: Inplace update to inference tensor outside InferenceMode is not allowed. clone() it first, "
                           "or write inside inference_mode.")
    if not recording:
        return 0
    if target.flags & VIEW:
        if target.extra.creation > PLAIN:
            refuse(target, op, "is being")
        if target.flags & REQUIRES_GRAD and base_of(target).grad_fn_ is None:
            raise RuntimeError(f"{op}: a view of a leaf Variable that requires grad is being used in an in-place operation. "
                               "Write under no_grad(), or to a clone().")
    if target.flags & REQUIRES_GRAD and target.grad_fn_ is None:
        raise RuntimeError(f"{op}: a leaf Variable that requires grad is being used in an in-place operation. Write under "
                           "no_grad(), or to a clone().")
    return 0
