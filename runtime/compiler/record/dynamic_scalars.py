"""Dynamic numbers: make Python numbers among the arguments inputs of a recording, instead of parts of a call's kind.

Marks the numbers and lets them promote as Python numbers do: the recording contains a cast to the dtype that the other operands
of each operator determine.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...core.events import Event
from ...core.non_operator_events import array_of
from ...core.tensor import TensorBase
from ..tracing.entries import entry_of
from ..tracing.tracer import Recorder, place
from ..tracing.values import mapped
from .captured_state import Unfit

MARK = "a dynamic number"
NUMBERS = (bool, int, float, complex)
LIKE = {"b": False, "i": 0, "f": 0.0, "c": 0j}  # a number of each kind, for promotion


class Places:
    """Which arguments are dynamic numbers.

    Parameters
    ----------
    function : callable
    dynamic : int, str or iterable of them
        Positions of positional arguments, and names.
    """

    def __init__(self, function: Callable[..., Any], dynamic: Any) -> None:
        if dynamic is True:
            raise TypeError("compile: dynamic= names arguments that are numbers and change; each shape has its own recording")
        wanted = [dynamic] if isinstance(dynamic, (int, str)) else list(dynamic)
        try:
            known = dict(inspect.signature(function).parameters)
        except ValueError:  # a builtin
            known, others = {}, True
        else:
            others = any(one.kind is one.VAR_KEYWORD for one in known.values())
        parameters = [name for name, one in known.items() if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        for name in wanted:
            if isinstance(name, str) and name not in known and not others:
                raise ValueError(f"compile: dynamic={name!r} is not a parameter; the parameters are {sorted(known)}")
        self.names = {item for item in wanted if isinstance(item, str)}
        self.numbers = {item for item in wanted if not isinstance(item, str)}
        self.names.update(parameters[n] for n in self.numbers if -len(parameters) <= n < len(parameters))
        self.numbers.update(parameters.index(name) for name in list(self.names) if name in parameters)

    def marked(self, args: tuple, keywords: dict) -> tuple[tuple, dict]:
        """The arguments of a call, with each dynamic number as a pair of a mark and an array."""
        args = tuple(mark(item) if n in self.numbers or n - len(args) in self.numbers else item for n, item in enumerate(args))
        return args, {name: mark(item) if name in self.names else item for name, item in keywords.items()}


def mark(item: Any) -> Any:
    if type(item) not in NUMBERS or type(item) is int and not -(2**63) <= item < 2**63:
        return item
    return MARK, np.asarray(item)


def is_marked(item: Any) -> bool:
    return type(item) is tuple and len(item) == 2 and type(item[0]) is str and item[0] is MARK


def unmarked(args: tuple, keywords: dict, of: Callable[[Any], Any]) -> tuple[tuple, dict]:
    """The arguments with each marked number `x` replaced by `of(x)`."""
    def each(item: Any) -> Any:
        return of(item[1]) if is_marked(item) else item

    return tuple(map(each, args)), {name: each(item) for name, item in keywords.items()}


class Weak:
    """The dynamic numbers of a recording, and the values computed from them alone."""

    def __init__(self, tensors: Iterable[TensorBase]) -> None:
        self.found = {id(tensor): tensor for tensor in tensors}
        self.alone: set[Event] = set()  # operators whose operands are all dynamic numbers

    def holds(self, item: Any) -> bool:
        return self.found.get(id(item)) is item and item is not None

    def operands(self, event: Event) -> tuple[list[int], list[Any]]:
        """The positions of an operator's operands that are dynamic numbers, and its other operands."""
        entry = entry_of(event.name)
        if entry is None or not self.found:
            return [], []
        names = [name for name, _, _, _ in entry.arguments]
        operands = [n for n, name in enumerate(names[: len(event.inputs)]) if name in entry.inputs] or [
            n for n, (_, kind, _, _) in enumerate(entry.arguments[: len(event.inputs)]) if kind.startswith("Array")
        ]
        places = [n for n in operands if self.holds(event.inputs[n])]
        others: list[Any] = []
        if places:
            mapped([event.inputs[n] for n in operands if n not in places], others.append)
        return places, others

    def dtype_of(self, event: Event, places: list[int], others: list[Any]) -> np.dtype:
        """The dtype after promotion of an operator's operands, with dynamic numbers as Python numbers."""
        arrays = [array_of(item).dtype for item in others if isinstance(item, TensorBase) and not self.holds(item)]
        kinds = [LIKE[array_of(event.inputs[n]).dtype.kind] for n in places]
        kinds += [item for item in others if type(item) in NUMBERS]
        if not arrays:
            return np.asarray(reduce(add, kinds, kinds[0])).dtype
        found = np.result_type(*arrays, *kinds)
        if found.kind in "iu" and found != np.int64:
            raise ValueError(f"a dynamic integer meets an operand of dtype {found}, and its value may not fit into that dtype")
        return found

    def promote(self, recorder: Recorder, event: Event) -> None:
        """Convert the dynamic numbers of an operator to the dtype that Python numbers would have there."""
        places, others = self.operands(event)
        if not places:
            return
        inputs = list(event.inputs)
        if all(type(item) in NUMBERS for item in others):
            self.alone.add(event)
        try:
            dtype = self.dtype_of(event, places, others)
        except ValueError as error:
            recorder.failure = recorder.failure or Unfit(f"{error}, at {place(event.line)}")
        for n in places:
            if recorder.failure is not None:  # the recording has failed, but the call continues
                inputs[n] = number_of(inputs[n])
            elif array_of(inputs[n]).dtype != dtype:
                step = recorder.step("made", "astype", (recorder.value(array_of(inputs[n]), event), dtype), event)
                inputs[n] = asarray(array_of(inputs[n]).astype(dtype))
                step.outputs = recorder.result(inputs[n], step)
        event.replace_inputs(tuple(inputs))

    def close(self, event: Event) -> None:
        """Count a scalar computed from dynamic numbers alone as a dynamic number."""
        result = event.outputs
        if event not in self.alone:
            return
        if isinstance(result, TensorBase) and result.ndim == 0 and array_of(result).dtype.kind in LIKE:
            self.found[id(result)] = result


def number_of(item: Any) -> Any:
    """The Python number of a marked array."""
    return (array_of(item) if isinstance(item, TensorBase) else item).item()
