"""One test that is asked of many cases: each case that fails is named, and none hides another.

Owns `each`, which takes what `pytest.mark.parametrize` takes and makes one test of all cases: a test of its own costs two
milliseconds, which is more than most cases take.  Owns what such a test says.  Cases that leave something behind, that take long,
or that need a fixture anew stay with `parametrize`.
"""

from __future__ import annotations

import inspect
import itertools
import traceback
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

import gradspec as gs
from gradspec.autograd import forward_ad

LEFT_OUT = "left out"  # the property of a report that holds the reason for which a case was not asked
SHOWN = 20  # so many errors are shown in full, of the others the case


class Asked:
    """What was found at the cases of one question: all wrong answers are collected before the test fails."""

    def __init__(self, name: str, record_property: Callable[[str, str], None]):
        self.name, self.record_property = name, record_property
        self.count, self.left_out = 0, []
        self.wrong: list[tuple[str, BaseException]] = []

    def ask(self, call: Callable[[], None], described: Callable[[], str]) -> None:
        self.count += 1
        try:
            call()
        except pytest.skip.Exception as reason:
            self.left_out.append(str(reason))
        except (Exception, pytest.fail.Exception) as error:
            self.wrong.append((described(), error))
        left = left_behind()
        if left:  # no later case can be judged
            raise AssertionError(f"{described()}\n  {', '.join(left)}")

    def judge(self) -> None:
        """Fail with every wrong answer; a question that no case could be asked is a skipped test."""
        nothing = len(self.left_out) == self.count > 0
        for reason in self.left_out[nothing:]:
            self.record_property(LEFT_OUT, reason)
        if nothing:
            pytest.skip(self.left_out[0])
        if self.wrong:
            _, first = self.wrong[0]
            raise AssertionError(self.text()) from first

    def text(self) -> str:
        places = [f"{where}\n{indented(said(error))}" for where, error in self.wrong[:SHOWN]]
        return "\n".join([f"{self.name}: {len(self.wrong)} of {self.count} are wrong", *places, *(where for where, _ in self.wrong[SHOWN:])])


def said(error: BaseException) -> str:
    """The message of an error, and the line of the question that it comes from."""
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if "/tests/" in frame.filename and frame.filename != __file__]
    place = f"  ({lines[-1].filename.rpartition('/')[2]}:{lines[-1].lineno}: {lines[-1].line})" if lines else ""
    return f"{type(error).__name__}: {error}{place}"


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


def each(names: str | Iterable[str], values: Iterable[Any], ids: Any = None) -> Callable[[Callable], Callable]:
    """Ask a test of each value, in one test; several of them are asked of every combination.

    Parameters
    ----------
    names : str or iterable of str
        Arguments of the test, as `pytest.mark.parametrize` takes them.
    values : iterable
        The values of these arguments, `pytest.param` among them.
    ids : callable or iterable of str, optional
        How a value is called where it fails.
    """
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    values = list(values)
    sets = [value if isinstance(value, _PARAM) else pytest.param(*(value if len(names) > 1 else [value])) for value in values]
    assert sets and all(len(one.values) == len(names) and not one.marks for one in sets), f"values that do not fit {names}"
    called = [ids(value) for value in values] if callable(ids) else list(ids or [one.id for one in sets])
    loop = [(word or _words(names, one.values), dict(zip(names, one.values))) for word, one in zip(called, sets, strict=True)]

    def decorate(test: Callable) -> Callable:
        question, loops = getattr(test, "asked_of_each", (test, []))
        return _looped(question, [*loops, loop])

    return decorate


_PARAM = type(pytest.param())


def _words(names: list[str], values: Iterable[Any]) -> str:
    shown = (getattr(value, "__name__", None) or repr(value) for value in values)
    return ", ".join(f"{name}={text if len(text) <= 100 else text[:97] + '...'}" for name, text in zip(names, shown))


def _looped(question: Callable, loops: list[list[tuple[str, dict[str, Any]]]]) -> Callable:
    @wraps(question)
    def test(*args: Any, record_property: Callable[[str, str], None], **fixtures: Any) -> None:
        asked = Asked(question.__name__, record_property)
        for combination in itertools.product(*loops):
            given = {name: value for _, values in combination for name, value in values.items()}
            asked.ask(lambda: question(*args, **given, **fixtures), lambda: ", ".join(words for words, _ in combination))  # noqa: B023
        asked.judge()

    named = {name for loop in loops for name in loop[0][1]}
    signature = inspect.signature(question)
    assert named <= set(signature.parameters), f"{question.__name__} has no argument {named - set(signature.parameters)}"
    kept = [parameter for name, parameter in signature.parameters.items() if name not in named | {"record_property"}]
    test.__signature__ = signature.replace(parameters=[*kept, inspect.Parameter("record_property", inspect.Parameter.KEYWORD_ONLY)])
    test.asked_of_each = question, loops
    return test
