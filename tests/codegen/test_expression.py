"""Expressions: kinds, terms, and what is read."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest

from codegen.errors import ErrorList
from codegen.rules import resolve
from codegen.rules.analyze import _OpAnalysis
from codegen.rules.resolve import Vocabulary
from codegen.spec import expression
from codegen.spec.expression import ARRAY, ARRAYS, NODES, STATIC, Expression, lets_in, names_of, renamed, terms, values_in
from codegen.spec.formula import parse_formula
from codegen.spec.library import read_library
from codegen.spec.model import Text
from codegen.verify.evaluate import OF_NODE
from codegen.write.printer import Spelling
from tests.asked import each

ENTRY = """\
- op: f(x, Array[] xs, Mask mask, Index index, int n=1) -> y, Index i
  doc: F.
  forward: (x, 0)
  let:
    u: cos(x) * n
    v: x.shape
    w: u + x_t
  vjp:
    x: grad_y * u
    xs: xs
  jvp:
    y: w * v[0]
  samples: one
"""



class Probe:
    """Resolves formulas among the names of ENTRY, and writes them back."""

    def __init__(self, small):
        spec = small.read(ENTRY)
        self.vocabulary = Vocabulary.of(spec.ops.values(), {})
        self.errors = ErrorList(spec.file, spec.source)
        self.analysis = _OpAnalysis(spec.ops["f"], self.vocabulary, read_library(small.root), {}, self.errors)
        self.analysis._resolve_all()
        self.spell = Spelling({name: op.signature for name, op in spec.ops.items()})

    def __call__(self, source: str) -> Expression:
        formula = parse_formula(Text(source, "spec", tuple((7, i + 3) for i in range(len(source) + 1))))
        self.analysis._resolve("jvp: y", formula, set(self.analysis.kinds), numpy=False)
        self.errors.raise_if_any()
        return self.analysis.resolved["jvp: y"]


@pytest.fixture
def probe(small):
    return Probe(small)


@each(
    ("source", "kind"),
    [
        ("x", ARRAY), ("xs", ARRAYS), ("xs[0]", ARRAY), ("xs[1:]", ARRAYS), ("mask", ARRAY), ("index", STATIC), ("i", ARRAY),
        ("n", STATIC), ("n * 2 + 1", STATIC), ("n * x", ARRAY), ("-x", ARRAY), ("x > 0", ARRAY), ("n > 0", STATIC),
        ("x is None", STATIC), ("not n", STATIC), ("x.shape", STATIC), ("x.shape[0]", STATIC), ("(x, 1)", ARRAYS),
        ("(n, 1)", STATIC), ("x if n else None", ARRAY), ("cos(n)", ARRAY), ("grad_y", ARRAY), ("x_t", ARRAY),
        ("xs_t", ARRAYS), ("u", ARRAY), ("v", STATIC), ("1.5", STATIC),
    ],
)  # fmt: skip
def test_kinds(probe, source, kind):
    assert probe(source).kind == kind


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("x", [("x", False)]),
        ("x + y - mask", [("x", False), ("y", False), ("mask", True)]),
        ("x - (y - mask)", [("x", False), ("y", True), ("mask", False)]),
        ("-(x + y)", [("x", True), ("y", True)]),
        ("x * (y + mask)", [("x * (y + mask)", False)]),
        ("1 + n", [("1 + n", False)]),
    ],
)
def test_terms_keep_their_signs(probe, source, parts):
    assert [(probe.spell(term), minus) for term, minus in terms(probe(source))] == parts


def test_what_an_expression_reads(probe):
    lets = {"u": probe("x * 2"), "v": probe("y"), "w": probe("u * mask.ndim")}
    assert lets_in(probe("w + v"), lets) == ("u", "v", "w")
    assert lets_in(probe("w"), lets) == ("u", "w")
    assert values_in(probe("w + y.shape"), lets) == [("x", None), ("mask", "ndim"), ("y", "shape")]
    assert names_of(probe("sum(x, n) + y * x")) == ["x", "n", "y"]


def test_names_are_replaced_and_places_kept(probe):
    before = probe("x * n")
    after = renamed(before, {"x": "x_t"})
    assert probe.spell(after) == "x_t * n"
    assert (after.at, after.kind) == (before.at, before.kind)


@each(
    "source",
    ["x * n", "-x", "xs[1:]", "sum(x, keepdims=True)", "(n, n + 1)", "[x, y]",
     "x if n and n > 0 else -x", "n < n <= 3", "x is None", "x.shape[::2]", "2 * (x + y)", "n in (1, 2)"],
)  # fmt: skip
def test_what_is_read_is_written_back(probe, source):
    assert probe.spell(probe(source)) == source


def test_a_chain_of_comparisons_between_arrays_is_refused(small):
    entry = "- op: f(x) -> y\n  doc: F.\n  forward: np.sin(x)\n  dy/dx: 0 < x < 1\n  samples: one\n"
    assert small.refusal("analyze", entry) == """\
derivatives.yaml:15:10: error: f: dy/dx: a chain of comparisons between arrays: combine them with &
  dy/dx: 0 < x < 1
         ^"""


def test_a_walker_knows_every_node():
    """A node that is added is one more case in each, and none is left for what no formula can be."""
    assert set(OF_NODE) == set(NODES)
    patterns = [node for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(Spelling.tree)))) if isinstance(node, ast.MatchClass)]
    inside = {pattern: [node for node in ast.walk(pattern) if isinstance(node, ast.MatchClass) and node is not pattern] for pattern in patterns}
    special = {node for pattern, nested in inside.items() if nested for node in (pattern, *nested)}  # of a node within a node, beside the case of each
    cases = [pattern for pattern in patterns if pattern not in special]
    assert sorted(case.cls.id for case in cases) == sorted(node.__name__ for node in NODES)


def test_resolution_makes_every_node():
    made = {node.func.id for node in ast.walk(ast.parse(inspect.getsource(resolve))) if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)}  # fmt: skip
    assert {node.__name__ for node in NODES} <= made
    assert {node for node in vars(expression).values() if isinstance(node, type) and issubclass(node, Expression)} == {
        Expression, *NODES}  # fmt: skip
