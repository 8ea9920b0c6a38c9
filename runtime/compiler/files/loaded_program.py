"""Loaded programs: run what `save` of a compiled function wrote, without the function.

Decides which recording serves a call, and holds the weights that the recordings share.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...api.archives import Damaged
from ...core.conversion import asarray
from ...core.grad_mode import is_grad_enabled
from ...core.tensor import TensorBase
from ...support.pytree import flatten
from ..execute.interpreter import GuardFailed
from ..record.captured_state import Unfit, array_held
from ..specialize.specialization import Program
from ..tracing.layouts import laid_out
from ..tracing.values import Value
from .first_call_check import prove, start_of
from .serialization import Reader, Writer, together
from .structure_checks import ends


class LoadedProgram:
    """The recordings of a compiled function, loaded from a file.

    Attributes
    ----------
    weights : dict of str to Tensor
        The captured tensors, by the Python expression that reached them; calls read and write them.
    version : str
        The version of gradspec that wrote the file.
    """

    def __init__(self, reader: Reader) -> None:
        document = reader.document
        self.version: str = document["gradspec"]
        self.weights: dict[str, Any] = {}
        self.held = held_of(reader)
        for item, one in zip(self.held, document["held"]):
            item.requires_grad_(one["requires_grad"])
            if one["grad"] is not None:
                item.grad = asarray(reader.strided(one["grad"]))
            self.weights[one["way"]] = item
        held = [item.requires_grad for item in self.held] + [False for item in self.held if item.grad is not None]
        self.kinds = []
        for number, kind in enumerate(document["kinds"]):
            needs = [one["requires_grad"] for one in kind["leaves"] if one["text"] is None] + held
            places = [f"kinds[{number}].programs[{n}]" for n in range(len(kind["programs"]))]
            recordings = [Recording(reader, *each, needs) for each in zip(kind["programs"], places)]
            self.kinds.append({**kind, "form": reader.tree(kind["form"]), "programs": recordings})

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        leaves, form = flatten((args, keywords))
        wrong = "no recording"
        for kind in self.kinds:
            given, mismatch = fitting(kind, leaves, described(form), self.held)
            if mismatch:
                wrong = mismatch
                continue
            arrays = [array_held(item) for item in given]
            for recording in kind["programs"]:
                wrong = recording.unfit(given, arrays)
                if wrong:
                    continue
                try:
                    return recording.run(given, arrays)
                except GuardFailed:
                    wrong = "values send the call another way than those that were recorded"
        raise Unfit(f"load_program: a call that was not recorded: {wrong}; call the compiled function so, and save it again")

    def __str__(self) -> str:
        return "\n\n".join(str(recording) for kind in self.kinds for recording in kind["programs"])


class Recording:
    """One recording of a file.  Its first call runs it by its operators; if they agree with the file, it is compiled.

    Parameters
    ----------
    reader : Reader
    found : dict
        The recording in the document.
    where : str
        Its path in the document.
    needs : list of bool
        Which input arrays require grad.
    """

    def __init__(self, reader: Reader, found: dict[str, Any], where: str, needs: list[bool]) -> None:
        self.refusal, self.where = reader.refusal, where
        self.taken = reader.recording(found, needs, where)
        targets = [line.target for line in self.taken.lines if line.target is not None]
        self.written = {target.memory for target in targets}
        counted = {number for number, _ in self.taken.versions}
        for number, value in enumerate(self.taken.inputs):  # captured ndarrays are tensors now and have versions
            if number not in counted and any(overlap(value, target) for target in targets):
                self.taken.versions.append((number, 1))
        self.program: Program | None = None

    def unfit(self, given: list[Any], arrays: list[np.ndarray]) -> str:
        """How the arrays of a call differ in layout from the recorded ones; empty if they do not."""
        for number, _ in self.taken.gradients:
            if not isinstance(given[number], TensorBase):
                return f"array {number} is left a .grad, and this one is no tensor"
        first: dict[Any, tuple[np.ndarray, Any]] = {}
        for number, (array, value) in enumerate(zip(arrays, self.taken.inputs)):
            other, there = first.setdefault(value.memory, (array, value))
            if start_of(array) - start_of(other) != value.address - there.address:
                return f"array {number} shared memory with another one"
            if array.dtype != value.dtype or array.shape != value.shape or not array.flags.aligned:
                return f"array {number} was {value.type}"
            if array.size and any(a != b for a, b, size in zip(array.strides, value.strides, array.shape) if size > 1):
                return f"array {number} lay in memory with the strides {list(value.strides)}"
            if value.memory in self.written and not array.flags.writeable:
                return f"array {number} is written to, and this one is read-only"
        return ""

    def run(self, given: list[Any], arrays: list[np.ndarray]) -> Any:
        """Run the recording on the inputs of a call.

        Raises
        ------
        GuardFailed
            The recording does not fit the call; nothing has changed.
        ValueError
            The file disagrees with its operators.
        """
        if self.program is None:
            try:
                prove(self.taken, arrays)
            except Damaged as error:
                raise self.refusal(Damaged(f"{self.where}: {error}")) from error
            try:
                self.program = Program(self.taken)
            except Exception as error:  # right operators may still form an impossible program
                raise self.refusal(Damaged(f"{self.where} is not a recording ({type(error).__name__}: {error})")) from error
        return self.program.run(given, arrays)

    def __str__(self) -> str:
        if self.program is not None:
            return str(self.program)
        return "\n".join(["program that has not run yet:", *(f"    {line.name}" for line in self.taken.lines)])


def held_of(reader: Reader) -> list[Any]:
    """The captured arrays, with their recorded layouts and shared memory."""
    described = reader.document["held"]
    arrays = [reader.strided(one["data"]) for one in described]
    groups: dict[int, list[int]] = {}
    for number, one in enumerate(described):
        groups.setdefault(one["memory"], []).append(number)
    held: list[Any] = [None] * len(arrays)
    for numbers in groups.values():
        pieces = together([arrays[n] for n in numbers], [described[n]["address"] for n in numbers])
        for n, array in zip(numbers, pieces):
            held[n] = asarray(array)
    return held


def overlap(a: Value, b: Value) -> bool:
    """Whether the bounds of two values' memory overlap."""
    if a.memory is not b.memory or not a.layout.count or not b.layout.count:
        return False
    (low, high), (first, last) = (ends(value.shape, value.strides, value.dtype.itemsize) for value in (a, b))
    return a.address + low < b.address + last and b.address + first < a.address + high


