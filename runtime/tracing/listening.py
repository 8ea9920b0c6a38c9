"""Listening: the tree of what a program did, operators within operators, over values.

Owns the way from events to calls: what an argument is, what is a constant, what was done without an operator, and what is to
be said of numbers that left.  Knows nothing of text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.events import Event, Listener
from ..support.errors import CallTypeError
from .entries import entry_of
from .values import Memory, Source, Value, bounds, copied, held, held_generator, key_of, mapped, owner_of, values_in

# Operators, and what the runtime itself does to memory, which is told in their words.
STEPS = ("operator", "write", "made")


class Call:
    """Something that was done: an operator, or a group of them such as the tangents of an operator.

    Attributes
    ----------
    kind : str
        As of an Event.
    name : str
        Of an operator as of its event: `add`, `add_`, `add.out`.
    arguments, outputs : tree
        With values for arrays.
    parts : list of Call
        What was done inside.
    line : tuple or None
    before : set of Value
        The values of its outputs that were there before it: what it wrote to, or looked at.
    """

    def __init__(self, kind: str, name: str, arguments: Any = (), line: tuple | None = None) -> None:
        self.kind, self.name, self.arguments, self.line = kind, name, arguments, line
        self.outputs: Any = None
        self.parts: list[Call] = []

    @property
    def writes(self) -> bool:
        """Whether it writes to memory that was there before."""
        return self.kind == "write" or self.name.endswith(("_", ".out"))

    @property
    def target(self) -> Value:
        """What it writes to."""
        return self.arguments[-1] if self.name.endswith(".out") else self.arguments[0]

    def below(self) -> Iterator[Call]:
        """It, and all that was done inside, in order."""
        yield self
        for part in self.parts:
            yield from part.below()


class Recorder(Listener):
    """Writes down what a thread does, passes by operator.

    Parameters
    ----------
    values : Memory
    """

    by_operator = True

    def __init__(self, values: Memory) -> None:
        self.memory = values
        self.root = Call("program", "")
        self.open: list[tuple[Event | None, Call]] = [(None, self.root)]
        self.notes: list[str] = []
        self.failure: Exception | None = None

    # What is told.

    def begin(self, event: Event) -> None:
        self.guarded(self.opened, event)

    def end(self, event: Event) -> None:
        self.guarded(self.closed, event)

    def note(self, event: Event) -> None:
        self.guarded(self.noted, event)

    def guarded(self, hear: Callable[[Event], None], event: Event) -> None:
        """What cannot be told is raised when the call is over: an error in a listener would only take it off."""
        if self.failure is None:
            try:
                hear(event)
            except Exception as error:
                self.failure = error

    def opened(self, event: Event) -> None:
        arguments = self.tree(event.inputs, event) if event.kind in ("operator", "pass") else ()
        call = Call(event.kind, event.name, arguments, self.line_of(event))
        self.open[-1][1].parts.append(call)
        self.open.append((event, call))

    def closed(self, event: Event) -> None:
        place = next(i for i, (one, _) in enumerate(self.open) if one is event)
        call = self.open[place][1]
        del self.open[place:]
        if event.kind != "operator":
            return
        if event.error is not None:
            self.failed(call, event)
        else:
            call.outputs = mapped(event.outputs, lambda leaf: self.result(leaf, call))

    def noted(self, event: Event) -> None:
        if event.kind == "write":
            target, value = event.inputs
            name = "copy_" if held(value) is not None else "fill_"
            call = self.step("write", name, (self.leaf(target, event), self.leaf(value, event)), event)
            call.outputs = call.arguments[0]
        elif event.kind == "made":
            self.made(event)
        elif event.kind == "draw":
            generator = held_generator(event.outputs)
            if event.inputs[0] is None or held_generator(event.inputs[0]) is not None:
                self.drawn(self.memory.source(generator))
        elif event.kind == "left":
            self.left(event)

    def line_of(self, event: Event) -> tuple | None:
        """The user's line: in a pass the one that recorded the node."""
        return next((one.line for one, call in reversed(self.open) if call.kind == "node"), event.line)

    # What is made of it.

    def drawn(self, source: Source) -> None:
        """The default generator: what was called without one draws from it."""
        for _, call in self.open:
            entry = entry_of(call.name) if call.kind == "operator" else None
            if entry is not None:
                call.arguments = tuple(source if item is None and kind.startswith("Generator") else item
                                       for item, (_, kind, _, _) in zip(call.arguments, entry.arguments))  # fmt: skip

    def step(self, kind: str, name: str, arguments: Any, event: Event) -> Call:
        call = Call(kind, name, arguments, self.line_of(event))
        self.open[-1][1].parts.append(call)
        return call

    def failed(self, call: Call, event: Event) -> None:
        """An operator that raised, and was caught, has done nothing, unless it was in the midst of writing."""
        if any(part.writes for part in call.below() if part is not call):
            what = f"{call.name} failed after it had begun to write"
            raise self.refusal(what, event.line, "write what the call does without the error")
        siblings = self.open[-1][1].parts
        siblings.remove(call)

    def made(self, event: Event) -> None:
        """A tensor without an operator: a copy of values, or new numbers."""
        data, array = event.inputs[0], held(event.outputs)
        parts: list[Any] = []
        mapped(data, lambda leaf: parts.append(held(leaf)))
        sources = [part for part in parts if part is not None]
        if self.memory.known(array) is not None:
            return
        if not any(self.is_known(part) for part in sources):
            return  # numbers: a constant when it is used
        known = mapped(data, lambda leaf: self.leaf(leaf, event))
        if isinstance(known, Value) and known.dtype == array.dtype:
            call = self.step("made", "copy", (known,), event)
        else:
            call = self.step("made", "tensor", (known, array.dtype), event)
        call.outputs = self.result(event.outputs, call)

    def is_known(self, array: np.ndarray) -> bool:
        return self.memory.known(array) is not None or self.memory.block(array) is not None

    def left(self, event: Event) -> None:
        value = self.memory.known(held(event.inputs[0]))
        own = self.is_inside() if value is None else value.kind != "constant"  # what is not known yet may be an operator's result
        if not own:
            return
        what = "its truth" if event.name == "bool" else "its numbers" if event.name in ("numpy", "tolist") else "its number"
        text = f"{place(event.line)}: {event.name}() gave {what} to Python: what was made of that stands here as it was"
        if text not in self.notes:
            self.notes.append(text)

    # Arguments and results.

    def tree(self, arguments: Any, event: Event) -> Any:
        return mapped(arguments, lambda leaf: self.leaf(leaf, event))

    def leaf(self, item: Any, event: Event) -> Any:
        """What an argument is in the program."""
        array = held(item)
        if array is not None:
            return self.value(array, event)
        generator = held_generator(item)
        return item if generator is None else self.memory.source(generator)

    def value(self, array: np.ndarray, event: Event) -> Value:
        """The value that an array is: known, another look at memory that is known, or a constant."""
        value = self.memory.known(array)
        if value is not None:
            return value
        block = self.memory.block(array)
        if block is not None:
            return self.looked_at(array, block[1], block[2], event)
        owner = owner_of(array)
        if owner.dtype.kind not in "fciub" or owner.nbytes > 4 * array.nbytes + 4096:
            owner = array
        constant = self.memory.enter(owner, "constant")
        constant.data, constant.line, constant.hosts = copied(owner), event.line, [call for _, call in self.open]
        constant.inner = self.open[-1][1].name if self.is_inside() else None
        if key_of(owner) == key_of(array):
            return constant
        return self.looked_at(array, constant, owner, event)

    def is_inside(self) -> bool:
        """Whether the runtime is at work, rather than the user's function."""
        return any(call.kind in ("operator", "node", "tangent") for _, call in self.open)

    def looked_at(self, array: np.ndarray, whole: Value, known: np.ndarray, event: Event) -> Value:
        """Memory of a value in another layout, which no operator has made."""
        start, size = bounds(owner_of(known))[0], array.itemsize
        if array.dtype != known.dtype or any(stride % size for stride in array.strides):
            raise self.refusal(f"an array of dtype {array.dtype} looks at memory of {whole.type} by no operator", event.line,
                               "copy it, or use view_as_real and view_as_complex")  # fmt: skip
        offset = (array.__array_interface__["data"][0] - start) // size
        strides = tuple(stride // size for stride in array.strides)
        call = self.step("made", "as_strided", (whole, array.shape, strides, offset), event)
        value = self.memory.enter(array, "result")
        value.definer = call
        call.outputs = value
        return value

    def result(self, item: Any, call: Call) -> Any:
        """An output: a new value, or one that was there."""
        array = held(item)
        if array is None:
            return item
        value = self.memory.known(array)
        if value is None:
            value = self.memory.enter(array, "result")
            value.definer = call
        elif call in value.hosts:  # a tangent of the operator has read its result before it ended
            value.kind, value.definer, value.data, value.hosts = "result", call, None, []
        return value

    def refusal(self, what: str, line: tuple | None, way_out: str) -> CallTypeError:
        return CallTypeError(f"trace: {what}, at {place(line)}; {way_out}")


def place(line: tuple | None) -> str:
    """File and number of a line."""
    return "an unknown line" if line is None else f"{os.path.basename(line[0])}:{line[1]}"


def reads(call: Call) -> list[Value]:
    """The values that a call is given."""
    return values_in(call.arguments)
