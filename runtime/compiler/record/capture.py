"""Captures: run a call eagerly and record it for replay.

Records the origin of each array (an argument, captured state, or a constant of the program) and the changes that the call makes.
Does not depend on executables.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import numpy as np

from ...core.non_operator_events import array_of
from ...core.tensor import TensorBase
from ...support.generator import as_generator
from ...support.pytree import LEAF, flatten, without_leaves
from ..tracing.entries import entry_of
from ..tracing.instructions import GUARD, Instruction, straightened, within
from ..tracing.tracer import Call, place
from ..tracing.values import Memory, Value, held, mapped, values_in
from .captured_state import CapturedState, Unfit, array_held
from .dynamic_scalars import Weak
from .executed_code import Executed
from .origins import CallRecorder
from .result_views import version_of, without_hooks
from .results import BACKWARD, NOWHERE, record_result_views

__all__ = ["BACKWARD", "GUARD", "Captured", "Unfit", "CallRecorder", "capture", "fingerprint"]


CONSTANTS = (bool, int, float, complex, str, bytes, np.generic, np.dtype, type, slice, range, type(None), type(Ellipsis))


class Captured:
    """A recorded call.

    Attributes
    ----------
    lines : list of Instruction
    passes : list of list of Instruction
        Instructions of the backward passes from the results that require grad: one pass from all and, if several, one from each.
    inputs : list of Value
        One for each input array: first the arguments, then the captured arrays.
    results : tree of Value
    form : form or None
        Structure of the returned pytree, if it contains values of registered classes; `results` are then its leaves.
    outcome : object
        The call's return value.
    returned : list of bool
        Which leaves of the outcome are ndarrays.
    passed : dict of int to int
        Results that are input tensors: from position among the leaves to position among the inputs.
    roots : list of (Value, int, int, int)
        Results that are not views, and bases of the views, each as (value, input, root, version).  `input` or the earlier `root`
        shares the version counter (-1 if none does); `version` counts the writes.
    looks : list of (int, int, list or None)
        For each leaf, the input or the root that it is or that it is a view of, and the steps to the view.
    versions : list of (int, int)
        Number of writes to each input.
    gradients : list of (int, Value or None)
        Leaves, by position among the inputs, whose `.grad` is a different tensor now.
    cotangents : list of Value
        Inputs of the backward pass, one for each result that requires grad.
    differentiated : list of int
        Their positions among the roots.
    freeing : list of list of int
        For each of them, the results whose pass frees values that its own pass needs.
    spent : dict of int to str
        Results, by position among the leaves, that require grad and whose graph was freed, with the error message of their
        differentiation.
    targets : list of list of (int, Value or None)
        For each pass, its inputs of differentiation by position among the inputs, each with its derivative.
    caught : str or None
        The error of an operator that the function has caught.
    catches : bool
        Whether the function's code has an exception handler.
    otherwise : set of str
        Kinds of floating-point errors whose mode differs between the function and its caller, because of `numpy.errstate`.
    unwalked : dict of code to list of function
        Functions that ran although the walk of the captured state did not enter them; the next recording walks them.
    """

    def __init__(self) -> None:
        self.lines: list[Instruction] = []
        self.passes: list[list[Instruction]] = []
        self.inputs: list[Value] = []
        self.results: Any = None
        self.form: Any = None
        self.outcome: Any = None
        self.returned: list[bool] = []
        self.passed: dict[int, int] = {}
        self.gradients: list[tuple[int, Value | None]] = []
        self.cotangents: list[Value] = []
        self.differentiated: list[int] = []
        self.freeing: list[list[int]] = []
        self.targets: list[list[Any]] = []
        self.spent: dict[int, str] = {}
        self.roots: list[tuple[Value, int, int, int]] = []
        self.looks: list[tuple[int, int, Any]] = []
        self.versions: list[tuple[int, int]] = []
        self.caught: str | None = None
        self.catches = False
        self.otherwise: set[str] = set()
        self.loose: dict[tuple, Any] = {}  # captured state that callbacks have changed
        self.unwalked: dict[CodeType, list[Any]] = {}
        self.failure: Exception | None = None


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause Python's garbage collector: the objects of a recording survive, and repeated searches of the whole process for cycles
    cost more than the recording.  At the end only the youngest generation is collected, so that no later call pays for it."""
    if not gc.isenabled():
        yield
        return
    try:
        gc.disable()  # inside the try, because Ctrl-C may follow immediately
        yield
    finally:
        gc.enable()
        gc.collect(0)


