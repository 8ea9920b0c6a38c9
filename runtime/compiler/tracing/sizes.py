"""Sizes: express lengths that a program leaves open by symbols.

Traces the function at other sizes as well.  If the traces agree except for numbers, each number that differs becomes an
expression in the sizes; otherwise the trace is refused.  Does not depend on operators.
"""

from __future__ import annotations

import itertools
import keyword
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...support.errors import CallTypeError
from ...support.pytree import flatten, places, rebuild
from .inputs import TAKEN, anew
from .literals import literal
from .tracer import place
from .values import Source, Value, copied, held, same_bits

RUNS = 5  # traces at other sizes, each larger than the first; the last one checks the program


class Size(int):
    """A length at the traced call, printed as its expression in the sizes: `n`, `2*n + 1`."""

    text: str

    def __new__(cls, number: int, text: str) -> Size:
        size = super().__new__(cls, number)
        size.text = text
        return size

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__


def find_sizes(taken: Any, shapes: Mapping[str, tuple], again: Callable[[tuple, dict], Any]) -> None:
    """Replace the lengths and numbers of a trace that depend on sizes by expressions.

    Parameters
    ----------
    taken : Trace
    shapes : mapping of str to tuple
        For an input by name, a symbol or a length for each axis.
    again : callable
        Traces the same function with different arguments.
    """
    first = symbols_of(taken, shapes)
    names = [*first]
    points = points_of(first)
    drawn = [source.generator.bit_generator for source in taken.sources if not source.path]
    states = [bits.state for bits in drawn]
    others = []
    for point in points[1:]:
        sizes = ", ".join(f"{name}={size}" for name, size in point.items())
        try:
            others.append(again(*resized(taken, shapes, point)))
        except Exception as error:
            raise CallTypeError(f"trace: at {sizes} the function fails, {type(error).__name__}: {error}; leave the size a "
                                "number, or give equal sizes one symbol") from error  # fmt: skip
    for bits, state in zip(drawn, states):
        bits.state = state
    Alignment(points).align(taken, others)
    taken.shapes, taken.symbols = shapes, names
    taken.take(taken.instructions)
    held_to(taken, others[-1])


def points_of(first: dict[str, int]) -> list[dict[str, int]]:
    """The sizes of the call and of the further runs; the last run has much larger sizes."""
    points = [first]
    for run in range(RUNS):
        larger = 37 if run == RUNS - 1 else 13
        steps = [1 + (7 * run * run + 5 * (place + 1) * (run + 1) + place * place) % larger for place in range(len(first))]
        points.append({name: size + step for (name, size), step in zip(first.items(), steps)})
    return points


def symbols_of(taken: Any, shapes: Mapping[str, tuple]) -> dict[str, int]:
    """The symbols, each with its size in the traced call."""
    inputs = {value.name: value for value in taken.inputs}
    found: dict[str, int] = {}
    for name, dims in shapes.items():
        if name not in inputs:
            raise CallTypeError(f"trace: shapes: no input is called '{name}'; there are {', '.join(inputs)}")
        shape = inputs[name].shape
        if len(dims) != len(shape) or any(isinstance(dim, int) and dim != size for dim, size in zip(dims, shape)):
            raise CallTypeError(f"trace: shapes: {name} is of shape {shape}, not {tuple(dims)}")
        for dim, size in zip(dims, shape):
            if isinstance(dim, int):
                continue
            taken_names = (*inputs, *taken.parameters, *taken.keywords, *TAKEN)
            if not isinstance(dim, str) or not dim.isidentifier() or keyword.iskeyword(dim) or dim in taken_names:
                raise CallTypeError(f"trace: shapes: {dim!r} cannot name a size; write an identifier that is not the name of an "
                                    "argument")  # fmt: skip
            if found.setdefault(dim, size) != size:
                raise CallTypeError(f"trace: shapes: {dim} is {found[dim]} and {size}")
    return found


def resized(taken: Any, shapes: Mapping[str, tuple], point: Mapping[str, int]) -> tuple[tuple, dict]:
    """The arguments of the call with arrays of other sizes, which repeat the values of the original arrays."""
    sized = {path: shapes[value.name] for value, path in taken.unpacked if value.name in shapes}
    given = {**dict(zip(taken.parameters, taken.arguments)), **taken.keywords}
    for parameter, argument in given.items():
        leaves, form = flatten(argument)
        paths = [parameter + path for path in places(form)]
        given[parameter] = rebuild(form, [other(leaf, sized.get(path), point) for leaf, path in zip(leaves, paths)])
    return tuple(given[name] for name in taken.parameters), {name: given[name] for name in taken.keywords}


def other(leaf: Any, dims: tuple | None, point: Mapping[str, int]) -> Any:
    array = held(leaf)
    if array is None:
        return leaf
    return copied(array) if dims is None else np.resize(array, [point.get(dim, dim) for dim in dims])


