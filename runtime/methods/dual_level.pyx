"""Dual levels: enter and exit forward mode, and the user functions make_dual and unpack_dual.

Opens and closes levels, and checks the users' arguments.
"""

import numpy as np

from ..support cimport capi as cnp
from ..support.dispatch import ops
from ..support.errors import NotBatched
from ..core.forward_ad import formulas
from ..core.non_operator_events cimport tell_of_copy
from ..core.forward_ad cimport (
    DualLevel, ForwardGrad, batch_of, find, has_tangent, primal_of, set_tangent, take_tangents, tangent_of,
)
from ..core.grad_mode cimport BATCHED, DUAL, FORWARD_DISABLED, MAPPED, thread_objects, thread_state
from ..support.named_result import named
from ..core.tensor cimport REQUIRES_GRAD, TANGENT, TensorBase, is_inexact, wrap
from ..saved.view cimport attach_dual

cnp.import_array()

UnpackedDualTensor = named("UnpackedDualTensor", "primal", "tangent", module=__name__)


def enter_dual_level():
    """Open a dual level inside of the open ones, and return its index, counted from 0.

    Returns
    -------
    int
    """
    return enter(0) - 1  # in `enter`, 0 means that no level is open


cdef int enter(Py_ssize_t batch) except -1:
    """Open a level and return its index, counted from 1."""
    cdef DualLevel level = DualLevel.__new__(DualLevel)
    cdef list levels = thread_objects().dual_levels
    level.index, level.batch = len(levels) + 1, batch
    levels.append(level)
    thread_state().dual_level = level.index
    thread_state().flags |= DUAL | BATCHED if batch else DUAL
    return level.index


def exit_dual_level(*, level=None):
    """Leave the innermost dual level and drop its tangents.

    Parameters
    ----------
    level : int, optional
        Index to check: it must be the innermost level.
    """
    cdef list levels = thread_objects().dual_levels
    if not levels:
        raise RuntimeError("Trying to exit a forward AD level, but no level is open; enter one with dual_level()")
    if level is not None and level != len(levels) - 1:
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created: level "
                           f"{level}, where the innermost is {len(levels) - 1}")
    (<DualLevel> levels.pop()).leave()
    thread_state().dual_level = len(levels)
    if not levels:
        thread_state().flags &= ~<unsigned int> (DUAL | BATCHED)
    elif thread_state().flags & BATCHED and not any([(<DualLevel> one).batch for one in levels]):
        thread_state().flags &= ~<unsigned int> BATCHED


class dual_level:
    """A dual level as a context manager; yields its index."""

    def __enter__(self):
        self.level = enter_dual_level()
        return self.level

    def __exit__(self, *exc_info):
        exit_dual_level(level=self.level)


class batched_level(dual_level):
    """A dual level with many tangents for each tensor: rows of the tensor's shape along a leading axis.

    For passes that propagate many tangents at once.  `make_dual` and `unpack_dual` refuse such a level: they raise
    NotBatched, and their caller then runs once for each tangent.

    Parameters
    ----------
    batch : int
        Number of tangents, at least 1.
    """

    def __init__(self, batch):
        self.batch = batch

    def __enter__(self):
        self.level = enter(self.batch) - 1
        return self

    def push(self, TensorBase primal, TensorBase tangents):
        """A tensor with the value and history of `primal` that carries `tangents` at this level."""
        if thread_state().flags & MAPPED:
            found = thread_objects().mapping.push(self, primal, tangents)
            if found is not NotImplemented:
                return found
        cdef TensorBase dual = primal.alias_with_history()
        if has_tangent(primal):
            take_tangents(dual, primal)
        attach_dual(dual, primal)
        set_tangent(dual, self.level + 1, tangents)
        return dual

    def pushed(self, TensorBase tensor):
        """Primal and tangents of a tensor at this level."""
        if thread_state().flags & MAPPED and (found := thread_objects().mapping.pushed(self, tensor)) is not NotImplemented:
            return found
        return unpacked(tensor, self.level + 1)


