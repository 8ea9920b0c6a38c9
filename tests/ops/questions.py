"""One test an entry and question: the question is asked of every sample of the entry, and each answer that is wrong is shown.

Owns which entries are asked (`pytest --op NAME`), how a function of one sample becomes a test of one entry, and what a failure
says.  Knows no operator by name.
"""

from __future__ import annotations

import inspect
import itertools
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad
from gradspec.generated.op_info import OPS, OpInfo

from .calls import DOUBLE, Case, samples_of

Question = Callable[..., None]
Decorator = Callable[[Question], Question]
Given = dict[str, Any]  # arguments of a question
LEFT_OUT = "left out"  # the property of a report that holds the reason for which a sample was not asked
chosen: set[str] = set()  # by `--op`; empty means every entry


def everything(_: Any) -> bool:
    return True


def entries(where: Callable[[OpInfo], Any] = everything) -> list[Any]:
    """Parameters for `pytest.mark.parametrize`: the chosen entries for which `where` holds."""
    return [pytest.param(op, id=op.name) for op in OPS if (not chosen or op.name in chosen) and where(op)]


def of_samples(where: Callable[[OpInfo], Any] = everything, dtypes: dict[str, tuple] = DOUBLE, **ways: Iterable[Any]) -> Decorator:
    """Makes a test of an entry of a function of one `case`.

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


def of_entries(where: Callable[[OpInfo], Any] = everything, **ways: Iterable[Any]) -> Decorator:
    """Makes a test of an entry of a function of an `op`, asked with every combination of the values of its further arguments."""
    return lambda question: _test(question, where, lambda op: [{"op": op}], ways)


def of_each(where: Callable[[OpInfo], Any], values: Callable[[OpInfo], Iterable[tuple]], *names: str, **ways: Iterable[Any]) -> Decorator:
    """Makes a test of an entry of a function of `op` and of further arguments, asked with each of the tuples that `values` gives."""
    return lambda question: _test(question, where, lambda op: ({"op": op, **dict(zip(names, value))} for value in values(op)), ways, *names)


def _test(question: Question, where: Callable[[OpInfo], Any], asked_of: Callable[[OpInfo], Iterable[Given]],
          ways: dict[str, Iterable[Any]], *names: str) -> Question:  # fmt: skip
    ways = {name: list(values) for name, values in ways.items()}

    signature = inspect.signature(question)

    @wraps(question)
    def test(*args: Any, op: OpInfo, record_property: Callable[[str, str], None], **fixtures: Any) -> None:
        asked = Asked(op, record_property)
        for given in asked_of(op):
            for combination in itertools.product(*ways.values()):
                given = {**given, **dict(zip(ways, combination))}
                wanted = {name: value for name, value in given.items() if name in signature.parameters}
                asked.ask(lambda: question(*args, **wanted, **fixtures), given)  # noqa: B023
        asked.judge()

    kept = [parameter for name, parameter in signature.parameters.items() if name not in ("case", "op", *names, *ways)]
    added = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in ("op", "record_property")]
    test.__signature__ = signature.replace(parameters=[*kept, *added])
    asked = entries(where)
    test.asked = lambda: ((op, given) for op in (parameter.values[0] for parameter in asked) for given in asked_of(op))
    return pytest.mark.parametrize("op", asked)(test)


def names_asked(test: Question, where: Callable[[Case], Any] = everything) -> set[str]:
    """The entries that a test asks about, of samples those for which `where` holds."""
    return {op.name for op, given in test.asked() if where(given.get("case"))}


class Asked:
    """What a question found at the samples of one entry: all wrong answers are collected before the test fails."""

    def __init__(self, op: OpInfo, record_property: Callable[[str, str], None]):
        self.op, self.record_property = op, record_property
        self.count, self.left_out = 0, []
        self.wrong: list[tuple[str, BaseException]] = []

    def ask(self, call: Callable[[], None], given: Given) -> None:
        self.count += 1
        try:
            call()
        except pytest.skip.Exception as reason:
            self.left_out.append(str(reason))
        except (Exception, pytest.fail.Exception) as error:
            self.wrong.append((described(given), error))
        left = left_behind()
        if left:  # no later sample can be judged
            raise AssertionError(f"{described(given)}\n  {', '.join(left)}")

    def judge(self) -> None:
        """Fail with every wrong answer; a question that no sample could be asked is a skipped test."""
        nothing = len(self.left_out) == self.count > 0
        for reason in self.left_out[nothing:]:
            self.record_property(LEFT_OUT, reason)
        if nothing:
            pytest.skip(self.left_out[0])
        if self.wrong:
            _, first = self.wrong[0]
            raise AssertionError(self.text()) from first

    def text(self) -> str:
        places = [f"{where}\n{indented(said(error))}" for where, error in self.wrong]
        return "\n".join([f"{self.op.name}: {len(self.wrong)} of {self.count} are wrong", *places])


def said(error: BaseException) -> str:
    """The message of an error, and the line of the question that it comes from."""
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if "/tests/" in frame.filename and frame.filename != __file__]
    place = f"  ({lines[-1].filename.rpartition('/')[2]}:{lines[-1].lineno}: {lines[-1].line})" if lines else ""
    return f"{type(error).__name__}: {error}{place}"


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


def indented(text: str) -> str:
    return "  " + text.replace("\n", "\n  ")


def left_behind() -> list[str]:
    """What a question has left in the state of this thread; it is put right."""
    found = []
    if not gs.is_grad_enabled():
        gs.set_grad_enabled(True)
        found.append("grad mode was left disabled")
    if gs.is_inference_mode_enabled():
        found.append("inference mode was left enabled")
    try:
        while True:
            forward_ad.exit_dual_level()
            found.append("a dual level was left open")
    except RuntimeError:
        return found
