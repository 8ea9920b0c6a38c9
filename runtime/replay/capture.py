"""Captures: a call that runs as it is, and is written down so that it can be run again.

Owns what a recording needs beside a trace: where each array came from (an argument, what the function holds, numbers of the
program), which values Python looked at, and what else the call has changed.  Knows nothing of tapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.events import Event
from ..core.tensor import TensorBase
from ..core.told import array_of
from ..tracing.instructions import Instruction, straightened
from ..tracing.listening import Call, Recorder, place
from ..tracing.values import Memory, Value, copied, held, held_generator, key_of, mapped, values_in
from .holdings import Holdings, array_held

# Values that leave for Python: the call may go another way where they are others.
GUARD = "guard"


class Unfit(Exception):
    """A call that cannot be run again, and why."""


class Witness(Recorder):
    """Writes down what a call does, with the origin of each array.

    Attributes
    ----------
    origins : dict of Value to int
        Which array that was given, counting those that the function holds.
    doubtful : list of (object, tuple)
        Numbers and arrays that come from nowhere that is known, with the user's line: another call may have others.
    """

    def __init__(self, memory: Memory, numbers: set[str]) -> None:
        super().__init__(memory)
        self.numbers = numbers
        self.made_here: set[tuple] = set()
        self.doubtful: list[tuple[Any, Any]] = []

    def opened(self, event: Event) -> None:
        super().opened(event)
        if event.kind == "hook":
            raise Unfit(f"a hook ran at {place(event.line)}")
        if event.kind == "function":
            raise Unfit(f"{event.name}, a custom Function, ran at {place(event.line)}")
        if event.kind == "operator" and len(self.open) == 2:
            self.doubt(event)

    def doubt(self, event: Event) -> None:
        """Look for numbers among the arguments that neither the code nor what it holds has."""
        def look(item: Any) -> Any:
            if type(item) in (float, complex) and repr(abs(item)) not in self.numbers:
                self.doubtful.append((item, event.line))
            return item

        mapped(event.inputs, look)

    def drawn(self, source: Any) -> None:
        """A draw from the default generator is one at each call."""

    def leaf(self, item: Any, event: Event) -> Any:
        array = held(item)
        if array is not None:
            return self.value(array, event)
        if held_generator(item) is not None:
            return item
        return item

    def left(self, event: Event) -> None:
        array = held(event.inputs[0])
        if array is None or event.name == "shape":
            return
        value = self.memory.known(array)
        if value is None and self.memory.block(array) is None:
            return  # numbers that were made here
        value = self.value(array, event)
        call = self.step("write", GUARD, (value, np.asarray(array).tobytes()), event)
        call.kind = "made"

    def made(self, event: Event) -> None:
        super().made(event)
        array = held(event.outputs)
        if self.memory.known(array) is None:
            self.made_here.add(key_of(array))
            if not self.is_inside() and np.asarray(array).dtype.kind in "fc":
                self.doubt_array(array, event)

    def doubt_array(self, array: np.ndarray, event: Event) -> None:
        for number in array.ravel().tolist()[:64]:
            if repr(abs(number)) not in self.numbers:
                self.doubtful.append((array.copy(), event.line))
                return

    def value(self, array: np.ndarray, event: Event) -> Value:
        known = self.memory.known(array) is not None or self.memory.block(array) is not None
        value = super().value(array, event)
        if not known and not self.is_inside() and key_of(array) not in self.made_here:
            self.doubtful.append((array.copy(), event.line))
        return value


class Captured:
    """A call that was written down.

    Attributes
    ----------
    lines : list of Instruction
    inputs : list of Value or None
        Of each array that is given, first the arguments and then what is held; None where the call did not use it.
    results : tree of Value
    outcome : object
        What the call returned.
    gradients : list of (int, Value or None)
        Leaves, by their places among the inputs, whose `.grad` is another tensor now.
    """

    def __init__(self) -> None:
        self.lines: list[Instruction] = []
        self.inputs: list[Value | None] = []
        self.results: Any = None
        self.outcome: Any = None
        self.gradients: list[tuple[int, Value | None]] = []
        self.written: list[int] = []
        self.doubtful: list[tuple[Any, Any]] = []
        self.addresses: dict[Value, int] = {}
        self.failure: Exception | None = None


def capture(function: Callable[..., Any], args: tuple, keywords: dict, given: list[Any], holdings: Holdings) -> Captured:
    """Run a call and write it down.

    Parameters
    ----------
    function : callable
    args, keywords
        Of the call, its arrays as tensors.
    given : list of Tensor
        All arrays of the arguments, in order, and then what the function holds.
    holdings : Holdings

    Returns
    -------
    Captured
        With a `failure` where the call cannot be run again; its outcome is there all the same.
    """
    memory = Memory()
    numbers = {repr(abs(number)) for number in holdings.numbers if isinstance(number, (int, float, complex))}
    numbers |= {repr(abs(float(number))) for number in holdings.numbers if isinstance(number, (int, float))}
    mapped((args, keywords), lambda leaf: numbers.add(repr(abs(leaf))) if isinstance(leaf, (int, float, complex)) else None)
    witness = Witness(memory, numbers)
    taken = Captured()
    for item in given:
        array = array_held(item)
        value = memory.known(array)
        taken.inputs.append(memory.enter(array, "input") if value is None else value)
    states = [state_of(item) for item in given]
    witness.start()
    try:
        taken.outcome = function(*args, **keywords)
    finally:
        witness.stop()
    try:
        if witness.failure is not None:
            raise witness.failure
        finish(taken, witness, given, states)
    except Unfit as error:
        taken.failure = error
    except Exception as error:
        taken.failure = Unfit(str(error))
    return taken


def state_of(item: Any) -> tuple:
    """What of a tensor a call may change beside its numbers."""
    if not isinstance(item, TensorBase):
        return ()
    return item.grad_fn, item.requires_grad, array_of(item), item.grad if item.is_leaf else None


def finish(taken: Captured, witness: Witness, given: list[Any], states: list[tuple]) -> None:
    """Look for what the call has changed, and put its steps in a line."""
    final = type("End", (), {"line": None})()
    wanted: list[Value] = []

    def result(item: Any) -> Any:
        array = held(item)
        if array is None:
            return item
        if witness.memory.known(array) is None and witness.memory.block(array) is None and key_of(array) not in witness.made_here:
            witness.doubtful.append((array.copy(), None))
        return witness.value(array, final)

    taken.results = mapped(taken.outcome, result)
    for number, (item, state) in enumerate(zip(given, states)):
        if not state:
            continue
        now = state_of(item)
        if now[0] is not state[0] or now[1] != state[1] or now[2] is not state[2]:
            raise Unfit("the call changed the history, requires_grad or the array of a tensor that it was given or holds")
        if now[3] is not state[3]:
            value = None if now[3] is None else witness.value(array_of(now[3]), final)
            taken.gradients.append((number, value))
            wanted += [] if value is None else [value]
    wanted += values_in(taken.results)
    taken.lines = straightened(witness.root, wanted, lambda call, level: False)
    taken.doubtful = witness.doubtful
    taken.addresses = {value: key[0] for key, value in witness.memory.values.items()}
