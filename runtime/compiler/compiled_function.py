"""Compiled functions: record the first call of a kind and replay the recording on later calls.

Decides which recording serves a call.  The choice depends on the pytree of the arguments, their dtypes, shapes and layouts, the
values of Python numbers, the modes, the captured state, and the values that guards compare.  If no recording fits, the function
runs eagerly.
"""

from __future__ import annotations

import os
import sys
import types
import warnings
from collections.abc import Callable
from functools import update_wrapper
from operator import is_
from typing import Any

import numpy as np

from ..core.grad_mode import is_grad_enabled
from ..core.tensor import TensorBase
from ..support.error_hints import answering
from ..support.pytree import Taken
from .execute.argument_guards import ArgumentGuards, GuardedCalls, hooks_of
from .execute.interpreter import GuardFailed
from .out_argument import into
from .recompute_with_grad import Recomputation
from .record.arguments import Arguments, is_plain
from .record.capture import Captured, Unfit, capture, fingerprint, first_difference, uncollected
from .record.captured_state import CapturedState, TooManyGuards, array_held
from .record.dynamic_scalars import Places, Weak, is_marked, number_of, unmarked
from .specialization import Program

BRANCHES = 16  # recordings of one signature
STATES = 8  # captured states whose recordings are kept
KINDS = 256  # kinds of calls kept for each state, the most recently used ones
RECENT = 16  # kinds of calls compared first
WAY_OUT = "; what is only printed or logged goes to gs.debug.print or gs.debug.callback"
TRIES = 4  # recordings in a row that no later call could use, before the function runs eagerly for good
MOST = 2 * TRIES + BRANCHES  # the same limit when recordings differ by captured state or by branches
RECHECKED = os.environ.get("GRADSPEC_RECHECK", "1") != "0"  # the default of `recheck=`


class Stale(RuntimeError):
    """A recording differs from the function's present behaviour, though no guard has changed."""


class Signature:
    """Calls of one kind.

    Attributes
    ----------
    programs : list of Program
        One for each branch taken, the latest first.
    reason : str or None
        Why calls of this kind run eagerly.
    """

    def __init__(self) -> None:
        self.programs: list[Program] = []
        self.reason: str | None = None


class State:
    """A captured state, with the calls of all kinds that were made in it."""

    def __init__(self, captured_state: CapturedState, objects: list[Any]) -> None:
        self.captured_state, self.objects = captured_state, objects
        self.signatures: dict[tuple, Signature] = {}


