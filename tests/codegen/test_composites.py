"""Composites: the derivative that their calls give is that of their values, in both modes."""
# ruff: noqa: E501

from __future__ import annotations

import pytest

# A product whose gradient is right for matrices only, as its samples are; its values are right for vectors as well.
COLUMNS = """\
- op: columns(a, b) -> y
  doc: A product with columns.
  shape: (..., m, k), (..., k, n) -> (..., m, n)
  forward: np.matmul(a, b)
  multilinear: [a, b]
  vjp:
    a: matmul(grad, conj(mT(b)))
    b: matmul(conj(mT(a)), grad)
  samples:
  - f(x(3, 4), x(2, 4, 5))
"""
PARTS = """\
- op: parts(x) -> y, z
  doc: Two outputs.
  forward: np.sin(x), np.cos(x)
  dy/dx: z
  dz/dx: -y
  samples: one
"""
LISTED = """\
- op: both(Array[] xs) -> y
  doc: The first two of a list, multiplied.
  forward: xs[0] * xs[1]
  vjp:
    xs: "[grad * conj(xs[1]), grad * conj(xs[0])]"
  jvp: xs_t[0] * xs[1] + xs[0] * xs_t[1]
  samples:
  - f([x(3), x(3)])
"""


def composite(formula, arguments="a, b", sample="f(x(4, 4), x(4))", let=""):
    return f"- op: z({arguments}) -> y\n  doc: F.\n  composite: {formula}\n{let}  samples:\n  - {sample}\n"


def test_a_composite_of_right_rules_is_right(small):
    assert small.check(COLUMNS + composite("columns(a, b)", sample="f(x(4, 4), x(4, 4))")) == []
    assert small.check(PARTS + composite("parts(x)[0] * sin(x)", "x", "f(x(3))")) == []


def test_a_rule_that_is_wrong_at_the_ranks_of_a_call(small):
    """The values and the tangents are right, so only the cotangents can tell."""
    message = small.refusal("check", COLUMNS + composite("columns(a, b)"))
    assert "error: z: composite: calls columns" in message and "in float64" in message
    assert message.count("error:") == 1
    assert "columns(a, b)\n" in message and "^" in message


@pytest.mark.parametrize("conditional", ["columns(a, b) if b.ndim == 1 else columns(b, a)"])
def test_only_the_branch_that_runs_is_looked_at(small, conditional):
    message = small.refusal("check", COLUMNS + composite(conditional))
    assert "calls columns" in message


def test_what_is_called_without_a_derivative(small):
    """A value that goes through an op that has none does change; a constant does not."""
    entry = "- op: frozen(x) -> y\n  doc: Without.\n  forward: np.copy(x)\n  nondifferentiable: true\n  samples: one\n"
    message = small.refusal("check", entry + composite("sin(x) * frozen(x)", "x", "f(x(3))"))
    assert "error: z: composite: calls give another derivative of y than its values do where x moves: expected" in message


def test_lists_and_lets(small):
    let = "  let:\n    s: sin(x)\n"
    assert small.check(LISTED + composite("both([s, x])", "x", "f(x(3))", let)) == []


HALVES = """\
- op: halves(x) -> Array[] parts
  doc: Two halves.
  forward: (np.copy(x[:2]), np.copy(x[2:]))
  linear: [x]
  vjp:
    x: joined(grad)
  samples:
  - f(x(4))
- op: joined(Array[] parts) -> y
  doc: Two halves as one.
  forward: np.concatenate(parts)
  linear: [parts]
  vjp:
    parts: halves(grad)
  samples:
  - f([x(2), x(2)])
"""
PRODUCTS = """\
- op: products(Array[] xs) -> y
  doc: The product of two matrices.
  forward: np.matmul(xs[0], xs[1])
  vjp:
    xs: "[matmul(grad, conj(mT(xs[1]))), matmul(conj(mT(xs[0])), grad)]"
  jvp: matmul(xs_t[0], xs[1]) + matmul(xs[0], xs_t[1])
  samples:
  - f([x(3, 4), x(4, 5)])
"""


@pytest.mark.parametrize("formula", [
    "sin(halves(x)[0]) * halves(x)[1]",
    "both(halves(sin(x)))",
    "both(halves(x)) * halves(x)[0]",
    "joined([halves(x)[1], sin(halves(x)[0])])",
    "sin(joined(halves(x)))",
    "joined(halves(sin(x))) * x",
    "p[0] * p[1] * sin(p[0])",
])  # fmt: skip
def test_lists_that_operators_give_and_take(small, formula):
    """The cotangents of items add up in the list, and that of a list reaches its items."""
    let = "  let:\n    p: halves(sin(x))\n" if "p[" in formula else ""
    assert small.check(LISTED + HALVES + composite(formula, "x", "f(x(4))", let)) == []


def test_a_rule_of_a_list_that_is_wrong_at_the_ranks_of_a_call(small):
    assert small.check(PRODUCTS + composite("products([a, b])", sample="f(x(4, 4), x(4, 4))")) == []
    message = small.refusal("check", PRODUCTS + composite("products([sin(a), b])"))
    assert "error: z: composite: calls products" in message


def test_an_output_that_nobody_uses_has_no_cotangent(small):
    assert small.check(PARTS + composite("parts(x)[1]", "x", "f(x(3))")) == []
    assert small.check(PARTS + composite("parts(sin(x))[0] * sin(parts(x)[1])", "x", "f(x(3))")) == []


def test_a_rule_that_has_nothing_to_give(small):
    """Of two outputs that have an input each, one is used: the input of the other gets no cotangent."""
    apart = """\
- op: apart(a, b) -> y, z
  doc: Two outputs that know nothing of each other.
  dtype: float -> a, b
  forward: (2 * a, 3 * b)
  linear: [a, b]
  vjp:
    a: 2 * grad_y
    b: 3 * grad_z
  samples:
  - f(x(3), x(2))
"""
    for index in (0, 1):
        assert small.check(apart + composite(f"sin(apart(sin(x), cos(x))[{index}])", "x", "f(x(3))")) == []