class Alignment:
    """Traces of one function at several sizes, side by side.

    Parameters
    ----------
    points : list of dict
        The size of each symbol in each trace.
    """

    def __init__(self, points: list[dict[str, int]]) -> None:
        self.points = points
        self.done: dict[Value, list[Value]] = {}

    def align(self, taken: Any, others: list[Any]) -> None:
        lines = [one.instructions for one in (taken, *others)]
        for several in itertools.zip_longest(*lines):
            line = next(filter(None, several))
            if None in several or len({one.name for one in several}) > 1:
                raise CallTypeError(f"trace: the sequence of operators depends on the size, at {place(line.line)}: {line.name}; "
                                    "leave the size a number")  # fmt: skip
        for value in zip(*(one.inputs for one in (taken, *others))):
            self.value(value, None)
        for several in zip(*lines):
            line = several[0]
            line.arguments = self.tree([one.arguments for one in several], line)
            self.tree([one.outputs for one in several], line)
        taken.results = self.tree([one.results for one in (taken, *others)], None)

    def tree(self, trees: list[Any], line: Any) -> Any:
        """A tree of arguments, with sizes in place of the numbers that depend on them."""
        first = trees[0]
        kind = type(first)
        lengths = {len(tree) if isinstance(tree, (tuple, list, dict)) else 0 for tree in trees}
        if any(type(tree) is not kind for tree in trees) or len(lengths) > 1:
            raise self.refusal(trees, line)
        if kind is dict:
            return {key: self.tree([tree[key] for tree in trees], line) for key in first}
        if kind in (tuple, list):
            return kind(self.tree(list(several), line) for several in zip(*trees))
        if kind is slice:
            return slice(*(self.tree([getattr(tree, part) for tree in trees], line) for part in ("start", "stop", "step")))
        if kind is Value:
            self.value(trees, line)
            return first
        if kind is int and len(set(trees)) > 1:
            return self.size(trees, line)
        if kind is not Source and len({literal(tree) for tree in trees}) > 1:
            raise self.refusal(trees, line)
        return first

    def value(self, values: Any, line: Any) -> None:
        """Align one value, whose lengths become sizes."""
        first = values[0]
        known = self.done.get(first)
        if known is None:
            self.done[first] = list(values)
            first.shape = self.shape(values, line)
            return
        if any(one is not other for one, other in zip(known, values)):  # an existing value at one size is new at another
            raise self.refusal([value.type for value in values], line)

    def shape(self, values: Any, line: Any) -> tuple:
        """The lengths of a value, as sizes."""
        first = values[0]
        if len({(value.kind, len(value.shape), value.dtype) for value in values}) > 1:
            raise self.refusal([value.type for value in values], line)
        if first.kind == "constant" and len({(value.shape, value.data.tobytes()) for value in values}) > 1:
            raise CallTypeError(f"trace: an array that no operator computed depends on the size, at {place(first.line)}; compute "
                                "it with an operator, such as gs.arange, or leave the size a number")  # fmt: skip
        return tuple(size[0] if len(set(size)) == 1 else self.size(list(size), line)
                     for size in zip(*(value.shape for value in values)))  # fmt: skip

    def size(self, numbers: list[int], line: Any) -> Size:
        text = expression(numbers, self.points)
        if text is None:
            raise self.refusal(numbers, line)
        return Size(numbers[0], text)

    def refusal(self, found: list[Any], line: Any) -> CallTypeError:
        sizes = "; ".join(", ".join(f"{name}={size}" for name, size in point.items()) for point in self.points[:3])
        where = "a result" if line is None else f"{line.name} at {place(line.line)}"
        return CallTypeError(f"trace: {where} depends on the size in a way that has no expression: {found[:3]} at {sizes}; leave "
                             "the size a number")  # fmt: skip


def expression(numbers: list[int], points: list[dict[str, int]]) -> str | None:
    """Numbers as an expression in symbols: the first of `n`, `n*m`, `2*n + 1`, `n + m`, `(n + 1)//2` that gives all of them."""
    for text, found in candidates(numbers, points):
        if found == numbers:
            return text
    return None


def candidates(numbers: list[int], points: list[dict[str, int]]) -> Iterator[tuple[str, list[int]]]:
    symbols = [*points[0]]
    products = [(word,) for word in symbols]
    products += [word for count in (2, 3) for word in itertools.combinations_with_replacement(symbols, count)]
    terms = [("*".join(word), [int(np.prod([point[name] for name in word])) for point in points]) for word in products]
    yield from terms
    for text, values in terms:
        factor = (numbers[1] - numbers[0]) // ((values[1] - values[0]) or 1)
        rest = numbers[0] - factor * values[0]
        if factor:
            head = {1: text, -1: f"-{text}"}.get(factor, f"{factor}*{text}")
            yield head + added(rest), [factor * value + rest for value in values]
    for (one, ones), (two, twos) in itertools.permutations(terms[: len(symbols) * 2], 2):
        for sign in (1, -1):
            rest = numbers[0] - ones[0] - sign * twos[0]
            yield f"{one} {'+' if sign > 0 else '-'} {two}" + added(rest), [a + sign * b + rest for a, b in zip(ones, twos)]
    for (text, values), divisor in itertools.product(terms, range(2, 9)):
        for more in range(-2 * divisor, 2 * divisor + 1):
            yield (f"({text}{added(more)})" if more else text) + f"//{divisor}", [(value + more) // divisor for value in values]


def added(number: int) -> str:
    return "" if number == 0 else f" + {number}" if number > 0 else f" - {-number}"


def held_to(taken: Any, larger: Any) -> None:
    """Run the program at the last of the other sizes, and refuse it if its results differ in any bit from the trace there."""
    results = []
    for one in (taken, larger):
        found = one.run(*anew(larger.arguments), **anew(larger.keywords), **larger.states())
        results.append([held(leaf) for leaf in flatten(found)[0]])
    for got, wanted in zip(*results):
        if wanted is not None and not same_bits(got, wanted):
            raise CallTypeError("trace: at a different size the program's results differ in some bits from the call's; leave the "
                                "size a number")  # fmt: skip
