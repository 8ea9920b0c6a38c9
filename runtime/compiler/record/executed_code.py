"""Executed code: observe which user functions and which C functions a call runs while it is recorded.

Checks that the guards cover all Python state that the call may have read.  This holds if the walk of the captured state entered
each function that ran, each C function is pure, and only operators have drawn random numbers.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import pickle
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...support.generator import numpy_random
from .captured_state import CapturedState, Unfit
from .code_names import handles_errors, names_read, steps_of
from .trusted_classes import hides_state, is_installed, is_library, is_library_name

EXITS = {contextlib._GeneratorContextManager.__exit__.__code__}  # it passes an error to the generator, whose code is checked
IMPURE = {"eval", "exec", "globals", "input", "open", "print", "breakpoint", "compile", "__import__"}
PURE = {"math", "cmath", "_operator", "itertools", "_functools", "_collections", "_bisect", "_heapq", "_statistics",
        "unicodedata", "_abc", "_struct", "_string", "binascii", "zlib"}  # fmt: skip
USER, LIBRARY, STANDARD_LIBRARY, IMPORT = range(4)
DEBUG_HINT = "; what is only printed or logged goes to gs.debug.print or gs.debug.callback"


class Executed:
    """The functions that ran, observed with Python's profiling hook.

    Attributes
    ----------
    codes : dict of code to str
        The user's functions, with the line of the first call of each.
    impure : dict of code to str
        For each code the first call of a C function that may return different values at another time, with its line.
    catches : bool
        Whether the function's code may handle an exception.
    """

    def __init__(self) -> None:
        self.codes: dict[types.CodeType, str] = {}
        self.impure: dict[types.CodeType, str] = {}
        self.catches = False
        self.origins: dict[types.CodeType, int] = {}
        self.standard: set[types.CodeType] = set()
        self.called_by_library: dict[types.CodeType, list[Any]] = {}
        self.muted = 0  # positive while a module is imported or a callback runs

    def told(self, frame: types.FrameType, event: str, function: Any) -> None:
        if event == "call":
            origin = self.origin(frame)
            if origin == IMPORT:
                self.muted += 1
            elif origin != USER or self.muted:
                if origin == STANDARD_LIBRARY:
                    self.standard.add(frame.f_code)
                if frame.f_code.co_name == "__exit__" and frame.f_code not in EXITS and not is_own(frame):
                    self.catches = True  # contextlib.suppress
            elif frame.f_code not in self.codes:
                self.codes[frame.f_code] = line_of(frame.f_back)
                self.catches = self.catches or handles_errors(frame.f_code)
                if frame.f_back is not None and self.origin(frame.f_back) == LIBRARY:
                    self.called_by_library[frame.f_code] = [
                        item for item in frame.f_back.f_locals.values()
                        if getattr(getattr(item, "__func__", item), "__code__", None) is frame.f_code and isinstance(
                            item, (types.FunctionType, types.MethodType))]  # fmt: skip
        elif event == "return":
            self.muted -= self.origin(frame) == IMPORT
        elif event == "c_call" and not self.muted and self.origin(frame) in (USER, STANDARD_LIBRARY) and not is_pure(function):
            self.impure.setdefault(frame.f_code, f"{named(function)} is called at {line_of(frame)}")

    def origin(self, frame: types.FrameType) -> int:
        code = frame.f_code
        found = self.origins.get(code)
        if found is None:
            name = frame.f_globals.get("__name__")
            if code.co_filename.startswith("<frozen importlib"):
                found = IMPORT
            elif is_library_name(name):
                found = LIBRARY
            else:
                found = STANDARD_LIBRARY if is_installed(code.co_filename) and "site-packages" not in code.co_filename else USER
            self.origins[code] = found
        return found

    def names(self, but_appended: bool = False) -> set[str]:
        return {name for code in self.codes for name in names_read(code, but_appended)}

    def unwalked(self, captured: CapturedState) -> dict[types.CodeType, list[Any]]:
        """Codes that ran and that the next recording walks: those in installed packages, and functions that a library calls."""
        ran = {code: [] for code in (*self.codes, *self.standard) if code in captured.aside}
        for code in self.called_by_library.keys() - captured.codes - (captured.ran or {}).keys() - ran.keys():
            ran[code] = self.called_by_library[code]
        return ran

    def check(self, function: Callable[..., Any], objects: list[Any], captured: CapturedState) -> None:
        """Refuse a recording that may have read more than the guards compare.

        Raises
        ------
        Unfit
            With the object or the function, and its line.
        """
        for code, call in self.impure.items():
            if code in self.codes or code in captured.codes:  # the standard library's own code runs for the library as well
                raise Unfit(f"{call}, which may return a different value, or have an effect, at each call; "
                            f"pass its result as an argument{DEBUG_HINT}")  # fmt: skip
        for code, line in self.codes.items():
            if code not in captured.codes and code.co_name not in captured.static_names:
                raise Unfit(f"{code.co_qualname} runs, called at {line}, and is reached in a way that no guard covers; "
                            f"call it by its name, or give its name as static= if it reads nothing that changes")  # fmt: skip
        if captured.opaque:
            named = self.names()
            read = CapturedState(function, objects, captured.known, captured.loose, captured.static, named, captured.ran)
            if read.opaque:
                way, item = read.opaque[0]
                name = way.rpartition(".")[2].partition("[")[0]
                raise Unfit(f"it reads {way}, {described(item)}, at {self.line_that_names(name)}: no guard sees when it changes; "
                            f"pass its value as an argument (a number with dynamic=), {other_way(item)}or give static="
                            f"{name!r} if it never changes{DEBUG_HINT}")  # fmt: skip

    def check_loose(
        self, function: Callable[..., Any], objects: list[Any], captured: CapturedState, loose: dict[tuple, Any]
    ) -> None:
        """Refuse a recording that may read a container which a callback changes and which is therefore unguarded.

        Raises
        ------
        Unfit
        """
        if not loose:
            return
        names = self.names(but_appended=True)
        read = CapturedState(function, objects, captured.known, None, captured.static, names, captured.ran).seen
        for container in loose.values():
            if id(container) in read:
                raise Unfit(f"a callback changes a {type(container).__name__} that the function may read; let the callback alone "
                            "hold it, as gs.debug.callback(losses.append, loss) does")  # fmt: skip

    def line_that_names(self, name: str) -> str:
        """The first line of the user's code that contains a name."""
        for code in self.codes:
            for step in steps_of(code):
                if step.name == name and step.line is not None:
                    return f"{os.path.basename(code.co_filename)}:{step.line}"
        return "a line of its own"