def described(form: Any) -> Any:
    """The structure of a pytree in a form that can be compared and saved."""
    if form is None:
        return None
    like, keys, forms = form
    return [type(like).__name__, None if keys is None else list(keys), [described(one) for one in forms]]


def fitting(kind: dict[str, Any], leaves: list[Any], form: Any, held: list[Any]) -> tuple[list[Any], str]:
    """The inputs of a recording for this call, or the reason why the call does not fit."""
    if form != kind["form"] or len(leaves) != len(kind["leaves"]):
        return [], "the arguments are a different pytree"
    if is_grad_enabled() != kind["grad"]:
        return [], f"grad was {'enabled' if kind['grad'] else 'disabled'}"
    given: list[Any] = []
    for number, (leaf, one) in enumerate(zip(leaves, kind["leaves"])):
        if one["text"] is not None:
            if f"{type(leaf).__name__} {leaf!r}" != one["text"]:
                return [], f"argument {number} was {one['text']}"
            continue
        item = leaf if isinstance(leaf, (TensorBase, np.ndarray)) else np.asarray(leaf)
        array = array_held(item)
        needs = isinstance(item, TensorBase) and item.requires_grad
        if array.dtype != one["dtype"] or list(array.shape) != one["shape"] or needs != one["requires_grad"]:
            return [], f"argument {number} was {one['dtype']}{one['shape']}, requires_grad={one['requires_grad']}"
        if list(array.strides) != one["strides"]:
            if one["written"] or needs:
                return [], f"argument {number} lay in memory with the strides {one['strides']}"
            item = laid_out(array, tuple(one["strides"]))
        given.append(item)
    given += held
    given += [item.grad for item in given if isinstance(item, TensorBase) and item.is_leaf and item.grad is not None]
    if len(given) != kind["count"]:
        return [], "another number of tensors had a .grad"
    return given, ""


def save(compiled: Any, path: str | os.PathLike) -> None:
    """Write the recordings of a compiled function for its present captured state."""
    import gradspec

    if not any(signature.programs for signature in compiled.signatures):
        raise Unfit("save: there is no recording; call the function first")
    state = next(state for state in compiled.cache.states if any(one.programs for one in state.signatures.values()))
    writer, kinds, held = Writer(), [], []
    for signature in state.signatures.values():
        if not signature.programs:
            continue
        first = signature.programs[0]
        leaves = [dict(one, written=False) for one in first.again.kinds]
        for program in signature.programs:
            for n in program.written:
                if n < len(first.again.arrays):
                    leaves[first.again.arrays[n]]["written"] = True
        kinds.append({"leaves": leaves, "grad": first.again.grad, "form": writer.tree(described(first.again.form)),
                      "count": len(first.taken.inputs),
                      "programs": [writer.recording(program.taken) for program in signature.programs]})  # fmt: skip
    memory: dict[Any, int] = {}
    start = len(first.again.arrays)
    for (way, item), value in zip(state.captured_state.tensors, first.taken.inputs[start:]):
        array, is_tensor = array_held(item), isinstance(item, TensorBase)
        grad = item.grad if is_tensor and item.is_leaf else None
        if is_tensor and not item.is_leaf:
            raise Unfit(f"save: {way} has a history, which a file cannot hold; detach it")
        held.append({"way": way, "data": writer.strided(array), "memory": memory.setdefault(value.memory, len(memory)),
                     "address": value.address, "requires_grad": is_tensor and item.requires_grad,
                     "grad": None if grad is None else writer.strided(array_held(grad))})  # fmt: skip
    writer.write(path, {"kinds": kinds, "held": held}, gradspec.__version__)


def load_program(path: str | os.PathLike) -> LoadedProgram:
    """Load a program that `save` of a compiled function wrote; it runs without the function.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    LoadedProgram
        Takes the function's arguments; `weights` are the captured tensors.

    Raises
    ------
    ValueError
        The file is damaged, not a program, or of a newer version; the message names the member and the field.  A call raises it
        if the program disagrees with its operators.
    RuntimeError
        A call is of a kind that was not recorded.

    Examples
    --------
    >>> import gradspec as gs, os, tempfile
    >>> w = gs.asarray([2.0, 3.0])
    >>> model = gs.compile(lambda x: gs.tanh(x * w))
    >>> y = model(gs.ones(2))
    >>> path = os.path.join(tempfile.mkdtemp(), "model.gsp")
    >>> model.save(path)
    >>> gs.load_program(path)(gs.ones(2)).tolist() == y.tolist()
    True
    """
    reader = Reader(path)
    try:
        return LoadedProgram(reader)
    except (Damaged, MemoryError) as error:  # captured arrays may span more than the memory
        raise reader.refusal(error) from error
