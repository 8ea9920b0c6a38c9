"""First-call check: run a recording from a file operator by operator, before it is lowered to an executable.

Runs on copies of the inputs, and compares each result's dtype, shape, strides and place in memory with the file.  An executable
relies on these.  A recording made in this process was seen; one from a file is checked by this run.
"""

from __future__ import annotations

import numpy as np

from ...api.archives import Damaged
from ...core.conversion import asarray, tensor
from ...core.grad_mode import no_grad
from ...support.generator import as_generator
from ..execute.interpreter import GuardFailed
from ..lowering.call_conventions import arrays_in
from ..record.capture import Captured
from ..record.captured_state import array_held
from ..record.result_views import ResultView
from ..tracing.calling import by_keyword
from ..tracing.instructions import GUARD, Instruction
from ..tracing.values import Value, copied, mapped, values_in
from .serialization import together
from .structure_checks import MADE, ends, leaves_of


class Place:
    """A view of an array's bytes, for NumPy's array interface."""

    def __init__(self, array: np.ndarray, value: Value, distance: int) -> None:
        data = array.__array_interface__["data"][0] + distance, not array.flags.writeable
        self.array = array
        self.__array_interface__ = {"version": 3, "data": data, "shape": value.shape, "typestr": value.dtype.str,
                                    "strides": value.strides}  # fmt: skip


class Proof:
    """The memory of the checking run.

    Parameters
    ----------
    taken : Captured
    arrays : list of ndarray
        The call's inputs, with the layouts in the file, including shared memory.
    """

    def __init__(self, taken: Captured, arrays: list[np.ndarray]) -> None:
        self.taken, self.found = taken, {}  # type: ignore[var-annotated]
        groups: dict[Value, dict[Value, np.ndarray]] = {}
        for value, array in zip(taken.inputs, arrays):
            groups.setdefault(value.memory, {}).setdefault(value, array)
        for memory, group in groups.items():
            copies = together(list(group.values()), [value.address for value in group]) if len(group) > 1 else [
                copied(array) for array in group.values()]  # fmt: skip
            self.found[memory] = list(zip(group, copies))

    def run(self) -> None:
        """Run all lines.

        Raises
        ------
        Damaged
            The file disagrees with the operators.
        GuardFailed
            A guard does not hold: the call needs a different recording.
        """
        taken = self.taken
        passes = list(zip(taken.passes, taken.targets, [taken.cotangents, *([one] for one in taken.cotangents)]))
        gradients = [value for _, value in taken.gradients if value is not None]
        returned = [*values_in(taken.results), *(row[0] for row in taken.roots), *gradients]
        wanted = [[value for _, value in targets if value is not None] for _, targets, _ in passes]
        read = [value for lines in taken.passes for line in lines for value in line.read]
        self.play(taken.lines, [*returned, *read, *(value for values in wanted for value in values)])
        for value in returned:
            self.array(value)
        self.check_looks()
        for (lines, _, cotangents), values in zip(passes, wanted):
            before = {memory: list(there) for memory, there in self.found.items()}
            for value in cotangents:
                self.found[value.memory] = [(value, np.ones(value.shape, value.dtype))]
            self.play(lines, values)
            for value in values:
                self.array(value)
            self.found = before

    def play(self, lines: list[Instruction], kept: list[Value]) -> None:
        """Run some lines, and free values after their last use."""
        stays = {value.memory for value in kept}
        last = {value.memory: number for number, line in enumerate(lines) for value in (*line.read, *line.made)}
        dying: dict[int, list[Value]] = {}
        for memory, number in last.items():
            if memory not in stays:
                dying.setdefault(number, []).append(memory)
        for number, line in enumerate(lines):
            self.step(line)
            for memory in dying.get(number, ()):
                self.found.pop(memory, None)

    def check_looks(self) -> None:
        """Take the views among the results again: each must equal the recorded view."""
        taken = self.taken
        for leaf, (given, root, way) in zip(leaves_of(taken.results), taken.looks):
            if way is None:
                continue
            source = taken.inputs[given] if given >= 0 else taken.roots[root][0]
            start = self.array(source)
            try:
                found = ResultView(way).taken(asarray(start))
            except Exception as error:
                raise Damaged(f"a result cannot be built again as a view ({type(error).__name__}: {error})") from error
            array = array_held(found)
            if type(array) is not np.ndarray or array.dtype != leaf.dtype or array.shape != leaf.shape or array.size and (
                    start_of(array) - start_of(start) != leaf.address - source.address
                    or any(a != b for a, b, size in zip(array.strides, leaf.strides, array.shape) if size > 1)):  # fmt: skip
                raise Damaged(f"a result is {leaf.type}, but it differs when built again as a view")

    def step(self, line: Instruction) -> None:
        if line.name == GUARD:
            value, wanted = line.arguments
            if self.array(value).tobytes() != wanted:
                raise GuardFailed(-1)
            return
        function = tensor if line.name == MADE else by_keyword(line.name, line.entry, len(line.arguments))
        given = mapped(line.arguments, lambda item: asarray(self.array(item)) if type(item) is Value else item)
        try:
            results = function(*given)
        except Exception as error:
            error.add_note(f"in {line.name}, which a program of a file calls")
            raise
        if line.outputs is None:
            return
        made = arrays_in(results)
        if len(made) != len(line.made):
            raise Damaged(f"{line.name} returns {len(made)} arrays, but the file says {len(line.made)}")
        for value, item in zip(line.made, made):
            self.keep(value, array_held(item), line.name)

    def array(self, value: Value) -> np.ndarray:
        """The array of a value: computed before, or a view of known memory."""
        there = self.found.get(value.memory, [])
        for other, array in there:
            if other is value:
                return array
        if value.memory.data is not None and not there:
            there = self.found[value.memory] = [(value.memory, copied(value.memory.data))]
        for other, array in there:
            if is_within(value, other):
                found = array if value is other else np.asarray(Place(array, value, value.address - other.address))
                there.append((value, found))
                return found
        raise Damaged(f"{value.type} is a view of memory that was never written, or of addresses beyond it")

    def keep(self, value: Value, array: np.ndarray, name: str) -> None:
        """Store a result of an operator."""
        if array.dtype != value.dtype or array.shape != value.shape:
            raise Damaged(f"{name} returns {array.dtype}{list(array.shape)}, but the file says {value.dtype}{list(value.shape)}")
        there = self.found.setdefault(value.memory, [])
        if not array.size:
            there.append((value, array))
            return
        steps = [(a, b) for a, b, size in zip(array.strides, value.strides, array.shape) if size > 1]
        if any(a != b for a, b in steps):
            array = laid(array, value, name)
        for other, whole in there:
            if is_within(value, other):
                if start_of(array) - start_of(whole) != value.address - other.address:
                    raise Damaged(f"{name} returns an array at an address that differs from the file's")
                break
        there.append((value, array))


