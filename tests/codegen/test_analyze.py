"""Analysis: the rules of the derivative forms; each refusal beside its whole message."""
# ruff: noqa: E501

from __future__ import annotations

import pytest

from codegen.spec.formula import formulas_of
from tests.asked import each


def test_formulas_by_key(small):
    ops = small.analyze("").ops
    assert list(formulas_of(ops["matmul"])) == ["forward", "vjp: a", "vjp: b"]
    assert list(formulas_of(ops["cos"])) == ["forward", "dy/dx"]


def test_every_op_is_analysed(small):
    assert all(op.derived is not None for op in small.analyze("").ops.values() if op.differentiable)


def test_a_helper_that_no_formula_calls(small):
    small.write("runtime/formulas.py", "def first(shape):\n    return shape[0]\n")
    assert small.refusal("analyze", "") == """\
runtime/formulas.py:1:1: error: no formula calls the helper 'first'
def first(shape):
^"""


@pytest.mark.parametrize(
    "name, variants, what",
    [
        ("no_grad", "function", "op: gradspec.no_grad"),
        ("engine", "function", "op: gradspec.engine"),
        ("item", "method", "op: a tensor's .item"),
        ("detach", "inplace", "variants: a tensor's .detach_"),
    ],
)
def test_what_is_written_by_hand_keeps_its_name(small, name, variants, what):
    small.write("runtime/__init__.py", "from .grad_mode import no_grad\n")
    small.write("runtime/engine.pyx", "")
    small.write("runtime/tensor.pyx", "cdef class TensorBase:\n    def item(self):\n        pass\n\n    def detach_(self):\n")
    entry = f"- op: {name}(x) -> y\n  doc: F.\n  variants: {variants}\n  forward: np.sin(x)\n  dy/dx: cos(x)\n  samples: one\n"
    assert small.refusal("analyze", entry) == f"""\
derivatives.yaml:12:7: error: {name}: {what} is something else already
- op: {name}(x) -> y
      ^"""
    small.analyze(entry.replace(f"op: {name}", "op: free"))
    if variants == "function":  # a method alone takes no name of the package
        small.analyze(entry.replace("variants: function", "variants: bound"))


def test_what_is_imported_as_itself_stands_around_its_operator(small):
    small.write("runtime/__init__.py", "from .tracing import trace as trace\n")
    entry = "- op: trace(x) -> y\n  doc: F.\n  forward: np.sin(x)\n  dy/dx: cos(x)\n  samples: one\n"
    assert "trace" in small.analyze(entry).ops


def test_errors_come_in_the_order_of_the_file(small):
    entry = "- op: f(x, w) -> y\n  doc: F.\n  forward: np.sine(x)\n  dy/dx: coss(x)\n  samples: two\n"
    lines = [line.split(":")[1] for line in small.refusal("analyze", entry).splitlines() if "error" in line]
    assert lines == ["12", "14", "15"]


DROPOUT = """\
- op: drop(x, float p=0.5, *, Generator? generator=None) -> y, _mask
  doc: D.
  dtype: real
  forward: {}
  {}
  samples:
  - f(x(3, 4), generator=generator(1))
  - f(x(3, 4), 0.25, generator=generator(1))
"""


def test_hidden_outputs_are_saved_and_not_returned(small):
    forward = "kernels.drop(x, p, generator)"
    kernel = """\
def drop(x, p, generator):
    mask = generator.random(x.shape) > p
    return x * mask, mask * 1.0
"""
    small.write("runtime/kernels/random.py", kernel)
    twice = "- op: twice(x) -> y\n  doc: T.\n  dtype: real\n  composite: sin(drop(x)) * 2\n  samples: one\n"
    spec = small.analyze(DROPOUT.format(forward, "dy/dx: _mask") + twice)
    op = spec.ops["drop"]
    assert [(saved.name, saved.kind) for saved in op.derived.saved] == [("_mask", "output")]
    assert small.check(DROPOUT.format(forward, "dy/dx: _mask") + twice) == []
    refusal = small.refusal("check", DROPOUT.format(forward, "dy/dx: 2 * _mask"))
    assert "dy/dx: is wrong" in refusal and "misses" not in refusal


