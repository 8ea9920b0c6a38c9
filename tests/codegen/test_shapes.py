"""Shapes: the grammar, results on numbers and on symbols, and the vjps that they refuse."""
# ruff: noqa: E501

from __future__ import annotations

import pytest
from conftest import HEADER

from codegen.errors import SpecErrors
from codegen.spec.model import Text
from codegen.spec.reader import read_text
from codegen.spec.shapes import Mismatch, Unknown, broadcast, parse_shape, partial_results, reduces_to, results
from codegen.spec.signature import parse_signature
from tests.asked import each


def text(source: str) -> Text:
    return Text(source, "spec", tuple((1, i + 1) for i in range(len(source) + 1)))


def shape(source: str, signature: str):
    return parse_shape(text(source), parse_signature(text(signature)))


@each(
    ("source", "signature", "inputs", "statics", "expected"),
    [
        ("x -> x", "f(x) -> y", [(3, 4)], {}, [(3, 4)]),
        ("a, b -> broadcast(a, b)", "f(a, b) -> y", [(3, 1), (4,)], {}, [(3, 4)]),
        ("(..., m, k), (..., k, n) -> (..., m, n)", "f(a, b) -> y", [(5, 1, 2, 3), (6, 3, 4)], {}, [(5, 6, 2, 4)]),
        ("(..., m, n) -> (..., n, m)", "f(x) -> y", [(2, 3)], {}, [(3, 2)]),
        ("x -> reduce(x)", "f(x, int? axis=None) -> y", [(2, 3)], {"axis": -1}, [(2,)]),
        ("x -> reduce(x)", "f(x) -> y", [(2, 3, 4)], {"axis": (0, 2), "keepdims": True}, [(1, 3, 1)]),
        ("x -> reduce(x)", "f(x) -> y", [(2, 3)], {"axis": None}, [()]),
        ("x -> shape", "f(x, int[] shape) -> y", [(3,)], {"shape": (2, 3)}, [(2, 3)]),
        ("(m, n) -> (m, k), (k,)", "f(x, int k) -> y, z", [(2, 3)], {"k": 7}, [(2, 7), (7,)]),
        ("x, w -> x", "f(x, Array? w=None) -> y", [(2,), None], {}, [(2,)]),
        ("a, b -> reduce(a, b)", "f(a, b) -> y", [(2, 3), (3,)], {"axis": -1}, [(2,)]),
        ("x[] -> x", "f(Array[] xs) -> y", [[(2, 3), (2, 3)]], {}, [(2, 3)]),
        ("(...)[] -> (...)[]", "f(Array[] xs) -> Array[] ys", [[(2, 1), (3,)]], {}, [(2, 3)]),
        ("-> shape", "f(int[] shape) -> y", [], {"shape": (2, 3)}, [(2, 3)]),
        ("x, _ -> x", "f(x, Index i) -> y", [(2,), None], {}, [(2,)]),
        *(
            ("(..., m?, k), (..., k, n?) -> (..., m?, n?)", "f(a, b) -> y", [a, b], {}, [y])
            for a, b, y in [
                ((4,), (4,), ()),
                ((2, 3, 4), (4,), (2, 3)),
                ((4,), (2, 4, 5), (2, 5)),
                ((3, 4), (6, 4, 5), (6, 3, 5)),
            ]
        ),
    ],
)
def test_results(source, signature, inputs, statics, expected):
    assert results(shape(source, signature), inputs, statics) == expected


@pytest.mark.parametrize(
    ("source", "signature", "inputs", "statics", "expected"),
    [
        ("_", "f(x, Array[] ws) -> y, Array[] zs", [(3,), [(2,)]], {}, [None, None]),
        ("x -> _, x", "f(x) -> y, z", [(3,)], {}, [None, (3,)]),
        ("_, _ -> (_, _)", "f(a, b) -> y", [(3,), (2,)], {}, [("_", "_")]),
        ("x -> shape", "f(x, int[] shape) -> y", [(6,)], {"shape": (2, -1)}, [(2, "_")]),
        ("_[] -> _", "f(Array[] xs) -> y", [[(3,), (2, 4)]], {}, [None]),
    ],
)
def test_what_is_not_known(source, signature, inputs, statics, expected):
    assert partial_results(shape(source, signature), inputs, statics) == expected
    with pytest.raises(Unknown):
        results(shape(source, signature), inputs, statics)


