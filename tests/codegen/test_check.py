"""The numeric check: formulas that are wrong, and what the message says of them."""
# ruff: noqa: E501

from __future__ import annotations

import re

import pytest

from codegen.errors import SpecErrors
from codegen.verify.check import make_sample

KERNELS = """\
def keep_(x):
    pass


def fail_(x):
    raise ValueError("broken")


def kept(x):
    return x
"""


def test_the_prelude_is_right(small):
    assert small.check("") == []


def test_an_inplace_kernel_is_held_to_what_fits_where_it_writes(small):
    """A result of another shape or dtype than the first argument's is none that could be written there."""
    small.write("runtime/kernels/written.py", "def add_(a, b):\n    a += b\n\n\ndef size_(x):\n    x[...] = abs(x) if x.dtype.kind == 'f' else 7\n")
    sums = "- op: f(a, b) -> y\n  doc: F.\n  variants: [inplace]\n  forward: np.add(a, b)\n  inplace: kernels.add_(a, b)\n  linear: [a, b]\n"
    sizes = "- op: g(x) -> y\n  doc: G.\n  variants: [inplace]\n  dtype: float -> real(x)\n  forward: np.abs(x)\n  inplace: kernels.size_(x)\n"
    assert small.check(sums + "  vjp:\n    a: grad\n    b: grad\n  samples: two\n" + sizes + "  nondifferentiable: true\n  samples: one\n") == []


def test_progress_counts_the_ops(small):
    from codegen.verify.check import check

    spec, seen = small.analyze(""), []
    check(spec, small.root, lambda *step: seen.append(step), integers=False)
    assert seen[0] == (0, len(spec.ops), "conj") and len(seen) == len(spec.ops)


def test_samples_are_the_same_in_every_run(small):
    op = small.analyze("").ops["sum"]
    one, two = make_sample(op, 0, float), make_sample(op, 0, float)
    assert (one.arguments["x"] == two.arguments["x"]).all()
    assert one.arguments["axis"] == 1 and one.arguments["keepdims"] is False


def test_what_needs_kernels_that_are_not_built_waits(small):
    small.write("runtime/kernels/fast.pyx", "def sine(x):\n    pass\n")
    entry = """\
- op: f(x) -> y
  doc: F.
  forward: kernels.sine(x)
  dy/dx: sin(x)
  samples: one
- op: g(x) -> y
  doc: G.
  composite: f(x) * 2
  samples: one
- op: h(x) -> y
  doc: H.
  forward: np.sin(x)
  dy/dx: f(x)
  samples: one
"""
    assert small.check(entry) == ["f", "g", "h"]


def test_kernels_that_are_plain_python_run_from_their_source(small):
    small.write("runtime/kernels/slow.py", "import numpy as np\n\n\ndef sine(x):\n    return np.sin(x)\n")
    entry = "- op: f(x) -> y\n  doc: F.\n  forward: kernels.sine(x)\n  dy/dx: {}(x)\n  samples: one\n"
    assert small.check(entry.format("cos")) == []
    assert "it has the wrong sign" in small.refusal("check", entry.format("-cos"))


def test_lists_and_optional_arrays(small):
    assert small.check("""\
- op: join(Array[] xs, int axis=0) -> y
  doc: Concatenation.
  forward: np.concatenate(xs, axis)
  linear: [xs]
  vjp:
    xs: parts(grad, xs.shape, axis)
  samples:
  - f([x(3, 4), x(1, 4)])
  - f([x(3, 4), x(3, 2)], 1)

- op: parts(x, int[] shapes, int axis=0) -> Array[] ys
  doc: The adjoint of join.
  view: x
  forward: np.split(x, np.cumsum(np.array(shapes)[:-1, axis]), axis)
  linear: [x]
  vjp:
    x: join(grad, axis)
  breaks:
    axes: the shapes of the parts are numbers
    parts: the shapes of the parts are numbers
  samples:
  - f(x(4, 4), ((3, 4), (1, 4)))
  - f(x(3, 6), ((3, 4), (3, 2)), 1)

- op: scaled(x, Array? w=None) -> y
  doc: Product with w, if there is one.
  forward: np.positive(x) if w is None else x * w
  let:
    factor: 1 if w is None else w
  vjp:
    x: grad * conj(factor) if w is not None else grad
    w: grad * conj(x)
  jvp: x_t * factor + x * w_t
  samples:
  - f(x(3, 4))
  - f(x(3, 4), x(4))
""") == []


