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
