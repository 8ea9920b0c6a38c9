# cython: boundscheck=False, wraparound=False
"""CopySlices: the history of a base after a recorded write to one of its views.

Defines `rebase`, which gives a written tensor the history and the tangents of the value.  A write to a view is a write to its
base.  The part of the base's gradient under the view goes to the value, and the rest to the base's old state.  The same step, on
tangents, puts the value's tangent into the base's tangent.  Earlier views of the base follow it when they are next used
(`refresh`).  `first_histories` collects the tensors that get their first history by a write, and `cut_history` drops a history
for good.
"""

from cpython.dict cimport PyDict_GetItem
from cpython.ref cimport PyObject

import weakref

import numpy as np

from ..core.accumulate_grad cimport connect_one, connect_two, needs_grad, set_history
from ..support cimport capi as cnp
from ..support.capi cimport (
    NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, PyArray_FLAGS, PyThreadState_GetDict, Py_REFCNT, ndarray,
)
from ..support.dispatch import ops
from ..core.non_operator_events cimport tell_of_copy, tell_of_write
from ..core.forward_ad cimport has_tangent, push_linear, take_tangents
from ..core.grad_mode cimport DUAL, FORWARD_DISABLED, GRAD_DISABLED, INFERENCE, REPLAY_VIEWS, ThreadState, thread_state
from ..core.node cimport Node, Wanted
from ..core cimport tensor as tensor_module
from ..core.tensor cimport (
    IN_NO_GRAD, PLAIN, REQUIRES_GRAD, RETAINS_GRAD, TANGENT, TensorBase, TensorExtra, check_view, is_inexact, wrap,
)
from .modes cimport put_back
from .view cimport (
    ViewStep, adopt, array_view, base_of, dual_base_of, history_writes, is_watched, refuse, replayed, steps_of, watch,
)

cnp.import_array()

cdef class OfView(Node):
    """A node with the steps from a base to one of its views."""

    cdef int set_layout(self, ndarray base) except -1:
        if not PyArray_FLAGS(base) & NPY_ARRAY_C_CONTIGUOUS:
            shape, dense, number = (<object> base).shape, np.empty_like(base), np.empty((), base.dtype)
            self.layout = np.lib.stride_tricks.as_strided(number, shape, dense.strides)
        self.shape, self.dtype = (<object> base).shape, base.dtype
        return 0


cdef class AsStridedBackward(OfView):
    """A view of a base that was written to after the view was taken."""

    cdef object apply(self, object grad, Wanted wanted):
        cdef ndarray whole = np.zeros(self.shape, self.dtype) if self.layout is None else np.zeros_like(self.layout, self.dtype)
        array_view(self.steps, None, whole)[...] = grad
        return whole

    cdef object apply_recorded(self, object grad, Wanted wanted):
        return put(wrap(np.zeros(self.shape, self.dtype)), grad, self.steps, None, self.layout)


cdef class CopySlices(OfView):
    """The base, with a value in place of one of its views."""

    cdef object apply(self, object grad, Wanted wanted):
        cdef ndarray whole = grad, part, value_grad = None
        cdef int owned = NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE | (NPY_ARRAY_C_CONTIGUOUS if self.layout is None else 0)
        # The only references are the engine's and `whole`: no other code sees the gradient, so it may be overwritten.
        if not (self.hooks is None and Py_REFCNT(whole) <= 2 and PyArray_FLAGS(whole) & owned == owned
                and (self.layout is None or (<object> whole).strides == self.layout.strides)):
            whole = laid_out(grad, self.layout)
        part = whole if self.steps is self.stop else array_view(self.steps, self.stop, whole)
        if wanted & 2:
            value_grad = part.copy()
        if wanted & 1:
            part[...] = 0
        return whole if wanted & 1 else None, value_grad

    cdef object apply_recorded(self, object grad, Wanted wanted):
        cdef TensorBase value_grad = replayed(self.steps, self.stop, in_order(grad, self.layout)) if wanted & 2 else None
        if value_grad is not None and not PyArray_FLAGS(value_grad.array) & NPY_ARRAY_C_CONTIGUOUS:
            value_grad = ops.contiguous(value_grad)  # like the copy in `apply`, so that a later sum adds in the same order
        return put(grad, None, self.steps, self.stop, self.layout) if wanted & 1 else None, value_grad


cdef int link(ThreadState* state, TensorBase base, object value, ViewStep steps, ViewStep stop, TensorBase written) except -1:
    """Make `written` the output of a CopySlices of `base` and `value`."""
    cdef CopySlices node = CopySlices.__new__(CopySlices)
    node.steps, node.stop = steps, stop
    node.set_layout(written.array)
    connect_two(node, state, base, value)
    set_history(written, node, 0)
    return 0


