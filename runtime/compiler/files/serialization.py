"""Serialization: write the recordings of a compiled function to a file, and read them.

Defines the format: a zip archive with `program.json` (values, instructions, the pytrees of arguments and results) and an `.npy`
file for each array, weights among them.  The file contains no code, and nothing is unpickled; operators are found by their names
in the spec.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...api.archives import Archive, Damaged, json_from, shortened
from ..record.capture import GUARD, Captured
from ..record.captured_state import Unfit
from ..tracing.instructions import Instruction
from ..tracing.layouts import laid_out
from ..tracing.values import Value, bounds
from .consistency_checks import check_recording
from .structure_checks import PLAIN, ROOM, TYPES, check_array, check_document, check_instruction

FORMAT = 2  # version of the file format; other versions are refused
LITERALS = {"int": int, "str": str, "float": float.fromhex, "dtype": np.dtype}
PROGRAM = "program.json"
UNWRITTEN = {"empty": "zeros", "empty_like": "zeros_like"}


class Writer:
    """Writes one file."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.values: dict[Value, int] = {}
        self.described: list[Any] = []

    def array(self, array: np.ndarray) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def value(self, value: Value) -> int:
        if value not in self.values:
            memory = None if value.memory is value else self.value(value.memory)
            number = self.values[value] = len(self.described)
            data = None if value.data is None else self.strided(value.data)
            self.described.append([value.kind, list(value.shape), str(value.dtype), list(value.strides), memory,
                                   value.address, data])  # fmt: skip
            return number
        return self.values[value]

    def strided(self, array: np.ndarray) -> list[Any]:
        """An array with its layout."""
        return [self.array(np.ascontiguousarray(array).reshape(array.shape)), list(array.strides)]

    def tree(self, item: Any) -> Any:
        """A tree of values and literals in JSON; leaves that JSON cannot represent are tagged objects."""
        if item is None or type(item) is bool:
            return item
        if type(item) is Value:
            return {"value": self.value(item)}
        if type(item) in (int, str):
            return {type(item).__name__: str(item)}
        if type(item) is float:
            return {"float": item.hex()}
        if type(item) is complex:
            return {"complex": [item.real.hex(), item.imag.hex()]}
        if type(item) is list:
            return [self.tree(part) for part in item]
        if type(item) is tuple or isinstance(item, tuple) and hasattr(item, "_fields"):
            return {"tuple": [self.tree(part) for part in item]}
        if type(item) is dict and all(type(key) in (str, int) for key in item):
            return {"dict": [[self.tree(key), self.tree(part)] for key, part in item.items()]}
        if type(item) is slice:
            return {"slice": [self.tree(part) for part in (item.start, item.stop, item.step)]}
        if item is Ellipsis:
            return {"ellipsis": True}
        if isinstance(item, np.dtype):
            return {"dtype": item.str}
        if isinstance(item, type) and (item.__name__ in TYPES and TYPES[item.__name__] is item or issubclass(item, np.generic)):
            return {"type": item.__name__} if item in TYPES.values() else {"numpy": item.__name__}
        if isinstance(item, (np.generic, np.ndarray)) and np.asarray(item).dtype.kind in "fciub":
            return {"array": self.strided(np.asarray(item)), "scalar": isinstance(item, np.generic)}
        raise Unfit(f"save: a file has no place for {item!r} of class {type(item).__name__}: no code is saved")

    def recording(self, taken: Captured) -> dict[str, Any]:
        """One recording in JSON."""
        if taken.form is not None:
            raise Unfit("save: a file has no place for results that are values of classes of their own: no code is saved; return "
                        "tuples, lists and dictionaries")  # fmt: skip
        found = {name: self.tree([list(pair) if type(pair) is tuple else pair for pair in part] if type(part) is list else part)
                 for name, part in ((name, getattr(taken, name)) for name in PLAIN)}  # fmt: skip
        found["passed"], found["spent"] = [list(pair) for pair in taken.passed.items()], list(map(list, taken.spent.items()))
        found["lines"] = [[[line.name, self.guard(line), self.tree(line.outputs), line.line and list(line.line)]
                           for line in part] for part in (taken.lines, *taken.passes)]  # fmt: skip
        return found

    def guard(self, line: Instruction) -> Any:
        if line.name == GUARD:
            return [self.tree(line.arguments[0]), line.arguments[1].hex()]
        return self.tree(line.arguments)

    def write(self, path: Any, document: dict[str, Any], version: str) -> None:
        head = {"format": FORMAT, "gradspec": version, "values": self.described, **document}
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(PROGRAM, json.dumps(head))
            for number, array in enumerate(self.arrays):
                memory = io.BytesIO()
                np.lib.format.write_array(memory, array, allow_pickle=False)
                archive.writestr(f"{number}.npy", memory.getvalue())


