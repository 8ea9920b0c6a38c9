"""Side effects: record the callbacks of a call.

Records the arguments of a callback, checks that it holds no array of the call, and finds the state that it changes.  A function
that captures the same state no longer guards it.  Callbacks wait until no guard can end the replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.conversion import asarray
from ...core.non_operator_events import array_of
from ...core.tensor import TensorBase
from ..guards.state_guards import MISSING, SIZE, differences
from ..tracing.instructions import CALLBACK, Instruction, does_something, renamed
from ..tracing.values import Value
from .captured_state import LISTED, CapturedState, Unfit

if TYPE_CHECKING:
    from ...func.callbacks import Callback

KEPT = "numbers for a callback"  # copies an argument of a waiting callback


def called(callback: Callback, args: tuple, keywords: dict) -> Any:
    """Run a callback in a replay."""
    return callback(args, keywords)


def kept(item: Any) -> Any:
    """A copy of a tensor in new memory."""
    return asarray(array_of(item).copy(order="C"))


class Watched:
    """The captured state of a callback, compared before and after its call.

    Parameters
    ----------
    callback : Callback
    known : set of int
        Identities of the objects that the function itself captures.
    loose : dict
        Entries that callbacks are known to change: keys are (identity of a container, key), values are the containers.
    """

    def __init__(self, callback: Callback, known: set[int], loose: dict) -> None:
        self.loose, function = loose, callback.function
        objects = [item for item in [getattr(function, "__self__", None)] if item is not None]
        self.captured_state = CapturedState(function, objects, ran={})
        self.own = CapturedState(function, (), known, loose, ran={})

    def changes(self) -> Iterator[tuple[tuple, Any]]:
        """The entries that have changed: (identity of the container, key), with the container."""
        for guard in self.captured_state.guards:
            container = guard[1]
            for _, key, before, _ in differences(guard):
                if before is MISSING and (id(container), SIZE) in self.loose:
                    continue  # a new key of a dictionary that is known to grow
                yield (id(container), SIZE if isinstance(container, (*LISTED, np.ndarray)) else key), container

    def strangers(self, memory: Any, held: set[int]) -> Iterator[str]:
        """The expressions of tensors that the callback holds and the call has made or received: the next call has other ones."""
        for way, item in self.own.tensors:
            array = array_of(item) if isinstance(item, TensorBase) else item
            if id(item) not in held and (memory.known(array) is not None or memory.block(array) is not None):
                yield way


def sink_callbacks(
    lines: list[Instruction], is_steady: Callable[[Instruction], bool], may_fail: Callable[[Instruction], bool]
) -> list[Instruction]:
    """The instructions with callbacks moved behind every instruction that may fail or whose guard may end the replay.

    If a callback returns results, callbacks move only behind guards: instructions that may fail do not move them.

    Raises
    ------
    Unfit
        A result of a callback is needed before a guard.
    """
    if not any(does_something(line) for line in lines):
        return lines
    gives = any(does_something(line) and line.made for line in lines)
    last = max((number for number, line in enumerate(lines) if line.name != CALLBACK and (
        not is_steady(line) or may_fail(line) and not gives)), default=-1)  # fmt: skip
    before: list[Instruction] = []
    later: list[Instruction] = []
    for line in lines[: last + 1]:
        if not does_something(line):
            before.append(line)
            continue
        if line.made:
            raise Unfit("an io_callback returns results before the call reads a value in Python, or has a result whose shape "
                        "depends on values")  # fmt: skip
        copies: dict[Value, Value] = {}
        for value in line.read:
            if value not in copies:
                copies[value] = Value("result", np.empty(value.shape, value.dtype))
                before.append(Instruction(KEPT, (value,), copies[value], line.line))
        later += renamed([line], copies)
    return [*before, *later, *lines[last + 1 :]]
