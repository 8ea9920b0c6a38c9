"""Forward mode: dual levels that nest, and the tangents that tensors carry.

Owns which tensor has which tangent at which level.  An operator computes its result once, then, from the outermost level
to the innermost, evaluates its jvp formula on operands that carry the tangents of the levels further out only: so a
tangent can itself hold tangents and a graph, and levels cannot be confused.  Knows no formulas.
"""

cimport cython
cimport numpy as cnp
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM

import collections

from .dispatch import ops
from .grad_mode cimport DUAL, FORWARD_DISABLED, ThreadState, thread_objects, thread_state
from .tensor cimport TANGENT, TensorBase, TensorExtra, is_inexact

cnp.import_array()

UnpackedDualTensor = collections.namedtuple("UnpackedDualTensor", ["primal", "tangent"])


cdef class DualLevel:
    """One open level; it forgets its tangents when it is left."""

    cdef void leave(self):
        cdef ForwardGrad grad
        while self.first != NULL:
            grad = <ForwardGrad> self.first
            grad.unlink()
            grad.tangent = None


@cython.no_gc_clear  # `__dealloc__` unlinks it from its level, and needs to know which that is
cdef class ForwardGrad:
    """The tangent of one tensor at one level."""

    cdef void link(self, DualLevel owner):
        self.owner, self.level = owner, owner.index
        self.following = owner.first
        if owner.first != NULL:
            (<ForwardGrad> owner.first).previous = <void*> self
        owner.first = <void*> self

    cdef void unlink(self):
        if self.owner is None:
            return
        if self.previous != NULL:
            (<ForwardGrad> self.previous).following = self.following
        else:
            self.owner.first = self.following
        if self.following != NULL:
            (<ForwardGrad> self.following).previous = self.previous
        self.previous = self.following = NULL
        self.owner = None

    def __dealloc__(self):
        if self.owner is not None:
            self.unlink()


cdef ForwardGrad find(object operand, int level):
    """The tangent of `operand` at `level`, or None."""
    cdef ForwardGrad grad
    if not isinstance(operand, TensorBase) or not (<TensorBase> operand).flags & TANGENT:
        return None
    grad = (<TensorBase> operand).extra.tangents
    while grad is not None:
        if grad.level == level and grad.owner is not None:
            return grad
        grad = grad.outer
    return None


cdef TensorBase tangent_of(object operand, int level):
    cdef ForwardGrad grad = find(operand, level)
    return None if grad is None else grad.tangent


cdef list levels_of(tuple operands):
    """The levels at which some operand has a tangent, outermost first."""
    cdef ForwardGrad grad
    cdef set found = set()
    if thread_state().flags & FORWARD_DISABLED:
        return []
    for operand in operands:
        if isinstance(operand, (tuple, list)):
            found.update(levels_of(tuple(operand)))
        elif has_tangent(operand):
            grad = (<TensorBase> operand).extra.tangents
            while grad is not None:
                if grad.owner is not None:
                    found.add(grad.level)
                grad = grad.outer
    return sorted(found)


cdef object primal_of(object operand, int level):
    """`operand` without its tangents at `level` and further in; history and memory are shared."""
    cdef TensorBase tensor, primal
    cdef ForwardGrad grad
    if type(operand) is tuple or type(operand) is list:
        return type(operand)([primal_of(item, level) for item in operand])
    if not has_tangent(operand):
        return operand
    tensor = operand
    grad = tensor.extra.tangents
    if grad.level < level:
        return tensor
    while grad is not None and grad.level >= level:
        grad = grad.outer
    primal = tensor.alias_with_history()
    if grad is not None:
        primal.ensure_extra().tangents = grad
        primal.flags |= TANGENT
    return primal


cdef object tangents_of(object operands, int level, bint fill):
    """The tangent of one operand, or a list of them; absent ones are None, or zeros where `fill` is set."""
    if isinstance(operands, (tuple, list)):
        if not fill and all([find(item, level) is None for item in operands]):
            return None
        return [tangents_of(item, level, True) for item in operands]
    tangent = tangent_of(operands, level)
    if tangent is None and fill:
        return defined_tangent(None, operands)
    return tangent


