"""One test a family and question: the question is asked of the day's samples of its entries, and each wrong answer is shown.

Owns which entries are asked (`pytest --op NAME`), how a function of one sample becomes a test of the entries of a family, and how
a failure says what was asked.  Knows no operator by name.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
import pytest

from gradspec.generated.op_info import OPS, OpInfo
from tests import day
from tests.asked import LEFT_OUT, Asked, indented

from .calls import DOUBLE, Case, samples_of

Question = Callable[..., None]
Decorator = Callable[[Question], Question]
Given = dict[str, Any]  # arguments of a question
chosen: set[str] = set()  # by `--op`; empty means every entry


def everything(_: Any) -> bool:
    return True


def is_asked(name: str) -> bool:
    """Whether a test that asks all samples of an entry asks those of this one: it is chosen, or it is its day."""
    return name in chosen if chosen else day.is_today(name)


class Family(NamedTuple):
    """Entries that one test asks about."""

    name: str
    ops: list[OpInfo]


def entries(where: Callable[[OpInfo], Any] = everything) -> list[OpInfo]:
    """The chosen entries for which `where` holds."""
    return [op for op in OPS if (not chosen or op.name in chosen) and where(op)]


def families(ops: list[OpInfo]) -> list[Any]:
    """Parameters for `pytest.mark.parametrize`: the entries by family; a chosen one by itself."""
    together: dict[str, list[OpInfo]] = {}
    for op in ops:
        together.setdefault(op.name if chosen else op.family, []).append(op)
    return [pytest.param(Family(name, members), id=name) for name, members in together.items()]


def of_samples(where: Callable[[OpInfo], Any] = everything, dtypes: dict[str, tuple] = DOUBLE, **ways: Iterable[Any]) -> Decorator:
    """Makes a test of a family of a function of one `case`.

    Parameters
    ----------
    where : callable
        Which entries are asked.
    dtypes : dict
        The dtypes of the samples, by what an entry takes.
    **ways : iterable
        Further arguments of the function: every sample is asked with every combination of their values.
    """
    return lambda question: _test(question, where, lambda op: ({"case": case} for case in samples_of(op, dtypes)), ways)


def of_entries(where: Callable[[OpInfo], Any] = everything, slow: bool = False, **ways: Iterable[Any]) -> Decorator:
    """Makes a test of a family of a function of an `op`, asked with every combination of the values of its further arguments.

    A `slow` one is asked of each entry on its day.
    """
    return lambda question: _test(question, where, lambda op: [{"op": op}] if not slow or is_asked(op.name) else [], ways)


def of_each(where: Callable[[OpInfo], Any], values: Callable[[OpInfo], Iterable[tuple]], *names: str, **ways: Iterable[Any]) -> Decorator:
    """Makes a test of a family of a function of `op` and of further arguments, asked with each of the tuples that `values` gives."""
    return lambda question: _test(question, where, lambda op: ({"op": op, **dict(zip(names, value))} for value in values(op)), ways, *names)


def _test(question: Question, where: Callable[[OpInfo], Any], asked_of: Callable[[OpInfo], Iterable[Given]],
          ways: dict[str, Iterable[Any]], *names: str) -> Question:  # fmt: skip
    ways = {name: list(values) for name, values in ways.items()}

    signature = inspect.signature(question)

    @wraps(question)
    def test(*args: Any, family: Family, record_property: Callable[[str, str], None], **fixtures: Any) -> None:
        wrong, left_out = [], []
        for op in family.ops:
            asked = Asked(op.name, record_property)
            for given in day.part(f"{question.__name__} {op.name}", list(asked_of(op))):
                for combination in itertools.product(*ways.values()):
                    given = {**given, **dict(zip(ways, combination))}
                    wanted = {name: value for name, value in given.items() if name in signature.parameters}
                    asked.ask(lambda: question(*args, **wanted, **fixtures), lambda: described(given))  # noqa: B023
            try:
                asked.judge()
            except pytest.skip.Exception as reason:
                left_out.append(str(reason))
            except AssertionError as error:
                wrong.append(error)
        nothing = 0 < len(left_out) == len(family.ops)
        for reason in left_out[nothing:]:
            record_property(LEFT_OUT, reason)
        if nothing:
            pytest.skip(left_out[0])
        if wrong:
            raise AssertionError("\n".join(map(str, wrong))) from wrong[0].__cause__

    kept = [parameter for name, parameter in signature.parameters.items() if name not in ("case", "op", *names, *ways)]
    added = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in ("family", "record_property")]
    test.__signature__ = signature.replace(parameters=[*kept, *added])
    asked_ops = entries(where)
    test.asked = lambda: ((op, given) for op in asked_ops for given in asked_of(op))
    return pytest.mark.parametrize("family", families(asked_ops))(test)


def names_asked(test: Question, where: Callable[[Case], Any] = everything) -> set[str]:
    """The entries that a test asks about, of samples those for which `where` holds."""
    return {op.name for op, given in test.asked() if where(given.get("case"))}


def described(given: Given) -> str:
    """What was asked: a call as one would write it, its dtype, and the values of its arrays."""
    words, arrays = [], []
    for name, value in given.items():
        if isinstance(value, Case):
            words.append(f"{value.op.name}{value.source[1:]} in {np.dtype(value.dtype)}")
            arrays += [indented(f"{argument} = {shown(array)}") for argument, array in arrays_in(value.arguments())]
        elif isinstance(value, OpInfo):
            words.append(value.name)
        else:
            words.append(f"{name}={getattr(value, '__name__', getattr(value, 'name', value))}")
    return "\n".join([", ".join(words), *arrays])


def arrays_in(arguments: dict[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    for name, value in arguments.items():
        for k, item in enumerate(value) if isinstance(value, (list, tuple)) else [(None, value)]:
            if isinstance(item, np.ndarray):
                yield name if k is None else f"{name}[{k}]", item


def shown(array: np.ndarray) -> str:
    return np.array2string(array, precision=6, separator=", ", threshold=30, edgeitems=2).replace("\n", "") + f" of shape {array.shape}"
