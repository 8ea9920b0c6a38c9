"""Machine code: the programs of a compiled function as C functions that its calls run, with `backend="c"`.

Replaces the executables of a recording.  An executable gets the same arrays and returns the same results as before, so the guards,
the aliasing, the versions and the graph of a call stay the same.  Its one native step writes to memory of the frame or to fresh results.
Guards inside the program are compared after the step, and inputs that the program writes to are copies until then.  If the step
raises a floating-point flag that is not ignored, the replay runs in its place, and warns.
"""

from __future__ import annotations

import ctypes
import os
from math import prod
from threading import Lock, Thread
from typing import Any

import numpy as np

from ...support.errors import CallTypeError
from ..execute.executable import Executable
from ..execute.low_level_ir import Slot, Step
from ..record.captured_state import Unfit
from ..tracing.instructions import GUARD
from ..tracing.values import Value
from .function import Function, bounds
from .loops import Unwritten
from .module import definition_of, source, workspace
from .shared_objects import compiled, compiler
from .spelling import TYPES

READY = "ready"
INCLUDES = """#include <stdbool.h>
#include <stdint.h>

typedef void (*gs_loop)(char **, const intptr_t *, const intptr_t *, void *);"""
ENTRY = """
void gradspec_call(char **base) {{
    {name}({arguments});
}}
"""


class Plan:
    """The slots and the steps of an executable with one native step.

    Parameters
    ----------
    lowered : Lowered
        The replayed program.
    """

    def __init__(self, lowered: Any) -> None:
        self.lowered = lowered
        self.slots: list[Slot] = []
        self.memory = 0
        self.roots: dict[Value, tuple[int, Value]] = {}  # memory -> its slot, and the value that is all of it
        inputs = [lowered.inputs[number] for number in lowered.given]
        if any(stride % value.dtype.itemsize for value in inputs for stride in value.strides):
            raise Unfit("c: an array has strides between its elements")
        targets = {lowered.inputs[number] for number in lowered.written}
        self.external = {value: self.slot("external", value) for value in inputs}
        before, behind = [], []
        self.places = dict(self.external)  # where the step finds an input
        for value in targets:
            if value.memory is not value or not value.layout.dense or sum(one.memory is value for one in lowered.inputs) > 1:
                raise Unfit("c: the call writes to arrays that share memory")
            inner, outer, size = self.planned(value), self.external[value], value.dtype.itemsize * value.layout.count
            self.places[value] = inner
            before.append(Step("copy", (inner, outer, size), "copy", None, (outer,), (inner,)))
            behind.append(Step("copy", (outer, inner, size), "copy", None, (inner,), (outer,)))
        self.results = tuple([self.result(value) for value in lowered.returned])
        before += [Step("allocate", (place,), "c", None, (), (place,)) for place, _ in self.roots.values()]
        self.function = Function(
            "program", lowered.lines, [(f"x{i}", value, "") for i, value in enumerate(inputs)],
            [(f"y{i}", value, "") for i, (_, value) in enumerate(self.roots.values())], strided=True,
        )  # fmt: skip
        self.guards = [self.planned(np.empty(value.shape, value.dtype)) for _, value, _ in self.function.guards]
        compared = []
        for place, (_, value, wanted) in zip(self.guards, self.function.guards):
            self.slots[place].object = prod(value.shape) != 1
            compared.append(Step("guard", (place, wanted), GUARD, None, (place,)))
        self.before, self.behind = before, compared + behind

    def slot(self, kind: str, value: Any, root: int = -1, offset: int = 0, data: Any = None) -> int:
        self.slots.append(Slot(kind, value.dtype, value.shape, value.strides, root, offset, data))
        return len(self.slots) - 1

    def constant(self, data: np.ndarray) -> int:
        return self.slot("constant", data, data=data)

    def planned(self, value: Any) -> int:
        """A slot in the frame's memory."""
        place = self.slot("planned", value, -1, self.memory)
        self.memory += self.slots[place].bytes
        return place

    def result(self, value: Value) -> int:
        """The slot of a result."""
        if value in self.external:
            return self.external[value]
        if not value.layout.count:
            return self.slot("constant", value, data=np.empty(value.shape, value.dtype))
        low, high = bounds(value)
        for given, place in self.external.items():
            first, last = bounds(given)
            if given.memory is value.memory and first <= low and high <= last:
                return self.slot("view", value, place, value.address - given.address)
        memory = value.memory
        if memory not in self.roots:
            first, last = bounds(memory)
            root = memory if first <= low and high <= last else value
            if not root.layout.dense:
                raise Unfit("c: a result does not fill its memory")
            flat = root if root.layout.c_contiguous else np.empty(root.layout.count, root.dtype)
            self.roots[memory] = self.slot("fresh", flat), root
        place, root = self.roots[memory]
        first, last = bounds(root)
        if not first <= low or not high <= last:
            raise Unfit("c: two results are parts of one array")
        itself = value is root and root.layout.c_contiguous
        return place if itself else self.slot("view", value, place, value.address - root.address)

    def executable(self) -> Executable:
        """Compile the function; the executable that calls it."""
        one = self.function
        texts = [self.argument(self.places[value], value, bounds(value)[0] - value.address) for _, value, _ in one.inputs]
        texts += [self.argument(place, value) for place, value in self.roots.values()]
        texts += [self.argument(place, value) for place, (_, value, _) in zip(self.guards, one.guards)]
        texts += [self.argument(self.constant(buffer.data), buffer.data) for buffer in one.passed]
        if one.loops:
            texts.append(f"(const uintptr_t *) base[{self.constant(np.array(list(one.loops), np.uintp).ravel())}]")
        room = np.empty(sum(size * dtype.itemsize + 16 for dtype, size in one.sizes.items()) + 1, np.uint8)
        texts.append(f"({one.name}_workspace *) base[{self.planned(room)}]")
        entry = ENTRY.format(name=one.name, arguments=", ".join(texts))
        text = source("program", INCLUDES, [one], [workspace(one), definition_of(one), entry])
        address = ctypes.cast(compiled(text).gradspec_call, ctypes.c_void_p).value
        steps = [*self.before, Step("native", (address,), "c", None), *self.behind]
        externals = tuple(self.external.values())
        return Executable(self.slots, steps, self.memory, externals, self.results, self.lowered.executable)

    def argument(self, place: int, value: Any, shift: int = 0) -> str:
        """The address of the first byte of a slot's memory."""
        return f"({TYPES[value.dtype]} *) (base[{place}]{f' - {-shift}' if shift else ''})"


gates = [Lock()]  # one build at a time
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: gates.__setitem__(0, Lock()))


def start(program: Any, strict: bool) -> None:
    """Build the machine code of a recording, in the background unless `strict`.

    Raises
    ------
    Unfit
        The recording is `strict` and cannot run in C.
    """
    program.native = "building"
    if strict:
        program.native = build(program)
        if program.native != READY:
            raise Unfit(program.native)
    else:
        Thread(target=build_later, args=(program,), name="gradspec-c", daemon=True).start()


def build_later(program: Any) -> None:
    with gates[0]:
        try:
            program.native = build(program)
        except Exception as error:  # calls stay replays
            program.native = f"c: {type(error).__name__}: {error}"


def build(program: Any) -> str:
    """Replace the executables of a recording; READY, or why one of them stays a replay."""
    reason = READY
    for owner, lowered in [(program, program.forward), *((one, one.lowered) for one in program.passes)]:
        try:
            compiler(os.environ.get("CC"))
            owner.executable = Plan(lowered).executable()
        except (CallTypeError, Unfit, Unwritten) as error:
            reason = str(error)
    return reason