REFUSED = {
    "a result whose shape depends on values": (
        """\
- op: f(x) -> y
  doc: F.
  forward: x[x != 0]
  linear: [x]
  vjp:
    x: grad
  samples:
  - f(x(3, 4))
""",
        """\
derivatives.yaml:14:12: error: f: forward: gives another shape at other values of x at f(x(3, 4)) in float64
  forward: x[x != 0]
           ^""",
    ),
    "a result that is no numbers": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.array2string(x)
  nondifferentiable: true
  samples: one
""",
        """\
derivatives.yaml:14:12: error: f: forward: fails at f(x(3, 4)) in float64: TypeError: gives <U153, not numbers
  forward: np.array2string(x)
           ^""",
    ),
    "a result of very many numbers": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.broadcast_to(x, (10**9, 3, 4))
  nondifferentiable: true
  samples:
  - f(x(3, 4))
""",
        """\
derivatives.yaml:14:12: error: f: forward: fails at f(x(3, 4)) in float64: ValueError: gives more than 20000 numbers: let the \
samples be small
  forward: np.broadcast_to(x, (10**9, 3, 4))
           ^""",
    ),
    "wrong sign": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.cos(x)
  dy/dx: sin(x)
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: is wrong: expected 0.9918, got -0.9918 at f(x(3, 4)) in float64; it has the wrong sign
  dy/dx: sin(x)
         ^""",
    ),
    "extra factor": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: 2 * cos(x)
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: is wrong: expected 0.9835, got 1.967 at f(x(3, 4)) in float64; it is off by a factor 2
  dy/dx: 2 * cos(x)
         ^""",
    ),
    "missing factor": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(2 * x)
  dy/dx: cos(2 * x)
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: is wrong: expected -1.935, got -0.9675 at f(x(3, 4)) in float64; it misses a factor 2
  dy/dx: cos(2 * x)
         ^""",
    ),
    "missing constant": (
        """\
- op: f(x) -> y
  doc: F.
  dtype: real
  forward: np.sum(np.sinc(x))
  vjp:
    x: grad * slope(x)
  jvp: sum(slope(x) * x_t * 3.141592653589793)
  samples: one
- op: slope(x) -> y
  doc: The derivative of sinc, up to pi.
  dtype: real
  forward: (np.cos(np.pi * x) - np.sinc(x)) / (np.pi * x)
  nondifferentiable: true
  samples: one
""",
        """\
derivatives.yaml:17:8: error: f: vjp: x: is wrong: expected 2.016, got 0.6419 at f(x(3, 4)) in float64; it misses a factor 3.1416 = pi
    x: grad * slope(x)
       ^""",
    ),
    "wrong": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x) + x
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: is wrong: expected -0.3091, got 1.576 at f(x(3, 4)) in float64
  dy/dx: cos(x) + x
         ^""",
    ),
    "not holomorphic": (
        """\
- op: f(x) -> y
  doc: F.
  dtype: float
  forward: np.real(x)
  dy/dx: 1
  samples: one
""",
        """\
derivatives.yaml:16:10: error: f: dy/dx: is wrong: expected 0, got 0+1j at f(x(3, 4)) in complex128; the op is not holomorphic: write vjp and jvp
  dy/dx: 1
         ^""",
    ),
    "not complex": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.floor(x)
  dy/dx: 0
  samples: one
""",
        """\
derivatives.yaml:14:12: error: f: forward: fails at f(x(3, 4)) in complex128: TypeError: ufunc 'floor' not supported for the input types, and the inputs could not be safely coerced to any supported types according to the casting rule ''safe''; an op that takes no complex arrays has dtype: real
  forward: np.floor(x)
           ^""",
    ),
    "outside its domain": (
        """\
- op: f(x) -> y
  doc: F.
  dtype: real
  forward: np.log(x)
  dy/dx: 1 / x
  samples: one
""",
        """\
derivatives.yaml:17:12: error: f: samples: f(x(3, 4)) in float64 gives y that is not finite: a sample stays where the op is differentiable
  samples: one
           ^""",
    ),
    "on a kink": (
        """\
