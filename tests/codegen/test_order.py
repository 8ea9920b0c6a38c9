"""One way to write each thing: operators where they read, lets in their order."""
# ruff: noqa: E501

from __future__ import annotations

import pytest

TIMES = """\
- op: times(a, b) -> y
  doc: Product.
  operator: __mul__
  forward: np.multiply(a, b)
  dy/da: b
  dy/db: a
  samples: two
"""
MINUS = "- op: minus(x) -> y\n  doc: Minus.\n  operator: __neg__\n  forward: np.negative(x)\n  dy/dx: -1\n  samples: one\n"
ENTRY = "- op: f(x, int n=1) -> y\n  doc: F.\n  composite: {}\n  samples:\n  - f(x(3), 2)\n"
CALLER = "- op: {}(x) -> y\n  doc: Calls.\n  composite: {}\n  samples: one\n\n"
LETS = """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  let:
{lets}
  vjp:
    x: slope * turned
  jvp: slope * moved
  samples: one
"""


@pytest.mark.parametrize("called, written", [
    ("times(x, cos(x))", "x * cos(x)"),
    ("times(x + x, sin(x))", "(x + x) * sin(x)"),
    ("times(2, x)", "2 * x"),
    ("minus(cos(x))", "-cos(x)"),
])  # fmt: skip
def test_an_operator_is_written_where_there_is_one(small, called, written):
    message = small.refusal("analyze", ENTRY.format(called) + MINUS + TIMES)
    assert f"error: f: composite: has an operator: write {written}\n" in message
    small.analyze(ENTRY.format(written) + MINUS + TIMES)


def test_python_has_the_operators_of_static_values(small):
    """So a call by name says that the op is meant."""
    small.analyze(ENTRY.format("sin(x) + times(n, 2)") + TIMES)


def callers(**formulas):
    return "".join(CALLER.format(name, formula) for name, formula in formulas.items())


@pytest.mark.parametrize("formulas", [
    {"c": "_a(x) + _e(x)", "_a": "cos(x)", "_e": "cos(x)", "d": "cos(x)"},
    {"c": "_e(x)", "_e": "_a(x)", "_a": "cos(x)", "d": "cos(x)"},
    {"_a": "cos(x)", "c": "_a(x)", "d": "_a(x)"},  # two users: where it would stand if it were public
    {"b": "cos(x)", "_c": "cos(x)", "d": "cos(x)"},  # nobody's
    {"c": "_a(x)", "_a": "cos(x) if x.ndim else _a(cos(x))"},
], ids=str)  # fmt: skip
def test_a_private_operator_stands_below_its_only_user(small, formulas):
    assert list(small.read(callers(**formulas)).ops)[: len(formulas)] == list(formulas)


@pytest.mark.parametrize("formulas, wrong", [
    ({"_a": "cos(x)", "b": "cos(x)", "c": "_a(x)"}, {"_a": "c"}),
    ({"c": "_a(x)", "d": "cos(x)", "_a": "cos(x)"}, {"_a": "c"}),
    ({"c": "_e(x)", "d": "cos(x)", "_e": "_a(x)", "_a": "cos(x)"}, {"_e": "c"}),  # and nothing is said of _a
    ({"c": "_e(x)", "_a": "cos(x)", "_e": "_a(x)"}, {"_a": "_e"}),
], ids=str)  # fmt: skip
def test_one_that_stands_elsewhere_is_refused_with_both_names(small, formulas, wrong):
    text = small.refusal("read", callers(**formulas))
    for name, owner in wrong.items():
        line = 12 + 5 * list(formulas).index(name)
        assert f"derivatives.yaml:{line}:7: error: {name}: op: only {owner} calls it: it belongs directly below {owner}\n" \
               f"- op: {name}(x) -> y\n      ^" in text
    assert text.count("error:") == len(wrong)


def test_where_an_entry_cannot_be_read_nobody_knows_who_calls_what(small):
    entries = callers(_a="cos(x)", b="cos(x)", c="_a(x)", d="(x for x in x)")
    assert "is not allowed in a formula" in small.refusal("read", entries) and "only" not in small.refusal("read", entries)


def lets(*names):
    values = {"slope": "cos(x)", "turned": "conj(slope) * grad", "moved": "x_t * slope"}
    return LETS.format(lets="\n".join(f"    {name}: {values[name]}" for name in names))


def test_the_order_of_lets(small):
    small.analyze(lets("slope", "turned", "moved"))
    message = small.refusal("analyze", lets("slope", "moved", "turned"))
    assert "derivatives.yaml:18:13: error: f: let: turned: lets of both modes, then of the cotangents, then of the tangents: " \
           "it belongs above 'moved'" in message
    assert message.count("error:") == 1


def test_what_reads_a_let_of_the_cotangents_is_of_them(small):
    entry = lets("slope", "turned", "moved").replace("    moved: x_t * slope", "    moved: x_t * slope\n    late: turned")
    entry = entry.replace("slope * turned", "slope * late")
    assert "let: late: lets of both modes" in small.refusal("analyze", entry)