cdef ndarray laid_out(ndarray array, object layout):
    """A copy in the memory order of `layout`, or C order if it is None: the steps then give views of it, as of the original."""
    cdef ndarray copy
    if layout is None:
        return np.array(array, order="C")
    copy = np.empty_like(layout, dtype=array.dtype)
    copy[...] = array
    return copy


cdef TensorBase in_order(TensorBase base, object layout):
    """`base` in the order of `layout`, recorded if it changes: some view operators do not copy if no view exists."""
    cdef TensorBase turned
    if layout is None:
        if PyArray_FLAGS(base.array) & NPY_ARRAY_C_CONTIGUOUS:
            return base
        return ops.reshape(ops.copy(ops.reshape(base, (-1,))), (<object> base.array).shape)
    order = np.argsort([-abs(step) for step in layout.strides], kind="stable")
    turned = ops.permute_dims(base, tuple(order.tolist()))
    return ops.permute_dims(in_order(turned, None), tuple(np.argsort(order).tolist()))


cdef TensorBase put(TensorBase base, TensorBase value, ViewStep steps, ViewStep stop, object layout):
    """A copy of `base` with `value`, or zeros if it is None, in place of the view at the end of the steps."""
    cdef ThreadState* state = thread_state()
    cdef TensorBase written = wrap(tell_of_copy(base.array, laid_out(base.array, layout)))
    cdef ndarray part = written.array if steps is stop else array_view(steps, stop, written.array)
    tell_of_write(part, 0 if value is None else value.array)
    part[...] = 0 if value is None else value.array
    if needs_grad(state, base) or needs_grad(state, value):
        link(state, base, value, steps, stop, written)
    if state.flags & DUAL and (has_tangent(base) or has_tangent(value)):
        push_linear(put_tangent, (written,), (base, value, steps, stop))
    return written


cdef tuple put_tangent(tuple outputs, tuple inputs, tuple tangents):
    base_t, value_t = tangents[0], tangents[1]
    return (put(ops.zeros_like(outputs[0]) if base_t is None else base_t, value_t, inputs[2], inputs[3],
                (<TensorBase> outputs[0]).array),)


cdef int rebase(ThreadState* state, TensorBase target, TensorBase value, bint recording) except -1:
    """Give `target`, which already has the numbers of `value`, its history and its tangents."""
    if recording:
        rebase_history(state, target, value)
    if state.flags & DUAL and not state.flags & FORWARD_DISABLED and (has_tangent(target) or has_tangent(value)):
        rebase_tangents(target, value)
    return 0


cdef int rebase_history(ThreadState* state, TensorBase target, TensorBase value) except -1:
    """Update the history of a view's base, which all of its views then follow."""
    cdef TensorBase base = base_of(target)
    cdef TensorBase written = value
    if value.grad_fn_ is None and not base.flags & REQUIRES_GRAD:
        return 0
    if not base.flags & REQUIRES_GRAD or type(base.grad_fn_) is CutHistory:
        note_first(base)
    if base is not target or value.grad_fn_ is None:
        written = wrap(base.array)
        link(state, base, value, steps_of(target), None, written)
    adopt(base, written)
    target.counter.rebased += 1
    target.counter.histories += 1
    if target is not base and (target.flags & RETAINS_GRAD or state.flags & REPLAY_VIEWS):
        check_view(target)  # it retains the gradient of its new value; the mode of the write applies to it
    return 0


cdef class CutHistory(Node):
    """The end of a history that was cut because no gradient will be needed there: it passes no gradient on."""

    cdef object apply(self, object grad, Wanted wanted):
        return None

    cdef object apply_recorded(self, object grad, Wanted wanted):
        return None


class first_histories:
    """A context manager that yields a list: weak references to the tensors that get their first history inside by a write."""

    def __enter__(self):
        state = <dict> PyThreadState_GetDict()
        self.before, self.found = state.get("gradspec first histories"), []
        state["gradspec first histories"] = self.found
        return self.found

    def __exit__(self, *exc_info):
        (<dict> PyThreadState_GetDict())["gradspec first histories"] = self.before


cpdef int note_first(TensorBase base) except -1:
    cdef PyObject* found = PyDict_GetItem(<object> PyThreadState_GetDict(), "gradspec first histories")
    if found != NULL and <object> found is not None:
        (<list> found).append(weakref.ref(base))
    return 0