def capture(
    function: Callable[..., Any],
    args: tuple,
    keywords: dict,
    given: list[Any],
    captured_state: CapturedState,
    weak: Weak,
    objects: list[Any] = (),
) -> Captured:
    """Run a call and record it.

    Parameters
    ----------
    function : callable
    args, keywords
        Arguments of the call, with tensors in place of arrays.
    given : list of Tensor or ndarray
        All arrays of the arguments, in order, followed by the captured arrays.
    captured_state : CapturedState
    weak : Weak
        The arguments that are Python numbers to the caller.
    objects : list
        Arguments that the walk of the captured state started from, too.

    Returns
    -------
    Captured
        With a `failure` if the call cannot be replayed; the outcome is present in any case.
    """
    there = set(captured_state.seen) | {id(as_generator(None, "compile", "generator"))}
    leaves = flatten((args, keywords))[0]
    there.update(map(id, leaves))
    executed = Executed()
    recorder = CallRecorder(Memory(), there, captured_state, weak, executed)
    taken = Captured()
    for item in given:
        array = array_held(item)
        value = recorder.met.known(array)
        taken.inputs.append(recorder.met.enter(array, "input") if value is None else value)
    states = [state_of(item) for item in given]
    try:
        recorder.start()  # inside the try, because an interrupt may follow immediately
        taken.outcome = function(*args, **keywords)
    finally:
        recorder.stop()
    taken.loose, taken.caught = recorder.loose, recorder.caught
    taken.catches, taken.otherwise = executed.catches, recorder.otherwise
    try:
        if recorder.failure is not None:
            raise recorder.failure
        taken.unwalked = executed.unwalked(captured_state)
        if taken.unwalked:
            return taken
        recorder.draws.end()
        recorder.draws.check_all(executed.names())
        if np.geterr() != recorder.errors:
            raise Unfit("the call changes how NumPy treats floating-point errors (np.seterr); call it outside")
        executed.check(function, objects, captured_state)
        executed.check_loose(function, objects, captured_state, captured_state.loose | taken.loose)
        finish(taken, recorder, given, states, there)
        executed.check(function, objects, captured_state)
    except Unfit as error:
        taken.failure = error.with_traceback(None)  # its frames hold the call's arguments
    except Exception as error:
        taken.failure = Unfit(f"{type(error).__name__}: {error}")
    return taken


def state_of(item: Any) -> tuple:
    """The attributes of a tensor that a call may change, besides its values."""
    if not isinstance(item, TensorBase):
        return ()
    return item.grad_fn, item.requires_grad, array_of(item), item.grad if item.is_leaf else None, version_of(item)


def finish(taken: Captured, recorder: CallRecorder, given: list[Any], states: list[tuple], there: set[int]) -> None:
    """Record the call's changes and results, run the backward passes from the results, and order all instructions."""
    memory = recorder.met
    if as_generator(None, "compile", "generator") is not recorder.default:
        raise Unfit("the call seeds the default generator, which a replay would not do; seed it outside")
    places = {id(item): number for number, item in reversed(list(enumerate(given)))}
    leaves: list[Any] = []

    def result(item: Any) -> Any:
        array = held(item)
        leaves.append(item)
        if array is None:
            if not isinstance(item, CONSTANTS) and id(item) not in there:
                sparse = type(item).__module__.startswith("scipy.sparse")
                way = ("of a sparse Jacobian or Hessian, return gs.func.sparse_plan(f, x).compressed(x)" if sparse else
                       "return its arrays, or register its class as a pytree: gs.func.register_nest")  # fmt: skip
                raise Unfit(f"the call returns a {type(item).__name__}, which each replay would return with the content of the "
                            f"recorded call; {way}")  # fmt: skip
            return item
        if isinstance(item, TensorBase) and id(item) in places:
            taken.passed[len(leaves) - 1] = places[id(item)]
        return recorder.value(array, NOWHERE)

    found, form = flatten(taken.outcome)
    if not is_ordinary(form):
        taken.form = without_leaves(form)
    taken.results = mapped(taken.outcome if taken.form is None else found, result)
    taken.returned = [isinstance(leaf, np.ndarray) for leaf in leaves]
    for number, (item, state) in enumerate(zip(given, states)):
        if state:
            note_changes(taken, recorder, number, state, state_of(item))
    targets = {id(item): number for number, item in reversed(list(enumerate(given)))
               if isinstance(item, TensorBase) and item.requires_grad}  # fmt: skip
    with without_hooks([given[number] for number in targets.values()]):
        record_result_views(taken, recorder, given, leaves, list(targets.values()))
    wanted = [value for _, value in (*taken.gradients, *(pair for one in taken.targets for pair in one)) if value is not None]
    results = [*wanted, *values_in(taken.results), *(row[0] for row in taken.roots)]
    lines = straightened(recorder.root, results, lambda call, level: fuses_in_parts(call))
    parts: list[list[Instruction]] = [[]]
    for line in lines:
        if line.name == BACKWARD:
            parts.append([])
        else:
            parts[-1].append(line)
    taken.lines, *taken.passes = parts
    written = {line.target for line in lines}
    if any(value in written and not array_held(item).flags.writeable for value, item in zip(taken.inputs, given)):
        raise Unfit("the call writes to an array that it also has as a read-only argument or captured array")
    if not recorder.placed.isdisjoint(value.memory for value in written if value is not None):
        raise Unfit("the call writes to memory of its inputs whose address decides where a view begins (as_strided)")
    for value in memory.values:  # a program keeps values, without their definitions
        value.definer, value.hosts = None, ()


