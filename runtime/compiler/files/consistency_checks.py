"""Consistency checks: do the parts of a recording from a file fit each other?

Checks the parts beside the operators: changed inputs, results that are views, shared version counters, and the tensors that the
backward passes receive, differentiate and free.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...api.archives import Damaged, shortened
from ..record.capture import Captured
from ..record.result_views import ResultView
from ..tracing.entries import entry_of
from ..tracing.instructions import GUARD
from ..tracing.values import Value
from .structure_checks import leaves_of

WRITES = 1 << 20  # writes of one call to one tensor; version counters are compared and must not wrap around
FIXED = (type(None), bool, int, float, complex, str, type(Ellipsis), np.dtype, np.generic, type)


def demand(holds: bool, where: str, words: str) -> None:
    if not holds:
        raise Damaged(f"program.json: {where} {words}")


def is_whole(item: Any, low: int, high: int) -> bool:
    return type(item) is int and low <= item < high


def are_rows(item: Any, length: int) -> bool:
    return type(item) is list and all(type(part) is list and len(part) == length for part in item)


def are_distinct(rows: list[Any]) -> bool:
    return len({row[0] for row in rows}) == len(rows)


def in_one_memory(a: Value, b: Value) -> bool:
    """Whether two values share memory; empty values count as sharing."""
    return a.memory is b.memory or not a.layout.count or not b.layout.count


def check_recording(taken: Captured, needs: list[bool], where: str) -> None:
    """Refuse a recording whose parts do not fit each other.

    Parameters
    ----------
    taken : Captured
    needs : list of bool
        Which input arrays require grad.
    where : str

    Raises
    ------
    Damaged
    """
    for name in ("inputs", "cotangents"):
        values = getattr(taken, name)
        demand(type(values) is list and all(type(value) is Value for value in values), f"{where}.{name}", "is no list of values")
    count = len(taken.inputs)
    demand(count == len(needs), f"{where}.inputs", f"has {count} values, and is given {len(needs)}")
    check_changes(taken, f"{where}.gradients", f"{where}.versions")
    check_roots(taken, f"{where}.roots")
    check_looks(taken, where)
    check_differentiated(taken, needs, where)
    check_passes(taken, needs, where)


def check_changes(taken: Captured, gradients: str, versions: str) -> None:
    """The changes of inputs: a different `.grad`, and the number of writes."""
    count = len(taken.inputs)
    check_derivatives(taken.gradients, taken.inputs, gradients)
    counts = are_rows(taken.versions, 2) and all(is_whole(n, 0, count) and is_whole(m, 1, WRITES) for n, m in taken.versions)
    demand(counts, versions, f"is no list of inputs, each with a number of writes from 1 to {WRITES - 1}")  # fmt: skip
    demand(are_distinct(taken.versions), versions, "names an input twice")


def check_derivatives(pairs: Any, inputs: list[Value], where: str) -> None:
    """Check pairs of an input and a value with the input's dtype and shape, or None."""
    demand(are_rows(pairs, 2) and all(is_whole(number, 0, len(inputs)) for number, _ in pairs), where,
           "is no list of inputs with values")  # fmt: skip
    demand(are_distinct(pairs), where, "names an input twice")
    for number, value in pairs:
        if value is not None:
            check_like(value, inputs[number], where)


def check_like(value: Any, other: Value, where: str) -> None:
    """Refuse an object that is not a value with the dtype and shape of another value."""
    demand(type(value) is Value and value.dtype == other.dtype and value.shape == other.shape, where,
           f"has {getattr(value, 'type', shortened(value))} for {other.type}")  # fmt: skip


