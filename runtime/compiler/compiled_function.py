"""Compiled functions: record the first call of a kind and replay the recording on later calls.

An argument goes down once.  `execute.argument_guards` compares a call with the most recent kinds; if none fits, the `cache`
finds the recordings of its captured state and signature.  If none fits, the `recorder` records the call.  The `reporter` says
why a call cannot be replayed.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

from ..core.tensor import TensorBase
from ..support.error_hints import answering
from .cache import Cache, Signature, State, key_of
from .execute.argument_guards import ArgumentGuards, GuardedCalls
from .execute.interpreter import GuardFailed
from .out_argument import into
from .record.arguments import Arguments, is_plain
from .record.capture import Unfit, uncollected
from .record.captured_state import TooManyGuards, array_held
from .record.dynamic_scalars import Places, number_of, unmarked
from .recorder import Hopeless, Recorder, Verdict
from .reporter import Reporter
from .specialize.specialization import Program

RECENT = 16  # kinds of calls compared first
RECHECKED = os.environ.get("GRADSPEC_RECHECK", "1") != "0"  # the default of `recheck=`


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
        backend: str | None = None,
    ) -> None:
        if backend not in (None, "c"):
            raise ValueError(f'compile: backend is {backend!r}; it is "c", "eager", or None for replays without a compiler')
        update_wrapper(self, function)
        self.function = function if out is None else into(function, out)
        self.options = dict(strict=strict, dynamic=dynamic, out=out, static=static, recheck=recheck, backend=backend)
        self.dynamic = None if dynamic is None or dynamic is False else Places(function, dynamic)
        self.clear()

    @property
    def signatures(self) -> list[Signature]:
        """The calls of all kinds, the most recently recorded ones first."""
        return [signature for state in self.cache.states for signature in reversed(list(state.signatures.values()))]

    @property
    def program(self) -> Program | None:
        """The latest recording that calls replay, or None.  `print(f.program)` lists its instructions."""
        return next((program for signature in self.signatures for program in signature.programs), None)

    @property
    def native(self) -> str | None:
        """Whether calls of the latest recording run in C: "ready", "building", or why they stay replays (`backend="c"`)."""
        return self.program and self.program.native

    def exported(self, what: str) -> Program:
        """The recording that an export writes: the latest one, of the present captured state."""
        program = self.program
        if program is None:
            reason = next((signature.reason for signature in self.signatures if signature.reason is not None), "")
            reason = reason or "call the function first; gs.compile(f, strict=True) says why a call cannot be replayed"
            raise Unfit(f"{what}: there is no recording; {reason}")
        if self.dynamic is not None:
            raise Unfit(f"{what}: a dynamic number is not an array; compile without dynamic=, and pass an array of shape ()")
        changed = program.state and program.state.captured_state.changed()
        if changed:
            raise Unfit(f"{what}: {changed[0]} has changed since the recording; call the function again")
        return program

    def clear(self) -> None:
        """Forget all recordings."""
        static, recheck = self.options["static"], self.options["recheck"]
        self.recent, self.shut = [], False
        self.useless = 0  # recordings in a row that served no later call
        self.cache = Cache(self.function, tuple(static) if isinstance(static, (tuple, list)) else (static,))
        rechecked = RECHECKED if recheck is None else recheck
        self.recorder = Recorder(self.function, self.cache, self.dynamic is not None, rechecked)
        self.reporter = Reporter(self.function, self.options["strict"])

    def __repr__(self) -> str:
        return f"<compiled {self.function!r}>"

    def _repr_html_(self) -> str:
        from html import escape

        program = self.program
        return f"<div><code>{escape(repr(self))}</code>{program._repr_html_() if program else ' without a recording'}</div>"

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
        cache, recorder = self.cache, self.recorder  # another thread may clear
        try:
            state = cache.state(objects)
        except TooManyGuards as error:
            self.shut = True
            self.reporter.report(str(error), 2)
            return self.run_eagerly(args, keywords)
        held = [item for _, item in state.captured_state.tensors]
        given = arguments.tensors + held
        given += [item.grad for item in given if isinstance(item, TensorBase) and item.is_leaf and item.grad is not None]
        arrays = [array_held(item) for item in given]
        originals = arguments.originals + given[len(arguments.originals) :]  # a program copies the parts that it needs later
        signature = state.signature(key_of(arguments, given, arrays))
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
            self.remember(state, signature, self.kind(args, keywords, originals, held))
            return result
        if signature.reason is not None or sys.getprofile() is not None:
            return self.run_eagerly(args, keywords)
        kind = self.kind(args, keywords, originals, held)
        with uncollected():
            outcome = self.record(recorder, state, signature, arguments, given, objects, due)
        if signature.programs and not due:  # the recent list knows a rechecked recording already
            self.remember(state, signature, kind)
        return outcome

    def record(
        self, recorder: Recorder, state: State, signature: Signature, arguments: Arguments, given: list[Any], objects: list[Any],
        due: list[Program],
    ) -> Any:  # fmt: skip
        """Run a call eagerly and record it; the call's result."""
        recording = recorder.record(state, arguments, given, objects)
        outcome, self.useless = recording.taken.outcome, self.useless + 1
        try:
            verdict = recorder.admit(recording, state, signature, due, self.useless)
            if verdict is Verdict.KEPT and self.options["backend"] == "c":
                from .native.machine_code import start

                start(signature.programs[0], self.options["strict"])
        except Unfit as error:
            signature.reason, signature.programs[:] = str(error), []
            self.shut = self.shut or isinstance(error, Hopeless)
            self.reporter.report(signature.reason, 3)
            return outcome
        if verdict is Verdict.KNOWN:
            self.useless = 0
        elif verdict is Verdict.WALK_AGAIN:
            self.recent = []
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

        return text_of(self.exported("python"), numpy)

    def c(self, path: str | os.PathLike) -> None:
        """Write the latest recording as C99: `path.c` and `path.h`, for machines without Python (docs/native.md).

        The function has the name of the file, and takes pointers to the arguments, to the results, and to a workspace.  The
        captured arrays are constants with their present values.

        Parameters
        ----------
        path : str or path-like
            Without a suffix; its last part is a name in C.

        Raises
        ------
        RuntimeError
            The recording is missing, or leaves a `.grad`.
        TypeError
            An operator has no C; the message names it and its line.
        """
        from .native.module import export_c

        export_c(path, {os.path.basename(os.fspath(path)): self})