- op: f(x) -> y
  doc: F.
  dtype: real
  forward: np.abs(x - np.round(x, 2))
  dy/dx: 0
  samples: one
""",
        """\
derivatives.yaml:17:12: error: f: samples: differences do not settle where x moves at f(x(3, 4)) in float64: is the sample on a kink?
  samples: one
           ^""",
    ),
    "formula that fails": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x) * x.shape[5]
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: fails at f(x(3, 4)) in float64: IndexError: tuple index out of range
  dy/dx: cos(x) * x.shape[5]
         ^""",
    ),
    "forward that fails": (
        """\
- op: f(x) -> y
  doc: F.
  forward: x * x.shape[5]
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:12: error: f: forward: fails at f(x(3, 4)) in float64: IndexError: tuple index out of range
  forward: x * x.shape[5]
           ^""",
    ),
    "impossible domain": (
        """\
- op: f(x) -> y
  doc: F.
  domain: x > 100
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:17:12: error: f: samples: f(x(3, 4)) in float64: ValueError: no sample was found in the domain x > 100
  samples: one
           ^""",
    ),
    "swapped arguments": (
        """\
- op: f(a, b) -> y
  doc: F.
  forward: np.multiply(a, b)
  dy/da: a
  dy/db: b
  samples: two
""",
        """\
derivatives.yaml:15:10: error: f: dy/da: is wrong: expected -1.832, got 1.335 at f(x(3, 4), x(4)) in float64; it looks like the rule of 'b'
  dy/da: a
         ^
derivatives.yaml:16:10: error: f: dy/db: is wrong: expected 1.335, got -1.832 at f(x(3, 4), x(4)) in float64; it looks like the rule of 'a'
  dy/db: b
         ^""",
    ),
    "linear on sin": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  linear: [x]
  vjp:
    x: grad * conj(cos(x))
  samples: one
""",
        """\
derivatives.yaml:15:11: error: f: linear: is not linear in 'x' at f(x(3, 4)) in float64
  linear: [x]
          ^""",
    ),
    "linear on an affine op": (
        """\
- op: f(x) -> y
  doc: F.
  forward: x + 1
  linear: [x]
  vjp:
    x: grad
  samples: one
""",
        """\
derivatives.yaml:15:11: error: f: linear: is not linear in 'x': zeros do not give zeros at f(x(3, 4)) in float64
  linear: [x]
          ^""",
    ),
    "multilinear in one only": (
        """\
- op: f(a, b) -> y
  doc: F.
  forward: a * np.cos(b)
  multilinear: [a, b]
  vjp:
    a: grad * cos(conj(b))
    b: -grad * conj(a * sin(b))
  samples: two
""",
        """\
derivatives.yaml:15:16: error: f: multilinear: is not multilinear in 'b': zeros do not give zeros at f(x(3, 4), x(4)) in float64
  multilinear: [a, b]
               ^""",
    ),
    "vjp that forgets conj": (
        """\
- op: f(a, b) -> y
  doc: F.
  forward: np.multiply(a, b)
  multilinear: [a, b]
  vjp:
    a: grad * b
    b: grad * conj(a)
  samples: two
""",
        """\
derivatives.yaml:17:8: error: f: vjp: a: is wrong: expected -0.2883, got -5.869 at f(x(3, 4), x(4)) in complex128; real samples are right: is conj missing?
    a: grad * b
       ^""",
    ),
    "vjp of wrong shape": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.swapaxes(x, 0, 1)
  linear: [x]
  vjp:
    x: grad
  samples: one
""",
        """\
derivatives.yaml:17:8: error: f: vjp: x: has the shape (4, 3), which does not reduce to (3, 4) at f(x(3, 4)) in float64
    x: grad
       ^""",
    ),
    "vjp with the wrong sign": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.negative(x)
  linear: [x]
  vjp:
    x: grad
  samples: one
""",
        """\
derivatives.yaml:17:8: error: f: vjp: x: is wrong: expected 0.5932, got -0.5932 at f(x(3, 4)) in float64; it has the wrong sign
    x: grad
       ^""",
    ),
    "swapped vjps": (
        """\