def check_roots(taken: Captured, where: str) -> None:
    demand(are_rows(taken.roots, 4), where, "is no list of values, each with three numbers")
    for number, (value, given, other, version) in enumerate(taken.roots):
        here = f"{where}[{number}]"
        demand(type(value) is Value, here, "has no value")
        demand(is_whole(given, -1, len(taken.inputs)) and is_whole(other, -1, number) and is_whole(version, 0, WRITES), here,
               f"counts writes with {shortened((given, other))}, and says {shortened(version)} writes")  # fmt: skip
        demand((given >= 0) + (other >= 0) + (version > 0) <= 1, here, "counts writes in two ways")
        demand(given < 0 or in_one_memory(value, taken.inputs[given]), here, f"lies elsewhere than input {given}")
        demand(other < 0 or max(taken.roots[other][1:3]) < 0 and in_one_memory(value, taken.roots[other][0]), here,
               f"counts writes with {other}, which lies elsewhere or counts with another one")  # fmt: skip


def check_looks(taken: Captured, where: str) -> None:
    """Each leaf of the results is a literal, an ndarray, an input, a root, or a view of an input or a root."""
    leaves = leaves_of(taken.results)
    demand(type(taken.returned) is list and [type(one) for one in taken.returned] == [bool] * len(leaves), f"{where}.returned",
           "does not say of each result whether it is an array")  # fmt: skip
    are_looks = are_rows(taken.looks, 3) and len(taken.looks) == len(leaves)
    demand(are_looks, f"{where}.looks", "does not say of each result what it is")
    for number, (leaf, plain, (given, root, way)) in enumerate(zip(leaves, taken.returned, taken.looks)):
        here = f"{where}.looks[{number}]"
        demand(is_whole(given, -1, len(taken.inputs)) and is_whole(root, -1, len(taken.roots)) and (given < 0 or root < 0), here,
               f"is {shortened((given, root))} of {len(taken.inputs)} inputs and {len(taken.roots)} roots")  # fmt: skip
        source = taken.inputs[given] if given >= 0 else taken.roots[root][0] if root >= 0 else None
        demand(plain == (type(leaf) is Value and source is None), here, "is a tensor and an array, or neither")
        demand(type(leaf) is Value or source is None, here, "is of a result without an array")
        demand(source is not None or way is None, here, "is a view of nothing")
        passed = given if given >= 0 and way is None else None
        demand(taken.passed.get(number) == passed, f"{where}.passed", f"says something else of result {number} than looks")
        if way is None:
            demand(source is None or leaf is source, here, "is another value than its result")
        else:
            check_way(way, here)
            demand(in_one_memory(leaf, source), here, "is a view of other memory")
    demand(all(is_whole(number, 0, len(leaves)) for number in (*taken.passed, *taken.spent)), where,
           f"has passed or spent with more than {len(leaves)} results")  # fmt: skip
    for number in taken.spent:
        _, root, way = taken.looks[number]
        demand(root >= 0 and way is None and leaves[number].dtype.kind in "fc", f"{where}.spent",
               f"names result {number}, which has no graph of its own")  # fmt: skip


def check_way(way: Any, where: str) -> None:
    """Check the operators from a tensor to a view.  They are called by address: a wrong number of arguments would crash."""
    demand(type(way) is list and len(way) > 1 and type(way[0]) is bool, where, "has no way to a view")
    for step in way[1:]:
        demand(type(step) is tuple and len(step) == 3 and type(step[0]) is str and type(step[1]) is tuple
               and is_whole(step[2], -1, 1 << 31), where, f"has {shortened(step)} for an operator that takes a view")  # fmt: skip
        name, statics, _ = step
        entry = entry_of(name)
        demand(entry is not None and entry.name == name and entry.view is not None and entry.arguments[0][0] == entry.view, where,
               f"calls {shortened(name)}, which is no operator that takes views")  # fmt: skip
        wanted = len(entry.arguments) - 1
        found = len(statics)
        demand(found == wanted, where, f"calls {name} with {found} arguments beside its array, and it takes {wanted}")
        demand(is_fixed(statics), where, f"calls {name} with what may be another one at each call")
    try:
        ResultView(way)
    except (TypeError, ValueError) as error:
        raise Damaged(f"program.json: {where} has an operator that is not compiled: {error}") from error


