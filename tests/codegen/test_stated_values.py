"""Kinks: what an entry states where differences do not settle, and the conditions that have to be met."""

from __future__ import annotations

import numpy as np
import pytest

BIGGER = """\
- op: bigger(a, b) -> y
  doc: The larger one.
  dtype: real
  forward: np.maximum(a, b)
  dy/da: {da}
  dy/db: {db}
  samples:
  - f(x(3, 4), x(4))
  kinks:
    f(1.0, 1.0): {stated}
"""
CONDITIONS = """\
- op: equal(a, b) -> Mask y
  doc: a == b.
  forward: np.equal(a, b)
  nondifferentiable: true
  samples: two
- op: greater(a, b) -> Mask y
  doc: a > b.
  forward: np.greater(a, b)
  nondifferentiable: true
  samples: two
- op: isfinite(x) -> Mask y
  doc: Neither infinite nor NaN.
  forward: np.isfinite(x)
  nondifferentiable: true
  samples: one
- op: where(Mask mask, a, b) -> y
  doc: a where mask, b elsewhere.
  forward: np.where(mask, a, b)
  linear: [a, b]
  vjp:
    a: where(mask, grad, 0.0)
    b: where(mask, 0.0, grad)
  samples:
  - f(mask(3), x(3), x(3))
"""
LIFTED = """\
- op: lifted(x) -> y
  doc: With one more axis.
  forward: np.expand_dims(x, 0)
  linear: [x]
  vjp:
    x: lowered(grad)
  samples: one
- op: lowered(x) -> y
  doc: With one axis fewer.
  forward: np.squeeze(x, 0)
  linear: [x]
  vjp:
    x: lifted(grad)
  samples:
  - only
  - f(x(1, 3))
"""


def entry(da="where(a == b, 0.5, a > b)", db="where(a == b, 0.5, b > a)", stated="0.5, 0.5"):
    return BIGGER.format(da=da, db=db, stated=stated) + CONDITIONS


@pytest.fixture
def refusal(small):
    return lambda text: small.refusal("check", text)


def test_right(small):
    assert small.check(entry()) == []


def test_the_rule_and_the_kink_differ(refusal):
    assert refusal(entry(da="where(a == b, 1, a > b)")) == """\
derivatives.yaml:16:10: error: bigger: dy/da: gives 1, where the entry states 0.5 at the kink f(1.0, 1.0)
  dy/da: where(a == b, 1, a > b)
         ^"""


def test_a_tangent_of_another_shape_at_a_kink(refusal):
    """A rule that samples have already shown to be wrong is still a message where it does not fit the kink."""
    text = entry(da="lifted(where(a == b, 0.5, a > b))").replace("- op: where", LIFTED + "- op: where")
    assert "dy/da: has the shape (1, 3, 4), and y (3, 4) at f(x(3, 4), x(4))" in refusal(text)


def test_what_a_composite_calls_is_held_to_its_kinks(refusal):
    """Its values are the same on either side, and say nothing of which side takes the gradient."""
    text = """\
- op: above(x) -> y
  doc: Composite.
  dtype: real
  composite: where(greater(x, 0), x, 2 * x)
  samples: one
  kinks:
    f(0.0): 1
"""
    assert "above: composite: gives 2, where the entry states 1 at the kink f(0.0)" in refusal(text + CONDITIONS)


def test_a_composite_is_run_back_at_its_kinks(small, refusal):
    """Forward mode drops the branch that is not taken; in reverse mode its infinite slope times 0 is NaN."""
    text = """\
- op: root(x) -> y
  doc: Square root where x > 0, 0 elsewhere.
  dtype: real
  composite: where(greater(x, 0), rooted({inside}), 0)
  samples:
  - f(pos(3))
  kinks:
    f(0.0): 0
- op: rooted(x) -> y
  doc: Square root.
  domain: x > 0
  forward: np.sqrt(x)
  dy/dx: 1 / (2 * y)
  samples: one
"""
    inner = CONDITIONS.replace("- op: where", text + "- op: where")
    small.check(inner.format(inside="where(greater(x, 0), x, 1)"))
    assert "root: composite: gives nan, where the entry states 0 at the kink f(0.0)" in refusal(inner.format(inside="x"))


