"""Captured state: find and guard everything that a function can reach besides its arguments.

Walks from a function over its closure, globals, defaults, containers, attributes and classes.  Each object is fully guarded,
belongs to a trusted library, or is opaque: only C code knows its state.  A recording that read an opaque object is refused.  A
function of an installed package is walked only after it has run, because a package may name every object of other packages.
Does not depend on programs.
"""

from __future__ import annotations

import functools
import sys
import types
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from ...core.non_operator_events import array_of
from ...core.tensor import TensorBase
from ..guards.state_guards import (
    ATTRIBUTES,
    BYTES,
    CELL,
    DICTIONARY,
    EMPTY,
    ITEM,
    LOOSE,
    MEMBERS,
    MISSING,
    NUMBERS,
    SEQUENCE,
    SIZE,
    SLOT,
    TENSOR,
    TYPE,
    Guards,
    attributes_of,
    entries_of,
    guard_of_class,
    guard_of_function,
    hooks_of,
    members_of,
)
from .code_names import chains_of, codes_of, constants_of, looked_up, names_of
from .trusted_classes import (
    NUMPY_FUNCTION,
    NUMPY_GENERATORS,
    STATELESS,
    attributes_in,
    hides_state,
    is_compiled_function,
    is_installed,
    is_library,
    is_users,
    names_of_libraries,
    package_of,
    slots_of,
)

MOST = 100_000  # guards of one function
COMPARED = 1 << 22  # bytes of arrays that are compared before each call
LISTED = (list, deque, set)  # their positions are not stable names: a callback that changes one element loosens the container
CLASS_SEEN = object()
COMPUTED = {"getattr", "vars", "__dict__", "attrgetter"}  # names that reach attributes by computed names


class Unfit(RuntimeError):
    """A call cannot be replayed; the message says why."""


class TooManyGuards(Exception):
    """The captured state needs more guards than a call can check."""