cdef int push_forward(Jvp jvp, tuple outputs, tuple inputs) except -1:
    """Attach the tangents of an operator's outputs, outermost level first.

    `outputs` and `inputs` are what it gave and took, in order.  At each level `jvp` gets them without the tangents from
    there on inwards, and the tangents of the inputs, None where there is none; it returns those of the outputs.
    """
    return push(jvp, outputs, inputs, False)


cdef int push_linear(Jvp jvp, tuple outputs, tuple inputs) except -1:
    """`push_forward` for an operator that is linear in all that can have a tangent: `jvp` reads tangents and statics only."""
    return push(jvp, outputs, inputs, True)


cdef int push(Jvp jvp, tuple outputs, tuple inputs, bint linear) except -1:
    cdef ThreadState* state = thread_state()
    cdef int level
    cdef Py_ssize_t i
    cdef tuple tangents, results
    if state.flags & FORWARD_DISABLED:
        return 0
    for level in range(1, state.dual_level + 1):
        tangents = tangents_at(inputs, level)
        if tangents is None:
            continue
        if linear:
            results = jvp(outputs, inputs, tangents)
        else:
            results = jvp(primals_at(outputs, level), primals_at(inputs, level), tangents)
        for i in range(len(outputs)):
            output, tangent = outputs[i], results[i]
            if type(output) is list:
                for item, item_t in zip(output, tangent):
                    set_tangent(item, level, item_t)
            else:
                set_tangent(output, level, tangent)
    return 0


cdef tuple tangents_at(tuple inputs, int level):
    """The tangents of the inputs at a level; None where there is none at all."""
    cdef Py_ssize_t i
    cdef bint found = False
    cdef tuple tangents = PyTuple_New(len(inputs))
    for i in range(len(inputs)):
        value = inputs[i]
        tangent = tangents_of(value, level, False) if has_tangent(value) or is_sequence(value) else None
        found = found or tangent is not None
        Py_INCREF(tangent)
        PyTuple_SET_ITEM(tangents, i, tangent)
    return tangents if found else None


cdef tuple primals_at(tuple values, int level):
    cdef Py_ssize_t i
    cdef tuple primals = PyTuple_New(len(values))
    for i in range(len(values)):
        value = values[i]
        if has_tangent(value) or is_sequence(value):
            value = primal_of(value, level)
        Py_INCREF(value)
        PyTuple_SET_ITEM(primals, i, value)
    return primals


cdef inline bint is_sequence(object value) noexcept:
    return type(value) is tuple or type(value) is list


cdef object defined_tangent(object tangent, object primal):
    """The tangent of an input beside which another one has one: zeros where it has none itself."""
    if tangent is not None:
        return tangent
    return ops.zeros_like(primal) if isinstance(primal, TensorBase) else 0  # a number may be infinite


cdef object plus(object total, object term):
    """The sum of two terms of a jvp, where the first may not be there yet."""
    return term if total is None else ops.add(total, term)


cdef object minus(object total, object term):
    """The difference of two terms, where the first may not be there."""
    return ops.negative(term) if total is None else ops.subtract(total, term)


cdef int set_tangent(TensorBase tensor, int level, TensorBase tangent) except -1:
    """Attach a tangent; it takes the tensor's shape and dtype."""
    cdef ForwardGrad grad, inner
    cdef TensorExtra extra
    if tangent is None or not is_inexact(tensor.array):
        return 0
    if tangent.shape != tensor.shape:
        tangent = ops.broadcast_to(tangent, tensor.shape)
    if tangent.dtype != tensor.dtype:
        if tangent.dtype.kind == "c" and tensor.dtype.kind != "c":
            tangent = ops.real(tangent)
        tangent = ops.astype(tangent, tensor.dtype)
    extra = tensor.ensure_extra()
    grad = find(tensor, level)
    if grad is not None:
        grad.tangent = tangent
        return 0
    grad = ForwardGrad.__new__(ForwardGrad)
    grad.tangent = tangent
    grad.link(thread_objects().dual_levels[level - 1])
    # Innermost first.
    if extra.tangents is None or (<ForwardGrad> extra.tangents).level < level:
        grad.outer = extra.tangents
        extra.tangents = grad
    else:
        inner = extra.tangents
        while inner.outer is not None and inner.outer.level > level:
            inner = inner.outer
        grad.outer = inner.outer
        inner.outer = grad
    tensor.flags |= TANGENT
    return 0


