"""Closed-over tensors: those that a user's function computes with, and that are not its arguments.

Owns how they are found while a function runs, and how it is run with others in their place: a solver becomes a function of all
that its result depends on, so that no gradient and no tangent of a closed-over tensor is lost.  Knows no solver.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from weakref import ref

from ...autograd.forward_ad import unpack_dual
from ...core.events import Listener
from ...core.grad_mode import _set_fwd_grad_enabled, enable_grad
from ...core.operand import tensor as made
from ...core.tensor import TensorBase
from ...methods.dual_level import innermost_level

_thread = threading.local()  # .frame: the innermost open one
_LEAF = made(0.0, requires_grad=True)
_CHECKPOINT = "_Inputs"  # what a checkpoint calls
_CALLS = ("operator", "function", "range")


class Frame(Listener):
    """Runs functions inside of a `with`, hears what they compute with, and puts other tensors in the place of some.

    Frames nest as functions do: what an inner one leaves as it is, or puts in the place of another tensor, is looked up in the
    outer ones.

    Parameters
    ----------
    originals, values : sequence of Tensor
        What stands in the function, and what it is to compute with.
    finding : bool
        Whether to note the tensors that require grad, or may have a tangent.
    """

    def __init__(self, originals: Any = (), values: Any = (), finding: bool = False) -> None:
        self.originals = tuple(originals)  # kept: what is looked up is their address
        self.values = {id(original): value for original, value in zip(self.originals, values, strict=True)}
        self.finding, self.noted, self.sources = finding, {}, []
        self.error: Exception | None = None

    def __enter__(self) -> Frame:
        self.outer, self.dual = getattr(_thread, "frame", None), innermost_level() > 0
        if self.outer is not None:  # listeners do not hear what another has put in the place of an operand
            self.outer.stop()
        self.start_nr = _next_sequence_nr() if self.finding else 0
        _thread.frame = self
        return self.start()

    def __exit__(self, *exc_info: Any) -> None:
        self.stop()
        _thread.frame = self.outer
        if self.outer is not None:
            self.outer.start()
        if self.error is not None and exc_info[0] is None:
            raise self.error

    def begin(self, event: Any) -> None:
        if event.kind not in _CALLS or _in_tangent(event):  # whose operands the operator around it has had replaced
            return
        try:
            inputs = tuple([self.seen(value) for value in event.inputs])
        except Exception as error:  # a listener that raises is only warned of
            self.error = error
            return
        if event.name == _CHECKPOINT:
            self.error = NotImplementedError("a checkpoint inside of the function computes again when nothing is known of the "
                                             "tensors that it closes over: call what it holds without one")  # fmt: skip
        if any(new is not old for new, old in zip(inputs, event.inputs)):
            event.replace_inputs(inputs)

    def seen(self, value: Any) -> Any:
        """What stands for an operand, or for several."""
        if isinstance(value, TensorBase):
            return self.looked_up(value)
        if type(value) in (tuple, list):
            items = [self.seen(item) for item in value]
            return type(value)(items) if any(new is not old for new, old in zip(items, value)) else value
        return value

    def looked_up(self, tensor: Any) -> Any:
        tensor = self.values.get(id(tensor), tensor)
        outside = tensor if self.outer is None else self.outer.looked_up(tensor)
        if self.finding and (self.dual or outside.requires_grad) and outside.dtype.kind in "fc":
            self.keep(tensor, outside)
        return outside

    def keep(self, tensor: Any, outside: Any) -> None:
        known, source = self.noted.get(id(tensor), (None, None))
        if known is not None and known() is tensor:
            return
        if source is not None:  # another one lives at the address of a tensor that has died
            self.sources.append(source)
        self.noted[id(tensor)] = ref(tensor), _source(outside, self.start_nr) if outside.requires_grad else None

    def found(self) -> list:
        """The noted tensors that have a derivative.  What the function made itself has died when it returned."""
        tensors = [note() for note, _ in self.noted.values()]
        sources = [source for tensor, (_, source) in zip(tensors, self.noted.values()) if tensor is None and source is not None]
        if any(source() is not None for source in self.sources + sources):
            raise RuntimeError("the function hands a closed-over tensor, or one of its args, that requires grad to a transform "
                               "as an argument, where its gradient would be lost: write w[...] for that argument w")  # fmt: skip
        return [tensor for tensor in tensors if tensor is not None and has_derivative(resolved(tensor, self.outer))]


def _in_tangent(event: Any) -> bool:
    while event is not None and event.kind != "tangent":
        event = event.parent
    return event is not None


def _next_sequence_nr() -> int:
    with enable_grad():
        return (_LEAF * 1).grad_fn._sequence_nr()


def _source(tensor: Any, number: int) -> Any:
    """A reference to where the history of an operand comes from, if that was there when a number of nodes was given out.

    That of an alias of a leaf, which ends at the leaf's accumulator, is the leaf; it may have been made since, and has died then.
    """
    node = tensor.grad_fn
    if node is None:
        return None
    if hasattr(node, "variable"):
        return ref(node.variable)
    return (lambda: node) if node._sequence_nr() < number else None


def resolved(tensor: Any, frame: Any = None) -> Any:
    """What stands for a tensor outside of what was found, in the frames that are open."""
    frame = frame or getattr(_thread, "frame", None)
    return tensor if frame is None else frame.looked_up(tensor)


def has_tangent(tensor: Any) -> bool:
    """Whether a tensor has a tangent at a level that is open; refused by a batch of tangents, which is then taken row by row."""
    return any(unpack_dual(tensor, level=level).tangent is not None for level in range(innermost_level()))


def has_derivative(tensor: Any) -> bool:
    return isinstance(tensor, TensorBase) and (tensor.requires_grad or has_tangent(tensor))


def values_of(call: Callable[[], Any]) -> tuple[Any, list]:
    """Run a function for its values alone: what it gives, and the tensors with a derivative that it has computed with.

    Graphs are recorded as they would be otherwise: a transform inside of the function takes the history from its arguments else.
    """
    with Frame(finding=True) as frame, _set_fwd_grad_enabled(False):
        result = call()
    return result, frame.found()


def replaced(function: Callable[..., Any], originals: list) -> Callable[..., Any]:
    """A function that takes, behind its arguments, a list of what is to stand in the place of `originals`."""

    def explicit(*args: Any) -> Any:
        *args, values = args
        if not originals:
            return function(*args)
        with Frame(originals, values):
            return function(*args)

    return explicit