class CompiledFunction(GuardedCalls):
    """A function that records a call of each kind once and replays the recording afterwards.

    Attributes
    ----------
    function : callable
        The original function.
    signatures : list of Signature
        The kinds of calls met so far.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        strict: bool = False,
        dynamic: Any = None,
        out: str | None = None,
        static: Any = (),
        recheck: bool | None = None,
    ) -> None:
        update_wrapper(self, function)
        self.function, self.strict = function if out is None else into(function, out), strict
        self.options = {"strict": strict, "dynamic": dynamic, "out": out, "static": static, "recheck": recheck}
        self.static = tuple(static) if isinstance(static, (tuple, list)) else (static,)
        self.rechecked = RECHECKED if recheck is None else recheck
        self.dynamic = None if dynamic is None or dynamic is False else Places(function, dynamic)
        self.states: list[State] = []
        self.clear()

    @property
    def signatures(self) -> list[Signature]:
        return [signature for state in self.states for signature in list(state.signatures.values())]

    @property
    def program(self) -> Program | None:
        """The latest recording that calls replay, or None.  `print(f.program)` lists its instructions."""
        return next((program for signature in self.signatures for program in signature.programs), None)

    def clear(self) -> None:
        """Forget all recordings."""
        self.states, self.recent, self.shut = [], [], False
        self.said: set[str] = set()
        self.useless = 0  # recordings in a row that served no later call
        self.moved: tuple[str, Any, Any] | None = None  # the change of the captured state at the last recording
        self.loose: dict[tuple, Any] = {}  # captured state that callbacks change; no longer guarded
        self.ran: dict[types.CodeType, list[Any]] = {}  # functions that the walk enters because they ran

    def __repr__(self) -> str:
        return f"<compiled {self.function!r}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        bound = vars(instance).setdefault("_compiled", {}) if hasattr(instance, "__dict__") else {}
        name = self.function.__name__
        if name not in bound:
            bound[name] = CompiledFunction(types.MethodType(self.__wrapped__, instance), **self.options)
        return bound[name]

    def marked(self, args: tuple, keywords: dict) -> tuple[tuple, dict]:
        """The arguments, with dynamic numbers marked."""
        return self.dynamic.marked(args, keywords)

    def run_eagerly(self, args: tuple, keywords: dict) -> Any:
        """Call the function eagerly, with tensors in place of arrays."""
        if self.dynamic is not None:
            args, keywords = unmarked(args, keywords, number_of)
        given = Arguments(args, keywords)
        try:
            return self.function(*given.args, **given.keywords)
        finally:
            given.put_back()

    def slow_path(self, args: tuple, keywords: dict) -> Any:
        """Serve a call that matches none of the recent kinds: find its recording, or record it."""
        arguments = Arguments(args, keywords)
        objects = [leaf for leaf in arguments.others if not is_plain(leaf)] + arguments.with_state()
        try:
            state = self.state(objects)
        except TooManyGuards as error:
            self.shut = True
            self.complain(str(error))
            return self.run_eagerly(args, keywords)
        held = [item for _, item in state.captured_state.tensors]
        given = arguments.tensors + held
        given += [item.grad for item in given if isinstance(item, TensorBase) and item.is_leaf and item.grad is not None]
        arrays = [array_held(item) for item in given]
        originals = arguments.originals + given[len(arguments.originals) :]  # a program copies the parts of arrays it keeps
        leaves = *map(kind_of_leaf, arguments.others), *map(kind_of_array, given, arrays)
        key = (kind_of(arguments.form), *leaves, is_grad_enabled())
        signature = state.signatures.pop(key, None) or Signature()
        state.signatures[key] = signature  # the latest one is the last
        if len(state.signatures) > KINDS:
            state.signatures.pop(next(iter(state.signatures)), None)
        due = [program for program in signature.programs if program.is_due(arrays)]
        for program in () if due else signature.programs:
            try:
                result = program.run(originals, arrays)
            except GuardFailed:
                continue
            except Exception as error:
                if not program.restarts(error):
                    raise
                return self.run_eagerly(args, keywords)
            self.useless = 0
            self.remember(state, signature, self.kind(args, keywords, given, held))
            return result
        if signature.reason is not None or sys.getprofile() is not None:
            return self.run_eagerly(args, keywords)
        kind = self.kind(args, keywords, given, held)
        with uncollected():
            outcome = self.record(state, signature, arguments, given, objects, due)
        if signature.programs and not due:  # the recent list knows a rechecked recording already
            self.remember(state, signature, kind)
        return outcome

    def remember(self, state: State, signature: Signature, kind: ArgumentGuards | None) -> None:
        """Compare later calls with this kind first."""
        if kind is not None:
            self.recent = [(state.captured_state.watch, kind, signature.programs), *self.recent[: RECENT - 1]]

    def kind(self, args: tuple, keywords: dict, given: list[Any], held: list[Any]) -> ArgumentGuards | None:
        """Guards that recognise calls of this kind quickly; None if an argument's class is unknown to them."""
        try:
            return ArgumentGuards(args, keywords, given, held)
        except TypeError:
            return None

    def state(self, objects: list[Any]) -> State:
        """The recordings for the present captured state."""
        states = self.states  # replaced and never changed: other threads call and clear
        for number, state in enumerate(states):
            same = len(state.objects) == len(objects) and all(map(is_, state.objects, objects))
            if same and not state.captured_state.changed() and not state.captured_state.hooks_changed():
                others = [*states[:number], *states[number + 1 :]]
                break
        else:
            self.moved = states[0].captured_state.changed() if states else None
            state, others = State(self.captured_state(objects), objects), states[: STATES - 1]
        if self.states is states:
            self.states = [state, *others]
        return state

    def captured_state(self, objects: list[Any]) -> CapturedState:
        return CapturedState(self.function, objects, loose=self.loose, static=self.static, ran=self.ran)

    def record(
        self, state: State, signature: Signature, arguments: Arguments, given: list[Any], objects: list[Any], due: list[Program]
    ) -> Any:
        """Run a call eagerly and record it."""
        args, keywords = arguments.args, arguments.keywords
        again = Recomputation(self.function, args, keywords)
        numbers = [item[1] for item in (*args, *keywords.values()) if self.dynamic is not None and is_marked(item)]
        args, keywords = unmarked(args, keywords, lambda number: number) if numbers else (args, keywords)
        try:
            taken = capture(self.function, args, keywords, given, state.captured_state, Weak(numbers), objects)
        finally:
            written = arguments.put_back()
        outcome, self.useless = taken.outcome, self.useless + 1
        try:
            if not all(array_held(item).flags.aligned and array_held(item).dtype.isnative for item in given):
                raise Unfit("an array is not aligned, or its bytes are in another order than the processor's")
            if written:
                raise Unfit("it writes to a dictionary or a list that it was given, and a replay would not; return the values")
            if taken.failure is not None:
                raise Unfit(str(taken.failure))
            if taken.unwalked or not taken.loose.keys() <= self.loose.keys():  # the next call looks at more, or at less
                self.ran, self.loose = self.ran | taken.unwalked, self.loose | taken.loose
                self.states, self.recent = [], []
                return outcome
            if taken.caught is not None:  # a call without errors takes a different path
                if not signature.programs and self.useless >= TRIES:
                    raise Unfit(f"{taken.caught} at each call")
                return outcome
            change = state.captured_state.changed()
            if change is not None:
                if self.useless >= TRIES:
                    self.shut = True
                    raise Unfit(f"each call changes {change[0]}, from {change[1]!r} to {change[2]!r} in the last one{WAY_OUT}")
            elif self.moved is not None and self.useless >= MOST:
                self.shut = True
                way, before, now = self.moved
                raise Unfit(f"{way} is another thing at each call, {before!r} and then {now!r}; make it an argument, or a tensor "
                            "of shape () that is written to, as lr=gs.tensor(0.1) of an optimiser")  # fmt: skip
            else:
                self.keep(signature, taken, again, state, due)
        except Unfit as error:
            signature.reason, signature.programs[:] = str(error), []
            self.complain(signature.reason)
        return outcome

    def keep(self, signature: Signature, taken: Captured, again: Recomputation, state: State, due: list[Program]) -> None:
        """Let later calls replay a recording, unless it equals an earlier one."""
        found = fingerprint(taken)
        for program in signature.programs:
            if fingerprint(program.taken) == found:
                program.defer_recheck()
                self.useless = 0
                return
        for program in due:
            difference = first_difference(program.taken, taken)
            if difference is not None:
                signature.programs[:], self.recent = [], []
                if program.calls == 1:
                    raise Unfit(f"two calls with nothing changed between them did not do the same: {difference}")
                raise Stale(f"compile: {name_of(self.function)} does not do any more what was recorded: {difference}; results of "
                            "replays since may be wrong. Something changed that no guard compares: pass it as an argument, and "
                            "please report it")  # fmt: skip
        if len(signature.programs) >= BRANCHES or self.useless >= MOST:
            raise Unfit(f"calls of one kind went more than {BRANCHES} ways: Python reads values that change; compute with "
                        f"tensors in the place of numbers that Python reads{WAY_OUT}")  # fmt: skip
        program = Program(taken, again, state, self.rechecked)
        if taken.catches and not program.forward.restartable:
            raise Unfit("it may catch an error of an operator, behind a callback or a write to arrays of one memory that a "
                        "replay could not take back")  # fmt: skip
        if taken.otherwise and (program.written or not program.forward.restartable):
            raise Unfit("np.errstate is in force inside, with a callback or a write that a replay could not take back; put it "
                        "around the call")  # fmt: skip
        signature.programs.insert(0, program)

    def save(self, path: str | os.PathLike) -> None:
        """Write the recordings and the captured state into a file, which `gs.load_program` runs without the function.

        Parameters
        ----------
        path : str or path-like
            If it ends in `.py`, the file is `python(numpy=True)`: the latest recording, for a process that has only NumPy.

        Raises
        ------
        RuntimeError
            A recording is missing, has a callback or contains other code.
        """
        from .files.loaded_program import save

        if os.fspath(path).endswith(".py"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.python(numpy=True))
        else:
            save(self, path)

    def python(self, numpy: bool = False) -> str:
        """The latest recording as the text of a Python module; its function `program` takes the arguments of the function.

        The captured arrays are arrays of the module, with their present values.  Calls of `program` write to them wherever the
        function does.

        Parameters
        ----------
        numpy : bool
            Whether the module uses only NumPy, and SciPy for SciPy's operators.  Its function then takes and returns arrays.

        Returns
        -------
        str

        Raises
        ------
        RuntimeError
            The recording is missing, leaves a `.grad`, has a callback or draws random numbers.
        TypeError
            An operator has no NumPy text.
        """
        from .files.python_export import text_of

        program = self.program
        if program is None:
            raise Unfit("python: there is no recording; call the function first")
        if self.dynamic is not None:
            raise Unfit("python: a dynamic number is no array; compile without dynamic=, and pass an array of shape ()")
        return text_of(program, numpy)

    def complain(self, reason: str) -> None:
        name = name_of(self.function)
        if self.strict:
            raise Unfit(f"compile: {name} cannot be replayed: {reason}")
        if reason not in self.said:
            self.said.add(reason)
            warnings.warn(f"compile: {name} runs as it is: {reason}", RuntimeWarning, stacklevel=4)