- op: f(a, b) -> y
  doc: F.
  forward: np.multiply(a, b)
  multilinear: [a, b]
  vjp:
    a: grad * conj(a)
    b: grad * conj(b)
  samples:
  - f(x(3), x(3))
""",
        """\
derivatives.yaml:17:8: error: f: vjp: a: is wrong: expected -1.339, got -2.54 at f(x(3), x(3)) in float64; it looks like the rule of 'b'
    a: grad * conj(a)
       ^
derivatives.yaml:18:8: error: f: vjp: b: is wrong: expected 4.03, got -2.649 at f(x(3), x(3)) in float64; it looks like the rule of 'a'
    b: grad * conj(b)
       ^""",
    ),
    "wrong jvp": (
        """\
- op: f(a, b) -> y
  doc: F.
  forward: np.divide(a, b)
  vjp:
    a: grad / conj(b)
    b: -grad * conj(y / b)
  jvp: a_t / b + y * b_t / b
  samples: two
""",
        """\
derivatives.yaml:18:8: error: f: jvp: y: is wrong where b moves: expected -24.93, got 24.93 at f(x(3, 4), x(4)) in float64; it has the wrong sign
  jvp: a_t / b + y * b_t / b
       ^""",
    ),
    "wrong shape": (
        """\
- op: f(x) -> y
  doc: F.
  shape: (m, n) -> (m, n)
  forward: np.swapaxes(x, 0, 1)
  nondifferentiable: true
  samples: one
""",
        """\
derivatives.yaml:14:10: error: f: shape: does not hold at f(x(3, 4)) in float64: y has (4, 3), not (3, 4)
  shape: (m, n) -> (m, n)
         ^""",
    ),
    "inplace that writes something else": (
        """\
- op: f(x) -> y
  doc: F.
  variants: [inplace]
  forward: np.negative(x)
  inplace: kernels.keep_(x)
  linear: [x]
  vjp:
    x: -grad
  samples: one
""",
        """\
derivatives.yaml:16:12: error: f: inplace: writes something else than forward gives at f(x(3, 4)) in float64
  inplace: kernels.keep_(x)
           ^""",
    ),
    "inplace that fails": (
        """\
- op: f(x) -> y
  doc: F.
  variants: [inplace]
  forward: np.negative(x)
  inplace: kernels.fail_(x)
  linear: [x]
  vjp:
    x: -grad
  samples: one
""",
        """\