REFUSED = {
    "a hidden output that nothing needs": (
        DROPOUT.format("np.sin(x), x > 0", "dy/dx: cos(x)"),
        """\
derivatives.yaml:12:64: error: drop: op: '_mask' is not returned, and no formula names it
- op: drop(x, float p=0.5, *, Generator? generator=None) -> y, _mask
                                                               ^""",
    ),
    "a derivative of a hidden output": (
        DROPOUT.format("np.sin(x), np.cos(x)", "dy/dx: _mask\n  d_mask/dx: _mask"),
        """\
derivatives.yaml:17:14: error: drop: d_mask/dx: '_mask' is not returned, and has no derivative
  d_mask/dx: _mask
             ^""",
    ),
    "numbers drawn again": (
        DROPOUT.format("np.sin(x), np.cos(x)", "vjp:\n    x: make(grad, _mask, generator)\n  jvp: x_t * _mask")
        + "- op: make(x, m, Generator g) -> y\n  doc: D.\n  composite: x * m\n  samples:\n  - f(x(1), x(1), generator(1))\n",
        """\
derivatives.yaml:17:26: error: drop: vjp: x: 'generator' draws other numbers after the forward: save an output
    x: make(grad, _mask, generator)
                         ^""",
    ),
    "linear, of other numbers each time": (
        DROPOUT.format("np.sin(x), np.cos(x)", "linear: [x]\n  vjp:\n    x: grad * _mask"),
        """\
derivatives.yaml:16:11: error: drop: linear: its jvp would call the op, which draws other numbers: write vjp and jvp
  linear: [x]
          ^""",
    ),
    "no forward": (
        """\
- op: f(x) -> y
  doc: F.
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:12:7: error: f: forward: missing: the NumPy expression or kernel that computes the op
- op: f(x) -> y
      ^""",
    ),
    "forward of a composite": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  composite: sin(x)
  samples: one
""",
        """\
derivatives.yaml:14:12: error: f: forward: a composite is its own forward, unless a kernel computes it where nothing is recorded
  forward: np.sin(x)
           ^""",
    ),
    "no samples": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:12:7: error: f: samples: missing: an op without samples is not tested
- op: f(x) -> y
      ^""",
    ),
    "sample that is no call of f": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
  samples:
  - g(x(3))
""",
        """\
derivatives.yaml:17:5: error: f: samples: a sample is a call f(...)
  - g(x(3))
    ^""",
    ),
    "sample with an unknown maker": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
  samples:
  - f(posi(3))
""",
        """\
derivatives.yaml:17:7: error: f: samples: unknown function 'posi'; did you mean 'pos'?
  - f(posi(3))
      ^""",
    ),
    "sample that does not fit": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: two
""",
        """\
derivatives.yaml:16:12: error: f: samples: f(x(3, 4), x(4)): f takes 1 positional argument, 2 given
  samples: two
           ^
derivatives.yaml:16:12: error: f: samples: f(x(3, 1), x(2, 1, 4)): f takes 1 positional argument, 2 given
  samples: two
           ^""",
    ),
    "domain of another name": (
        """\
- op: f(x) -> y
  doc: F.
  domain: z > 0
  forward: np.log(x)
  dy/dx: 1 / x
  samples: one
""",
        """\
derivatives.yaml:14:11: error: f: domain: names no argument of the op
  domain: z > 0
          ^""",
    ),
    "input without a partial": (
        """\
- op: f(a, b) -> y
  doc: F.
  dtype: real
  forward: np.add(a, b)
  dy/da: 1
  samples: two
""",
        """\