@answering
def compile(
    function: Callable[..., Any] | None = None,
    *,
    strict: bool = False,
    dynamic: Any = None,
    out: str | None = None,
    static: Any = (),
    recheck: bool | None = None,
    backend: str | None = None,
) -> Any:
    """Run calls of a function again from a recording, without Python, graph and allocation.

    The first call of a kind runs eagerly and is recorded; later calls replay the recording.  A kind consists of the pytree of
    the arguments, the dtype, shape, layout and `requires_grad` of each array, the value of each number, the grad mode, and the
    captured state.  This state is the function's closures, globals, defaults and attributes; its arrays are used in place.

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
        Run calls 2, 4, 8, 16, ... of a recording eagerly, and compare their operators with it.  A difference is an error.
        The default is True, unless the environment has `GRADSPEC_RECHECK=0`.
    backend : {"c", "eager"}, optional
        "eager" returns the function itself, to compare.  "c" compiles the recordings in the background with the machine's C
        compiler (`CC` of the environment, or `cc`).  When one is ready, calls run it in place of the replay.  Without a compiler,
        or for operators without C, calls stay replays, and `f.native` says why.  With `strict=True` the first call waits for the
        compiler, and a missing one is an error.
        Arithmetic has the bits of the eager call; elementary functions and products of matrices have their own rounding errors
        (docs/native.md).

    Returns
    -------
    CompiledFunction, or callable

    Warns
    -----
    RuntimeWarning
        Calls of a kind run eagerly; the message says why.
    """
    if function is None:
        return partial(compile, strict=strict, dynamic=dynamic, out=out, static=static, recheck=recheck, backend=backend)
    if backend == "eager":
        return function if out is None else into(function, out)
    return CompiledFunction(function, strict, dynamic, out, static, recheck, backend)


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