class CapturedState:
    """The captured state of a function.

    Attributes
    ----------
    tensors : list of (str, Tensor or ndarray)
        Each captured array, with the Python expression that reaches it.
    guards : list of (str, object, int, object)
        As in `Guards`.
    opaque : list of (str, object)
        Objects whose state cannot be compared.
    codes : set of code
        Codes of all user functions that were reached, and of the functions inside them.
    aside : set of code
        Codes of functions of installed packages that were reached and not walked.
    generators : list
        NumPy's generators of random numbers.

    Parameters
    ----------
    function : callable
    objects : iterable
        Arguments whose classes are not known to the library.
    known : iterable of int
        Identities of objects that are not walked.
    loose : dict, optional
        Entries that callbacks change: keys are (identity of a container, key).
    static : tuple, optional
        Names and objects that the user declares constant: they are not walked.
    names : set of str, optional
        If present, attributes and variables with other names are not walked.
    ran : dict of code to list of function, optional
        Codes of installed packages that are walked if they are reached, with functions that are walked in any case.  Without
        this argument, all are walked.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        objects: Iterable[Any] = (),
        known: Iterable[int] = (),
        loose: dict | None = None,
        static: tuple = (),
        names: set[str] | None = None,
        ran: dict[types.CodeType, list[Any]] | None = None,
    ) -> None:
        self.known, self.loose, self.names, self.static = set(known), loose or {}, names, static
        self.static_names = {one for one in static if isinstance(one, str)}
        self.static_objects = {id(one) for one in static}
        self.tensors: list[tuple[str, Any]] = []
        self.hooks: list[list[Any]] = []  # one list for each of `tensors`
        self.guards: list[tuple[str, Any, int, Any]] = []
        self.opaque: list[tuple[str, Any]] = []
        self.codes: set[types.CodeType] = set()
        self.aside: set[types.CodeType] = set()
        self.ran, self.package = ran, package_of(function)
        self.generators: list[Any] = []
        self.seen: dict[int, Any] = {}
        self.named: set[tuple] = set()
        self.modules: list[tuple[str, types.ModuleType]] = []  # in attributes and containers, where no code names them
        self.todo: list[tuple[str, Any]] = [("", function)]
        self.todo += [(f"an argument of class {type(item).__name__}", item) for item in objects]
        self.later = [(one.__qualname__, one) for functions in (ran or {}).values() for one in functions]  # of packages
        while self.todo or self.later:
            self.in_package = not self.todo
            self.look(*(self.todo or self.later).pop())
            if len(self.guards) > MOST:
                raise TooManyGuards(f"the function holds more than {MOST} things")
            if not self.todo and not self.later:
                self.look_into_modules()
        self.guard_numbers()
        self.watch = Guards(self.guards)

    def changed(self) -> tuple[str, Any, Any] | None:
        """The first change, as (expression, value before, value now)."""
        return self.watch.changed()

    def hooks_changed(self) -> bool:
        """Whether the hooks of a captured tensor have changed."""
        return any(hooks != hooks_of(item) for hooks, (_, item) in zip(self.hooks, self.tensors) if isinstance(item, TensorBase))

    def guard_numbers(self) -> None:
        """Guard the values of captured ndarrays, because Python may read them without an event."""
        room = COMPARED
        for way, item in sorted((one for one in self.tensors if isinstance(one[1], np.ndarray)), key=lambda one: one[1].nbytes):
            room -= item.nbytes
            if (id(item), SIZE) in self.loose:
                continue
            if room < 0:
                self.opaque.append((way, item))
            else:
                self.guards.append((way, item, BYTES, item.tobytes()))

    # The walk.

    def reach(self, way: str, name: str | None, value: Any, always: bool = False) -> None:
        """Walk to the value of an attribute or variable (if `always` or its name is read) or of an element (name None)."""
        if name in self.static_names or way in self.static_names or id(value) in self.static_objects:
            if isinstance(value, (property, staticmethod, classmethod, functools.cached_property)):
                value = value.fget if isinstance(value, property) else getattr(value, "func", None) or value.__func__
            if isinstance(value, types.FunctionType):  # it runs although its state is not guarded
                self.codes.update(codes_of(value.__code__))
        elif self.names is None or name is None or always or name in self.names:
            (self.later if self.in_package else self.todo).append((way, value))

    def guard(self, way: str, container: Any, kind: int, key: Any, value: Any) -> None:
        """Guard one value and walk to it."""
        if (id(container), None if kind == CELL else key) not in self.loose:
            self.guards.append((way, container, kind, value if kind == CELL else (key, value)))
            if value is not MISSING and value is not EMPTY:
                self.reach(way, key if isinstance(key, str) else None, value)

    def look(self, way: str, item: Any) -> None:
        cls = type(item)
        if cls in NUMBERS or cls is NUMPY_FUNCTION or id(item) in self.seen or id(item) in self.known:
            return
        if getattr(cls, "_captured_", ()) is None:
            return
        if id(item) in self.static_objects or isinstance(item, LISTED) and (id(item), SIZE) in self.loose:
            return
        self.seen[id(item)] = item
        if is_compiled_function(item):
            self.look_at_dictionary(way, item.__dict__, ATTRIBUTES)
        elif isinstance(item, (TensorBase, np.ndarray)):
            self.look_at_array(way, item)
        elif isinstance(item, types.FunctionType):
            self.look_at_function(way, item)
        elif isinstance(item, (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)):
            self.look(way, None if isinstance(item.__self__, types.ModuleType) else item.__self__)
            self.look(way, getattr(item, "__func__", None))
        elif isinstance(item, partial):
            for part in (item.func, item.args, item.keywords):
                self.look(way, part)
        elif isinstance(item, (property, staticmethod, classmethod, functools.cached_property)):
            for name in ("fget", "fset", "__func__", "func"):
                self.look(way, getattr(item, name, None))
        elif isinstance(item, types.ModuleType):
            if not self.in_package:
                self.modules.append((way, item))
        elif isinstance(item, type):
            self.look_at_class(way, item)
        elif is_library(cls) and cls.__module__.startswith("gradspec") and "__wrapped__" in (attributes_in(item) or {}):
            for part in (item.__wrapped__, getattr(item, "rule", None)):  # custom_vjp and custom_jvp
                self.look(way, part)
        else:
            self.look_at_container(way, item)
            self.look_at_object(way, item)

    def look_at_array(self, way: str, item: Any) -> None:
        is_tensor = isinstance(item, TensorBase)
        if not is_tensor and item.dtype.hasobject:
            self.opaque.append((way, item))
            return
        self.tensors.append((way, item))
        hooks = hooks_of(item) if is_tensor else []
        self.hooks.append(hooks)
        self.todo += [(f"a hook of {way}", hook) for hook in hooks]
        if is_tensor and (id(item), TENSOR) not in self.loose:
            found = attributes_of(item)
            self.guards.append((way, item, TENSOR, (tuple(found), tuple(found.values()))))
            for name, value in found.items():
                self.reach(f"{way}.{name}", name, value)
        if not is_library(type(item)):
            self.look_at_object(way, item)

    def look_at_container(self, way: str, item: Any) -> None:
        """Walk the elements of a container, also of a subclass of a container."""
        if isinstance(item, dict):
            self.look_at_dictionary(way, item, DICTIONARY)
            if isinstance(item, defaultdict):
                self.guard(f"{way}.default_factory", item, SLOT, "default_factory", item.default_factory)
        elif isinstance(item, (list, tuple, deque)):
            if not isinstance(item, tuple):
                self.guards.append((way, item, SEQUENCE, tuple(item)))
            for key, value in enumerate(item):
                self.reach(f"{way}[{key}]", None, value)
        elif isinstance(item, (set, frozenset)):
            if isinstance(item, set):
                self.guards.append((way, item, MEMBERS, members_of(item)))
            for value in item:
                self.reach(f"an element of {way}", None, value)

    def look_at_dictionary(self, way: str, item: dict, kind: int, more: frozenset = frozenset()) -> None:
        """Walk a dictionary, or the attributes of an object; library code may read the attributes `more`."""
        keys, values = entries_of(item)
        loose = [(id(item), key) in self.loose for key in keys]
        if (id(item), SIZE) not in self.loose:
            self.guards.append((way, item, kind, (keys, tuple(LOOSE if one else value for one, value in zip(loose, values)))))
        for key, value, is_loose in zip(keys, values, loose):
            name = key if kind == ATTRIBUTES else None
            if is_loose:
                continue
            place = f"{way}.{key}" if kind == ATTRIBUTES else f"{way}[{key!r}]"
            if (id(item), SIZE) in self.loose:
                self.guards.append((place, item, ITEM, (key, value)))
            self.reach(place, name, value, name in more)

    def look_at_object(self, way: str, item: Any) -> None:
        cls = type(item)
        attributes, slots = attributes_in(item), slots_of(cls)
        if hides_state(cls):
            if isinstance(item, NUMPY_GENERATORS):
                self.generators.append(item)
            elif not isinstance(item, STATELESS):
                self.opaque.append((way, item))
        if attributes is not None:
            self.look_at_dictionary(way, attributes, ATTRIBUTES, names_of_libraries(cls))
        for name in slots:
            value = getattr(item, name, MISSING)
            self.guard(f"{way}.{name}", item, SLOT, name, value)
        if not is_library(cls):
            if attributes is not None or slots:
                self.guards.append((way, item, TYPE, cls))
            self.look_at_class(way, cls, parts=True)
        for shared in getattr(cls, "_captured_", ()):  # state that all objects of a class read
            self.look(f"{way}._captured_", shared)

    def look_at_class(self, way: str, cls: type, parts: bool = False) -> None:
        """Walk the values, functions and descriptors of a class and its bases."""
        for kind in cls.__mro__:
            if is_library(kind) or (id(kind), CLASS_SEEN) in self.named:
                continue
            self.named.add((id(kind), CLASS_SEEN))
            guard = guard_of_class(f"{way}.__class__" if parts else way, kind)
            for name in [name for name in guard[3][1] if (id(kind), name) in self.loose]:
                guard[3][1][name] = LOOSE
            self.guards.append(guard)
            for name, value in guard[3][1].items():
                if value is not LOOSE:
                    descriptor = hasattr(type(value), "__get__") and not isinstance(value, types.FunctionType)
                    self.reach(f"{guard[0]}.{name}", name, value, name.startswith("__") or descriptor)
            if not is_library(type(kind)):
                self.look_at_class(f"{way}.__class__", type(kind))

    def look_at_function(self, way: str, function: types.FunctionType) -> None:
        code, own = function.__code__, not is_library(function)
        if own:
            self.guards.append(guard_of_function(way or function.__name__, function))
            self.look_at_dictionary(function.__name__, function.__dict__, ATTRIBUTES)
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            value = EMPTY if is_empty(cell) else cell.cell_contents
            self.guard(name, cell, CELL, name, value)
            if own and value is not EMPTY:
                self.look_at_named(name, value, code)
        for part in (function.__defaults__, function.__kwdefaults__):
            self.look(f"a default of {function.__name__}", part)
        if not own:
            return
        if self.is_put_aside(function):
            self.aside.update(codes_of(code))
            return
        self.codes.update(codes_of(code))
        outside, self.in_package = self.in_package, self.in_package or self.is_of_package(function)
        spaces = function.__globals__
        for name in dict.fromkeys(looked_up(code, "LOAD_GLOBAL", "LOAD_NAME")):
            value = spaces.get(name, MISSING)
            self.guard(name, spaces, ITEM, name, value)
            if value is not MISSING:
                self.look_at_named(name, value, code)
        for name in dict.fromkeys(looked_up(code, "IMPORT_NAME")):
            if name in sys.modules:
                self.guard(f"sys.modules[{name!r}]", sys.modules, ITEM, name, sys.modules[name])
                self.look_at_named(name, sys.modules[name], code)
        for constant in constants_of(code):
            self.look(way, constant)
        self.in_package = outside

    def is_of_package(self, function: types.FunctionType) -> bool:
        """Whether a function belongs to a different installed package."""
        return is_installed(function.__code__.co_filename) and package_of(function) != self.package

    def is_put_aside(self, function: types.FunctionType) -> bool:
        """Whether a function belongs to a different installed package and has not run."""
        return self.ran is not None and self.is_of_package(function) and self.ran.keys().isdisjoint(codes_of(function.__code__))

    def look_into_modules(self) -> None:
        """The attributes that the code reached so far may read of modules in the attributes and containers of users.

        The values in a module of an installed package are compared and not walked.
        """
        for way, module in self.modules:
            if is_users(module):
                for code in list(self.codes):
                    self.look_at_named(way, module, code, {()})
            elif (id(module), len(self.codes)) not in self.named:
                self.named.add((id(module), len(self.codes)))
                space, names = vars(module), {name for code in self.codes for name in names_of(code)}
                self.guards += [(f"{way}.{name}", space, ITEM, (name, space[name])) for name in names & space.keys()
                                if not isinstance(space[name], types.ModuleType)]  # fmt: skip

    def look_at_named(self, way: str, module: Any, code: types.CodeType, chains: set[tuple] | None = None) -> None:
        """Walk the attributes of a module that the code reads; if the module itself is passed on, all attributes the code names.

        Chains are the attributes that follow the module's name: `("sub", "rate")` for `module.sub.rate`.
        """
        if not isinstance(module, types.ModuleType):
            return
        chains = chains_of(code, way) if chains is None else chains
        if (id(module), id(code), frozenset(chains)) in self.named:
            return
        self.named.add((id(module), id(code), frozenset(chains)))
        space, names = vars(module), {chain[0] for chain in chains if chain}
        if () in chains:
            names |= set(names_of(code))
            if is_users(module) and not names.isdisjoint(COMPUTED):
                names |= {name for name in space if not name.startswith("__")}
        for name in names:
            value = space.get(name, MISSING)
            if is_library(module):
                if value is not MISSING and not isinstance(value, types.ModuleType):
                    self.guards.append((f"{way}.{name}", space, ITEM, (name, value)))
                continue
            if value is MISSING and not is_users(module):
                continue
            if (id(module), name) in self.named:
                self.look_at_named(f"{way}.{name}", value, code, further_of(chains, name))
                continue
            self.named.add((id(module), name))
            self.guard(f"{way}.{name}", space, ITEM, name, value)
            self.look_at_named(f"{way}.{name}", value, code, further_of(chains, name))


def further_of(chains: set[tuple], name: str) -> set[tuple]:
    """The attributes that are read behind one attribute."""
    return {chain[1:] for chain in chains if chain and chain[0] == name} | ({()} if () in chains else set())


def is_empty(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is cell
    except ValueError:
        return True


def array_held(item: Any) -> np.ndarray:
    """The array of a captured tensor or ndarray."""
    return array_of(item) if isinstance(item, TensorBase) else item
