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
from ..support.generator import as_generator
from ..tracing.entries import entry_of
from ..tracing.instructions import Instruction, straightened
from ..tracing.listening import Recorder, place
from ..tracing.values import Memory, Value, held, held_generator, key_of, mapped, values_in
from .holdings import Holdings, array_held

GUARD = "guard"  # a value that leaves for Python: the call may go another way where it is another one
BACKWARD = "backward"  # between what a call does and what a backward pass from its results does


class Nowhere:
    """Where no event is: what is asked of one has no line."""

    line, kind = None, "made"


NOWHERE = Nowhere()


class Unfit(RuntimeError):
    """A call that cannot be run again, and why."""


class Witness(Recorder):
    """Writes down what a call does, with the origin of each array.

    Attributes
    ----------
    origins : dict of Value to int
        Which array that was given, counting those that the function holds.
    there : set of int
        The identities of what there was before the call: a generator that is none of it draws the same numbers at each call.
    doubtful : list of (object, tuple)
        Numbers and arrays that come from nowhere that is known, with the user's line: another call may have others.
    """

    def __init__(self, memory: Memory, numbers: set[str], there: set[int]) -> None:
        super().__init__(memory)
        self.numbers, self.there = numbers, there
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
            if type(item) in (int, float, complex) and repr(abs(item)) not in self.numbers:
                self.doubtful.append((item, event.line))
            return item

        entry = entry_of(event.name)
        for (_, kind, _, _), item in zip(entry.arguments if entry else (), event.inputs):
            if kind.startswith(("Array", "Index", "float", "Scalar")):
                mapped(item, look)

    def is_inside(self) -> bool:
        return any(call.kind in ("operator", "node", "tangent", "pass") for _, call in self.open)

    def drawn(self, source: Any) -> None:
        """A draw from the default generator is one at each call."""

    def leaf(self, item: Any, event: Event) -> Any:
        array = held(item)
        if array is not None:
            return self.value(array, event)
        if held_generator(item) is not None and id(item) not in self.there and id(held_generator(item)) not in self.there:
            raise Unfit(f"numbers are drawn at {place(event.line)} from a generator that the call has made; hold it outside")
        return item

    def left(self, event: Event) -> None:
        array = held(event.inputs[0])
        if array is None or event.name == "shape":
            return
        value = self.memory.known(array)
        if value is None and self.memory.block(array) is None:
            return  # numbers that were made here
        self.step("made", GUARD, (self.value(array, event), array.tobytes()), event)

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
        if not known and not self.is_inside() and key_of(array) not in self.made_here and not np.isin(array, (0, 1)).all():
            self.doubtful.append((array.copy(), event.line))
        return value