derivatives.yaml:16:12: error: f: inplace: fails at f(x(3, 4)) in float64: ValueError: broken
  inplace: kernels.fail_(x)
           ^""",
    ),
    "placed that is something else": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.negative(x)
  placed: kernels.keep_(x)
  linear: [x]
  vjp:
    x: -grad
  samples: one
""",
        """\
derivatives.yaml:15:11: error: f: placed: is something else than forward gives at f(x(3, 4)) in float64
  placed: kernels.keep_(x)
          ^""",
    ),
    "forward that is something else than the composite": (
        """\
- op: f(x) -> y
  doc: F.
  forward: kernels.kept(x)
  composite: cos(x)
  samples: one
""",
        """\
derivatives.yaml:15:14: error: f: composite: its calls give something else than forward at f(x(3, 4)) in float64
  composite: cos(x)
             ^""",
    ),
    "vjp of a list of another length": (
        """\
- op: f(Array[] xs) -> y
  doc: F.
  forward: np.stack(xs)
  linear: [xs]
  vjp:
    xs: (sum(grad, 0), sum(grad, 0))
  samples:
  - f([x(3), x(3), x(3)])
""",
        """\
derivatives.yaml:17:9: error: f: vjp: xs: gives 2 arrays for 3 at f([x(3), x(3), x(3)]) in float64
    xs: (sum(grad, 0), sum(grad, 0))
        ^""",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(small, name):
    entry, message = REFUSED[name]
    small.write('runtime/kernels/copies.py', KERNELS)
    assert small.refusal("check", entry) == message


def test_a_result_that_shares_memory_is_a_view(small):
    assert small.refusal("check", """\
- op: f(x) -> y
  doc: F.
  forward: x[::-1]
  linear: [x]
  vjp:
    x: f(grad)
  samples: one
""") == """\
derivatives.yaml:14:12: error: f: forward: y shares memory with an input at f(x(3, 4)) in float32, and the entry has no `view:`
  forward: x[::-1]
           ^"""  # fmt: skip


def test_the_gradient_of_a_hermitian_matrix_is_hermitian(small):
    """Along Hermitian directions a triangle of the gradient would do."""
    message = small.refusal("check", """\
- op: f(x) -> y
  doc: Sum of a symmetric matrix.
  domain: x == mH(x)
  dtype: real
  forward: np.sum(x, (-2, -1))
  linear: [x]
  vjp:
    x: kept(unsum(grad, x.shape, (-2, -1)))
  samples:
  - f(psd(3))
- op: kept(x) -> y
  doc: The lower triangle, twice below the diagonal.
  forward: np.tril(x) + np.tril(x, -1)
  linear: [x]
  vjp:
    x: kept(grad)
  samples: one
""")
    assert message.startswith(
        "derivatives.yaml:19:8: error: f: vjp: x: is not Hermitian, as 'x' is, at f(psd(3)) in float64\n"
    )


def test_an_absent_cotangent_counts_as_zeros(small):
    """The term of an absent cotangent is left out, so it has to be zero where the cotangent is."""
    assert small.refusal("check", """\
- op: f(x) -> y, z
  doc: F.
  forward: (2 * x, 3 * x)
  linear: [x]
  vjp:
    x: 2 * grad_y + 3 * grad_z + nought(grad_z)
  samples: one
- op: nought(x) -> y
  doc: 1 at 0, else 0.
  forward: (x == 0).astype(x.dtype)
  nondifferentiable: true
  samples:
  - f(zeros(3))
  - f(x(3))
""") == """\
derivatives.yaml:17:8: error: f: vjp: x: an absent cotangent of z does not count as zeros at f(x(3, 4)) in float64
    x: 2 * grad_y + 3 * grad_z + nought(grad_z)
       ^"""


def test_what_comes_of_an_absent_cotangent_has_the_shape_of_the_input(small):
    """The other term may have made the shape of both."""
    assert small.refusal("check", """\
- op: f(x) -> y, z
  doc: F.
  shape: x -> x, ()
  forward: (2 * x, np.sum(x) * 0)
  linear: [x]
  vjp:
    x: 2 * grad_y + 0 * grad_z
  samples: one
""").startswith("""\
derivatives.yaml:18:8: error: f: vjp: x: fails at f(x(3, 4)) in float64: ValueError: has the shape (), which does not reduce to (3, 4)
""")


def test_a_tangent_of_a_real_result_is_real(small):
    assert small.refusal("check", """\
- op: f(x) -> y
  doc: Squared modulus.
  forward: np.real(np.conj(x) * x)
  vjp:
    x: 2 * grad * x
  jvp: conj(x) * x_t + x * conj(x_t)
  samples: one
""") == """\
derivatives.yaml:17:8: error: f: jvp: y: is complex, and y is real at f(x(3, 4)) in complex128
  jvp: conj(x) * x_t + x * conj(x_t)
       ^"""


BATCHED = """\
- op: f(x, int axis) -> y
  doc: F.
  shape: x -> x
  forward: np.copy(np.flip(x, axis))
  linear: [x]
  vjp:
    x: f(grad, axis)
  batched: true
  samples:
  - only
  - f(x(3, 4), -1)
"""


def test_what_is_stated_of_batches_is_compared_with_their_rows(small):
    last = BATCHED.replace(", int axis", "").replace("(x, axis)", "(x, -1)").replace(", axis", "").replace(", -1)\n", ")\n")
    last = last.replace("x -> x", "(..., n) -> (..., n)")
    assert small.check(last) == []
    # Axes are tried from either end, whatever the samples say.
    assert small.refusal("check", BATCHED) == """\
derivatives.yaml:19:12: error: f: batched: a batch of cotangents gives something else for 'x' than its rows at f(x(3, 4), -1) with axis=1 in complex128
  batched: true
           ^"""
    assert small.refusal("analyze", """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
  batched: true
""") == """\
derivatives.yaml:16:12: error: f: batched: there is no vjp of which it says something
  batched: true
           ^"""


def test_the_jvp_is_compared_too(small):
    entry = """\
- op: f(x) -> y
  doc: F.
  shape: x -> x
  forward: np.copy(x)
  vjp:
    x: grad
  jvp: x_t * (x_t.shape[0] / 4)
  batched: true
  samples:
  - only
  - f(x(4))
"""
    assert small.refusal("check", entry) == """\
derivatives.yaml:19:12: error: f: batched: a batch of tangents of 'x' gives something else than its rows at f(x(4)) in float64
  batched: true
           ^"""
    assert small.check(entry.replace("x_t * (x_t.shape[0] / 4)", "x_t * 1.0")) == []


ROWS = """\
- op: f(x, int axis) -> y
  doc: F.
  shape: x -> x
  forward: np.copy(np.flip(x, axis))
  linear: [x]
  vjp:
    x: f(grad, axis)
  rows: f(x, axis if axis < 0 else axis + 1)
  samples:
  - only
  - f(x(3, 4), -1)
"""


TURNED = """\
- op: turned(x) -> y
  doc: The rows, the last one first.
  shape: x -> x
  forward: np.copy(x[::-1])
  linear: [x]
  vjp:
    x: turned(grad)
  samples:
  - only
  - f(x(3))
"""


def test_rows_that_are_of_another_row_or_shape(small):
    right = "rows: f(x, axis if axis < 0 else axis + 1)"
    for rows, message in (("rows: turned(f(x, axis if axis < 0 else axis + 1))", "is something else than the op of each row"),
                          ("rows: sum(f(x, axis), 0)", "gives (3, 4) for rows that give (3, 3, 4)")):  # fmt: skip
        assert f"error: f: rows: {message} at f(x(3, 4), -1)" in small.refusal("check", ROWS.replace(right, rows) + TURNED)


def test_what_is_stated_of_rows_is_compared_with_each_of_them(small):
    assert small.check(ROWS) == []
    assert small.refusal("check", ROWS.replace(" if axis < 0 else axis + 1", "")) == """\
derivatives.yaml:19:9: error: f: rows: is something else than the op of each row at f(x(3, 4), -1) with axis=1 in complex128
  rows: f(x, axis)
        ^"""
    assert small.refusal("analyze", ROWS.replace("linear: [x]", "jvp: f(x_t, axis)").replace("  vjp:\n    x: f(grad, axis)\n", "").replace(
        "  jvp: f(x_t, axis)\n", "  vjp:\n    x: f(grad, axis)\n  jvp: f(x_t, axis)\n")) == """\
derivatives.yaml:19:9: error: f: rows: is for an op that is linear in its only array and has one output
  rows: f(x, axis if axis < 0 else axis + 1)
        ^"""


MADE = """\
- op: made(x) -> y
  doc: Three times as much.
  shape: x -> x
  forward: np.multiply(x, 3)
  nondifferentiable: true
  vmap: x * 2 + x
  samples:
  - only
  - f(x(3, 4))
"""


def test_what_an_op_is_made_of_for_batches_is_compared_with_it(small):
    assert small.check(MADE) == []
    assert "made: vmap: is something else than y at f(x(3, 4))" in small.refusal("check", MADE.replace("* 2 + x", "* 2 - x"))
    assert "made: vmap: unknown way 'moved'" in small.refusal("read", MADE.replace("x * 2 + x", "moved"))


ORDER = """\
- op: above(x) -> y
  doc: Calls what is wrong.
  composite: between(x) + x

- op: between(x) -> y
  doc: Calls it too.
  composite: wronged(x) * 2

- op: wronged(x) -> y
  doc: Is wrong.
  shape: x -> x
  forward: 3 * x
  linear: [x]
  vjp:
    x: 2 * grad
"""


def test_what_is_wrong_with_an_operator_comes_before_its_callers(small):
    """A rule that is wrong makes its callers wrong, in whatever order the file has them."""
    entries = ORDER.replace("  composite", "  samples: one\n  composite").split("\n\n")
    keyed = [re.sub(r"  samples: one\n(  composite.*)", r"\1\n  samples: one", entry) for entry in entries]
    keyed[-1] = keyed[-1].rstrip("\n") + "\n  samples: one"
    with pytest.raises(SpecErrors) as refused:
        small.check("\n\n".join(keyed) + "\n")
    assert [*dict.fromkeys(error.op for error in refused.value.errors)] == ["wronged", "between", "above"]