cdef int take_tangents(TensorBase target, TensorBase source) except -1:
    """Give `target` the tangents of `source` instead of its own, after an in-place write."""
    cdef ForwardGrad grad
    if target.extra is not None:
        target.extra.tangents = None
    target.flags &= ~<unsigned int> TANGENT
    if source.flags & TANGENT:
        grad = source.extra.tangents
        while grad is not None:
            if grad.owner is not None:
                set_tangent(target, grad.level, grad.tangent)
            grad = grad.outer
    return 0


def enter_dual_level():
    """Open a dual level inside those that are open, and return its index, counted from 1.

    Returns
    -------
    int
    """
    cdef DualLevel level = DualLevel.__new__(DualLevel)
    cdef list levels = thread_objects().dual_levels
    level.index = len(levels) + 1
    levels.append(level)
    thread_state().dual_level = level.index
    thread_state().flags |= DUAL
    return level.index


def exit_dual_level(*, level=None):
    """Leave the innermost dual level; its tangents vanish.

    Parameters
    ----------
    level : int, optional
        Must be the innermost one.
    """
    cdef list levels = thread_objects().dual_levels
    if not levels:
        raise RuntimeError("Trying to exit a dual level, but no level is open; enter one with dual_level()")
    if level is not None and level != len(levels):
        raise RuntimeError(f"Trying to exit level {level}, but the innermost open level is {len(levels)}: "
                           "levels are left innermost first")
    (<DualLevel> levels.pop()).leave()
    thread_state().dual_level = len(levels)
    if not levels:
        thread_state().flags &= ~<unsigned int> DUAL


class dual_level:
    """A dual level as a context manager; yields its index."""

    def __enter__(self):
        self.level = enter_dual_level()
        return self.level

    def __exit__(self, *exc_info):
        exit_dual_level(level=self.level)


cdef int level_or_innermost(level, str function) except -1:
    cdef int innermost = thread_state().dual_level
    if innermost == 0:
        raise RuntimeError(f"{function}: no dual level is open; call it inside `with dual_level():`")
    if level is None:
        return innermost
    if not 1 <= level <= innermost:
        raise RuntimeError(f"{function}: level {level} is not open; the innermost open level is {innermost}")
    return level


def make_dual(primal, tangent, *, level=None):
    """A tensor with the value and history of `primal` that carries `tangent` at a level.

    Parameters
    ----------
    primal, tangent : Tensor
        Of one shape, floating point or complex.
    level : int, optional
        The innermost open level by default.

    Returns
    -------
    Tensor
    """
    cdef int index = level_or_innermost(level, "make_dual")
    cdef TensorBase dual, base
    for name, value in (("primal", primal), ("tangent", tangent)):
        if not isinstance(value, TensorBase):
            raise TypeError(f"make_dual: Expected {name} to be a Tensor, got {type(value).__name__}")
        if not is_inexact((<TensorBase> value).array):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}")
    if primal.shape != tangent.shape:
        raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original Tensor, "
                           f"this is not supported. Tensor is of size {primal.shape} while the given forward gradient is "
                           f"of size {tangent.shape}.")
    if find(tangent, index) is not None:
        raise RuntimeError("Trying to set a forward gradient that has a forward gradient at the same level")
    base = primal
    dual = base.alias_with_history()
    take_tangents(dual, base)
    set_tangent(dual, index, tangent)
    return dual


def unpack_dual(tensor, *, level=None):
    """Primal and tangent of a tensor at a level; the tangent is None where it has none.

    Parameters
    ----------
    tensor : Tensor
    level : int, optional
        The innermost open level by default.

    Returns
    -------
    UnpackedDualTensor
        Named tuple of `primal` and `tangent`.
    """
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"unpack_dual: expected a Tensor, got {type(tensor).__name__}")
    if level is None and not thread_state().flags & DUAL:
        return UnpackedDualTensor(tensor, None)
    cdef int index = level_or_innermost(level, "unpack_dual")
    return UnpackedDualTensor(primal_of(tensor, index), tangent_of(tensor, index))


class _set_fwd_grad_enabled:
    """Stop or resume the propagation of tangents; a context manager."""

    def __init__(self, mode):
        self._previous = thread_state().flags & FORWARD_DISABLED
        self._set(0 if mode else FORWARD_DISABLED)

    def _set(self, bits):
        thread_state().flags = (thread_state().flags & ~<unsigned int> FORWARD_DISABLED) | <unsigned int> bits

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self._set(self._previous)