@pytest.mark.parametrize(
    ("source", "inputs", "message"),
    [
        ("(m, k), (k, n) -> (m, n)", [(2, 3), (4, 5)], "'k' is 3 and 4"),
        ("a, b -> broadcast(a, b)", [(2,), (3,)], "(2,) and (3,) do not broadcast"),
        ("(n?, m), (n, m) -> (m,)", [(3,), (3, 3)], "'n' is left out and 3"),
        ("(m, n), b -> b", [(2, 3, 4), ()], "(2, 3, 4) is not (m, n)"),
    ],
)
def test_mismatches(source, inputs, message):
    with pytest.raises(Mismatch) as caught:
        results(shape(source, "f(a, b) -> y"), inputs, {})
    assert str(caught.value) == message


def test_symbols_broadcast_and_reduce():
    assert broadcast(("m", 1), (1, "n")) == ("m", "n")
    assert reduces_to(("...", "m", "n"), ("...", "m", 1))
    assert reduces_to((2, "m"), ("m",))
    assert not reduces_to(("m",), ("n",))
    assert not reduces_to(("m",), ("m", "n"))


REFUSED = {
    "a list without its mark": (
        """\
- op: f(Array[] xs) -> y
  doc: F.
  shape: x -> x
  forward: np.add(xs)
  nondifferentiable: true
  samples: one
""",
        """\
derivatives.yaml:14:10: error: f: shape: 'xs' is a list: the shape of each is written with []
  shape: x -> x
         ^""",
    ),
    "an array marked as a list": (
        """\
- op: f(x) -> y
  doc: F.
  shape: x[] -> x
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:10: error: f: shape: 'x' is one array, not a list
  shape: x[] -> x
         ^""",
    ),
    "no arrow": (
        """\
- op: f(x) -> y
  doc: F.
  shape: x
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:10: error: f: shape: a shape is `inputs -> outputs`
  shape: x
         ^""",
    ),
    "wrong number of inputs": (
        """\
- op: f(x) -> y
  doc: F.
  shape: a, b -> broadcast(a, b)
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:10: error: f: shape: 2 shapes for 1 array input
  shape: a, b -> broadcast(a, b)
         ^""",
    ),
    "wrong number of outputs": (
        """\
- op: f(x) -> y
  doc: F.
  shape: x -> x, x
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:10: error: f: shape: 2 shapes for 1 output
  shape: x -> x, x
         ^""",
    ),
    "unknown symbol": (
        """\
- op: f(x) -> y
  doc: F.
  shape: (..., m) -> (..., n)
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:28: error: f: shape: no input has 'n'
  shape: (..., m) -> (..., n)
                           ^""",
    ),
    "not a shape": (
        """\
- op: f(x) -> y
  doc: F.
  shape: x[0] -> x
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:10: error: f: shape: 'x[0]' is not a shape
  shape: x[0] -> x
         ^""",
    ),
    "not a dim": (
        """\
- op: f(x) -> y
  doc: F.
  shape: (m*2) -> (m)
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:11: error: f: shape: 'm*2' is not a dim
  shape: (m*2) -> (m)
          ^""",
    ),
    "dots inside": (
        """\
- op: f(x) -> y
  doc: F.
  shape: (m, ...) -> (m)
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:14: error: f: shape: '...' is allowed at the front only
  shape: (m, ...) -> (m)
             ^""",
    ),
    "reduce takes names": (
        """\
- op: f(x) -> y
  doc: F.
  shape: x -> reduce()
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:15: error: f: shape: reduce takes names
  shape: x -> reduce()
              ^""",
    ),
    "function on the left": (
        """\
- op: f(x) -> y
  doc: F.
  shape: broadcast(x) -> x
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:10: error: f: shape: broadcast is allowed in a result only
  shape: broadcast(x) -> x
         ^""",
    ),
}