def name_of(function: Any) -> str:
    return getattr(function, "__qualname__", repr(function))


def kind_of(form: Any) -> Any:
    if form is None:
        return None
    like, keys, forms = form
    return like if type(like) is Taken else type(like), None if keys is None else tuple(keys), tuple(map(kind_of, forms))


def kind_of_leaf(leaf: Any) -> tuple:
    return type(leaf), repr(leaf) if is_plain(leaf) else id(leaf)


def kind_of_array(item: Any, array: np.ndarray) -> tuple:
    """The properties of an array that a recording depends on: all but its values."""
    flags: tuple | bool = isinstance(item, TensorBase) and item.is_inference()
    if isinstance(item, TensorBase) and item.requires_grad:
        wanted = item.grad_dtype if item.is_leaf else None
        flags = item.is_leaf, item.is_leaf and item.grad is None, wanted is not None and wanted.num, tuple(hooks_of(item))
    return array.dtype, array.shape, array.strides, array.flags.num & 0x500, flags


@answering
def compile(
    function: Callable[..., Any] | None = None,
    *,
    strict: bool = False,
    dynamic: Any = None,
    out: str | None = None,
    static: Any = (),
    recheck: bool | None = None,
) -> Any:
    """Run calls of a function again from a recording, without Python, graph and allocation.

    The first call of a kind runs eagerly and is recorded; later calls replay the recording.  A kind consists of the pytree of
    the arguments, the dtype, shape, layout and `requires_grad` of each array, the value of each number, the grad mode, and the
    captured state.  Captured state is everything that the function can reach through closures, globals, defaults and attributes.
    Captured arrays are read and written in place.

    Parameters
    ----------
    function : callable, optional
        Takes and returns pytrees of tensors, arrays and numbers.  Without it, `compile` returns a decorator.
    strict : bool
        Raise if a call cannot be recorded, instead of running the function eagerly.
    dynamic : int, str, or iterable of them, optional
        Arguments, by position or name, that are Python numbers and whose values are not part of the kind: learning rates, times.
        A recording receives a tensor of shape () in place of each number, so that no value computed from it is frozen.
        The tensor promotes as a Python number: a float32 array times it is float32.  Arithmetic on it is NumPy's.  `float(rate)`,
        a branch on it, or its use for an operator's argument that is not an array reads its value, which becomes a guard.
    out : str, optional
        Name of an additional keyword of calls: a pytree of tensors or arrays that receives the results and is returned.
    static : str, object, or tuple of them, optional
        Names of attributes and variables, and objects, that never change: no guard compares them.  If a function runs eagerly,
        its warning says which names to give here.
    recheck : bool, optional
        Run calls 2, 4, 8, 16, ... of a recording eagerly and compare them with the recording; a difference is an error.
        The default is True, unless the environment has `GRADSPEC_RECHECK=0`.

    Returns
    -------
    CompiledFunction

    Warns
    -----
    RuntimeWarning
        Calls of a kind run eagerly; the message says why.
    """
    if function is None:
        return lambda function: CompiledFunction(function, strict, dynamic, out, static, recheck)
    return CompiledFunction(function, strict, dynamic, out, static, recheck)


def jit(
    function: Callable[..., Any] | None = None,
    *,
    strict: bool = False,
    dynamic: Any = None,
    out: str | None = None,
    static_argnums: Any = None,
    static_argnames: Any = None,
    donate_argnums: Any = None,
    donate_argnames: Any = None,
) -> Any:
    """`compile` with the name and the arguments of JAX.

    Parameters
    ----------
    function, strict, dynamic, out : optional
        As of `compile`.
    static_argnums, static_argnames, donate_argnums, donate_argnames
        Accepted and ignored: numbers are part of a call's kind in any case, and a replay writes only to arrays that the function
        itself writes to.

    Returns
    -------
    CompiledFunction
    """
    return compile(function, strict=strict, dynamic=dynamic, out=out)
