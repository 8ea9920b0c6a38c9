"""Views: who shares memory with whom, and what a write does to a history.

Owns base and view metadata, the steps that lead from a base to a view, and the refusals that keep gradients right.  An
in-place write that is recorded makes the target's history that of the written value; views taken before it then have a
stale history and refuse to be used.  A recorded write to a view itself is refused.
"""

cimport cython
cimport numpy as cnp
from numpy cimport ndarray

from .capi cimport NPY_ARRAY_OWNDATA, PyArray_FLAGS, Py_REFCNT
from .forward_ad cimport has_tangent, take_tangents
from .grad_mode cimport GRAD_DISABLED, ThreadState
from .tensor cimport FOREIGN, REQUIRES_GRAD, RETAINS_GRAD, VIEW, TensorBase, TensorExtra, VersionCounter

cnp.import_array()


cdef object owner_of(ndarray array):
    """The object that owns the memory: the end of NumPy's chain of bases."""
    cdef object base = array
    while isinstance(base, ndarray) and base.base is not None:
        base = base.base
    return base


@cython.freelist(64)
@cython.no_gc
cdef class ViewStep:
    """One view operator and its arguments: the way from what was viewed to the view, to be gone again from another base."""

    def __dealloc__(self):
        cdef ViewStep step = self.previous
        cdef ViewStep previous
        self.previous = None
        while step is not None and Py_REFCNT(step) == 1:  # a chain of any length is freed without recursion
            previous, step.previous = step.previous, None
            step, previous = previous, None


cdef int attach_alias(TensorBase view, object operand) except -1:
    """Note that `view` shares the memory of `operand`, if it really does; 1 says so."""
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
    extra.steps = source.extra.steps if source.flags & VIEW else None
    view.flags |= VIEW | source.flags & FOREIGN
    return 1


cdef inline bint is_array_of(object operand, ndarray array) noexcept:
    return isinstance(operand, TensorBase) and (<TensorBase> operand).array is array


cdef int attach_view(TensorBase view, object operand, void* operator, tuple statics) except -1:
    """Note that `operator(operand, *statics)` gave `view`, if the two really share memory."""
    if PyArray_FLAGS(view.array) & NPY_ARRAY_OWNDATA and not is_array_of(operand, view.array):
        return 0
    return attach_step(view, operand, operator, statics, -1)


cdef int attach_views(list views, object operand, void* operator, tuple statics) except -1:
    """`attach_view` for an operator that gives a list of views."""
    cdef int i
    for i in range(len(views)):
        attach_step(views[i], operand, operator, statics, i)
    return 0


cdef int attach_step(TensorBase view, object operand, void* operator, tuple statics, int index) except -1:
    cdef ViewStep step
    if attach_alias(view, operand):
        step = ViewStep.__new__(ViewStep)
        step.operator, step.statics, step.index = operator, statics, index
        step.previous = view.extra.steps
        view.extra.steps = step
    return 0


ctypedef object (*NoStatic)(object)
ctypedef object (*OneStatic)(object, object)
ctypedef object (*TwoStatics)(object, object, object)
ctypedef object (*ThreeStatics)(object, object, object, object)
ctypedef object (*FourStatics)(object, object, object, object, object)


cdef object take(ViewStep step, object source):
    """What the operator of a step gives for another source."""
    cdef tuple s = step.statics
    cdef object result
    if len(s) == 0:
        result = (<NoStatic> step.operator)(source)
    elif len(s) == 1:
        result = (<OneStatic> step.operator)(source, s[0])
    elif len(s) == 2:
        result = (<TwoStatics> step.operator)(source, s[0], s[1])
    elif len(s) == 3:
        result = (<ThreeStatics> step.operator)(source, s[0], s[1], s[2])
    elif len(s) == 4:
        result = (<FourStatics> step.operator)(source, s[0], s[1], s[2], s[3])
    else:
        raise NotImplementedError(f"a view operator of {len(s)} arguments beside its input cannot be replayed")
    return result if step.index < 0 else result[step.index]


cdef object replayed(ViewStep last, object base):
    """The view that the steps up to `last` take of `base`, through the operators: recorded where `base` needs a gradient."""
    cdef list steps = []
    while last is not None:
        steps.append(last)
        last = last.previous
    for step in reversed(steps):
        base = take(step, base)
    return base


def replay(TensorBase view, TensorBase base):
    """Take of `base` the view that `view` is of its own base.

    Parameters
    ----------
    view : Tensor
        Made by operators that share memory.
    base : Tensor
        Of the shape and dtype of the view's base.

    Returns
    -------
    Tensor
    """
    if not view.flags & VIEW:
        raise ValueError("replay: the first tensor is no view")
    return replayed(view.extra.steps, base)


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
