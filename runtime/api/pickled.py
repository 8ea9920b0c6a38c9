"""Pickles as data: interpret the instructions of a pickle without importing or calling code.

A pickle may contain numbers, text and nested containers.  The caller defines the values of names and of references to other
files, and adds the file's path to errors.
"""

from __future__ import annotations

import pickletools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from .archives import DEEPEST


class Name:
    """A name that a pickle would import; here it remains a name."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path


class Refused(ValueError):
    """A pickle that contains something else than data."""


MOST = 10**7  # parts of nested containers, each counted as often as it occurs
BRANCHES = (dict, list, tuple, set)
LARGEST_KEY = 1000  # parts of a tuple that may be a key: Python's hash visits each as often as it occurs


def keyed(item: Any) -> Any:
    """A key of a dictionary or an element of a set, if its hash can be computed in bounded time."""
    parts = [item]
    for part in parts:
        if type(part) is tuple:
            parts += part[: LARGEST_KEY + 1]
        if len(parts) > LARGEST_KEY:
            raise Refused("it has a key that is a tuple of too many parts")
    return item


def check_nest(value: Any, tools: tuple[type, ...]) -> None:
    """Refuse nested containers that recursive code could not process, and values that are not finished.

    Refused are containers that are too deep, contain themselves, or have too many parts, counted as often as they occur; and
    parts that are only `tools` for building values.
    """
    counts: dict[int, tuple[int, int]] = {}  # for each finished branch: number of parts, depth
    way: list[tuple[Any, Any]] = []  # the open branches, with their remaining parts
    inside: set[int] = set()
    left: Any = iter((value,))
    while True:
        branch = next((part for part in left if isinstance(part, BRANCHES) and id(part) not in counts), None)
        if branch is not None:
            if id(branch) in inside or len(way) >= DEEPEST:
                raise Refused("it holds itself" if id(branch) in inside else f"it is nested more than {DEEPEST} times")
            way.append((branch, left))
            inside.add(id(branch))
            left = iter(parts_of(branch))
            continue
        if not way:
            return
        branch, left = way.pop()
        inside.discard(id(branch))
        if any(isinstance(part, tools) or part is _MARK for part in parts_of(branch)):
            raise Refused("it contains a name in the place of a value")
        found = [counts[id(part)] for part in parts_of(branch) if isinstance(part, BRANCHES)]
        count, depth = 1 + len(branch) + sum(count for count, _ in found), 1 + max((depth for _, depth in found), default=0)
        if count > MOST or depth > DEEPEST:
            raise Refused(f"it has more than {MOST} parts, or is nested more than {DEEPEST} times")
        counts[id(branch)] = count, depth


def parts_of(branch: Any) -> list[Any]:
    """The parts of a container, including keys."""
    return [*branch, *branch.values(), getattr(branch, "_metadata", None)] if isinstance(branch, dict) else list(branch)


_MARK = object()
_FALSE_AND_TRUE = {"NEWFALSE": False, "NEWTRUE": True, "NONE": None}
_NUMBERS = {"BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT"}
_TEXT = {"BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"}
_EMPTY: dict[str, Callable[[], Any]] = {"EMPTY_TUPLE": tuple, "EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_SET": set}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class Machine:
    """The stack machine that builds a pickle's value.

    Parameters
    ----------
    known : mapping of str to callable or object
        The meaning of names: a function is called if the pickle calls the name, anything else is a value.
    referred : callable
        Returns the value of a reference (`BINPERSID`).
    tools : tuple of type
        Types of unfinished values, which the result may not contain.
    """

    def __init__(self, known: Mapping[str, Any], referred: Callable[[Any], Any], tools: tuple[type, ...]) -> None:
        self.known, self.referred, self.tools = known, referred, (Name, *tools)
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, data: bytes) -> Any:
        """The value of the pickle.

        Raises
        ------
        Refused
            The data is not a pickle of plain data.
        """
        try:
            for opcode, argument, _ in pickletools.genops(data):
                if opcode.name == "STOP":
                    (value,) = self.stack
                    check_nest([value], self.tools)
                    return value
                self.step(opcode.name, argument)
        except Refused:
            raise
        except Exception as error:  # a value of any class may be in the place of any other
            raise Refused(f"its pickle is damaged ({type(error).__name__}: {error})") from error
        raise Refused("its pickle has no end")

    def step(self, name: str, argument: Any) -> None:
        stack = self.stack
        if name in ("PROTO", "FRAME"):
            return
        if name in _FALSE_AND_TRUE:
            stack.append(_FALSE_AND_TRUE[name])
        elif name in _NUMBERS or name in _TEXT:
            stack.append(argument)
        elif name in _EMPTY:
            stack.append(_EMPTY[name]())
        elif name in ("BINPUT", "LONG_BINPUT"):
            self.memo[argument] = stack[-1]
        elif name == "MEMOIZE":
            self.memo[len(self.memo)] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(self.memo[argument])
        elif name == "MARK":
            stack.append(_MARK)
        elif name == "TUPLE":
            stack.append(tuple(self.marked()))
        elif name in _TUPLES:
            count = _TUPLES[name]
            if len(stack) < count:
                raise Refused("its pickle is damaged (a tuple lacks items)")
            stack[-count:] = [tuple(stack[-count:])]
        elif name in ("APPEND", "APPENDS"):
            values = [stack.pop()] if name == "APPEND" else self.marked()
            self.top(list).extend(values)
        elif name == "ADDITEMS":
            values = self.marked()
            self.top(set).update(map(keyed, values))
        elif name in ("SETITEM", "SETITEMS"):
            values = [stack.pop(-2), stack.pop()] if name == "SETITEM" else self.marked()
            self.top(dict).update(zip(map(keyed, values[::2]), values[1::2], strict=True))
        elif name == "GLOBAL":
            stack.append(self.found(argument.replace(" ", ".", 1)))
        elif name == "STACK_GLOBAL":
            last, first = stack.pop(), stack.pop()
            if type(first) is not str or type(last) is not str:
                raise Refused("it refers to a global by a name that is not text")
            stack.append(self.found(f"{first}.{last}"))
        elif name == "REDUCE":
            arguments, function = stack.pop(), stack.pop()
            if not isinstance(function, Name) or not callable(self.known[function.path]):
                raise Refused("it calls an object that is not a function")
            stack.append(self.known[function.path](*arguments))
        elif name == "BUILD":
            state = stack.pop()
            if type(state) is not dict or set(state) != {"_metadata"} or type(stack[-1]) is not OrderedDict:
                raise Refused(f"it sets attributes of a {type(stack[-1]).__name__}")
            stack[-1]._metadata = state["_metadata"]  # type: ignore[attr-defined]  # of a module's state: the versions of its layout
        elif name == "BINPERSID":
            stack.append(self.referred(stack.pop()))
        else:
            raise Refused(f"it contains the instruction {name}, which is not allowed")

    def found(self, path: str) -> Any:
        if path not in self.known:
            raise Refused(f"it refers to {path}, but only tensors, numbers, text and pytrees of them are read")
        value = self.known[path]
        return Name(path) if callable(value) else value

    def top(self, kind: type) -> Any:
        """The container that takes new items."""
        if not isinstance(self.stack[-1], kind):
            raise Refused(f"it puts values into a {type(self.stack[-1]).__name__}")
        return self.stack[-1]

    def marked(self) -> list[Any]:
        """Remove and return the values above the last mark."""
        place = len(self.stack) - 1
        while self.stack[place] is not _MARK:
            place -= 1
            if place < 0:
                raise Refused("its pickle is damaged (no mark)")
        values = self.stack[place + 1 :]
        del self.stack[place:]
        return values