class formula_level(dual_level):
    """A dual level that computes no tangents: it finds the jvp formula of the called operator instead."""

    def __enter__(self):
        self.flags = thread_state().flags & FORWARD_DISABLED
        self.level = enter(-2) - 1  # neither a batch nor the code of an error
        thread_state().flags &= ~<unsigned int> FORWARD_DISABLED
        return self

    def __exit__(self, *exc_info):
        formulas.pop(thread_objects().dual_levels[self.level], None)
        exit_dual_level(level=self.level)
        thread_state().flags |= <unsigned int> self.flags

    def carrying(self, value):
        """An operand, or several, with some tangent at this level; its other tangents are kept unless forward mode was off."""
        cdef TensorBase dual
        if type(value) is tuple or type(value) is list:
            return type(value)([self.carrying(item) for item in value])
        if not isinstance(value, TensorBase) or not is_inexact((<TensorBase> value).array):
            return value
        dual = (<TensorBase> value).alias_with_history()
        if has_tangent(value) and not self.flags:
            take_tangents(dual, value)
        set_tangent(dual, self.level + 1, value)
        return dual

    def found(self):
        """The Formula, called with outputs, inputs and tangents, which has `outputs` and `inputs`; None without a derivative."""
        return formulas.get(thread_objects().dual_levels[self.level])


def innermost_level():
    """Number of open dual levels.

    Returns
    -------
    int
    """
    return thread_state().dual_level


def is_dual(TensorBase tensor):
    """Whether a tensor has a tangent at any open level.

    Parameters
    ----------
    tensor : Tensor
        Not a row of a vmap: the batch has the tangent.

    Returns
    -------
    bool
    """
    cdef ForwardGrad grad
    if not has_tangent(tensor):
        return False
    grad = tensor.extra.tangents
    while grad is not None and grad.owner is None:
        grad = grad.outer
    return grad is not None


cdef int level_or_innermost(level, str function) except -1:
    cdef int innermost = thread_state().dual_level
    if innermost == 0:
        raise RuntimeError(f"Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() "
                           f"first: {function} is called inside `with dual_level():`")
    if level is None:
        level = innermost - 1
    if not 0 <= level < innermost:
        raise RuntimeError(f"{function}: level {level} is not open; the innermost open level is {innermost - 1}")
    if thread_state().flags & BATCHED and batch_of(level + 1):
        raise NotBatched
    return level + 1


def make_dual(primal, tangent, *, level=None):
    """A tensor with the value and history of `primal` that carries `tangent` at a level.

    Parameters
    ----------
    primal, tangent : Tensor
        Tensors of the same shape, floating point or complex.
    level : int, optional
        The innermost open level by default.

    Returns
    -------
    Tensor
    """
    cdef int index = level_or_innermost(level, "make_dual")
    cdef TensorBase dual, base
    if thread_state().flags & MAPPED:
        found = thread_objects().mapping.make_dual(primal, tangent, level)
        if found is not NotImplemented:
            return found
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
    if has_tangent(base):
        take_tangents(dual, base)
    attach_dual(dual, base)
    set_tangent(dual, index, laid_out_as(tangent, base))
    return dual


cdef TensorBase laid_out_as(TensorBase tangent, TensorBase primal):
    """The tangent itself if it has the primal's memory layout, else a copy in it: views of one are then views of the other."""
    cdef TensorBase copy
    cdef int i
    for i in range(primal.array.ndim):
        if primal.array.shape[i] > 1 and primal.array.strides[i] != tangent.array.strides[i] and primal.array.size:
            break
    else:
        return tangent
    if tangent.flags & (REQUIRES_GRAD | TANGENT):
        return ops.copy(tangent)
    copy = wrap(np.empty_like(primal.array, dtype=tangent.array.dtype))
    copy.array[...] = tangent.array
    tell_of_copy(tangent.array, copy.array)
    return copy


def unpack_dual(tensor, *, level=None):
    """Primal and tangent of a tensor at a level; a constant has the tangent None.

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
    if thread_state().flags & MAPPED and (found := thread_objects().mapping.unpack_dual(tensor, level)) is not NotImplemented:
        return UnpackedDualTensor(*found)
    if level is None and not thread_state().flags & DUAL:
        return UnpackedDualTensor(tensor, None)
    return unpacked(tensor, level_or_innermost(level, "unpack_dual"))


cdef object unpacked(TensorBase tensor, int index):
    cdef TensorBase primal
    cdef TensorBase tangent = tangent_of(tensor, index)
    if not has_tangent(tensor):
        return UnpackedDualTensor(tensor, None)
    primal = primal_of(tensor, index)
    if primal is not tensor:
        attach_dual(primal, tensor)
    return UnpackedDualTensor(primal, tangent)