def test_the_derivative_of_a_rule_at_its_kinks(small, refusal):
    """Where exp overflows in the branch that is not taken, the first derivative is right and the second one NaN."""
    text = """\
- op: bent(x) -> y
  doc: exp(x) where x < 0, 1 + x elsewhere.
  dtype: real
  forward: np.where(x < 0, np.exp(x), 1 + x)
  dy/dx: where(greater(0, x), exp({inside}), 1)
  samples: one
  kinks:
    f(0.0): 1
    f(1000.0): 1
- op: equal"""
    exp = "- op: exp(x) -> y\n  doc: Exponential.\n  forward: np.exp(x)\n  dy/dx: y\n  samples: one\n"
    product = """\
- op: multiply(a, b) -> y
  doc: Product.
  operator: __mul__
  dtype: real
  forward: np.multiply(a, b)
  multilinear: [a, b]
  vjp:
    a: grad * b
    b: grad * a
  samples: two
"""
    after = CONDITIONS.replace("- op: equal", text).replace("- op: greater", exp + "- op: greater")
    after = after.replace("- op: where", product + "- op: where")
    small.check(after.format(inside="where(greater(0, x), x, 0)"))
    assert "bent: dy/dx: its own derivative is not finite in reverse mode at the kink f(1000.0)" in refusal(after.format(inside="x"))


def test_what_is_stated_lies_between_the_derivatives_from_either_side(refusal):
    assert refusal(entry(da="where(a == b, 1.5, a > b)", stated="1.5, 0.5")) == """\
derivatives.yaml:21:18: error: bigger: kinks: f(1.0, 1.0): 1.5 where a moves is not between the derivatives from either side, 0 and 1
    f(1.0, 1.0): 1.5, 0.5
                 ^"""


def test_a_jump_has_no_derivatives_to_lie_between(small):
    assert small.check("""\
- op: f(x) -> y
  doc: Sign.
  dtype: real
  forward: np.sign(x)
  dy/dx: 0
  samples: one
  kinks:
    f(0.0): 0
""") == []  # fmt: skip


def test_one_value_for_each_input(refusal):
    assert refusal(entry(stated="0.5")) == """\
derivatives.yaml:21:18: error: bigger: kinks: f(1.0, 1.0) wants derivatives in a of shape () and b of shape ()
    f(1.0, 1.0): 0.5
                 ^"""


def test_a_comparison_that_no_call_stands_on(refusal):
    text = entry().replace("f(1.0, 1.0): 0.5, 0.5", "f(2.0, 1.0): 1, 0")
    assert refusal(text) == """\
derivatives.yaml:16:16: error: bigger: dy/da: no sample and no kink stands on `a == b`
  dy/da: where(a == b, 0.5, a > b)
               ^
derivatives.yaml:16:29: error: bigger: dy/da: no sample and no kink stands on `a == b`
  dy/da: where(a == b, 0.5, a > b)
                            ^
derivatives.yaml:17:16: error: bigger: dy/db: no sample and no kink stands on `a == b`
  dy/db: where(a == b, 0.5, b > a)
               ^
derivatives.yaml:17:29: error: bigger: dy/db: no sample and no kink stands on `b == a`
  dy/db: where(a == b, 0.5, b > a)
                            ^"""


def test_a_condition_that_holds_everywhere(refusal):
    message = refusal("""\
- op: arm(x) -> y
  doc: F.
  dtype: real
  forward: np.sqrt(x)
  dy/dx: where(isfinite(y), 0.5 / y, 0)
  samples:
  - f(pos(3))
""" + CONDITIONS)  # fmt: skip
    assert message == """\
derivatives.yaml:16:16: error: arm: dy/dx: no sample and no kink makes `isfinite(y)` false
  dy/dx: where(isfinite(y), 0.5 / y, 0)
               ^"""