class Captured:
    """A call that was written down.

    Attributes
    ----------
    lines : list of Instruction
    backward : list of Instruction
        What a backward pass from the results does, where some of them require grad.
    inputs : list of Value
        Of each array that is given, first the arguments and then what the function holds.
    results : tree of Value
    outcome : object
        What the call returned.
    passed : dict of int to int
        Results, by their places among the leaves, that are a tensor that was given.
    gradients : list of (int, Value or None)
        Leaves, by their places among the inputs, whose `.grad` is another tensor now.
    cotangents : list of Value
        Inputs of the backward pass, one for each result that requires grad.
    differentiated : list of Value
        These results.
    spent : dict of Value to str
        Results that require grad and whose graph is gone, with what their differentiation says.
    targets : list of (int, Value or None)
        What the pass differentiates by, by its place among the inputs, with its derivative.
    """

    def __init__(self) -> None:
        self.lines: list[Instruction] = []
        self.backward: list[Instruction] = []
        self.inputs: list[Value] = []
        self.results: Any = None
        self.outcome: Any = None
        self.passed: dict[int, int] = {}
        self.gradients: list[tuple[int, Value | None]] = []
        self.cotangents: list[Value] = []
        self.differentiated: list[Value] = []
        self.targets: list[tuple[int, Value | None]] = []
        self.spent: dict[Value, str] = {}
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
    given : list of Tensor or ndarray
        All arrays of the arguments, in order, and then what the function holds.
    holdings : Holdings

    Returns
    -------
    Captured
        With a `failure` where the call cannot be run again; its outcome is there all the same.
    """
    there = set(holdings.seen) | {id(as_generator(None, "compile", "generator"))}
    mapped((args, keywords), lambda leaf: there.add(id(leaf)))
    witness = Witness(Memory(), known_numbers(args, keywords, given, holdings), there)
    taken = Captured()
    for item in given:
        array = array_held(item)
        value = witness.memory.known(array)
        taken.inputs.append(witness.memory.enter(array, "input") if value is None else value)
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
        taken.failure = Unfit(f"{type(error).__name__}: {error}")
    return taken


def known_numbers(args: tuple, keywords: dict, given: list[Any], holdings: Holdings) -> set[str]:
    """The numbers that a call may have from its arguments, its code and what it holds, without their signs."""
    numbers = [number for number in holdings.numbers if isinstance(number, (int, float, complex)) and abs(number) < 1e300]
    mapped((args, keywords), lambda leaf: numbers.append(leaf) if isinstance(leaf, (int, float, complex)) else None)
    numbers += [size for item in given for size in array_held(item).shape]
    numbers = list({repr(number): number for number in numbers}.values())
    texts = {repr(abs(part)) for number in numbers for part in (number, number if isinstance(number, complex) else float(number))}
    return texts


def state_of(item: Any) -> tuple:
    """What of a tensor a call may change beside its numbers."""
    if not isinstance(item, TensorBase):
        return ()
    return item.grad_fn, item.requires_grad, array_of(item), item.grad if item.is_leaf else None


def finish(taken: Captured, witness: Witness, given: list[Any], states: list[tuple]) -> None:
    """Look for what the call has changed, go backward from its results, and put all steps in a line."""
    memory = witness.memory
    places = {id(item): number for number, item in reversed(list(enumerate(given)))}
    leaves: list[Any] = []

    def result(item: Any) -> Any:
        array = held(item)
        leaves.append(item)
        if array is None:
            return item
        if isinstance(item, TensorBase) and id(item) in places:
            taken.passed[len(leaves) - 1] = places[id(item)]
        elif memory.known(array) is None and memory.block(array) is None and key_of(array) not in witness.made_here:
            witness.doubtful.append((array.copy(), None))
        return witness.value(array, NOWHERE)

    taken.results = mapped(taken.outcome, result)
    for number, (item, state) in enumerate(zip(given, states)):
        if state:
            note_changes(taken, witness, number, state, state_of(item))
    outs = {id(leaf): leaf for n, leaf in enumerate(leaves)
            if isinstance(leaf, TensorBase) and leaf.requires_grad and n not in taken.passed}  # fmt: skip
    targets = {id(item): number for number, item in reversed(list(enumerate(given)))
               if isinstance(item, TensorBase) and item.requires_grad}  # fmt: skip
    for name, leaf in list(outs.items()):
        message = why_spent(leaf, [given[number] for number in targets.values()])
        if message is not None:
            taken.spent[memory.known(array_of(leaf))] = message
            del outs[name]
    if outs:
        go_backward(taken, witness, given, list(outs.values()), list(targets.values()))
    wanted = [value for _, value in (*taken.gradients, *taken.targets) if value is not None] + values_in(taken.results)
    lines = straightened(witness.root, wanted, lambda call, level: False)
    middle = next((n for n, line in enumerate(lines) if line.name == BACKWARD), len(lines))
    taken.lines, taken.backward = lines[:middle], lines[middle + 1 :]
    taken.doubtful = witness.doubtful
    taken.addresses = {value: key[0] for key, value in memory.values.items()}


def note_changes(taken: Captured, witness: Witness, number: int, before: tuple, now: tuple) -> None:
    """What a call has changed of a tensor that it was given."""
    if now[0] is not before[0] or now[1] != before[1] or now[2] is not before[2]:
        raise Unfit("the call changes the history, requires_grad or the array of a tensor that it was given or holds")
    if now[3] is not before[3]:
        if now[3] is not None and now[3].requires_grad:
            raise Unfit("the call leaves a .grad that requires grad")
        taken.gradients.append((number, None if now[3] is None else witness.value(array_of(now[3]), NOWHERE)))


def why_spent(out: Any, targets: list[Any]) -> str | None:
    """What differentiating a result says where its graph has been freed by a pass inside of the call."""
    from ..autograd import grad

    try:
        grad(out, targets, np.ones(out.shape, out.dtype), retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        return str(error)
    return None


def go_backward(taken: Captured, witness: Witness, given: list[Any], outs: list[Any], targets: list[int]) -> None:
    """Write down what a backward pass from the results does, for whoever differentiates them."""
    from ..autograd import grad
    from ..core.operand import asarray

    cotangents = [np.ones(out.shape, out.dtype) for out in outs]
    taken.cotangents = [witness.memory.enter(array, "input") for array in cotangents]
    taken.differentiated = [witness.memory.known(array_of(out)) for out in outs]
    tensors = [asarray(array) for array in cotangents]
    witness.step("made", BACKWARD, (), NOWHERE)
    witness.start()
    try:
        found = grad(outs, [given[number] for number in targets], tensors, retain_graph=True, allow_unused=True)
    finally:
        witness.stop()
    if witness.failure is not None:
        raise witness.failure
    taken.targets = [(number, None if g is None else witness.value(array_of(g), NOWHERE)) for number, g in zip(targets, found)]


def fingerprint(taken: Captured) -> list[Any]:
    """What two recordings of one program have in common, bit by bit."""
    numbers: dict[Value, Any] = {}

    def name(item: Any) -> Any:
        if not isinstance(item, Value):
            return repr(item) if not isinstance(item, np.ndarray) else item.tobytes()
        if item not in numbers:
            numbers[item] = (len(numbers), item.type, None if item.data is None else item.data.tobytes())
        return numbers[item]

    return [(line.name, mapped(line.arguments, name), mapped(line.outputs, name)) for line in (*taken.lines, *taken.backward)]
