"""Holdings: what a function can reach without being given it, and whether that is still what it was.

Owns the walk from a function over its closure, the globals and defaults that its code names, bound objects, containers and
attributes, to tensors, arrays and numbers; and the check before each call that all of it is the same.  What lies behind
generators, files and objects of C is not seen.  Knows nothing of programs.
"""

from __future__ import annotations

import dis
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..core.tensor import TensorBase
from ..core.told import array_of
from ..engine.function import Function
from .calls import NUMBERS, Watch, hooks_of, members_of

SIZE = object()  # a key that stands for how many things a container has
MOST = 100_000  # things that a function may hold
COMPARED = 1 << 22  # bytes of arrays that may be compared before each call
LISTED = (list, deque, set)  # whose places are no names: a callback that changes one changes all of it
# Packages whose functions are taken as they are: what they hold is not the user's.
LIBRARIES = {"gradspec", "numpy", "scipy", "builtins", "functools", "itertools", "math", "operator", "contextlib", "copy"}


class Unfit(RuntimeError):
    """A call that cannot be run again, and why."""


class TooMuch(Exception):
    """More is held than can be looked at before each call."""


class Holdings:
    """What a function holds.

    Attributes
    ----------
    tensors : list of (str, Tensor or ndarray)
        With the way to each, as one would write it.
    numbers : list
        All numbers and strings, the constants of its code among them.

    Parameters
    ----------
    function : callable
    objects : iterable
        Arguments of classes of their own.
    known : iterable of int
        The identities of what is not looked into.
    loose : dict, optional
        Places that callbacks change: keys are (identity of a container, key).
    """

    def __init__(
        self, function: Callable[..., Any], objects: Iterable[Any] = (), known: Iterable[int] = (), loose: dict | None = None
    ) -> None:
        self.known, self.loose = set(known), loose or {}
        self.tensors: list[tuple[str, Any]] = []
        self.hooks: list[list[Any]] = []  # of each of these
        self.numbers: list[Any] = []
        self.checks: list[tuple[str, Any, Any, Any]] = []  # way, container, key, what was there
        self.sizes: list[tuple[str, Any, int]] = []
        self.seen: dict[int, Any] = {}
        self.todo: list[tuple[str, Any]] = [("", function)]
        self.todo += [(f"an argument of class {type(item).__name__}", item) for item in objects]
        while self.todo:
            self.look(*self.todo.pop())
            if len(self.checks) > MOST:
                raise TooMuch(f"the function holds more than {MOST} things")
        self.watch = Watch(self.checks, self.sizes)

    def changed(self) -> tuple[str, Any, Any] | None:
        """The first thing that is another one now: its way, what it was, and what it is."""
        return self.watch.changed()

    def hooked_otherwise(self) -> bool:
        """Whether a tensor has other hooks now."""
        return any(hooks != hooks_of(item) for hooks, (_, item) in zip(self.hooks, self.tensors) if isinstance(item, TensorBase))

    def numbers_of_arrays(self) -> list[tuple[str, Any, Any, bytes]]:
        """Checks of the numbers of ndarrays that are held, which Python may read without anybody seeing it; the smaller first."""
        arrays = [(way, item) for way, item in self.tensors if not isinstance(item, TensorBase) and not item.dtype.hasobject]
        found, room = [], COMPARED
        for way, item in sorted(arrays, key=lambda one: one[1].nbytes):
            room -= item.nbytes
            if room < 0:
                break
            found.append((way, item, None, item.tobytes()))
        return found

    def watch_numbers(self, checks: list[tuple[str, Any, Any, bytes]]) -> None:
        """Look at numbers of arrays as well from now on, but for those that are other ones already."""
        watched = {id(container) for _, container, _, _ in self.checks}
        self.checks += [check for check in checks if id(check[1]) not in watched and way_of(check) is None]

    # The walk.

    def add(self, way: str, container: Any, key: Any, value: Any) -> None:
        if (id(container), key) not in self.loose:
            self.checks.append((way, container, key, value))
            self.todo.append((way, value))

    def add_size(self, way: str, container: Any) -> None:
        if (id(container), SIZE) not in self.loose:
            self.sizes.append((way, container, len(container)))

    def look(self, way: str, item: Any) -> None:
        if isinstance(item, NUMBERS):
            self.numbers.append(item)
            return
        if id(item) in self.seen or id(item) in self.known or isinstance(item, LISTED) and (id(item), SIZE) in self.loose:
            return
        self.seen[id(item)] = item
        if isinstance(item, (TensorBase, np.ndarray)):
            self.tensors.append((way, item))
            hooks = hooks_of(item) if isinstance(item, TensorBase) else []
            self.hooks.append(hooks)
            self.todo += [(f"a hook of {way}", hook) for hook in hooks]
        elif isinstance(item, dict):
            self.add_size(way, item)
            for key, value in list(item.items()):
                self.add(f"{way}[{key!r}]", item, key, value)
        elif isinstance(item, (list, tuple, deque)):
            if not isinstance(item, tuple):
                self.add_size(way, item)
            for key, value in enumerate(item):
                self.add(f"{way}[{key}]", item, key, value)
        elif isinstance(item, (set, frozenset)):
            if isinstance(item, set):
                self.checks.append((way, item, None, members_of(item)))
            self.todo += [(f"an element of {way}", value) for value in item]
        elif isinstance(item, types.MethodType):
            self.look(way, item.__self__)
            self.look(way, item.__func__)
        elif isinstance(item, types.FunctionType):
            self.look_at_function(way, item)
        elif isinstance(item, partial):
            for part in (item.func, item.args, item.keywords):
                self.look(way, part)
        elif isinstance(item, type):
            self.look_at_class(way, item, methods=issubclass(item, Function) and item.pure)
        elif isinstance(item, (types.ModuleType, types.BuiltinFunctionType)) or is_library(type(item)) and not hasattr(
            item, "__dict__"
        ):
            return
        elif hasattr(item, "__wrapped__") and callable(item.__wrapped__):
            self.look(way, item.__wrapped__)
            self.look(way, getattr(item, "rule", None))  # of custom_vjp and custom_jvp
        else:
            self.look_at_object(way, item)

    def look_at_object(self, way: str, item: Any) -> None:
        attributes, slots = getattr(item, "__dict__", None), slots_of(type(item))
        if attributes is not None:
            self.add_size(way, attributes)
            for name, value in list(attributes.items()):
                self.add(f"{way}.{name}", attributes, name, value)
        for name in slots:
            if hasattr(item, name):
                self.add(f"{way}.{name}", item, name, getattr(item, name))
        if not is_library(type(item)) and (attributes is not None or slots):
            self.look_at_class(way, type(item))

    def look_at_class(self, way: str, cls: type, methods: bool = True) -> None:
        """What a class holds: of an object's, the functions as well, which may be called."""
        for kind in cls.__mro__:
            if is_library(kind):
                continue
            for name, value in list(vars(kind).items()):
                if is_state(name, value) or methods and is_method(name, value):
                    self.add_of_class(way, kind, name)

    def add_of_class(self, way: str, kind: type, name: str) -> None:
        value = vars(kind)[name]
        self.checks.append((f"{way}.{name}", kind, name, value))
        self.todo.append((f"{way}.{name}", called_of(value)))

    def look_at_function(self, way: str, function: types.FunctionType) -> None:
        if is_library(function):
            return
        self.checks.append((way, function, "__code__", function.__code__))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            if not is_empty(cell):
                self.add(name, cell, None, cell.cell_contents)
                self.look_at_named(name, cell.cell_contents, function.__code__)
        self.look(way, function.__defaults__ or ())
        self.look(way, function.__kwdefaults__ or {})
        spaces = function.__globals__
        for name in dict.fromkeys(looked_up(function.__code__, "LOAD_GLOBAL", "LOAD_NAME")):
            if name in spaces:
                value = spaces[name]
                self.add(name, spaces, name, value)
                self.look_at_named(name, value, function.__code__)
        for name in dict.fromkeys(looked_up(function.__code__, "IMPORT_NAME")):
            self.look_at_named(name, sys.modules.get(name), function.__code__)
        for constant in constants_of(function.__code__):
            self.look(way, constant)

    def look_at_named(self, way: str, item: Any, code: types.CodeType) -> None:
        """What a module or a class holds under the names that the code looks up."""
        if not isinstance(item, (types.ModuleType, type)) or is_library(item):
            return
        for name in dict.fromkeys(names_of(code)):
            if isinstance(item, types.ModuleType):
                if name in vars(item):
                    self.add(f"{way}.{name}", vars(item), name, vars(item)[name])
                continue
            for kind in item.__mro__:
                if not is_library(kind) and name in vars(kind) and is_method(name, vars(kind)[name]):
                    self.add_of_class(way, kind, name)


