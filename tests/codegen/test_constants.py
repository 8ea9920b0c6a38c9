"""Constants: which parts of a formula become numbers, and which stay."""

from __future__ import annotations

import ast
import math

import pytest

from codegen.spec.constants import folded
from tests.asked import each


def text(source: str, *names: str) -> str:
    return ast.unparse(folded(ast.parse(source, mode="eval").body, names))


@pytest.mark.parametrize(
    "source, value",
    [
        ("pi", math.pi),
        ("2 / sqrt(pi)", 2 / math.sqrt(math.pi)),
        ("-2 / sqrt(pi)", -2 / math.sqrt(math.pi)),
        ("1 / 3", 1 / 3),
        ("log(2)", math.log(2)),
        ("exp(-1.5) * e ** 2", math.exp(-1.5) * math.e**2),
        ("(1 + sqrt(5)) / 2 - 0.5", (1 + math.sqrt(5)) / 2 - 0.5),
    ],
)
def test_numbers_are_computed(source, value):
    assert text(source) == repr(value)


@pytest.mark.parametrize(
    "source, result",
    [
        ("2 / sqrt(pi) * exp(-x * x)", f"{2 / math.sqrt(math.pi)} * exp(-x * x)"),
        ("x * 2 * pi", f"x * 2 * {math.pi}"),
        ("pad(x, constant_values=2 * pi)", f"pad(x, constant_values={2 * math.pi})"),
        ("x if k == inf else -inf", "x if k == 1e309 else -1e309"),
    ],
)
def test_the_rest_stays(source, result):
    assert text(source) == result


@each(
    "source",
    ["x * 2", "2 * 3", "10 ** 10 ** 10 ** 10", "sqrt(-1)", "log(0)", "1.0 / 0", "exp(1000)", "1e300 * 1e300", "10.0 ** 400",
     "sqrt(x)", "sqrt(True)", "cos(2)", "1j * 2.0", "np.log(2)", "5 % 2.0"],
)  # fmt: skip
def test_what_has_no_finite_real_value_is_left(source):
    assert text(source) == ast.unparse(ast.parse(source))


def test_an_argument_may_be_called_like_a_constant(small):
    assert text("e * pi", "e") == f"e * {math.pi}"
    entry = """\
- op: f(x, float nan=0.0) -> y
  doc: F.
  forward: np.nan_to_num(x, nan=nan) * log(2) + e * 0
  let:
    half: log(2) / (2 + pi - pi)
  dy/dx: 2 * half
  samples:
  - f(x(3, 4))
  - f(x(3, 4), pi)
"""
    op = small.analyze(entry).ops["f"]
    assert op.forward.names == {"x", "nan"} and op.forward.source.endswith("log(2) + e * 0")
    assert ast.unparse(op.lets["half"].tree) == repr(math.log(2) / (2 + math.pi - math.pi))
    small.check(entry)


def test_places_stay_those_of_the_file(small):
    entry = "- op: f(x) -> y\n  doc: F.\n  forward: np.sin(x)\n  dy/dx: 2 * pi * coss(x)\n  samples: one\n"
    assert small.refusal("analyze", entry) == """\
derivatives.yaml:15:19: error: f: dy/dx: unknown function 'coss'; did you mean 'cos'?
  dy/dx: 2 * pi * coss(x)
                  ^"""


@pytest.mark.parametrize("source", ["sqrt(4)", "-sqrt(4)", "1 - 3", "inf", "-inf", "x", "x if y else 2 * pi"])
def test_a_number_stands_where_its_expression_stood(source):
    tree = ast.parse(f"(  {source})", mode="eval").body
    found = folded(ast.parse(f"(  {source})", mode="eval").body, ())
    assert (found.lineno, found.col_offset, found.end_col_offset) == (tree.lineno, tree.col_offset, tree.end_col_offset)
