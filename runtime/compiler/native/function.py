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

from ...support.compressed_columns import CompressedColumns
from ...support.errors import CallTypeError
from ...support.pytree import flatten, parts, places, rebuild
from ..execute.executable import costly_loop
from ..files.python_export import arguments_of, check, check_apart, held_value
from ..lowering.call_conventions import CAST, generators_in
from ..lowering.data_movement import pieces_of
from ..lowering.inner_loops import loop_from
from ..passes.pipeline import PASSES
from ..record.captured_state import Unfit
from ..record.side_effects import CALLBACK, KEPT
from ..tracing.instructions import GUARD, Instruction, layouts_of, renamed
from ..tracing.literals import literal
from ..tracing.numpy_program import Writer, naming
from ..tracing.values import Value, mapped, values_in
from . import computed_positions, matrices, reductions  # noqa: F401 - which register NumPy's functions
from .arrays import Array, fresh, lift, store
from .functions import NumPy
from .loops import Block, Buffer, Code, Unwritten
from .names import Names
from .repetition import roll
from .scalars import written_out
from .spelling import TYPES

FEW = 64  # numbers of a constant that a text for this machine contains
LOOPED = 8  # fewest elements for a call of a replay's loop
LONGEST = 1 << 13  # elements of a loop: the replay of longer ones costs their memory access and no more
LARGEST = 1 << 17  # multiplications in a product: BLAS is faster at larger ones