def is_within(value: Value, whole: Value) -> bool:
    """Whether a value's bytes are within the bounds of `whole`."""
    (low, high), (first, last) = (ends(v.shape, v.strides, v.dtype.itemsize) for v in (value, whole))
    return whole.address + first <= value.address + low and value.address + high <= whole.address + last


def start_of(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def laid(array: np.ndarray, value: Value, name: str) -> np.ndarray:
    """A copy of an array with the strides of a value, which must be dense: operators allocate only dense arrays."""
    low, high = ends(value.shape, value.strides, value.dtype.itemsize)
    if array.size and (array.base is not None or not value.layout.dense):
        raise Damaged(f"{name} returns the strides {array.strides}, but the file says {value.strides}")
    found = np.ndarray(value.shape, value.dtype, np.zeros(high - low, np.uint8), -low, value.strides)
    found[...] = array
    return found


def prove(taken: Captured, arrays: list[np.ndarray]) -> None:
    """Run a recording once, on copies of the call's inputs; random generators are reset afterwards.

    Raises
    ------
    Damaged
        The file disagrees with the operators.
    GuardFailed
        A guard does not hold.
    """
    generator = as_generator(None, "load_program", "generator").bit_generator
    state = generator.state
    try:
        with no_grad():
            Proof(taken, arrays).run()
    finally:
        generator.state = state