REFUSED_VJPS = {
    "vjp of wrong shape": (
        """\
- op: f(a, b) -> y
  doc: Product.
  shape: (..., m, k), (..., k, n) -> (..., m, n)
  forward: np.matmul(a, b)
  multilinear: [a, b]
  vjp:
    a: mT(matmul(grad, mT(b)))
    b: matmul(mT(a), grad)
  samples:
  - f(x(3, 4), x(4, 5))
""",
        """\
derivatives.yaml:18:8: error: f: vjp: a: has the shape (..., k, m), and 'a' has (..., m, k)
    a: mT(matmul(grad, mT(b)))
       ^""",
    ),
    "vjp whose shapes do not fit": (
        """\
- op: f(a, b) -> y
  doc: Product.
  shape: (..., m, k), (..., k, n) -> (..., m, n)
  forward: np.matmul(a, b)
  multilinear: [a, b]
  vjp:
    a: matmul(grad, mT(b))
    b: matmul(a, grad)
  samples:
  - f(x(3, 4), x(4, 5))
""",
        """\
derivatives.yaml:19:8: error: f: vjp: b: shapes do not fit: 'k' is k and m
    b: matmul(a, grad)
       ^""",
    ),
    "swapped vjps": (
        """\
- op: f(a, b) -> y
  doc: Product.
  shape: (..., m, k), (..., k, n) -> (..., m, n)
  forward: np.matmul(a, b)
  multilinear: [a, b]
  vjp:
    a: matmul(mT(a), grad)
    b: matmul(grad, mT(b))
  samples:
  - f(x(3, 4), x(4, 5))
""",
        """\
derivatives.yaml:18:8: error: f: vjp: a: has the shape (..., k, n), and 'a' has (..., m, k)
    a: matmul(mT(a), grad)
       ^
derivatives.yaml:19:8: error: f: vjp: b: has the shape (..., m, k), and 'b' has (..., k, n)
    b: matmul(grad, mT(b))
       ^""",
    ),
}


@each("name", REFUSED)
def test_refused(small, name):
    entry, message = REFUSED[name]
    assert small.refusal("read", entry) == message


@pytest.mark.parametrize("name", REFUSED_VJPS)
def test_refused_vjps(small, name):
    entry, message = REFUSED_VJPS[name]
    assert small.refusal("analyze", entry) == message


def test_every_entry_says_its_shapes(small):
    entry = "- op: f(x) -> y\n  doc: F.\n  forward: np.sin(x)\n  dy/dx: cos(x)\n  samples: one\n"
    with pytest.raises(SpecErrors) as caught:
        read_text(HEADER.replace("defaults: {dtype: float, shape: _}\n", "") + entry)
    assert str(caught.value) == """\
derivatives.yaml:11:7: error: f: shape: missing: shapes of the inputs and outputs, _ where one depends on values
- op: f(x) -> y
      ^"""


def test_samples_are_held_to_the_shapes_that_are_known(small):
    entry = "- op: f(Array[] xs) -> Array[] ys\n  doc: F.\n  shape: x[] -> {}\n  forward: list(xs)\n"
    entry = entry.replace("list(xs)", "np.split(np.stack(xs), [1])")
    entry += "  nondifferentiable: true\n  samples:\n  - f([x(3, 4), x(3, 4)])\n"
    assert small.check(entry.format("_[]")) == []
    assert small.check(entry.format("(_, 3, 4)[]").replace("x[]", "(3, 4)[]")) == []
    assert small.refusal("check", entry.format("x[]")) == """\
derivatives.yaml:14:10: error: f: shape: does not hold at f([x(3, 4), x(3, 4)]) in float64: ys has (1, 3, 4), not (3, 4)
  shape: x[] -> x[]
         ^"""
