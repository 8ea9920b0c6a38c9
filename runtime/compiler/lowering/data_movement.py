"""Data movement: linear operators that only move elements become copies of memory.

Detects these operators by running them.  The spec says which operators are linear; if each result on random numbers is one of the
inputs or zero, each row of the operator's matrix has at most one 1.  Slices and their derivatives, concatenations, transposes,
rolls and zero padding are found this way, without a list of names.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.random

from ...core.conversion import asarray
from ...core.grad_mode import no_grad
from ..tracing.calling import by_keyword
from ..tracing.instructions import Instruction, layouts_of
from ..tracing.values import Value, copied, held, mapped, values_in

LARGEST = 1 << 14  # elements of operands and result together
MOST = 512  # pieces
FARTHEST = 1 << 23  # bytes from the first element of an operand to its last
COPIED = 1 << 17, 1 << 12  # both limits for an operator that only copies, because strides allow no view
Piece = tuple[int, int, int, int]  # operand or -1 for zeros, to, from, bytes

known: dict[tuple, list[Piece] | None] = {}


def pieces_of(line: Instruction) -> list[Piece] | None:
    """The pieces that an instruction copies; None if it computes."""
    entry, out, read = line.entry, line.outputs, line.read
    if entry is None or entry.form != "linear" or out.dtype.kind not in "fc" or len(entry.arguments) != len(line.arguments):
        return None
    largest, most = (LARGEST, MOST) if entry.view is None else COPIED
    if prod(out.shape) + sum(prod(value.shape) for value in read) > largest or not prod(out.shape):
        return None
    if not read or any(reach_of(value) > FARTHEST for value in read):
        return None
    moved = [item for item, (name, _, _, _) in zip(line.arguments, entry.arguments) if name in entry.inputs]
    if len(values_in(moved)) != len(read) or any(value.dtype != out.dtype for value in read):
        return None
    key = layouts_of(line)
    if key is None:
        return None
    if key not in known:
        if len(known) > 4096:
            known.clear()
        known[key] = found(line, entry)
    pieces = known[key]
    return None if pieces is None or len(pieces) > most else pieces


def found(line: Instruction, entry: Any) -> list[Piece] | None:
    """The pieces found with two different sets of random numbers, or None if they differ."""
    function = by_keyword(line.name, entry, len(line.arguments))
    first = tried(line, function, np.random.default_rng(1))
    if first is None or first != tried(line, function, np.random.default_rng(2)):
        return None
    _, zeros = computed(line, function, lambda shape: np.full(shape, -0.0))
    signs = np.signbit(parts_of(zeros, zeros.real.dtype)[1])
    moved = sum(size for which, _, _, size in first if which >= 0) // zeros.real.dtype.itemsize
    return first if signs.sum() == moved else None  # a sum of one number makes 0.0 of -0.0


def reach_of(value: Value) -> int:
    """Bytes from the first element to the farthest, in either direction."""
    return sum(abs(stride) * (size - 1) for size, stride in zip(value.shape, value.strides) if size)


def tried(line: Instruction, function: Any, rng: np.random.Generator) -> list[Piece] | None:
    """The pieces that explain a result for random operands, or None."""

    def numbers(shape: tuple[int, ...]) -> np.ndarray:  # all different in single precision
        count = prod(shape)
        return (1 + (rng.permutation(count) + 0.8 * rng.random(count)) / max(count, 1)).reshape(shape)

    arrays, result = computed(line, function, numbers)
    return None if result is None else matched(result, arrays)


def computed(line: Instruction, function: Any, numbers_of: Any) -> tuple[list[np.ndarray], Any]:
    """Operands with generated numbers, and the result; None if its layout differs from the instruction's."""
    arrays: list[np.ndarray] = []

    def sample(item: Any) -> Any:
        if type(item) is not Value:
            return item
        reach = reach_of(item)
        room = np.zeros(2 * reach + item.dtype.itemsize, np.uint8)
        array = copied(np.ndarray(item.shape, item.dtype, room, reach, item.strides))
        numbers = numbers_of((*item.shape, 2))
        if item.dtype.kind == "c":
            array.real, array.imag = numbers[..., 0], numbers[..., 1]
        else:
            array[...] = numbers[..., 0]
        arrays.append(array)
        return asarray(array)

    arguments = mapped(line.arguments, sample)
    with no_grad():
        result = held(function(*arguments))
    out = line.outputs
    fits = result is not None and result.shape == out.shape and result.dtype == out.dtype and result.strides == out.strides
    return arrays, copied(result) if fits else None


def matched(result: np.ndarray, arrays: list[np.ndarray]) -> list[Piece] | None:
    """The pieces that copy some arrays to a result; None if a number of the result occurs in no array."""
    part = result.dtype.type(0).real.dtype
    values, sources = [], []
    for which, array in enumerate(arrays):
        offsets, numbers = parts_of(array, part)
        values.append(numbers)
        sources.append(np.stack([np.full(offsets.shape, which), offsets], 1))
    everything, places = np.concatenate(values), np.concatenate(sources)
    order = np.argsort(everything, kind="stable")
    everything, places = everything[order], places[order]
    if everything.size > 1 and not np.all(np.diff(everything) > 0):
        return None
    targets, numbers = parts_of(result, part)
    order = np.argsort(targets, kind="stable")
    targets, numbers = targets[order], numbers[order]
    zero = (numbers == 0) & ~np.signbit(numbers)
    index = np.minimum(np.searchsorted(everything, numbers), max(everything.size - 1, 0))
    if everything.size == 0 or not np.all(zero | (everything[index] == numbers)):
        return None
    which = np.where(zero, -1, places[index, 0])
    start = np.where(zero, 0, places[index, 1])
    size = part.itemsize
    joined = (np.diff(targets) == size) & (np.diff(which) == 0) & ((np.diff(start) == size) | zero[1:])
    cuts = np.concatenate([[0], np.flatnonzero(~joined) + 1, [targets.size]])
    if cuts.size - 1 > COPIED[1]:
        return None
    return [(int(which[a]), int(targets[a]), int(start[a]), int((b - a) * size)) for a, b in zip(cuts[:-1], cuts[1:])]


def parts_of(array: np.ndarray, part: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """The real numbers of an array, with their offsets in bytes from its first element."""
    offsets = np.zeros(array.shape, np.intp)
    for axis, (size, stride) in enumerate(zip(array.shape, array.strides)):
        offsets += (np.arange(size) * stride).reshape((size,) + (1,) * (array.ndim - axis - 1))
    if array.dtype == part:
        return offsets.ravel(), array.ravel()
    return (offsets[..., None] + np.array([0, part.itemsize])).ravel(), np.stack([array.real, array.imag], -1).ravel()
