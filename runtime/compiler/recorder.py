"""Recorder: record a call of a compiled function, and decide whether later calls may replay the recording."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from .cache import Cache, Signature, State
from .record.arguments import Arguments
from .record.capture import Captured, Unfit, capture, fingerprint, first_difference
from .record.captured_state import array_held
from .record.dynamic_scalars import Weak, is_marked, unmarked
from .record.executed_code import DEBUG_HINT
from .reporter import name_of
from .specialize.recompute_with_grad import Recomputation
from .specialize.specialization import Program

BRANCHES = 16  # recordings of one signature
TRIES = 4  # recordings in a row that no later call could use, before the function runs eagerly for good
MOST = 2 * TRIES + BRANCHES  # the same limit when recordings differ by captured state or by branches


class Stale(RuntimeError):
    """A recording differs from the function's present behaviour, though no guard has changed."""


class Hopeless(Unfit):
    """No call of the function can be replayed."""


class Verdict(Enum):
    """The use of a recording."""

    KEPT = "later calls replay it"
    KNOWN = "it equals an earlier recording"
    UNUSED = "it served this call alone"
    WALK_AGAIN = "it ran code that the captured state does not cover"


class Recorder:
    """Records calls of one function.

    Parameters
    ----------
    function : callable
    cache : Cache
    dynamic : bool
        Whether arguments may be marked as dynamic numbers.
    rechecked : bool
        Whether recordings are compared with eager calls later.
    """

    def __init__(self, function: Callable[..., Any], cache: Cache, dynamic: bool, rechecked: bool) -> None:
        self.function, self.cache, self.dynamic, self.rechecked = function, cache, dynamic, rechecked

    def record(self, state: State, arguments: Arguments, given: list[Any], objects: list[Any]) -> Recording:
        """Run a call eagerly, and record it."""
        args, keywords = arguments.args, arguments.keywords
        again = Recomputation(self.function, args, keywords)
        numbers = [item[1] for item in (*args, *keywords.values()) if self.dynamic and is_marked(item)]
        args, keywords = unmarked(args, keywords, lambda number: number) if numbers else (args, keywords)
        try:
            taken = capture(self.function, args, keywords, given, state.captured_state, Weak(numbers), objects)
        finally:
            written = arguments.put_back()
        return Recording(taken, again, given, bool(written))

    def admit(self, recording: Recording, state: State, signature: Signature, due: list[Program], useless: int) -> Verdict:
        """Let later calls replay a recording, if that is sound.

        Parameters
        ----------
        due : list of Program
            Recordings that this one is compared with.
        useless : int
            Recordings in a row that no later call could use, this one among them.

        Raises
        ------
        Unfit
            Calls of this signature cannot be replayed.
        Stale
            A recording in `due` differs.
        """
        taken = recording.taken
        if not all(array_held(item).flags.aligned and array_held(item).dtype.isnative for item in recording.given):
            raise Unfit("an array is not aligned, or its byte order differs from the processor's")
        if recording.written:
            raise Unfit("it writes to a dictionary or a list among its arguments, which a replay would not; return the values")
        if taken.failure is not None:
            raise Unfit(str(taken.failure))
        if not self.cache.knows(taken):
            self.cache.walk_again(taken)
            return Verdict.WALK_AGAIN
        if taken.caught is not None:  # a call without errors takes a different path
            if not signature.programs and useless >= TRIES:
                raise Unfit(f"{taken.caught} at each call")
            return Verdict.UNUSED
        change, moved = state.captured_state.changed(), self.cache.moved
        if change is not None:
            if useless >= TRIES:
                raise Hopeless(f"each call changes {change[0]}, the last call from {change[1]!r} to {change[2]!r}{DEBUG_HINT}")
            return Verdict.UNUSED
        if moved is not None and useless >= MOST:
            way, before, now = moved
            raise Hopeless(f"{way} differs at each call, {before!r} and then {now!r}; make it an argument, or a tensor of shape "
                           "() that is written to, such as lr=gs.tensor(0.1) of an optimiser")  # fmt: skip
        found = fingerprint(taken)
        for program in signature.programs:
            if fingerprint(program.taken) == found:
                program.defer_recheck()
                return Verdict.KNOWN
        self.compare(taken, signature, due)
        if len(signature.programs) >= BRANCHES or useless >= MOST:
            raise Unfit(f"calls of one kind took more than {BRANCHES} different paths, because Python reads values that change; "
                        f"compute with tensors instead of Python numbers{DEBUG_HINT}")  # fmt: skip
        program = Program(taken, recording.again, state, self.rechecked)
        if taken.catches and not program.forward.restartable:
            raise Unfit("it may catch an error of an operator after a callback, or after a write to arrays that share memory; a "
                        "replay could not undo these")  # fmt: skip
        if taken.otherwise and (program.written or not program.forward.restartable):
            raise Unfit("np.errstate is in force inside, with a callback or a write that a replay could not take back; put it "
                        "around the call")  # fmt: skip
        signature.programs.insert(0, program)
        return Verdict.KEPT

    def compare(self, taken: Captured, signature: Signature, due: list[Program]) -> None:
        """Refuse a recording that differs from an earlier one, though no guard has changed."""
        for program in due:
            difference = first_difference(program.taken, taken)
            if difference is None:
                continue
            signature.programs[:] = []
            if program.calls == 1:
                raise Unfit(f"two calls differ though nothing changed between them: {difference}")
            raise Stale(f"compile: {name_of(self.function)} no longer does what was recorded: {difference}; results of replays "
                        "since then may be wrong. Something changed that no guard compares: pass it as an argument, and please "
                        "report it")  # fmt: skip


class Recording:
    """A call that ran eagerly and was recorded.

    Attributes
    ----------
    taken : Captured
    again : Recomputation
        Runs the call again, for derivatives of its backward pass.
    given : list
        All arrays of the call.
    written : bool
        Whether the call wrote to a dictionary or a list that it was given.
    """

    def __init__(self, taken: Captured, again: Recomputation, given: list[Any], written: bool) -> None:
        self.taken, self.again, self.given, self.written = taken, again, given, written