class Function:
    """A recording as a C function.

    Parameters
    ----------
    name : str
        Of the function, in C.
    lines : list of Instruction
    inputs, results : list of (str, Value, str)
        The name of a pointer, its value, and its path in Python.
    held : dict of Value to Value
        The constants in place of captured arrays.
    fixed : list of (str, str)
        The other arguments, as path and text.
    strided : bool
        Whether arrays have the strides of the recording, and not C order.
    directions : set of Value
        The captured arrays that are unit vectors of a sparse matrix.

    Attributes
    ----------
    guards : list of (str, Value, bytes)
        Numbers that Python has read, which are further results, and the bytes that they had.
    passed : list of Buffer
        Constants that are further arguments.
    loops : dict of (int, int) to int
        Loops of the replay that it calls, by the addresses of the loop and of its data.
    own : dict of Buffer to str
        Buffers that are the memory of a result, with its name.
    matrices : dict of str to CompressedColumns
        The results that are the elements of sparse matrices.
    """

    def __init__(
        self, name: str, lines: list[Instruction], inputs: list[Any], results: list[Any], held: dict[Value, Value] | None = None,
        fixed: tuple | list = (), strided: bool = False, directions: set[Value] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.inputs, self.results, self.fixed, self.strided = name, inputs, results, fixed, strided
        self.matrices: dict[str, Any] = {}
        self.code, self.guards, self.passed, self.own = Code(), [], [], {}
        self.loops: dict[tuple[int, int], int] = {}
        self.anchors: dict[Value, list[tuple[int, int, Buffer]]] = {}  # memory -> bounds, and the buffer that holds it
        self.bound: set[Buffer] = set()
        arguments, returned = [value for _, value, _ in inputs], list(dict.fromkeys(value for _, value, _ in results))
        self.code.failure = Buffer("failed", np.dtype(np.int32), 1, "result") if strided else None
        with naming():
            self.measure([*arguments, *values_in([[line.read, line.made] for line in lines]), *returned])
            self.enter({line.target.memory: line for line in lines if line.target is not None}, held or {}, directions or set())
            for line in lines:
                self.code.note = "" if strided else comment(line)
                try:
                    self.instruction(line)
                except Exception as error:
                    reason = str(error) or type(error).__name__
                    raise CallTypeError(f"c: {described(line)} cannot be written as C: {reason}") from error
        self.code.note = ""
        self.give_back()
        if strided:
            self.compare_failure()
        roll(self.code, None if strided else lambda parts: written_out(parts, self.code.name))
        self.sizes = self.code.settle()
        if strided:
            self.compare_with_replay()
            self.pass_constants()

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

    def enter(self, written: dict[Value, Instruction], held: dict[Value, Value], directions: set[Value]) -> None:
        """Give the arguments, the captured arrays and the constants their memory."""
        for word, value, _ in self.inputs:
            self.anchor(value, typed(word, value), bounds(value))
        for value, constant in held.items():
            for memory in {value.memory, constant} & written.keys():
                line = described(written[memory])
                raise CallTypeError(f"c: {line} writes to a captured array; C has no state: pass the array as an argument")
            for one in (value, constant):
                self.hold(one, constant.data, bounds(one), directions=value in directions)
        for memory in dict.fromkeys(value.memory for value in self.values):
            if memory.data is not None and memory not in self.anchors:
                self.hold(memory, memory.data, self.spans[memory], memory in written)

    def hold(
        self, value: Value, data: np.ndarray, span: tuple[int, int], written: bool = False, directions: bool = False
    ) -> None:
        """Let a constant hold the memory of a value, or a copy if the function writes to it."""
        numbers = np.zeros((span[1] - span[0]) // data.dtype.itemsize, data.dtype)
        if data.size:
            numbers[positions(value, span[0])] = data
        table = self.code.constant(numbers, directions) if data.dtype in TYPES else typed("", value)
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
            whole = positions(value, bounds(value)[0]) if self.strided else np.arange(found.size).reshape(found.shape)
            if found.buffer.place == "work" and found.buffer.size == found.size and np.array_equal(found.index, whole):
                found.buffer.place = "result"
                self.own[found.buffer] = word
            else:
                store(Array(self.code, Buffer(word, value.dtype, found.size, "result"), whole), found)

    def compare_failure(self) -> None:
        """Let a singular matrix be a guard that fails: the call runs eagerly, and raises."""
        failed = self.code.failure
        if any(type(item) is Block and failed in item.written() for item in self.code.items):
            self.code.items.insert(0, Block([f"{failed.name}[0] = 0;"], [], [failed]))
            self.guards.append((failed.name, np.zeros((), np.int32), bytes(4)))

    def compare_with_replay(self) -> None:
        """Refuse work that a replay does as fast.  The answer does not depend on the time that something takes."""
        longest = max((part.work() for part in self.code.parts), default=0)
        if longest > LONGEST:
            raise Unfit(f"c: a loop over {longest} elements is as fast in the replay")
        if self.code.products > LARGEST:
            raise Unfit(f"c: a product of matrices of {self.code.products} multiplications is faster in BLAS")

    def pass_constants(self) -> None:
        """Let the caller pass the constants of many numbers, which compilers read slowly."""
        self.passed = [one for one in self.code.used if one.place == "constant" and one.size > FEW]
        for one in self.passed:
            one.place = "given"

    # Instructions.

    def instruction(self, line: Instruction) -> None:
        if line.name == GUARD:
            value, wanted = line.arguments
            found, word = self.array(value), f"g{len(self.guards)}"
            target = Buffer(word, value.dtype, found.size, "result")
            store(Array(self.code, target, np.arange(found.size).reshape(found.shape)), found)
            self.guards.append((word, value, wanted))
        elif (
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
        elif not self.strided or not self.call_loop(line):
            self.run(line)

    def call_loop(self, line: Instruction) -> bool:
        """Call the loop of a replay, if it is faster than libm's function for each element."""
        key, out = layouts_of(line), line.outputs
        fits = key is not None and line.target is None and type(out) is Value and out.memory not in self.anchors
        loop = loop_from(line, key) if fits else None
        if loop is None or loop.size < LOOPED or (found := costly_loop(loop.base, loop.kind)) is None:
            return False
        arrays = [self.array(line.arguments[one]) if type(one) is int else lift(self.code, one) for one in loop.operands]
        low, high = self.spans[out.memory]
        buffer = self.code.buffer(out.dtype, (high - low) // out.dtype.itemsize)
        target = Array(self.code, buffer, positions(out, low))
        number = self.loops.setdefault(found, len(self.loops))
        places = ", ".join(f"(char *) ({one.buffer.name} + {one.index.flat[0]})" for one in (*arrays, target))
        strides = ", ".join(map(str, loop.strides))
        self.code.block(["{", f"    char *places[] = {{{places}}};",
                         f"    const intptr_t size[] = {{{loop.size}}}, strides[] = {{{strides}}};",
                         f"    ((gs_loop) loops[{2 * number}])(places, size, strides, (void *) loops[{2 * number + 1}]);", "}"],
                        [one.buffer for one in arrays], [buffer])  # fmt: skip
        self.anchor(out, buffer, (low, high))
        return True

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
        if 2 * sum(length for which, *_, length in pieces if which < 0) > high - low:  # zeros around a part of a gradient
            store(Array(self.code, buffer, np.arange(buffer.size)), 0)
            pieces = [one for one in pieces if one[0] >= 0]
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


def exported(name: str, compiled: Any) -> Function:
    """The latest recording of a compiled function as a C function whose captured arrays are constants."""
    program, held = recording(compiled)
    with naming():
        _, _, unpacked, fixed = arguments_of(program, described_argument)
        check_apart("c", unpacked, held)
        leaves, form = results_of(program.taken, held)
        names = Names(name)
        inputs = [(names.free(value.name), value, path) for value, path in unpacked]
        sparse = matrices_of(rebuild(form, leaves))
        words = [re.findall(r"\w+", path)[: -1 if leaf in sparse else None] for leaf, path in zip(leaves, places(form))]
        results = [(names.free("_".join(["result", *word])), leaf, path)
                   for leaf, path, word in zip(leaves, places(form), words) if type(leaf) is Value]  # fmt: skip
        known = {value.memory for value in held}
        for _, value, path in inputs:
            if value.layout.count and not value.layout.c_contiguous:
                raise Unfit(f"c: {path} is not in C order; call the function with np.ascontiguousarray({path})")
            if value.layout.count and value.memory in known:
                raise Unfit(f"c: {path} shares memory with another argument or a captured array; call the function with a copy")
            known.add(value.memory)
        arguments, returned = [value for _, value, _ in inputs], list(dict.fromkeys(value for _, value, _ in results))
        lines = renamed([line for line in program.taken.lines if line.name != GUARD], held)  # the guards of captured arrays hold
        for one in PASSES.values():
            lines = one(lines, {value.memory for value in arguments}, returned)
        check(lines, returned, arguments)
        made = Function(name, lines, inputs, results, held, fixed, False, directions_of(program, sparse))
        made.matrices = {word: sparse[value] for word, value, _ in results if value in sparse}
        return made


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
                f"c: the call at {place(line)}: Python reads numbers, for a branch or an index; write gs.where, or gs.take(x, i) for x[i]"
            )
    return program, held


def held_arrays(program: Any) -> dict[Value, Value]:
    """The captured arrays, as constants."""
    captured = program.taken.inputs[len(program.again.arrays) :]
    return {value: held_value(item) for value, (_, item) in zip(captured, program.state.captured_state.tensors)}


def directions_of(program: Any, sparse: dict[Any, CompressedColumns]) -> set[Value]:
    """The captured arrays that are the directions of sparse results."""
    known = {id(tensor) for one in sparse.values() for tensor in one.directions.tensors}
    captured = program.taken.inputs[len(program.again.arrays) :]
    return {value for value, (_, item) in zip(captured, program.state.captured_state.tensors) if id(item) in known}


def results_of(taken: Any, held: dict[Value, Value]) -> tuple[list[Any], Any]:
    """The leaves of the results, and their pytree."""
    leaves: list[Any] = []
    mapped(taken.results, leaves.append)
    leaves, form = flatten(taken.results if taken.form is None else rebuild(taken.form, leaves))
    return [held.get(leaf, leaf) if type(leaf) is Value else leaf for leaf in leaves], form


def matrices_of(tree: Any) -> dict[Any, CompressedColumns]:
    """The sparse matrices among the results, by their elements."""
    if type(tree) is CompressedColumns:
        return {tree.data: tree}
    found = parts(tree)
    return {} if found is None else {leaf: one for item in found[2] for leaf, one in matrices_of(item).items()}


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