def fuses_in_parts(call: Call) -> bool:
    """Whether an operator is written in terms of others, which fuse with their neighbours.

    `decompose` has the loops of a formula.  An operator whose parts compute positions, or views, stays whole: constants among
    them are computed once, and C has to know positions.
    """
    entry = entry_of(call.name)
    if entry is None or entry.form != "composite" or entry.program:
        return False
    made = [value for part in within(call) for value in values_in(part.outputs)]
    return not any(value.memory is not value or value.dtype.kind in "iu" for value in made)


def is_ordinary(form: Any) -> bool:
    """Whether a pytree contains only tuples, lists and dictionaries of exactly these types."""
    return form is LEAF or type(form[0]) in (tuple, list, dict) and all(map(is_ordinary, form[2]))


def note_changes(taken: Captured, recorder: CallRecorder, number: int, before: tuple, now: tuple) -> None:
    """Record the changes that a call made to an input tensor."""
    if now[0] is not before[0] or now[1] != before[1] or now[2] is not before[2]:
        raise Unfit("the call changes the history, requires_grad or the array of an argument or of a captured tensor")
    if now[4] != before[4]:
        taken.versions.append((number, now[4] - before[4]))
    if now[3] is not before[3]:
        if now[3] is not None and now[3].requires_grad:
            raise Unfit("the call leaves a .grad that requires grad")
        taken.gradients.append((number, None if now[3] is None else recorder.value(array_of(now[3]), NOWHERE)))


def fingerprint(taken: Captured) -> list[Any]:
    """The properties, bit by bit, that are equal in two recordings of one program."""
    numbers: dict[Value, Any] = {}

    def name(item: Any) -> Any:
        if not isinstance(item, Value):
            return repr(item) if not isinstance(item, np.ndarray) else item.tobytes()
        if item not in numbers:
            numbers[item] = (len(numbers), item.dtype, item.shape, None if item.data is None else item.data.tobytes())
        return numbers[item]

    return [(line.name, mapped(line.arguments, name), mapped(line.outputs, name)) for line in all_lines(taken)]


def all_lines(taken: Captured) -> list[Instruction]:
    """The instructions of the call and of its backward passes."""
    return [*taken.lines, *(line for one in taken.passes for line in one)]


def first_difference(before: Captured, now: Captured) -> str | None:
    """The first instruction that differs between two recordings, with its line; None if a value that Python read explains it."""
    ways = zip(fingerprint(before), fingerprint(now), all_lines(before), all_lines(now))
    for then, found, line, other in ways:
        if then != found:
            reads_value = line.name == GUARD and then[1][:1] == found[1][:1]
            if line.name == other.name and (reads_value or then[:2] == found[:2]):  # or results whose shape depends on values
                return None
            what = "other numbers" if line.name == other.name else f"{line.name} before and {other.name} now"
            return f"{line.name} at {place(line.line)} and {other.name} at {place(other.line)}: {what}"
    return f"{len(before.lines)} instructions before and {len(now.lines)} now"
