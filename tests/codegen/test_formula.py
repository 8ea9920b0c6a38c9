"""Formulas: parsing, kinds, calls and terms."""
# ruff: noqa: E501

from __future__ import annotations

import ast

import pytest

from codegen.errors import SpecError
from codegen.spec.formula import bind_call, calls_in, lets_in, names_in, parse_formula
from codegen.spec.model import Text
from tests.asked import each


def parse(source: str):
    return parse_formula(Text(source, "spec", tuple((7, i + 3) for i in range(len(source) + 1))))


def test_nodes_stand_where_the_file_has_them():
    tree = parse("a + b").tree
    assert (tree.right.lineno, tree.right.col_offset + 1) == (7, 7)


def test_names_leave_out_functions_and_namespaces():
    formula = parse("f(b, np.sin(a)) + kernels.g(b, axis=c).x")
    assert names_in(formula.tree) == ["b", "a", "c"]
    assert formula.names == {"a", "b", "c"}
    assert [call.func.id for call in calls_in(formula.tree)] == ["f"]


def test_calls_bind_like_python_calls(small):
    signature = small.read("").ops["sum"].signature
    bound = bind_call(parse("sum(x, keepdims=True)").tree, signature)
    assert {name: ast.unparse(value) for name, value in bound.items()} == {"x": "x", "keepdims": "True"}
    with pytest.raises(SpecError, match="sum needs 'x'"):
        bind_call(parse("sum(axis=0)").tree, signature)


def test_lets_come_in_order_with_what_they_need():
    lets = {"a": parse("x"), "b": parse("y"), "c": parse("a * 2")}
    assert lets_in(parse("c + b"), lets) == ("a", "b", "c")
    assert lets_in(parse("c"), lets) == ("a", "c")


REFUSED = {
    "syntax": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x))
""",
        """\
derivatives.yaml:15:16: error: f: dy/dx: not a Python expression
  dy/dx: cos(x))
               ^""",
    ),
    "lambda": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: (lambda:x)()
""",
        """\
derivatives.yaml:15:11: error: f: dy/dx: a lambda is not allowed in a formula
  dy/dx: (lambda:x)()
          ^""",
    ),
    "comprehension": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: sum([v for v in x])
""",
        """\
derivatives.yaml:15:14: error: f: dy/dx: a comprehension is not allowed in a formula
  dy/dx: sum([v for v in x])
             ^""",
    ),
    "unpacking": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(*x)
""",
        """\
derivatives.yaml:15:14: error: f: dy/dx: '*' unpacking is not allowed in a formula
  dy/dx: cos(*x)
             ^""",
    ),
    "f-string": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(f'x')
""",
        """\
derivatives.yaml:15:14: error: f: dy/dx: an f-string is not allowed in a formula
  dy/dx: cos(f'x')
             ^""",
    ),
    "walrus": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: (z := x)
""",
        """\
derivatives.yaml:15:11: error: f: dy/dx: ':=' is not allowed in a formula
  dy/dx: (z := x)
          ^""",
    ),
    "shift": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: x << 2
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: '<<' is not allowed in a formula
  dy/dx: x << 2
         ^""",
    ),
    "not ASCII": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x) * π
""",
        """\
derivatives.yaml:15:19: error: f: dy/dx: the character 'π' is not allowed in a formula
  dy/dx: cos(x) * π
                  ^""",
    ),
    "second line of a folded formula": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
    + (lambda:x)()
""",
        """\
derivatives.yaml:16:8: error: f: dy/dx: a lambda is not allowed in a formula
    + (lambda:x)()
       ^""",
    ),
}


@each("name", REFUSED)
def test_refused(small, name):
    entry, message = REFUSED[name]
    assert small.refusal("read", entry) == message