def slots_of(cls: type) -> list[str]:
    """The names of the attributes of an object that are in no dictionary, private ones as Python spells them."""
    found: list[str] = []
    for kind in cls.__mro__:
        names = () if is_library(kind) else vars(kind).get("__slots__", ())
        private = f"_{kind.__name__.lstrip('_')}"
        for name in (names,) if isinstance(names, str) else names:
            found.append(f"{private}{name}" if name.startswith("__") and not name.endswith("__") else name)
    return found


def called_of(value: Any) -> Any:
    """The function that is called where a class has a property, a classmethod or a staticmethod; any other value itself."""
    return value.fget if isinstance(value, property) else getattr(value, "__func__", value)


def is_state(name: str, value: Any) -> bool:
    """Whether a class holds a value, and not a function, a property or another descriptor."""
    return not name.startswith("__") and not hasattr(type(value), "__get__")


def is_method(name: str, value: Any) -> bool:
    return isinstance(called_of(value), types.FunctionType) and (not name.startswith("__") or name == "__call__")


def way_of(check: tuple[str, Any, Any, Any]) -> str | None:
    """The way to what is another thing now; None where it is what it was."""
    return None if Watch([check], []).changed() is None else check[0]


def is_empty(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is cell
    except ValueError:
        return True


def is_library(item: Any) -> bool:
    """Whether a function, a class or a module belongs to a library whose state is none of the user's."""
    name = item.__name__ if isinstance(item, types.ModuleType) else getattr(item, "__module__", None)
    return isinstance(name, str) and name.partition(".")[0] in LIBRARIES


def names_of(code: types.CodeType) -> Iterator[str]:
    """The names that a function's code looks up anywhere, that of the functions inside it, too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_of(constant)


def looked_up(code: types.CodeType, *operations: str) -> Iterator[str]:
    """The names among them that these operations look up: as globals, and not as attributes, or as modules."""
    yield from (one.argval for one in dis.get_instructions(code) if one.opname in operations)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from looked_up(constant, *operations)


def constants_of(code: types.CodeType) -> Iterator[Any]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from constants_of(constant)
        else:
            yield constant


def array_held(item: Any) -> np.ndarray:
    """The array of what is held."""
    return array_of(item) if isinstance(item, TensorBase) else item