class Draws:
    """Random generators, whose draws a recording sees only if operators make them.

    NumPy's global generator is checked only if the user's code contains `random`, because SciPy's algorithms draw from it inside
    operators.
    """

    def __init__(self, generators: list[Any]) -> None:
        self.everybodys = bits_of(numpy_random().mtrand._rand)
        self.states = {id(bits): (bits, state_of(bits)) for bits in [self.everybodys, *map(bits_of, generators)]}
        self.drawing: set[int] = set()

    def begin(self, generator: Any) -> None:
        """Enter an operator that draws."""
        bits = bits_of(generator)
        if id(bits) not in self.drawing:
            self.check(bits)
            self.drawing.add(id(bits))
            self.states[id(bits)] = bits, b""

    def end(self) -> None:
        """End the outermost operator."""
        for number in self.drawing:
            bits = self.states[number][0]
            self.states[number] = bits, state_of(bits)
        self.drawing.clear()

    def check_all(self, names: set[str]) -> None:
        """Refuse a call that has drawn outside of operators; `names` are the names that the user's code reads."""
        for bits, _ in list(self.states.values()):
            if bits is not self.everybodys or "random" in names:
                self.check(bits)

    def check(self, one: Any) -> None:
        if id(one) in self.states:
            bits, state = self.states[id(one)]
            if state_of(bits) != state:
                raise Unfit("random numbers are drawn by NumPy, and would be the same at each replay; draw them with gs.random "
                            f"(which takes the generator), or pass them as an argument ({type(bits).__name__})")  # fmt: skip


def bits_of(generator: Any) -> Any:
    """The bit generator of a generator."""
    return getattr(generator, "bit_generator", None) or getattr(generator, "_bit_generator", generator)


def state_of(bits: Any) -> bytes:
    return pickle.dumps(bits.state)


def is_own(frame: types.FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] in ("gradspec", "numpy")


def is_pure(function: Any) -> bool:
    """Whether the result of a C function depends only on its arguments and its object, and the function has no side effects."""
    owner = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        module = owner.__name__ if owner is not None else getattr(function, "__module__", None)
        if module == "builtins":
            return function.__name__ not in IMPURE
        return isinstance(module, str) and (module in PURE or module.partition(".")[0] in ("numpy", "gradspec", "scipy"))
    if isinstance(owner, type):
        return is_library(owner) or not hides_state(owner)
    return True  # an object that existed before the call is captured state, or opaque


def named(function: Any) -> str:
    owner = getattr(function, "__self__", None)
    module = owner.__name__ if isinstance(owner, types.ModuleType) else None
    if module == builtins.__name__ or module is None:
        return getattr(function, "__qualname__", repr(function))
    return f"{module}.{function.__name__}"


def line_of(frame: types.FrameType | None) -> str:
    return "an unknown place" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def described(item: Any) -> str:
    name = type(item).__name__
    return f"a{'n' if name[0] in 'aeiou' else ''} {name}" + (f" of {item.nbytes} bytes" if hasattr(item, "nbytes") else "")


def other_way(item: Any) -> str:
    return "hold it as a tensor (gs.asarray(array) shares its memory), " if isinstance(item, np.ndarray) else ""