class Reader:
    """Reads one file, after checking it.

    Parameters
    ----------
    path : str or path-like

    Raises
    ------
    ValueError
        The file is damaged, not a program, or of a newer version.
    """

    def __init__(self, path: Any) -> None:
        self.path = os.fspath(path)
        self.values: list[Value] = []
        with open(path, "rb") as file:
            size = self.room = os.fstat(file.fileno()).st_size
            try:
                with Archive(file) as archive:
                    self.document, self.arrays = self.members(archive)
                check_document(self.document, self.arrays, size)
                self.enter_values()
            except (ValueError, MemoryError) as error:
                raise self.refusal(error) from error

    def enter_values(self) -> None:
        for kind, shape, dtype, strides, memory, address, data in self.document["values"]:
            like = as_strided(np.empty(1, dtype), tuple(shape), tuple(strides))  # only its layout is used
            value = Value(kind, like, None if memory is None else self.values[memory])
            value.address = address
            value.data = None if data is None else self.strided(data)
            self.values.append(value)

    def members(self, archive: Archive) -> tuple[Any, list[np.ndarray]]:
        if PROGRAM not in archive.names:
            raise Damaged("it contains no program; write one with save() of a compiled function")
        document = json_from(archive.bytes(PROGRAM), PROGRAM)
        version = document.get("format") if isinstance(document, dict) else None
        if type(version) is int and version != FORMAT:
            raise Damaged(f"it was written by gradspec {str(document.get('gradspec'))[:40]} in format {version}, and this "
                          f"version reads {FORMAT}; use that version")  # fmt: skip
        wanted = [f"{number}.npy" for number in range(len(archive.names) - 1)]
        for name in archive.names:
            if name != PROGRAM and name not in wanted:
                raise Damaged(f"{shortened(name)} does not belong to a program")
        return document, [archive.array(name) for name in wanted]

    def refusal(self, error: Exception) -> ValueError:
        return ValueError(f"load_program: {self.path!r}: {error}")

    def strided(self, described: list[Any]) -> np.ndarray:
        number, strides = described
        array = self.arrays[number]
        if array.strides == tuple(strides) or array.size == 0:
            return array
        return laid_out(array, tuple(strides))

    def tree(self, item: Any) -> Any:
        if item is None or type(item) is bool:
            return item
        if type(item) is list:
            return [self.tree(part) for part in item]
        kind, content = next(iter(item.items()))
        if kind == "value":
            if content >= len(self.values):
                raise Damaged(f"program.json: there is no value {content}")
            return self.values[content]
        if kind in LITERALS:
            return LITERALS[kind](content)
        if kind == "complex":
            return complex(*map(float.fromhex, content))
        if kind == "tuple":
            return tuple(self.tree(part) for part in content)
        if kind == "dict":
            return {self.tree(key): self.tree(part) for key, part in content}
        if kind == "slice":
            return slice(*(self.tree(part) for part in content))
        if kind == "type":
            return TYPES[content]
        if kind == "numpy":
            return getattr(np, content)
        if kind == "array":
            self.room -= check_array(content, self.arrays, "an argument")
            if self.room + ROOM < 0:
                raise Damaged("program.json: the numbers among arguments reach over far more memory than the file has")
            array = self.strided(content)
            return array[()] if item["scalar"] else array
        return Ellipsis

    def recording(self, found: dict[str, Any], needs: list[bool], where: str) -> Captured:
        """One recording; `needs` says which of its input arrays require grad."""
        taken = Captured()
        for name in PLAIN:
            setattr(taken, name, self.tree(found[name]))
        taken.passed = {place: number for place, number in found["passed"]}
        taken.spent = {place: text for place, text in found["spent"]}
        if len(taken.passed) < len(found["passed"]) or len(taken.spent) < len(found["spent"]):
            raise Damaged(f"program.json: {where} names a result twice in passed or spent")
        taken.lines, *taken.passes = [[self.instruction(*parts, f"{where}.lines[{place}][{n}]") for n, parts in enumerate(part)]
                                      for place, part in enumerate(found["lines"])]  # fmt: skip
        check_recording(taken, needs, where)
        return taken

    def instruction(self, op: str, arguments: Any, outputs: Any, line: Any, where: str) -> Instruction:
        """One instruction.  `empty` becomes `zeros`: uninitialised memory could show data of the process to a file's program."""
        given = (self.tree(arguments[0]), bytes.fromhex(arguments[1])) if op == GUARD else self.tree(arguments)
        made = self.tree(outputs)
        check_instruction(op, given, made, where)
        return Instruction(UNWRITTEN.get(op, op), given, made, line and tuple(line))


def together(arrays: list[np.ndarray], addresses: list[int]) -> list[np.ndarray]:
    """Arrays in one common memory, at the distances of their recorded addresses."""
    pairs = list(zip(addresses, arrays))
    spans = [(address - (array.__array_interface__["data"][0] - bounds(array)[0]), array) for address, array in pairs]
    low = min(start for start, _ in spans)
    high = max(start + bounds(array)[1] - bounds(array)[0] for start, array in spans)
    memory = np.zeros(high - low, np.uint8)
    found = [np.ndarray(array.shape, array.dtype, memory, address - low, array.strides) for address, array in pairs]
    for mine, array in zip(found, arrays):
        mine[...] = array
    return found