def cut_history(TensorBase tensor, bint released):
    """Drop the history of a tensor that is not a view.

    Parameters
    ----------
    tensor : Tensor
    released : bool
        Whether no graph that references the tensor is needed any more: it may stop requiring grad.
    """
    cdef CutHistory node
    if released:
        tensor.detach_()
    else:
        node = CutHistory.__new__(CutHistory)
        set_history(tensor, node, 0)
    if tensor.counter is not None:
        tensor.counter.rebased += 1
        tensor.counter.histories += 1


cdef int rebase_tangents(TensorBase target, TensorBase value) except -1:
    """Update the tangents of the tensor that shares them with a view."""
    cdef TensorBase dual = dual_base_of(target), written
    if dual is target:
        take_tangents(target, value)
    else:
        written = wrap(dual.array)
        push_linear(put_tangent, (written,), (dual, value, steps_of(target), steps_of(dual)))
        take_tangents(dual, written)
    target.counter.rebased += 1
    return 0


cdef int refresh(TensorBase view) except -1:
    """Give a view the current history and tangents of its base."""
    cdef ThreadState* state = thread_state()
    cdef unsigned int flags = state.flags
    cdef TensorExtra extra = view.extra
    cdef TensorBase base = base_of(view), dual = dual_base_of(view), fresh
    cdef bint recorded = extra.creation < IN_NO_GRAD
    cdef bint written = extra.histories != history_writes(view) and (recorded or not flags & (GRAD_DISABLED | INFERENCE))
    cdef bint history = base.flags & REQUIRES_GRAD and written
    cdef bint tangents = flags & DUAL and dual is not view and (dual.flags | view.flags) & TANGENT
    cdef bint lost = not base.flags & REQUIRES_GRAD and written and recorded and view.grad_fn_ is not None
    if history and extra.creation > PLAIN:
        refuse(view, "", "its base or another view of its base has been")
    if is_watched(view):
        return 0
    extra.rebased = view.counter.rebased  # replaying the steps checks these counts
    if recorded:
        extra.histories = view.counter.histories
    state.flags &= ~<unsigned int> (GRAD_DISABLED | INFERENCE)
    try:
        if history:
            adopt(view, taken_again(state, view, base, flags))
        elif lost:  # the base lost its history, so the view's is outdated
            view.grad_fn_, view.output_nr_ = None, 0
            view.flags &= ~<unsigned int> REQUIRES_GRAD
        elif base.flags & REQUIRES_GRAD and is_inexact(view.array):  # the base is a leaf that requires grad since then
            view.flags |= REQUIRES_GRAD
        if tangents:
            state.flags = flags & ~<unsigned int> (GRAD_DISABLED | FORWARD_DISABLED | INFERENCE)
            fresh = replayed(extra.steps, steps_of(dual), dual)
            take_tangents(view, fresh)
    finally:
        put_back(state, flags)
        watch(view)
    return 0


cdef TensorBase taken_again(ThreadState* state, TensorBase view, TensorBase base, unsigned int modes):
    """A tensor with the history of the view, taken from the current base."""
    cdef TensorBase fresh = base.alias_with_history()
    state.flags |= FORWARD_DISABLED
    if view.extra.steps is None:
        return fresh
    return as_strided(state, view, fresh) if in_one_step(modes, view) else replayed(view.extra.steps, None, base)


cdef int pass_by(ThreadState* state, TensorBase view, TensorBase alias) except -1:
    """Give an alias of a view its own history, separate from the view's: the view's hooks do not apply to a written value."""
    cdef unsigned int flags = state.flags
    cdef TensorBase fresh
    state.flags &= ~<unsigned int> (GRAD_DISABLED | INFERENCE)
    try:
        fresh = taken_again(state, view, base_of(view), flags)
    finally:
        put_back(state, flags)
    alias.grad_fn_, alias.output_nr_ = fresh.grad_fn_, fresh.output_nr_
    return 0


cdef bint in_one_step(unsigned int flags, TensorBase view) noexcept:
    """Whether the steps may be replaced by one; arrays with repeated memory need the steps one by one."""
    return not flags & REPLAY_VIEWS and PyArray_FLAGS(view.array) & NPY_ARRAY_WRITEABLE


cdef TensorBase as_strided(ThreadState* state, TensorBase view, TensorBase base):
    """The array of a view as a single strided view of its base, however many steps there were."""
    cdef AsStridedBackward node = AsStridedBackward.__new__(AsStridedBackward)
    cdef TensorBase fresh = wrap(view.array)
    node.steps = view.extra.steps
    node.set_layout(base_of(view).array)
    connect_one(node, state, base)
    set_history(fresh, node, 0)
    return fresh


tensor_module.refresh_view = refresh
