"""Hard points: a rule whose own derivative is NaN there is refused, and one that says the same without is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.errors import ErrorList
from codegen.package import Package
from codegen.spec_cache import analysed
from codegen.verify.check import check_op, quiet
from codegen.verify.evaluate import Evaluator

PACKAGE = Package(Path(__file__).parents[2])
ENTRY = """\

---
family: entries_under_test
about: Entries under test.
ops:
- op: under_test(x) -> y
  doc: A function.
  dtype: real
  shape: x -> x
  forward: FORWARD
  dy/dx: RULE
  examples:
    f(0.0): VALUE
"""
GUDERMANN = "2 * np.arctan(np.tanh(x / 2))"


def said(forward, rule, value, **changes):
    text = ENTRY.replace("FORWARD", forward).replace("RULE", rule).replace("VALUE", value)
    for old, new in changes.items():
        text = re.sub(rf"^  {old}.*\n", new, text, flags=re.MULTILINE)
    errors = ErrorList("", "")
    spec = analysed(PACKAGE, errors, more=text)
    assert not errors, errors.errors[0]
    with quiet():
        check_op(spec.ops["under_test"], Evaluator(spec, PACKAGE), errors, shown=True)
    return [str(error) for error in errors.errors]


@pytest.mark.parametrize("forward, rule, value", [
    (GUDERMANN, "1 / cosh(x)", "0.0"), ("np.tanh(x)", "1 / cosh(x) ** 2", "0.0"),
])  # fmt: skip
def test_a_second_derivative_that_is_nan(forward, rule, value):
    found = said(forward, rule, value)
    assert len(found) == 1 and "dy/dx: its own derivative is NaN at x = " in found[0], found


@pytest.mark.parametrize("forward, rule, value", [(GUDERMANN, "cos(y)", "0.0"), ("np.tanh(x)", "1 - y * y", "0.0"), ("1 / (1 + np.exp(-x))", "y * (1 - y)", "0.5")])
def test_a_rule_that_is_made_of_the_value(forward, rule, value):
    assert said(forward, rule, value) == []


def test_points_outside_of_the_domain_are_not_asked():
    assert said("np.tanh(x)", "1 / cosh(x) ** 2", "0.0", dtype="  domain: abs(x) < 20\n  dtype: real\n") == []


def test_an_entry_without_an_example():
    found = said("np.tanh(x)", "1 - y * y", "0.0", examples="", **{"  f\\(": ""})
    assert len(found) == 1 and "error: under_test: examples: no example of literals" in found[0], found
