"""Decomposition: replace operators whose forward is a formula of inner loops by these loops.

Decides which instructions are decomposed.  The spec has the formula of an operator; each part has to be an inner loop for the
given dtypes, with all operands in C order and of one shape.  The parts then fuse with their neighbours; of an in-place operator
the last one writes into its target.  A plain copy into an array is a loop as well.  Booleans among numbers are converted by a
loop of their own, as NumPy converts them.  A tensor built from real numbers in another dtype, as an optimiser builds its rates,
becomes a cast.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..execute.executable import loop_of
from ..lowering.call_conventions import CAST
from ..tracing.instructions import Instruction
from ..tracing.values import Value

BOOL = np.dtype(bool)


class Whole(Exception):
    """An instruction that is not decomposed."""


class Speller:
    """Decomposes the instructions of one program."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[np.dtype, int], Value] = {}

    def number(self, dtype: np.dtype, number: int) -> Value:
        """A constant of the program."""
        if (dtype, number) not in self.numbers:
            data = np.array(number, dtype)
            value = self.numbers[dtype, number] = Value("constant", data)
            value.data = data
        return self.numbers[dtype, number]

    def parts(self, line: Instruction) -> list[Instruction]:
        """The loops of an instruction whose entry has a formula or that reads booleans, or the instruction itself."""
        entry, out = line.entry, line.outputs
        in_place = line.name == entry.name + "_"
        if not in_place and line.name != entry.name or type(out) is not Value or len(entry.arguments) != len(line.arguments):
            return [line]
        if not out.layout.c_contiguous or not out.layout.count or not line.read:
            return [line]
        if out is not line.target if in_place else out.memory is not out:
            return [line]
        if not all(type(item) in (int, float, Value) for item in line.arguments):
            return [line]
        if not all(value.layout.c_contiguous and value.shape in ((), out.shape) for value in line.read):
            return [line]
        parts = Parts(self, line)
        try:
            if entry.program:
                names = {name: item for (name, _, _, _), item in zip(entry.arguments, line.arguments)}
                last = eval(entry.program, {"__builtins__": {}, "inf": math.inf}, Names(parts, names))
            else:
                last = parts.loop(line.name, line.arguments)
        except Whole:
            return [line]
        if last is not out:
            return [line]
        return parts.lines


class Names(dict):
    """The arguments of an operator by name, and functions that emit the operators of its formula."""

    def __init__(self, parts: Parts, names: dict[str, Any]) -> None:
        super().__init__(names)
        self.parts = parts

    def __missing__(self, name: str) -> Any:
        return lambda *operands: self.parts.loop(name, operands)


class Parts:
    """The loops that replace one instruction."""

    def __init__(self, speller: Speller, line: Instruction) -> None:
        self.speller, self.line, self.lines = speller, line, []
        self.calls = line.entry.program.count("(") or 1

    def loop(self, name: str, operands: tuple) -> Value:
        """Emit an inner loop and return its result."""
        found = loop_of(name, dtypes_of(operands))
        if found is None:
            operands = self.as_numbers(operands)
            found = loop_of(name, dtypes_of(operands))
        if found is None or not any(type(item) is Value for item in operands):
            raise Whole
        out, dtype = self.line.outputs, found[1]
        if not any(type(item) is Value and item.shape == out.shape for item in operands):
            raise Whole
        self.calls -= 1
        if self.calls:
            out = Value("result", np.empty(out.shape, dtype))
        elif dtype != out.dtype:
            raise Whole
        if not self.calls and self.line.target is not None:
            name, operands = f"{name}.out", (*operands, out)
        self.lines.append(Instruction(name, tuple(operands), out, self.line.line))
        return out

    def as_numbers(self, operands: tuple) -> tuple:
        """The operands, with booleans replaced by numbers."""
        dtypes = {item.dtype for item in operands if type(item) is Value} - {BOOL}
        if len(dtypes) != 1:
            raise Whole
        (dtype,) = dtypes
        return tuple(self.as_number(item, dtype) if type(item) is Value and item.dtype == BOOL else item for item in operands)

    def as_number(self, mask: Value, dtype: np.dtype) -> Value:
        if mask.shape != self.line.outputs.shape:
            raise Whole
        out = Value("result", np.empty(mask.shape, dtype))
        choice = mask, self.speller.number(dtype, 1), self.speller.number(dtype, 0)
        if loop_of("where", dtypes_of(choice)) is None:
            raise Whole
        self.lines.append(Instruction("where", choice, out, self.line.line))
        return out


def dtypes_of(operands: tuple) -> tuple:
    return tuple(item.dtype if type(item) is Value else None for item in operands)


def is_plain_copy(line: Instruction) -> bool:
    """Whether an instruction writes an array over another of its dtype and shape, which a loop does."""
    if line.name != "copy_" or len(line.arguments) != 2 or line.outputs is not line.target or len(line.read) != 2:
        return False
    target, source = line.arguments
    return (type(source) is Value and source.dtype == target.dtype and source.shape == target.shape and target.dtype.char in "fdFD"
            and source.layout.c_contiguous and target.layout.c_contiguous and target.layout.count > 0)  # fmt: skip


def decompose(lines: list[Instruction]) -> list[Instruction]:
    """The instructions, with formulas of inner loops decomposed."""
    speller = Speller()
    found: list[Instruction] = []
    for line in lines:
        if is_plain_copy(line):
            target, source = line.arguments
            found.append(Instruction("positive.out", (source, target), line.outputs, line.line))
        elif line.entry is not None and (line.entry.program or line.reads_masks):
            found += speller.parts(line)
        else:
            found.append(line)
    return found


def lower_casts(lines: list[Instruction]) -> list[Instruction]:
    """The instructions, with casts in place of tensors made from a single tensor."""
    return [Instruction(CAST, line.arguments[:1], line.outputs, line.line) if is_cast(line) else line for line in lines]


def is_cast(line: Instruction) -> bool:
    out = line.outputs
    if line.name != "tensor" or len(line.arguments) != 2 or type(out) is not Value or out.memory is not out:
        return False
    x, dtype = line.arguments
    if type(x) is not Value or not isinstance(dtype, np.dtype) or dtype != out.dtype or x.shape != out.shape:
        return False
    return x.dtype.kind in "fiu" and dtype.kind == "f" and out.layout.c_contiguous and out.layout.count > 0
