"""Effects: what a recorded call does beside computing, by functions that it calls back.

Owns how a callback is written down: what it is given, that it holds nothing the call has made, and what it changes, at which a
function that holds the same is not looked at any more.  Callbacks whose call may still turn out to be another one wait.
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

KEPT = "numbers for a callback"  # a copy of what a callback that waits is given


def called(callback: Callback, args: tuple, keywords: dict) -> Any:
    """A callback that is replayed."""
    return callback(args, keywords)


def kept(item: Any) -> Any:
    """The numbers of a tensor in memory of their own."""
    return asarray(array_of(item).copy(order="C"))


class Watched:
    """What a callback holds, looked at before and after it was called.

    Parameters
    ----------
    callback : Callback
    known : set of int
        The identities of what the function holds itself.
    loose : dict
        What callbacks are known to change: keys are (identity of a container, key), values the containers.
    """

    def __init__(self, callback: Callback, known: set[int], loose: dict) -> None:
        self.loose, function = loose, callback.function
        objects = [item for item in [getattr(function, "__self__", None)] if item is not None]
        self.captured_state = CapturedState(function, objects, ran={})
        self.own = CapturedState(function, (), known, loose, ran={})

    def changes(self) -> Iterator[tuple[tuple, Any]]:
        """The places that have changed: (identity of the container, key), with the container."""
        for guard in self.captured_state.guards:
            container = guard[1]
            for _, key, before, _ in differences(guard):
                if before is MISSING and (id(container), SIZE) in self.loose:
                    continue  # one more key of a dictionary that is known to grow
                yield (id(container), SIZE if isinstance(container, (*LISTED, np.ndarray)) else key), container

    def strangers(self, memory: Any, held: set[int]) -> Iterator[str]:
        """The ways to tensors that the call has made, or was given, and that the callback holds: the next call has others."""
        for way, item in self.own.tensors:
            array = array_of(item) if isinstance(item, TensorBase) else item
            if id(item) not in held and (memory.known(array) is not None or memory.block(array) is not None):
                yield way


def sink_callbacks(
    lines: list[Instruction], is_steady: Callable[[Instruction], bool], may_fail: Callable[[Instruction], bool]
) -> list[Instruction]:
    """The instructions with callbacks behind all that may turn the call into another one, or end it.

    A callback that gives results stays where it is, and so do all others then, unless a guard comes behind them.

    Raises
    ------
    Unfit
        What a callback gives is needed before a guard.
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
            raise Unfit("io_callback gives something before the call looks at a value, or has a result whose shape values decide")
        copies: dict[Value, Value] = {}
        for value in line.read:
            if value not in copies:
                copies[value] = Value("result", np.empty(value.shape, value.dtype))
                before.append(Instruction(KEPT, (value,), copies[value], line.line))
        later += renamed([line], copies)
    return [*before, *later, *lines[last + 1 :]]
