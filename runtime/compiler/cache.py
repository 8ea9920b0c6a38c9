"""Cache of a compiled function: its recordings, by captured state and by signature.

A signature is the pytree of the arguments, the dtype, shape, layout and gradient flags of each array, the value of each Python
number, and the mode of grad.  Each captured state has its own signatures.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from operator import is_
from typing import Any

import numpy as np

from ..core.grad_mode import is_grad_enabled
from ..core.tensor import TensorBase
from ..support.pytree import Taken
from .guards.state_guards import hooks_of
from .record.arguments import Arguments, is_plain
from .record.capture import Captured
from .record.captured_state import CapturedState
from .specialize.specialization import Program

STATES = 8  # captured states whose recordings are kept
KINDS = 256  # signatures kept for each state, the most recently used ones


class Signature:
    """Calls of one kind.

    Attributes
    ----------
    programs : list of Program
        One for each branch taken, the latest first.
    reason : str or None
        Why calls of this kind run eagerly.
    """

    def __init__(self) -> None:
        self.programs: list[Program] = []
        self.reason: str | None = None


class State:
    """A captured state, with the calls of all kinds that were made in it."""

    def __init__(self, captured_state: CapturedState, objects: list[Any]) -> None:
        self.captured_state, self.objects = captured_state, objects
        self.signatures: dict[tuple, Signature] = {}

    def signature(self, key: tuple) -> Signature:
        """The calls of one kind, which are the most recently used ones now."""
        signature = self.signatures.pop(key, None) or Signature()
        self.signatures[key] = signature
        if len(self.signatures) > KINDS:
            self.signatures.pop(next(iter(self.signatures)), None)
        return signature


class Cache:
    """The captured states of a function, the most recently used first.

    Attributes
    ----------
    moved : (str, object, object) or None
        The change of the captured state at the last walk.
    loose : dict
        Captured state that callbacks change: it is guarded no longer.
    ran : dict of code to list of function
        Functions that the walk enters because they ran.
    """

    def __init__(self, function: Callable[..., Any], static: tuple) -> None:
        self.function, self.static = function, static
        self.states: list[State] = []
        self.moved: tuple[str, Any, Any] | None = None
        self.loose: dict[tuple, Any] = {}
        self.ran: dict[types.CodeType, list[Any]] = {}

    def state(self, objects: list[Any]) -> State:
        """The entry of the present captured state.

        Raises
        ------
        TooManyGuards
        """
        states = self.states  # replaced and never changed: other threads call and clear
        for number, state in enumerate(states):
            same = len(state.objects) == len(objects) and all(map(is_, state.objects, objects))
            if same and not state.captured_state.changed() and not state.captured_state.hooks_changed():
                others = [*states[:number], *states[number + 1 :]]
                break
        else:
            self.moved = states[0].captured_state.changed() if states else None
            found = CapturedState(self.function, objects, loose=self.loose, static=self.static, ran=self.ran)
            state, others = State(found, objects), states[: STATES - 1]
        if self.states is states:
            self.states = [state, *others]
        return state

    def knows(self, taken: Captured) -> bool:
        """Whether the walk covered the code that ran, and leaves out the state that its callbacks change."""
        return not taken.unwalked and taken.loose.keys() <= self.loose.keys()

    def walk_again(self, taken: Captured) -> None:
        """Forget all states: the next walk covers the code that ran, too."""
        self.ran, self.loose, self.states = self.ran | taken.unwalked, self.loose | taken.loose, []


def key_of(arguments: Arguments, given: list[Any], arrays: list[np.ndarray]) -> tuple:
    """The key of a call's signature."""
    leaves = *map(key_of_leaf, arguments.others), *map(key_of_array, given, arrays)
    return (key_of_form(arguments.form), *leaves, is_grad_enabled())


def key_of_form(form: Any) -> Any:
    """The pytree of the arguments, without its leaves."""
    if form is None:
        return None
    like, keys, forms = form
    return like if type(like) is Taken else type(like), None if keys is None else tuple(keys), tuple(map(key_of_form, forms))


def key_of_leaf(leaf: Any) -> tuple:
    """A number by its value, any other object by its identity."""
    return type(leaf), repr(leaf) if is_plain(leaf) else id(leaf)


def key_of_array(item: Any, array: np.ndarray) -> tuple:
    """All of an array that a recording depends on, but for its elements."""
    flags: tuple | bool = isinstance(item, TensorBase) and item.is_inference()
    if isinstance(item, TensorBase) and item.requires_grad:
        wanted = item.grad_dtype if item.is_leaf else None
        flags = item.is_leaf, item.is_leaf and item.grad is None, wanted is not None and wanted.num, tuple(hooks_of(item))
    return array.dtype, array.shape, array.strides, array.flags.num & 0x500, flags
