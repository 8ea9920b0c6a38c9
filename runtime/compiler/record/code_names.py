"""Code names: list the variables, attributes and modules that a function's code reads.

Reads CPython's bytecode through `dis`, by operation names that all supported versions share.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

USES = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS",
        "IMPORT_NAME"}  # fmt: skip
ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
ADDS = {"append", "extend", "appendleft", "add", "update", "__setitem__"}  # methods of containers that return nothing


class Step(NamedTuple):
    """One bytecode instruction."""

    operation: str
    name: Any
    line: int | None


@lru_cache(maxsize=1024)
def steps_of(code: types.CodeType) -> tuple[Step, ...]:
    """The instructions of a code object."""
    return tuple(Step(one.opname, one.argval, one.positions.lineno if one.positions else None) for one in dis.Bytecode(code))


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and the code objects of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def names_of(code: types.CodeType) -> Iterator[str]:
    """The names and identifier-like strings in a function's code, including the functions inside it."""
    for one in codes_of(code):
        yield from one.co_names
        yield from (constant for constant in one.co_consts if isinstance(constant, str) and constant.isidentifier())


def constants_of(code: types.CodeType) -> Iterator[Any]:
    """The constants of a code object and of the functions inside it."""
    yield from (constant for one in codes_of(code) for constant in one.co_consts if not isinstance(constant, types.CodeType))


def looked_up(code: types.CodeType, *operations: str) -> Iterator[str]:
    """The names that instructions of some kinds look up, for example only globals or only modules."""
    for one in codes_of(code):
        yield from (step.name for step in steps_of(one) if step.operation in operations)


def chains_of(code: types.CodeType, name: str) -> set[tuple]:
    """The attribute chain read after each use of a name; () if the value itself is passed on."""
    found: set[tuple] = set()
    for one in codes_of(code):
        steps = steps_of(one)
        for place, step in enumerate(steps):
            if step.name != name or step.operation not in USES:
                continue
            chain = []
            for following in steps[place + 1 :]:
                if following.operation not in ATTRIBUTES:
                    break
                chain.append(following.name)
            found.add(tuple(chain))
    return found or {()}


@lru_cache(maxsize=1024)
def names_read(code: types.CodeType, but_appended: bool = False) -> frozenset[str]:
    """The attributes, variables and strings that a code object reads itself, without the functions inside it.

    With `but_appended`, names are left out if the next instruction is a method that only adds to a container (`losses.append`).
    """
    found = {constant for constant in code.co_consts if isinstance(constant, str)}
    steps, cells = steps_of(code), {*code.co_cellvars, *code.co_freevars}
    for step, following in zip(steps, [*steps[1:], None]):
        is_read = step.operation.startswith(("LOAD_", "IMPORT_")) and step.operation not in ("LOAD_CLOSURE", "LOAD_CONST")
        if step.operation.startswith("LOAD_FAST") and step.name in cells:  # LOAD_CLOSURE since 3.13, for an inner function
            continue
        if is_read and isinstance(step.name, str) and not (but_appended and following is not None and following.name in ADDS):
            found.add(step.name)
    return frozenset(found)


def handles_errors(code: types.CodeType) -> bool:
    """Whether a code object handles exceptions or runs code after them: `except`, `finally`, its own context manager."""
    steps = [step.operation for step in steps_of(code)]
    return code.co_name == "__exit__" or any(
        one == "PUSH_EXC_INFO" and following != "WITH_EXCEPT_START" for one, following in zip(steps, steps[1:])
    )