def is_fixed(item: Any) -> bool:
    """Whether an argument is equal at each call: it contains no array."""
    if type(item) is slice:
        return is_fixed((item.start, item.stop, item.step))
    return all(map(is_fixed, item)) if type(item) in (tuple, list) else isinstance(item, FIXED)


def check_differentiated(taken: Captured, needs: list[bool], where: str) -> None:
    """Check the results that require grad, and their cotangents."""
    numbers, here = taken.differentiated, f"{where}.differentiated"
    demand(type(numbers) is list and all(is_whole(number, 0, len(taken.roots)) for number in numbers)
           and all(a < b for a, b in zip(numbers, numbers[1:])), here, "is no list of roots in order")  # fmt: skip
    demand(not numbers or any(needs), here, "names results that require grad, and nothing that is given does")
    values = [taken.roots[number][0] for number in numbers]
    spent = {taken.looks[number][1] for number in taken.spent}
    demand(spent.isdisjoint(numbers), here, "names a result whose graph is gone")
    memory = [value.memory for value in values]
    given = {value.memory for value in taken.inputs}
    demand(len(set(memory)) == len(memory) and given.isdisjoint(memory), here,
           "names results that share memory with each other, or with what was given")  # fmt: skip
    demand(all(value.dtype.kind in "fc" for value in values), here, "names a result that has no derivative")
    here = f"{where}.cotangents"
    demand(len(taken.cotangents) == len(values), here, f"has {len(taken.cotangents)} values of {len(values)} results")
    views = {value.memory for value in taken.cotangents}
    demand(len(views) == len(values), here, "has values that share memory")
    for value, out in zip(taken.cotangents, values):
        check_like(value, out, here)
        alone = value.kind == "input" and value.memory is value and value.data is None
        demand(alone, here, "has a value that is not given alone")
        demand(value.layout.c_contiguous or not value.layout.count, here, f"has the strides {shortened(value.strides)}")
    made = {value.memory for line in taken.lines for value in (*line.read, *line.made)}
    demand(views.isdisjoint(given | made | {row[0].memory for row in taken.roots}), here, "shares memory with the call")


def check_passes(taken: Captured, needs: list[bool], where: str) -> None:
    """Check the backward passes: one from all results and, if there are several, one from each."""
    count = len(taken.differentiated)
    wanted = 0 if not count else 1 if count == 1 else 1 + count
    found = len(taken.passes)
    demand(found == wanted, f"{where}.lines", f"has {found} backward passes, and {count} results take {wanted}")
    here = f"{where}.targets"
    demand(type(taken.targets) is list and len(taken.targets) == wanted, here, f"is not of {wanted} backward passes")
    for pairs in taken.targets:
        check_derivatives(pairs, taken.inputs, here)
        numbers = [number for number, _ in pairs]
        demand(all(needs[number] for number in numbers), here, "names an input that does not require grad")
        demand(numbers == [number for number, _ in taken.targets[0]], here, "names other inputs in one pass than in another")
    memory = {value.memory for value in taken.cotangents}
    for number, lines in enumerate(taken.passes):
        for line in lines:
            here = f"{where}.lines[{1 + number}]"
            demand(line.name != GUARD, here, "has a guard: no branch can be taken after the call is over")
            demand(line.target is None or line.target.memory not in memory, here, "writes to a gradient that it is given")
    here = f"{where}.freeing"
    demand(type(taken.freeing) is list and len(taken.freeing) == count and all(type(row) is list for row in taken.freeing), here,
           f"does not say of each of {count} results what its pass frees")  # fmt: skip
    for number, row in enumerate(taken.freeing):
        demand(all(is_whole(other, 0, count) for other in row) and all(a < b for a, b in zip(row, row[1:])), f"{here}[{number}]",
               f"is no list of some of {count} results in order")  # fmt: skip
    for number, row in enumerate(taken.freeing):
        demand(not row or number in row and all(number in taken.freeing[other] for other in row), f"{here}[{number}]",
               "names a result that does not name this one")  # fmt: skip
