"""Functions: write a recording as the statements of a C function.

The instructions go through the passes of replays.  Instructions that return views only name memory, and instructions that move
elements become copies.  The others run their NumPy text once on `arrays`: the forward of the entry, as `tracing.numpy_program`
writes it.  So only NumPy's functions have C, and no operator has a second formula.
"""

from __future__ import annotations

import linecache
import os
import re
from typing import Any

import numpy as np

from ...support.errors import CallTypeError
from ...support.pytree import flatten, places, rebuild
from ..files.python_export import arguments_of, check, check_apart, held_value
from ..lowering.call_conventions import CAST, generators_in
from ..lowering.data_movement import pieces_of
from ..passes.pipeline import PASSES
from ..record.captured_state import Unfit
from ..record.side_effects import CALLBACK, KEPT
from ..tracing.instructions import GUARD, Instruction, renamed
from ..tracing.literals import literal
from ..tracing.numpy_program import Writer
from ..tracing.values import Value, mapped, values_in
from . import reductions  # noqa: F401 - registers NumPy's reductions
from .arrays import Array, fresh, store
from .functions import NumPy
from .loops import Buffer, Code, Unwritten
from .names import Names
from .spelling import TYPES


class Function:
    """A recording as a C function.

    Parameters
    ----------
    name : str
        Of the function, in C.
    compiled : CompiledFunction

    Attributes
    ----------
    inputs, results : list of (str, Value, str)
        The name of a pointer, its value, and its path in Python.
    fixed : list of (str, str)
        The other arguments, as path and text.
    own : dict of Buffer to str
        Buffers that are the memory of a result, with its name.
    """

    def __init__(self, name: str, compiled: Any) -> None:
        program, held = recording(compiled)
        taken = program.taken
        self.name, self.code, self.own = name, Code(), {}
        self.anchors: dict[Value, list[tuple[int, int, Buffer]]] = {}  # memory -> bounds, and the buffer that holds it
        self.bound: set[Buffer] = set()
        _, _, unpacked, self.fixed = arguments_of(program, described_argument)
        check_apart("c", unpacked, held)
        leaves, form = results_of(taken, held)
        names = Names(name)
        self.inputs = [(names.free(value.name), value, path) for value, path in unpacked]
        self.results = [(names.free("_".join(["result", *re.findall(r"\w+", path)])), leaf, path)
                        for leaf, path in zip(leaves, places(form)) if type(leaf) is Value]  # fmt: skip
        arguments, returned = [value for _, value, _ in self.inputs], list(dict.fromkeys(value for _, value, _ in self.results))
        lines = renamed([line for line in taken.lines if line.name != GUARD], held)  # the guards of captured arrays hold
        for one in PASSES.values():
            lines = one(lines, {value.memory for value in arguments}, returned)
        check(lines, returned, arguments)
        self.measure([*arguments, *values_in([[line.read, line.made] for line in lines]), *returned])
        self.enter({line.target.memory: line for line in lines if line.target is not None}, held)
        for line in lines:
            self.code.note = comment(line)
            try:
                self.instruction(line)
            except Exception as error:
                reason = str(error) or type(error).__name__
                raise CallTypeError(f"c: {described(line)} cannot be written as C: {reason}") from error
        self.code.note = ""
        self.give_back()
        self.sizes = self.code.settle()

    # Memory.

    def measure(self, values: list[Value]) -> None:
        """Name the values, and find the bounds of each block of memory from the values in it."""
        self.values = list(dict.fromkeys(values))
        self.spans: dict[Value, tuple[int, int]] = {}
        for number, value in enumerate(self.values):
            value.name = f"v{number}"
            low, high = bounds(value)
            first, last = self.spans.get(value.memory, (low, high))
            self.spans[value.memory] = min(first, low), max(last, high)

    def enter(self, written: dict[Value, Instruction], held: dict[Value, Value]) -> None:
        """Give the arguments, the captured arrays and the constants their memory."""
        for word, value, path in self.inputs:
            if value.layout.count and not value.layout.c_contiguous:
                raise Unfit(f"c: {path} is not in C order; call the function with np.ascontiguousarray({path})")
            if value.layout.count and (value.memory in self.anchors or any(value.memory is one.memory for one in held)):
                raise Unfit(f"c: {path} shares memory with another argument or a captured array; call the function with a copy")
            self.anchor(value, typed(word, value), bounds(value))
        for value, constant in held.items():
            for memory in {value.memory, constant} & written.keys():
                line = described(written[memory])
                raise CallTypeError(f"c: {line} writes to a captured array; C has no state: pass the array as an argument")
            self.hold(value, constant.data, bounds(value))
            self.hold(constant, constant.data, bounds(constant))
        for memory in dict.fromkeys(value.memory for value in self.values):
            if memory.data is not None and memory not in self.anchors:
                self.hold(memory, memory.data, self.spans[memory], memory in written)

    def hold(self, value: Value, data: np.ndarray, span: tuple[int, int], written: bool = False) -> None:
        """Let a constant hold the memory of a value, or a copy if the function writes to it."""
        numbers = np.zeros((span[1] - span[0]) // data.dtype.itemsize, data.dtype)
        if data.size:
            numbers[positions(value, span[0])] = data
        table = self.code.constant(numbers) if data.dtype in TYPES else typed("", value)
        if written:
            table = Array(self.code, table, np.arange(numbers.size)).copy().buffer
        self.anchor(value, table, span)

    def anchor(self, value: Value, buffer: Buffer, span: tuple[int, int]) -> None:
        """Let a buffer hold a part of the memory of a value."""
        self.anchors.setdefault(value.memory, []).append((*span, buffer))
        self.bound.add(buffer)

    def array(self, value: Value) -> Array:
        """The array of a value."""
        if not value.layout.count:
            return fresh(self.code, value.shape, value.dtype)
        low, high = bounds(value)
        for first, last, buffer in self.anchors.get(value.memory, ()):
            if first <= low and high <= last:
                if buffer.dtype != value.dtype:
                    raise Unwritten(f"{value.type} is a view of memory of {buffer.dtype}")
                return Array(self.code, buffer, positions(value, first))
        raise Unwritten(f"{value.type} is a view of memory that no instruction wrote")

    def bind(self, value: Value, made: Any) -> None:
        """Let a value be the array that its instruction made."""
        if np.shape(made) != value.shape:
            raise Unwritten(f"its NumPy text returns the shape {np.shape(made)} in place of {value.shape}")
        low, high = self.spans[value.memory]
        index, count = positions(value, low), (high - low) // value.dtype.itemsize
        new = type(made) is Array and made.buffer.place == "work" and made.buffer not in self.bound
        if new and made.dtype == value.dtype and made.buffer.size == count and np.array_equal(made.index, index):
            buffer = made.buffer
        else:
            buffer = self.code.buffer(value.dtype, count)
            store(Array(self.code, buffer, index), made)
        self.anchor(value, buffer, (low, high))

    def give_back(self) -> None:
        """Copy the results to their places; a buffer that is a whole result has its memory there."""
        for word, value, _ in self.results:
            found = self.array(value)
            whole = np.arange(found.size)
            if found.buffer.place == "work" and found.buffer.size == found.size and np.array_equal(found.index.ravel(), whole):
                found.buffer.place = "result"
                self.own[found.buffer] = word
            else:
                target = Buffer(word, value.dtype, found.size, "result")
                store(Array(self.code, target, whole.reshape(found.shape)), found)

    # Instructions.

    def instruction(self, line: Instruction) -> None:
        if (
            line.target is None
            and line.made
            and all(value.memory in self.anchors or not value.layout.count for value in line.made)
        ):
            for value in line.made:
                self.array(value)
        elif line.target is None and type(line.outputs) is Value and (pieces := pieces_of(line)) is not None:
            self.move(line, pieces)
        elif line.entry is None and line.name in (CAST, "copy"):
            self.bind(line.outputs, self.array(line.read[0]).astype(line.outputs.dtype).copy())
        else:
            self.run(line)

    def run(self, line: Instruction) -> None:
        """Run the NumPy text of an instruction."""
        space: dict[str, Any] = {"np": NumPy(self.code)} | {value.name: self.array(value) for value in line.read}
        writer = Writer({"np", "math", *(value.name for value in (*line.read, *line.made))})
        statements = writer.lines(line)
        head = [one for one in writer.definitions.imports if one != "import numpy as np"]
        exec("\n".join(["from __future__ import annotations", *head, *writer.definitions.texts, *statements]), space)
        for value in line.made:
            if value.memory not in self.anchors:
                self.bind(value, space[value.name])

    def move(self, line: Instruction, pieces: list[tuple[int, int, int, int]]) -> None:
        """Copy pieces of memory; pieces of one size at equal distances are one statement."""
        out, number = line.outputs, 0
        low, high = self.spans[out.memory]
        size = out.dtype.itemsize
        buffer, base = self.code.buffer(out.dtype, (high - low) // size), (out.address - low) // size
        while number < len(pieces):
            which, to, start, length = pieces[number]
            end, steps = number + 1, None
            while end < len(pieces) and (pieces[end][0], pieces[end][3]) == (which, length):
                here = pieces[end][1] - pieces[end - 1][1], pieces[end][2] - pieces[end - 1][2]
                if steps not in (None, here):
                    break
                steps, end = here, end + 1
            rows, across, (down, along) = np.arange(end - number)[:, None], np.arange(length // size), steps or (0, 0)
            target = Array(self.code, buffer, base + to // size + rows * (down // size) + across)
            if which < 0:
                store(target, 0)
            else:
                source = self.array(line.read[which])
                first = int(source.index.reshape(-1)[0]) + start // size
                store(target, Array(self.code, source.buffer, first + rows * (along // size) + across))
            number = end
        self.anchor(out, buffer, (low, high))


def recording(compiled: Any) -> tuple[Any, dict[Value, Value]]:
    """The latest recording of a compiled function and its captured arrays as constants; refused if only Python can run it."""
    program = compiled.exported("c")
    if program.again is None or program.state is None:
        raise Unfit("c: a loaded program has no C; export it in the process that recorded it")
    if program.taken.gradients:
        raise Unfit("c: the call writes a .grad, which arrays do not have; return the gradient")
    held = held_arrays(program)
    for line in program.taken.lines:
        if line.name in (CALLBACK, KEPT):
            raise CallTypeError(f"c: {described(line)} calls back, and C has no place for that function")
        if generators_in([line]):
            raise CallTypeError(f"c: {described(line)} draws random numbers; pass them as an argument")
        if line.name == GUARD and line.arguments[0] in held:
            if held[line.arguments[0]].data.tobytes() != line.arguments[1]:
                raise Unfit(f"c: a captured array that decides at {place(line)} has changed; call the function again")
        elif line.name == GUARD:
            raise CallTypeError(
                f"c: the call at {place(line)}: Python reads numbers, for a branch or an index; use gs.where in their place"
            )
    return program, held


def held_arrays(program: Any) -> dict[Value, Value]:
    """The captured arrays, as constants."""
    captured = program.taken.inputs[len(program.again.arrays) :]
    return {value: held_value(item) for value, (_, item) in zip(captured, program.state.captured_state.tensors)}


def results_of(taken: Any, held: dict[Value, Value]) -> tuple[list[Any], Any]:
    """The leaves of the results, and their pytree."""
    leaves: list[Any] = []
    mapped(taken.results, leaves.append)
    leaves, form = flatten(taken.results if taken.form is None else rebuild(taken.form, leaves))
    return [held.get(leaf, leaf) if type(leaf) is Value else leaf for leaf in leaves], form


def typed(name: str, value: Value) -> Buffer:
    """The buffer of an argument."""
    try:
        return Buffer(name, value.dtype, value.layout.count, "given")
    except Unwritten as error:
        raise CallTypeError(f"c: {name or value.type}: {error}") from None


def bounds(value: Value) -> tuple[int, int]:
    """The bounds of a value's bytes, as addresses of the recording."""
    if not value.layout.count:
        return value.address, value.address
    ends = [(size - 1) * stride for size, stride in zip(value.shape, value.strides)]
    low, high = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
    return value.address + low, value.address + high + value.dtype.itemsize


def positions(value: Value, low: int) -> np.ndarray:
    """The positions of a value's elements, from the address `low`."""
    size = value.dtype.itemsize
    found = np.asarray((value.address - low) // size)
    for axis, (count, stride) in enumerate(zip(value.shape, value.strides)):
        found = found + (np.arange(count) * (stride // size)).reshape((count,) + (1,) * (len(value.shape) - axis - 1))
    return found


def described(line: Instruction) -> str:
    """The operator and the user's line."""
    return line.name if line.line is None else f"{line.name} at {place(line)}"


def place(line: Instruction) -> str:
    """The file and the number of the user's line."""
    return "a library's line" if line.line is None else f"{os.path.basename(line.line[0])}:{line.line[1]}"


def described_argument(item: Any) -> str:
    """A number or an object among the arguments, for a comment."""
    try:
        return literal(item)
    except TypeError:
        return f"an object of class {type(item).__name__}"


def comment(line: Instruction) -> str:
    """The user's line, for a comment."""
    if line.line is None:
        return ""
    text = linecache.getline(line.line[0], line.line[1]).strip()
    return place(line) + (f": {text}" if text else "")
