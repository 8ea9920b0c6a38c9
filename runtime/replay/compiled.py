"""Compiled functions: the first call of a kind is written down, later ones run from what was written.

Owns which recording serves a call: the nest of its arguments, their dtypes, shapes and layouts, numbers by value, modes, what
the function holds, and the values that it looked at.  Where none does the function runs as it is.
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
from ..support.hints import answering
from ..support.pytree import Taken
from .again import Again
from .arguments import Arguments, is_plain
from .calls import Calls, Kind, hooks_of
from .capture import Captured, Unfit, capture, fingerprint, first_difference, uncollected
from .dynamic import Places, Weak, is_marked, number_of, unmarked
from .holdings import Holdings, TooMuch, array_held
from .into import into
from .playing import Missed
from .programs import Program

BRANCHES = 16  # recordings of one signature
STATES = 8  # recordings are kept for so many states of what the function holds
KINDS = 256  # kinds of calls of one state that are kept, those that were met last
RECENT = 16  # kinds of calls that are compared first
WAY_OUT = "; what is only printed or logged goes to gs.debug.print or gs.debug.callback"
TRIES = 4  # recordings in a row that no later call could use, until the function runs as it is
MOST = 2 * TRIES + BRANCHES  # the same, where they differ by what is held or by branches
RECHECKED = os.environ.get("GRADSPEC_RECHECK", "1") != "0"  # whether functions are rechecked that do not say


class Stale(RuntimeError):
    """A recording differs from what its function does now, though no guard has changed."""


class Signature:
    """Calls of one kind.

    Attributes
    ----------
    programs : list of Program
        One for each branch that was taken, the latest first.
    reason : str or None
        Why calls of this kind run as they are.
    """

    def __init__(self) -> None:
        self.programs: list[Program] = []
        self.reason: str | None = None


class State:
    """What the function holds, and the calls of all kinds while it does."""

    def __init__(self, holdings: Holdings, objects: list[Any]) -> None:
        self.holdings, self.objects = holdings, objects
        self.signatures: dict[tuple, Signature] = {}


class Compiled(Calls):
    """A function whose calls are written down once, and run from what was written afterwards.

    Attributes
    ----------
    function : callable
        As it was.
    signatures : list of Signature
        The kinds of calls that were met.
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
        """The latest recording that calls run from: `print(f.program)` lists its steps.  None where there is none."""
        return next((program for signature in self.signatures for program in signature.programs), None)

    def clear(self) -> None:
        """Forget all recordings."""
        self.states, self.recent, self.shut = [], [], False
        self.said: set[str] = set()
        self.useless = 0  # recordings in a row that served no later call
        self.moved: tuple[str, Any, Any] | None = None  # what of what is held was another thing at the last recording
        self.loose: dict[tuple, Any] = {}  # what callbacks change of what the function holds, which is not looked at any more
        self.ran: dict[types.CodeType, list[Any]] = {}  # functions that are walked because they ran

    def __repr__(self) -> str:
        return f"<compiled {self.function!r}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        bound = vars(instance).setdefault("_compiled", {}) if hasattr(instance, "__dict__") else {}
        name = self.function.__name__
        if name not in bound:
            bound[name] = Compiled(types.MethodType(self.__wrapped__, instance), **self.options)
        return bound[name]

    def marked(self, args: tuple, keywords: dict) -> tuple[tuple, dict]:
        """The arguments with marks at dynamic numbers."""
        return self.dynamic.marked(args, keywords)

    def run_as_it_is(self, args: tuple, keywords: dict) -> Any:
        """Call the function, with tensors for arrays."""
        if self.dynamic is not None:
            args, keywords = unmarked(args, keywords, number_of)
        given = Arguments(args, keywords)
        try:
            return self.function(*given.args, **given.keywords)
        finally:
            given.put_back()

    def go_the_long_way(self, args: tuple, keywords: dict) -> Any:
        """A call that is not like the latest ones: find its recording, or make one."""
        arguments = Arguments(args, keywords)
        objects = [leaf for leaf in arguments.others if not is_plain(leaf)] + arguments.with_state()
        try:
            state = self.state(objects)
        except TooMuch as error:
            self.shut = True
            self.complain(str(error))
            return self.run_as_it_is(args, keywords)
        held = [item for _, item in state.holdings.tensors]
        given = arguments.tensors + held
        given += [item.grad for item in given if isinstance(item, TensorBase) and item.is_leaf and item.grad is not None]
        arrays = [array_held(item) for item in given]
        originals = arguments.originals + given[len(arguments.originals) :]  # a program copies what of an array it needs later
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
            except Missed:
                continue
            except Exception as error:
                if not program.restarts(error):
                    raise
                return self.run_as_it_is(args, keywords)
            self.useless = 0
            self.remember(state, signature, self.kind(args, keywords, originals, held))
            return result
        if signature.reason is not None or sys.getprofile() is not None:
            return self.run_as_it_is(args, keywords)
        kind = self.kind(args, keywords, originals, held)
        with uncollected():
            outcome = self.record(state, signature, arguments, given, objects, due)
        if signature.programs and not due:  # a recording that is compared again is known already
            self.remember(state, signature, kind)
        return outcome

    def remember(self, state: State, signature: Signature, kind: Kind | None) -> None:
        """Have later calls of a kind compared first."""
        if kind is not None:
            self.recent = [(state.holdings.watch, kind, signature.programs), *self.recent[: RECENT - 1]]

    def kind(self, args: tuple, keywords: dict, given: list[Any], held: list[Any]) -> Kind | None:
        """How calls of this kind are known quickly; None where an argument is of a class of its own."""
        try:
            return Kind(args, keywords, given, held)
        except TypeError:
            return None

    def state(self, objects: list[Any]) -> State:
        """The recordings for what the function holds now."""
        states = self.states  # replaced and never changed: other threads call and clear
        for number, state in enumerate(states):
            same = len(state.objects) == len(objects) and all(map(is_, state.objects, objects))
            if same and not state.holdings.changed() and not state.holdings.hooked_otherwise():
                others = [*states[:number], *states[number + 1 :]]
                break
        else:
            self.moved = states[0].holdings.changed() if states else None
            state, others = State(self.holdings(objects), objects), states[: STATES - 1]
        if self.states is states:
            self.states = [state, *others]
        return state

    def holdings(self, objects: list[Any]) -> Holdings:
        return Holdings(self.function, objects, loose=self.loose, static=self.static, ran=self.ran)

    def record(
        self, state: State, signature: Signature, arguments: Arguments, given: list[Any], objects: list[Any], due: list[Program]
    ) -> Any:
        """Run a call as it is, and write it down."""
        args, keywords = arguments.args, arguments.keywords
        again = Again(self.function, args, keywords)
        numbers = [item[1] for item in (*args, *keywords.values()) if self.dynamic is not None and is_marked(item)]
        args, keywords = unmarked(args, keywords, lambda number: number) if numbers else (args, keywords)
        try:
            taken = capture(self.function, args, keywords, given, state.holdings, Weak(numbers), objects)
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
            if taken.caught is not None:  # a call in which nothing fails is another one
                if not signature.programs and self.useless >= TRIES:
                    raise Unfit(f"{taken.caught} at each call")
                return outcome
            change = state.holdings.changed()
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

    def keep(self, signature: Signature, taken: Captured, again: Again, state: State, due: list[Program]) -> None:
        """Let later calls run from a recording, or find that it is like an earlier one."""
        found = fingerprint(taken)
        for program in signature.programs:
            if fingerprint(program.taken) == found:
                program.put_off_recheck()
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
        """Write the recordings and what the function holds into a file, which `gs.load_program` runs without the function.

        Parameters
        ----------
        path : str or path-like
            Where it ends in `.py`, the file is `python(numpy=True)`: the latest recording, for a process that has NumPy alone.

        Raises
        ------
        RuntimeError
            There is no recording, or one calls back or has something else that is code.
        """
        from .loaded import save

        if os.fspath(path).endswith(".py"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.python(numpy=True))
        else:
            save(self, path)

    def python(self, numpy: bool = False) -> str:
        """The latest recording as the text of a Python module, whose function `program` takes what the function took.

        What the function holds are arrays of the module, with the numbers that they have now; calls of `program` write to them
        where the function does.

        Parameters
        ----------
        numpy : bool
            Whether it is to be of NumPy alone (and of SciPy where an operator is SciPy's): it takes and returns arrays.

        Returns
        -------
        str

        Raises
        ------
        RuntimeError
            There is no recording, or one leaves a `.grad`, calls back or draws.
        TypeError
            An operator has no text over NumPy.
        """
        from .written import text_of

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
    """What of an array a recording hangs on, all but its numbers."""
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

    The first call of a kind runs as it is and is written down; later calls run from that.  A kind is the nest of the arguments,
    the dtype, shape, layout and `requires_grad` of each array, the value of each number, the mode of grad, and what the
    function holds: closures, globals, defaults, attributes.  Arrays that are held are read and written where they are.

    Parameters
    ----------
    function : callable, optional
        Takes and gives nests of tensors, arrays and numbers.  Without it, `compile` is a decorator's argument list.
    strict : bool
        Raise where a call cannot be written down, rather than run the function as it is.
    dynamic : int, str, or iterable of them, optional
        Arguments that are Python numbers, by place or name, and whose values are no part of the kind: learning rates, times.  A
        recording is given a tensor of shape () in the place of each, so that nothing that is computed from it is frozen.
        It promotes as a Python number: a float32 array times it is float32.  Arithmetic on it is NumPy's; `float(rate)`, a
        branch on it, or an operator's argument that is no array looks at its value, which is a guard.
    out : str, optional
        A keyword that calls have then: a nest of tensors or arrays for the results, which are written there and returned.
    static : str, object, or tuple of them, optional
        Names of attributes and variables, and objects, that never change: no guard compares them.  The message of a function that
        runs eagerly says what to name here.
    recheck : bool, optional
        Run calls 2, 4, 8, 16, ... of a recording eagerly, and compare what they do with the recording; a difference is an error.
        The default is True, unless the environment has `GRADSPEC_RECHECK=0`.

    Returns
    -------
    Compiled

    Warns
    -----
    RuntimeWarning
        Calls of a kind run as they are, and why.
    """
    if function is None:
        return lambda function: Compiled(function, strict, dynamic, out, static, recheck)
    return Compiled(function, strict, dynamic, out, static, recheck)


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
    """`compile` under JAX's name and with JAX's arguments.

    Parameters
    ----------
    function, strict, dynamic, out : optional
        As of `compile`.
    static_argnums, static_argnames, donate_argnums, donate_argnames
        Taken and not needed: numbers are part of a call's kind in any case, and no array is ever written to that the function
        does not write to.

    Returns
    -------
    Compiled
    """
    return compile(function, strict=strict, dynamic=dynamic, out=out)
