"""Views and in-place writes: who shares memory with whom, and what a write does to a history.

Owns base and view metadata and the refusals that keep gradients right.  An in-place write that is recorded makes the
target's history that of the written value; views taken before it then have a stale history and refuse to be used.
A recorded write to a view itself is refused.
"""

cimport numpy as cnp
from numpy cimport ndarray

import numpy as np

from .capi cimport NPY_ARRAY_WRITEABLE, PyArray_FLAGS
from .accumulate_grad cimport set_history
from .forward_ad cimport has_tangent, take_tangents
from .grad_mode cimport DUAL, GRAD_DISABLED, ThreadState
from .kernels.ufunc cimport as_array
from .node cimport Node
from .tensor cimport REQUIRES_GRAD, RETAINS_GRAD, VIEW, TensorBase, TensorExtra, VersionCounter, wrap

cnp.import_array()

cdef object owner_of(ndarray array):
    """The object that owns the memory: the end of NumPy's chain of bases."""
    cdef object base = array
    while isinstance(base, ndarray) and base.base is not None:
        base = base.base
    return base


cdef int attach_view(TensorBase view, object operand) except -1:
    """Note that `view` came from `operand`, if the two really share memory."""
    cdef TensorExtra extra
    cdef TensorBase base, source
    if not isinstance(operand, TensorBase):  # a Python number
        return 0
    source = operand
    if view.array is not source.array and owner_of(view.array) is not owner_of(source.array):
        return 0
    base = source.extra.base if source.flags & VIEW else source
    view.counter = source.shared_counter()
    extra = view.ensure_extra()
    extra.base, extra.rebased = base, view.counter.rebased
    view.flags |= VIEW
    return 0


cdef TensorBase writable(object target, str op):
    """The target of an in-place operator, or an error that says what cannot be written to."""
    cdef TensorBase tensor
    if not isinstance(target, TensorBase):
        raise TypeError(f"{op}: the first argument is written to and must be a Tensor, got {type(target).__name__}")
    tensor = target
    if not PyArray_FLAGS(tensor.array) & NPY_ARRAY_WRITEABLE:
        raise ValueError(f"{op}: the tensor's array is read-only; use the out-of-place operator, or copy() first")
    return tensor


cdef int check_inplace(ThreadState* state, TensorBase target, bint recording, str op) except -1:
    """Refuse the in-place writes whose gradients would be wrong; before anything has changed."""
    cdef TensorBase base
    if state.flags & GRAD_DISABLED:
        return 0
    base = target.extra.base if target.flags & VIEW else target
    if base.flags & REQUIRES_GRAD and base.grad_fn_ is None:
        raise RuntimeError(f"{op}: a {'view of a ' if base is not target else ''}leaf Variable that requires grad is being "
                           "used in an in-place operation. Write under no_grad(), or to a clone().")
    if target.flags & VIEW and (recording or base.flags & REQUIRES_GRAD):
        raise RuntimeError(f"{op}: an in-place write to a view is not differentiable yet. Write to the base with an index "
                           "(base[index] = value), or use the out-of-place operator.")
    return 0


cdef TensorBase value_before(TensorBase target, bint copy):
    """The target as it was: with its history, and its own memory where the formula needs the old values."""
    cdef TensorBase old = target.alias_with_history()
    if copy:
        old.array, old.counter = target.array.copy(order="K"), None
    if has_tangent(target):
        take_tangents(old, target)
    return old


cdef TensorBase overwrite(TensorBase target, TensorBase value, str op):
    """Write `value` into the target's memory and give the target its history."""
    copy_into(target.array, value.array, op)
    target.bump()
    rebase(target, value)
    return target


cdef int copy_into(ndarray target, ndarray value, str op) except -1:
    if (<object> value).shape != (<object> target).shape:
        raise RuntimeError(f"{op}: output with shape {list((<object> target).shape)} doesn't match the broadcast shape "
                           f"{list((<object> value).shape)}")
    if not np.can_cast(value.dtype, target.dtype, casting="same_kind"):
        raise TypeError(f"{op}: result type {value.dtype} can't be cast to the target's dtype {target.dtype}")
    target[...] = value
    return 0


cdef int rebase(TensorBase target, TensorBase value) except -1:
    """Make the history and the tangents of `value` those of `target` (rebase_history)."""
    cdef object keeper
    cdef VersionCounter counter
    if value.grad_fn_ is not None:
        if target.flags & RETAINS_GRAD and target.grad_fn_ is not None:
            keeper = target.grad_fn_.ensure_hooks().retains_grad.pop(target.output_nr_, None)
            if keeper is not None:
                value.grad_fn_.ensure_hooks().retains_grad[value.output_nr_] = keeper
        target.grad_fn_, target.output_nr_ = value.grad_fn_, value.output_nr_
        target.flags |= REQUIRES_GRAD
        counter = target.shared_counter()
        counter.rebased += 1
        if value.grad_fn_.tracked:
            target.track()
    if has_tangent(target) or has_tangent(value):
        take_tangents(target, value)
    return 0


cdef TensorBase finish_inplace(TensorBase target, Node node):
    """Note a write that a kernel made directly, and give the target the history of `node` if there is one."""
    cdef TensorBase written
    target.bump()
    if node is not None:
        written = wrap(target.array)
        set_history(written, node, 0)
        rebase(target, written)
    return target


cdef int refuse_out(ThreadState* state, TensorBase target, bint recording, str op) except -1:
    """`out=` has no history: refuse it where one would be needed."""
    if recording or (target.flags & REQUIRES_GRAD and not state.flags & GRAD_DISABLED):
        raise RuntimeError(f"{op}: functions with out=... arguments don't support automatic differentiation, but one of the "
                           "arguments requires grad. Use the result instead of out=, or no_grad().")
    if state.flags & DUAL:
        raise RuntimeError(f"{op}: an out= function cannot be used in forward mode: it would drop the tangent")
    return 0


cdef TensorBase write_out(TensorBase target, object result, str op):
    """Store a forward's result in `out=`."""
    copy_into(target.array, as_array(result), op)
    target.bump()
    return target
