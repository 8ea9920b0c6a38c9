"""Python export: write a recording as the text of a Python module, over NumPy or over gradspec.

The arguments become parameters, and the captured arrays become arrays of the module, which keep their values from call to call.
The tracer has the text of each operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...support.pytree import flatten, places, rebuild
from ..lowering.call_conventions import generators_in
from ..record.captured_state import Unfit, array_held
from ..record.side_effects import CALLBACK, KEPT
from ..specialize.specialization import Program
from ..tracing.inputs import name_of, parameters_of
from ..tracing.instructions import GUARD, renamed
from ..tracing.literals import literal
from ..tracing.numpy_program import naming
from ..tracing.passes.dead_code import eliminate_dead_code
from ..tracing.traced import Trace
from ..tracing.values import Value, copied, mapped, values_in


class Place:
    """A placeholder for a leaf of the arguments, with its number."""

    def __init__(self, number: int) -> None:
        self.number = number


def text_of(program: Program, numpy: bool) -> str:
    """A module whose function `program` has the arguments and the results of the call, as arrays.

    Raises
    ------
    RuntimeError
        The call has an effect that arrays cannot represent, has a callback, or draws random numbers.
    TypeError
        An operator has no NumPy text.
    """
    taken, again = program.taken, program.again
    if again is None or program.state is None:
        raise Unfit("python: a loaded program has no text; export it in the process that recorded it")
    if taken.gradients:
        raise Unfit("python: the call writes a .grad, which arrays do not have; return the gradient")
    for line in taken.lines:
        if line.name in (CALLBACK, KEPT):
            raise Unfit("python: the call calls back, and a file has no place for that function")
        if generators_in([line]):
            raise Unfit("python: the call draws random numbers; gs.trace(f, ...).python() has a parameter for the generator")
        if line.name == GUARD and not numpy:
            raise Unfit("python: the call looks at values, which a program over gradspec does not; write it with numpy=True")
    with naming():
        parameters, keywords, unpacked, fixed = arguments_of(program)
        given = len(again.arrays)
        held = {value: held_value(item) for value, (_, item) in zip(taken.inputs[given:], program.state.captured_state.tensors)}
        returned = values_in(taken.results)
        check_apart("python", unpacked, held)
        lines = renamed(eliminate_dead_code(taken.lines, returned), held)
        results = mapped(taken.results, lambda item: held.get(item, item) if type(item) is Value else item)
        check(lines, values_in(results), [value for value, _ in unpacked])
        trace = Trace(again.function, lines, {
            "inputs": [value for value, _ in unpacked], "parameters": parameters, "unpacked": unpacked, "fixed": fixed,
            "results": results, "sources": [], "notes": [], "arguments": (), "keywords": dict.fromkeys(keywords),
        })  # fmt: skip
        trace.lasting = set(held.values())
        return trace.python(numpy)


def arguments_of(
    program: Program, written: Callable[[Any], str] = literal
) -> tuple[list[str], list[str], list[tuple[Value, str]], list[tuple[str, str]]]:
    """The names of positional and keyword parameters, the arrays with their paths, and the arguments with fixed values."""
    taken, again = program.taken, program.again
    args, named = rebuild(again.form, [Place(number) for number in range(len(again.leaves))])
    parameters = parameters_of(again.function, len(args))
    unpacked: list[tuple[Value, str]] = []
    fixed: list[tuple[str, str]] = []
    for parameter, argument in [*zip(parameters, args), *named.items()]:
        leaves, form = flatten(argument)
        for leaf, path in zip(leaves, places(form)):
            if leaf.number in again.arrays:
                value = taken.inputs[again.arrays.index(leaf.number)]
                if all(other is not value for other, _ in unpacked):
                    value.name = name_of(parameter, path)
                unpacked.append((value, parameter + path))
            else:
                fixed.append((parameter + path, written(again.leaves[leaf.number])))
    return parameters, list(named), unpacked, fixed


def held_value(item: Any) -> Value:
    """A constant of the module for a captured array, with its present values."""
    array = copied(array_held(item))
    value = Value("constant", array)
    value.data = array
    return value


def check_apart(what: str, unpacked: list[tuple[Value, str]], held: dict[Value, Value]) -> None:
    """Refuse an argument that is a captured array or another argument as well: an export cannot compare them at each call."""
    known = set(held)
    for value, path in unpacked:
        if value in known:
            raise Unfit(f"{what}: {path} is also a captured array or another argument in the recorded call; call with a copy")
        known.add(value)


def check(lines: list[Any], results: list[Value], inputs: list[Value]) -> None:
    """Refuse a program that reads undefined memory, or writes to memory that has several names."""
    there = set(inputs)
    written = {line.target.memory for line in lines if line.target is not None}
    for value in inputs:
        if value.memory is not value and value.memory in written:
            raise Unfit("python: the call writes to arrays that share memory")
    for line in lines:
        for value in line.read:
            if value not in there and value.data is None:
                raise Unfit(f"python: {line.name} reads an array that is not an operator's result: a .grad, or a part of an "
                            "array that the function holds")  # fmt: skip
        there.update(line.made)
    if any(value not in there and value.data is None for value in results):
        raise Unfit("python: a result is an array that no operator computed")