derivatives.yaml:12:7: error: f: dy/db: input 'b' has no rule
- op: f(a, b) -> y
      ^""",
    ),
    "partial of an unknown input": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
  dy/dz: cos(x)
  samples: one
""",
        """\
derivatives.yaml:16:10: error: f: dy/dz: 'z' is not an input
  dy/dz: cos(x)
         ^""",
    ),
    "partial of a parameter": (
        """\
- op: f(x, Scalar n=1) -> y
  doc: F.
  forward: np.multiply(x, n)
  dy/dx: n
  dy/dn: x
  samples: one
""",
        """\
derivatives.yaml:16:10: error: f: dy/dn: 'n' is Scalar, which has no derivative
  dy/dn: x
         ^""",
    ),
    "partial of a list": (
        """\
- op: f(Array[] xs) -> y
  doc: F.
  dtype: real
  forward: np.stack(xs)
  dy/dxs: 1
  samples:
  - f([x(3)])
""",
        """\
derivatives.yaml:12:7: error: f: op: a partial is between elements, and 'xs' is a list: write vjp and jvp
- op: f(Array[] xs) -> y
      ^""",
    ),
    "input without a vjp": (
        """\
- op: f(a, b) -> y
  doc: F.
  forward: np.multiply(a, b)
  multilinear: [a, b]
  vjp:
    a: grad * conj(b)
  samples: two
""",
        """\
derivatives.yaml:17:5: error: f: vjp: input 'b' has no rule
    a: grad * conj(b)
    ^""",
    ),
    "input that is not linear": (
        """\
- op: f(a, b) -> y
  doc: F.
  forward: np.multiply(a, b)
  linear: [a]
  vjp:
    a: grad * conj(b)
    b: grad * conj(a)
  samples: two
""",
        """\
derivatives.yaml:15:11: error: f: linear: input 'b' is not named: write vjp and jvp if the op is not linear in it
  linear: [a]
          ^""",
    ),
    "vjp of an unknown input": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.negative(x)
  linear: [x]
  vjp:
    x: -grad
    z: grad
  samples: one
""",
        """\
derivatives.yaml:18:8: error: f: vjp: z: 'z' is not an input
    z: grad
       ^""",
    ),
    "vjp of an index": (
        """\
- op: f(x, Index i) -> y
  doc: F.
  forward: np.take(x, i)
  linear: [x]
  vjp:
    x: grad
    i: grad
  samples:
  - f(x(3), 0)
""",
        """\
derivatives.yaml:18:8: error: f: vjp: i: 'i' is Index, which has no derivative
    i: grad
       ^""",
    ),
    "nothing to differentiate": (
        """\
- op: f(int n) -> y
  doc: F.
  forward: np.eye(n)
  linear: []
  vjp: {}
  samples:
  - f(3)
""",
        """\
derivatives.yaml:12:7: error: f: op: no input can carry a gradient: write nondifferentiable: true
- op: f(int n) -> y
      ^""",
    ),
    "jvp term with two tangents": (
        """\
- op: f(a, b) -> y
  doc: F.
  forward: np.multiply(a, b)
  vjp:
    a: grad * conj(b)
    b: grad * conj(a)
  jvp: (a_t + b_t) * b
  samples: two
""",
        """\
derivatives.yaml:18:8: error: f: jvp: y: a term with the tangents 'a_t' and 'b_t': write one term for each
  jvp: (a_t + b_t) * b
       ^""",
    ),
    "jvp term without a tangent": (
        """\
- op: f(a, b) -> y
  doc: F.
  forward: np.multiply(a, b)
  vjp:
    a: grad * conj(b)
    b: grad * conj(a)
  jvp: a_t * b + a * b_t + a
  samples: two
""",
        """\
derivatives.yaml:18:28: error: f: jvp: y: a term without a tangent
  jvp: a_t * b + a * b_t + a
                           ^""",
    ),
    "jvp without a tangent of an input": (
        """\
- op: f(a, b) -> y
  doc: F.
  forward: np.multiply(a, b)
  vjp:
    a: grad * conj(b)
    b: grad * conj(a)
  jvp: a_t * b
  samples: two