ANALYSED = {
    "not a call": ("f(x(3)) + 1: 0", "a kink is a call f(...)"),
    "unknown maker": ("f(y(3)): 0", "unknown function 'y'"),
    "does not bind": ("f(1.0, 2.0): 0", "f(1.0, 2.0): f takes 1 positional argument, 2 given"),
    "unknown name": ("f(0.0): pie", "unknown name 'pie'; did you mean 'pi'?"),
    "unknown function": ("f(0.0): sqr(2)", "unknown function 'sqr'; did you mean 'sqrt'?"),
}


@pytest.mark.parametrize("name", ANALYSED)
def test_refused_by_analysis(small, name):
    kink, message = ANALYSED[name]
    text = f"- op: f(x) -> y\n  doc: F.\n  forward: np.sin(x)\n  dy/dx: cos(x)\n  samples: one\n  kinks:\n    {kink}\n"
    assert f"error: f: kinks: {message}\n" in small.refusal("analyze", text)


def test_nothing_to_state(small):
    text = "- op: f(x) -> y\n  doc: F.\n  forward: np.sin(x)\n  nondifferentiable: true\n  samples: one\n  kinks:\n    f(0.0): 1\n"
    assert "error: f: kinks: the op has no derivative to state\n" in small.refusal("analyze", text)


def test_ties():
    from codegen.spec.samples import evaluate_sample

    for dtype in (np.float64, np.complex128, np.int64):
        (a, b), _ = evaluate_sample("f(tied(3, 4), tied(3, 4))", dtype=dtype)
        assert a.dtype == dtype and (a == 0).any() and (a == b).any() and (a != b).any()
        assert len(np.unique(a)) < a.size


def test_a_tangent_that_is_broadcast(small):
    """A derivative that is a number stands in every element of the output."""
    assert small.check("""\
- op: f(a, b) -> y
  doc: F.
  dtype: real
  forward: np.add(a, np.abs(b))
  dy/da: 1
  dy/db: sign(b)
  samples: two
  kinks:
    f(1.0, [0.0, 0.0]): 2, [0, 0]
- op: sign(x) -> y
  doc: Sign.
  dtype: real
  forward: np.sign(x)
  nondifferentiable: true
  samples: one
""") == []  # fmt: skip


def test_examples_that_hold(small):
    assert small.check("""\
- op: f(x) -> y
  doc: F.
  composite: 2 * sin(x)
  samples: one
  examples:
    f([0.0, 1.0]): [0, 2 * sin(1)]
- op: g(x) -> y, z
  doc: G.
  forward: (2 * x, 3 * x)
  linear: [x]
  vjp:
    x: 2 * grad_y + 3 * grad_z
  samples: one
  examples:
    f([1.0]): ([2], [3])
""") == []  # fmt: skip


EXAMPLES = {
    "another value": ("f([0.0, 1.0]): [0, 2]", "f([0.0, 1.0]) gives y = 1.682942, not 2"),
    "another shape": ("f([1.0]): 2 * sin(1)", "f([1.0]) gives y of shape (1,), not ()"),
    "a value that is none": ("f([1.0]): 1 / 0", "1 / 0: ZeroDivisionError: division by zero"),
    "no one shape": ("f([1.0]): [[1, 2], [3]]", "[[1, 2], [3]]: ValueError: setting an array element with a "),
    "too large": ("f([1.0]): 9 ** 9 ** 9", "the number is too large: integers stay below 2**64"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_that_do_not_hold(small, name):
    example, message = EXAMPLES[name]
    text = f"- op: f(x) -> y\n  doc: F.\n  composite: 2 * sin(x)\n  samples: one\n  examples:\n    {example}\n"
    column = 5 + example.index(": ") + 2
    found = small.refusal("check", text)
    assert found.startswith(f"derivatives.yaml:17:{column}: error: f: examples: {message}")
    assert found.endswith(f"\n    {example}\n{' ' * (column - 1)}^") and found.count("error:") == 1
