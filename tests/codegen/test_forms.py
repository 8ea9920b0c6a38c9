"""Other forms of a call: an axis counted from the other end, one more axis in one operand."""

from __future__ import annotations

import pytest

DOT = """\
- op: dotted(a, b, int axis=-1) -> y
  doc: Sum of conj(a) * b along `axis` of each.
  forward: np.sum(np.conj(np.moveaxis(a, axis, -1)) * np.moveaxis(b, axis, -1), -1)
  multilinear: [a, b]
  vjp:
    a: widened(conj(grad), axis) * b
    b: widened(grad, axis) * a
  samples:
  - f(x(3), x(3))
  - f(x(3, 2), x(3, 2), 0)
- op: widened(x, int axis=0) -> y
  doc: A new axis.
  view: x
  forward: np.expand_dims(x, axis)
  linear: [x]
  vjp:
    x: sum(grad, axis)
  breaks:
    axes: the axis is one of the result
    parts: the axis is one of the result
  samples:
  - f(x(3))
  - f(x(3, 4), 1)
"""


def test_a_gradient_that_is_wrong_where_the_ranks_differ(small):
    """From the front the axis of `a`, of `b` and of the result are three places; every sample is of one rank."""
    assert small.refusal("check", DOT) == """\
derivatives.yaml:17:8: error: dotted: vjp: a: fails at f(x(3), x(3)) with a of shape (3, 2) with axis=0 in complex128: ValueError: operands could not be broadcast together with shapes (1,2) (3,)
    a: widened(conj(grad), axis) * b
       ^
derivatives.yaml:18:8: error: dotted: vjp: b: fails at f(x(3), x(3)) with b of shape (3, 2) with axis=0 in complex128: ValueError: operands could not be broadcast together with shapes (1,2) (3,)
    b: widened(grad, axis) * a
       ^"""


def test_an_axis_that_is_right_from_one_end_only(small):
    assert small.refusal("check", """\
- op: reversed_(x, int axis=-1) -> y
  doc: Order reversed along an axis.
  forward: x[:, ::-1] if axis == 1 or axis == -1 and x.ndim == 2 else x[::-1] if axis == 0 else x
  linear: [x]
  vjp:
    x: reversed_(grad, axis)
  samples:
  - f(x(3, 4))
  - f(x(3, 4), 0)
  - f(x(3, 4, 2), -1)
""".replace("reversed_", "inverted")) == """\
derivatives.yaml:14:12: error: inverted: forward: gives other values at f(x(3, 4), 0) with axis=-2 in complex128 than at f(x(3, 4), 0) in complex128
  forward: x[:, ::-1] if axis == 1 or axis == -1 and x.ndim == 2 else x[::-1] if axis == 0 else x
           ^"""  # fmt: skip


@pytest.mark.parametrize(("value", "rank", "other"), [(0, 2, -2), (-1, 3, 2), ((0, -1), 3, (-3, 2))])
def test_the_other_end(value, rank, other):
    from codegen.verify.forms import _other_end

    assert _other_end(value, rank) == other


def test_one_more_axis_keeps_the_domain(small):
    """A Hermitian matrix takes a batch axis in front and no other."""
    from codegen.verify.case import make_sample
    from codegen.verify.forms import other_ranks

    op = small.analyze("""\
- op: f(a, b) -> y
  doc: F.
  domain: a == mH(a)
  forward: a @ b
  multilinear: [a, b]
  vjp:
    a: matmul(grad, conj(mT(b)))
    b: matmul(conj(mT(a)), grad)
  samples:
  - f(psd(3), x(3, 4))
""").ops["f"]  # fmt: skip
    forms = [str(form) for form in other_ranks(op, make_sample(op, 0, float))]
    assert forms == [
        "f(psd(3), x(3, 4)) with a of shape (2, 3, 3) in float64",
        "f(psd(3), x(3, 4)) with b of shape (2, 3, 4) in float64",
        "f(psd(3), x(3, 4)) with b of shape (3, 2, 4) in float64",
        "f(psd(3), x(3, 4)) with b of shape (3, 4, 2) in float64",
    ]


def test_a_batch_that_is_taken_for_another_axis(small):
    """Of a vector NumPy makes a matrix, and so it does of a batch of vectors."""
    found = small.refusal("check", """\
- op: cornered(x) -> y
  doc: Elements on and above the diagonal.
  forward: np.triu(x)
  linear: [x]
  vjp:
    x: cornered(grad)
  batched: true
  samples:
  - f(x(3, 4))
  - f(x(2, 3, 3))
""")  # fmt: skip
    assert "cornered: batched: a batch of tangents of 'x' gives something else than its rows at f(x(3, 4)) with x of shape (4,)" in found
