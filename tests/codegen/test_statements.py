"""Statements: where lets stand, under which conditions, and what is left out with an absent cotangent or tangent."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.rules.statements import composite_statements, forward_statements, jvp_statements, vjp_statements
from codegen.verify.evaluate import Evaluator
from codegen.write.printer import OnTensors, lines

PAIR = """\
- op: f(x) -> y, z
  doc: Two outputs.
  forward: (np.sin(x), np.cos(x))
  let:
    slope: cos(x)
    fall: -sin(x)
    both: grad_y * slope + grad_z * fall
  vjp:
    x: both
  jvp:
    y: x_t * slope
    z: x_t * fall
  samples: one
"""


def text(small, entry: str, statements) -> list[str]:
    spec = small.analyze(entry)
    spell = OnTensors({name: op.signature for name, op in spec.ops.items()})
    return lines(statements(spec.ops["f"]), spell, spec.ops["f"])


def test_a_let_stands_in_the_branch_that_reads_it(small):
    entry = """\
- op: f(x, int n=1) -> y
  doc: F.
  composite: both * left if n else both * right
  let:
    both: cos(x)
    left: sin(x)
    right: both * 2
  samples: one
"""
    assert text(small, entry, forward_statements) == [
        "both = ops.cos(x)", "if n:", "    left = ops.sin(x)", "    return both * left", "right = both * 2",
        "return both * right",
    ]  # fmt: skip


def test_a_kernel_beside_a_composite_computes_only_where_nothing_is_recorded(small):
    small.write("runtime/kernels/quick.py", "import numpy as np\n\n\ndef twice_cosine(x):\n    return 2 * np.cos(x)\n")
    entry = """\
- op: f(x) -> y
  doc: F.
  forward: kernels.twice_cosine(x)
  composite: 2 * part
  let:
    part: cos(x)
  samples: one
"""
    assert small.check(entry) == []
    assert text(small, entry, composite_statements) == ["part = ops.cos(x)", "return 2 * part"]
    assert text(small, entry, forward_statements) == ["return kernels.twice_cosine(x)"]


def test_what_describes_a_let_needs_the_let(small):
    entry = """\
- op: f(x, a) -> y
  doc: F.
  composite: cos(x) if both.ndim else x
  let:
    both: x * a
  samples:
  - f(x(3), x(3))
"""
    assert text(small, entry, forward_statements) == ["both = x * a", "if ndim_of(both):", "    return ops.cos(x)", "return x"]


def test_a_let_of_arrays_that_one_way_does_without_stands_in_the_others(small):
    entry = """\
- op: f(x, int n=1) -> y
  doc: F.
  composite: costly if n == 1 else x if n == 2 else costly * deep if n == size else -costly
  let:
    size: x.ndim + 1
    deep: cos(x)
    costly: sin(deep)
  samples:
  - f(x(3), 1)
  - f(x(3), 2)
  - f(x(3, 3), 3)
"""
    assert text(small, entry, forward_statements) == [
        "if n == 1:", "    deep = ops.cos(x)", "    costly = ops.sin(deep)", "    return costly",
        "if n == 2:", "    return x",
        "size = ndim_of(x) + 1", "deep = ops.cos(x)", "costly = ops.sin(deep)",
        "if n == size:", "    return costly * deep", "return -costly",
    ]  # fmt: skip


def test_a_let_of_one_branch_of_a_let(small):
    entry = """\
- op: f(x, int n=1) -> y
  doc: F.
  composite: sin(middle)
  let:
    deep: cos(x)
    middle: deep * 2 if n else x
  samples: one
"""
    assert text(small, entry, forward_statements) == [
        "if n:", "    deep = ops.cos(x)", "    middle = deep * 2", "else:", "    middle = x", "return ops.sin(middle)",
    ]  # fmt: skip


def test_what_one_gradient_needs_stands_under_its_condition(small):
    entry = """\
- op: f(a, b) -> y
  doc: F.
  forward: np.multiply(a, b)
  multilinear: [a, b]
  vjp:
    a: grad * b
    b: grad * a
  samples: two
"""
    assert text(small, entry, lambda op: vjp_statements(op, unpack=True)) == [
        "if wanted_ & 1:", '    b = saved_tensor(self, self.saved_b, self.version_b, "b")', "    grad_a = grad * b",
        "if wanted_ & 2:", '    a = saved_tensor(self, self.saved_a, self.version_a, "a")', "    grad_b = grad * a",
    ]  # fmt: skip


def test_terms_are_left_out_with_their_cotangents(small):
    assert text(small, PAIR, lambda op: vjp_statements(op, unpack=False)) == [
        "if grad_y is not None:", "    slope = ops.cos(x)", "if grad_z is not None:", "    fall = -ops.sin(x)",
        "both = None if grad_y is None else grad_y * slope", "if grad_z is not None:",
        "    both = plus(both, grad_z * fall)", "grad_x = both",
    ]  # fmt: skip


def test_a_single_tangent_is_there(small):
    assert text(small, PAIR, jvp_statements) == ["slope = ops.cos(x)", "y_t = x_t * slope", "fall = -ops.sin(x)", "z_t = x_t * fall"]


def test_tangents_of_several_inputs(small):
    entry = """\
- op: f(a, b) -> y
  doc: F.
  forward: np.subtract(a, b)
  let:
    moved: b_t * 2
  vjp:
    a: grad
    b: -grad
  jvp: a_t - (moved - b_t)
  samples: two
"""
    assert text(small, entry, jvp_statements) == [
        "moved = None if b_t is None else b_t * 2", "y_t = a_t", "if moved is not None:", "    y_t = minus(y_t, moved)",
        "if b_t is not None:", "    y_t = plus(y_t, b_t)",
    ]  # fmt: skip


@pytest.mark.parametrize(("y", "z"), [(1.0, None), (None, 1.0), (1.0, 1.0), (None, None)])
def test_the_checker_runs_the_same_statements(small, y, z):
    spec = small.analyze(PAIR)
    x = np.array([0.5, 1.0])
    found = Evaluator(spec, small.root).vjp(spec.ops["f"], "x", {"x": x, "grad_y": y, "grad_z": z})
    expected = sum(g * d for g, d in ((y, np.cos(x)), (z, -np.sin(x))) if g is not None)
    assert found is None if y is z is None else np.allclose(found, expected)


REFUSED = {
    "a cotangent beside another": (
        PAIR.replace("grad_y * slope + grad_z * fall", "cos(grad_y * slope + grad_z * fall)"),
        """\
derivatives.yaml:18:11: error: f: let: both: a term with the cotangents 'grad_y' and 'grad_z': write one term for each
    both: cos(grad_y * slope + grad_z * fall)
          ^""",
    ),
    "a term without a cotangent": (
        PAIR.replace("x: both", "x: both + slope"),
        """\
derivatives.yaml:20:15: error: f: vjp: x: a term without a cotangent
    x: both + slope
              ^""",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(small, name):
    entry, message = REFUSED[name]
    assert small.refusal("analyze", entry) == message