""",
        """\
derivatives.yaml:18:8: error: f: jvp: input 'b' has no rule: no term has 'b_t'
  jvp: a_t * b
       ^""",
    ),
    "jvp of an unknown output": (
        """\
- op: f(a, b) -> y, z
  doc: F.
  forward: np.divmod(a, b)
  vjp:
    a: grad_y * conj(b) + grad_z
    b: grad_y * conj(a)
  jvp:
    y: a_t * b + a * b_t
    z: a_t
    w: a_t
  samples: two
""",
        """\
derivatives.yaml:21:8: error: f: jvp: w: 'w' is not an output
    w: a_t
       ^""",
    ),
    "vjp that is no array": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.negative(x)
  linear: [x]
  vjp:
    x: x.shape
  samples: one
""",
        """\
derivatives.yaml:17:8: error: f: vjp: x: a term without a cotangent
    x: x.shape
       ^
derivatives.yaml:17:8: error: f: vjp: x: gives a static value, and 'x' is an array
    x: x.shape
       ^""",
    ),
    "vjp of a list that is one array": (
        """\
- op: f(Array[] xs) -> y
  doc: F.
  forward: np.stack(xs)
  linear: [xs]
  vjp:
    xs: grad
  samples:
  - f([x(3), x(3)])
""",
        """\
derivatives.yaml:17:9: error: f: vjp: xs: gives an array, and 'xs' is a list of arrays
    xs: grad
        ^""",
    ),
    "in place without an array": (
        """\
- op: f_(int n) -> y
  doc: F.
  forward: np.eye(n)
  nondifferentiable: true
  samples:
  - f(3)
""",
        """\
derivatives.yaml:12:7: error: f_: op: an op whose name ends in '_' writes into its first argument, which is not an Array
- op: f_(int n) -> y
      ^""",
    ),
    "inplace that is no kernel": (
        """\
- op: f(x) -> y
  doc: F.
  variants: [inplace]
  forward: np.sin(x)
  inplace: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:16:12: error: f: inplace: a call of a kernel that writes into the first argument
  inplace: np.sin(x)
           ^""",
    ),
    "placed that is no kernel": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  placed: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:15:11: error: f: placed: a call of a kernel, beside a forward that gives the same
  placed: np.sin(x)
          ^""",
    ),
    "inplace without the variant": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  inplace: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:15:12: error: f: inplace: the op has no variant 'inplace'
  inplace: np.sin(x)
           ^""",
    ),
}


@each("name", REFUSED)
def test_refused(small, name):
    entry, message = REFUSED[name]
    assert small.refusal("analyze", entry) == message


@pytest.mark.parametrize(("entry", "wanted"), [
    ("jet: sine", "jet: names an operator and an order: _det_coefficients beyond 2"),
    ("jet: _sines beyond 2", "jet: '_sines' is no operator"),
    ("jet: sin beyond 2", "jet: is for an op of one array alone that has one output"),
])  # fmt: skip
def test_jet_names_the_operator_of_all_coefficients(small, entry, wanted):
    signature = "doubled(x, y) -> z" if "one array" in wanted else "doubled(x) -> z"
    assert wanted in small.refusal("analyze", f"""\
- op: {signature}
  doc: Twice.
  forward: x + x
  vjp:
    x: 2 * grad
  jvp: 2 * x_t
  {entry}
""")  # fmt: skip


@pytest.mark.parametrize(("signature", "over", "wanted"), [
    ("doubled(x) -> z", "[y]", "over: 'y' is not an array input"),
    ("doubled(x) -> y, z", "[x]", "over: is for an op with one output"),
])  # fmt: skip
def test_over_names_inputs_of_an_op_with_one_output(small, signature, over, wanted):
    assert wanted in small.refusal("analyze", f"""\
- op: {signature}
  doc: Twice.
  forward: x + x
  over: {over}
  vjp:
    x: 2 * grad
  jvp: 2 * x_t
""")  # fmt: skip
