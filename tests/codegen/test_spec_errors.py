"""The form of a refusal and the collecting of several."""

from __future__ import annotations

import pytest

from codegen.errors import ErrorList, SpecError, SpecErrors, did_you_mean
from codegen.spec.model import Location


def test_near_names_are_offered():
    assert did_you_mean("tanhh", ["tan", "tanh"]) == "; did you mean 'tanh'?"
    assert did_you_mean("q", ["tan", "tanh"]) == ""


def test_errors_come_by_line_and_once():
    errors = ErrorList("spec", "first\n  second\n")
    errors.add("late", Location("spec", 2, 3), "f", "vjp")
    with errors.catch("f"):
        raise SpecError("early", Location("spec", 1, 1), suggestion="; did you mean 'x'?")
    errors.add("late", Location("spec", 2, 3), "f", "vjp")
    with pytest.raises(SpecErrors) as caught:
        errors.raise_if_any()
    assert str(caught.value) == """\
spec:1:1: error: f: early; did you mean 'x'?
first
^
spec:2:3: error: f: vjp: late
  second
  ^"""


def test_other_exceptions_pass_through():
    errors = ErrorList("spec", "")
    with pytest.raises(ZeroDivisionError), errors.catch():
        raise ZeroDivisionError
    errors.raise_if_any()
