"""Formulas by cases: what they mean, and messages that name the case."""
# ruff: noqa: E501

from __future__ import annotations

import ast

from conftest import HEADER, PRELUDE
from test_composites import COLUMNS

from codegen.spec.cases import case_of
from codegen.spec.reader import read_text
from codegen.write.files import render
from tests.asked import each

ENTRY = """\
- op: f(x, int n=0) -> y
  doc: F.
  composite:
    n == 0: sin(x)
    n == 1: cos(x) if x.ndim else x
    else: twice
  let:
    twice: {twice}
  samples:
  - f(x(3))
  - f(x(3), 1)
  - f(x(), 1)
  examples:
    f(0.0): 0
"""
TWICE = ENTRY.format(twice="sin(cos(x))")
TRIED = TWICE.replace("  - f(x(3), 1)\n", "  - f(x(3), 2)\n").replace("cos(x) if x.ndim else x", "cos(x)")


def composite(text):
    return read_text(HEADER + text + PRELUDE).ops["f"].composite


def test_cases_are_the_chain_of_conditionals(small):
    chain = "sin(x) if n == 0 else (cos(x) if x.ndim else x) if n == 1 else twice"
    written = TWICE[: TWICE.index("composite:")] + f"composite: {chain}\n" + TWICE[TWICE.index("  let:") :]
    cases, one = composite(TWICE), composite(written)
    assert cases.source == one.source == chain
    assert ast.dump(cases.tree) == ast.dump(one.tree) and cases.names == one.names
    texts = [render(small.analyze(text), small.root) for text in (TWICE, written)]
    assert texts[0] == texts[1]


def test_every_part_stands_where_it_is_written():
    tree = composite(TWICE).tree
    assert (tree.lineno, tree.col_offset, case_of(tree)) == (15, 4, "n == 0")
    assert (tree.body.lineno, tree.body.col_offset) == (15, 12)
    assert (tree.orelse.lineno, case_of(tree.orelse)) == (16, "n == 1")
    assert not case_of(tree.orelse.body) and tree.orelse.orelse.lineno == 17


def test_any_formula_may_be_by_cases(small):
    small.check(SCALED + TIMES)


SCALED = """\
- op: scaled(x, int n=0) -> y
  doc: F.
  shape: x -> x
  forward:
    n: n * x
    else: np.negative(x)
  let:
    turned:
      grad.ndim > 1: -1 * grad
      else: grad * -1
  vjp:
    x:
      n: n * grad
      else: turned
  jvp:
    n: n * x_t
    else: -1 * x_t
  samples:
  - f(x(3))
  - f(x(3, 2))
  - f(x(3), 3)

"""
TIMES = """\
- op: times(a, b) -> y
  doc: Product.
  operator: __mul__
  forward: np.multiply(a, b)
  dy/da: b
  dy/db: a
  samples: two
"""

REFUSED = {
    "no else": ("read", TWICE.replace("    else: twice\n", ""), "16:5: error: f: composite: the last case is 'else:'\n    n == 1: cos(x) if x.ndim else x\n    ^"),
    "else in the middle": ("read", TWICE.replace("n == 1:", "else:"), "16:5: error: f: composite: 'else:' is the last case\n    else: cos(x) if x.ndim else x\n    ^"),
    "nothing but else": ("read", TWICE.replace("    n == 0: sin(x)\n    n == 1: cos(x) if x.ndim else x\n", ""),
                         "15:5: error: f: composite: a case stands above 'else:': write the formula alone\n    else: twice\n    ^"),
    "a condition that is none": ("read", TWICE.replace("n == 1:", "n = 1:"), "16:7: error: f: composite: not a Python expression\n    n = 1: cos(x) if x.ndim else x\n      ^"),
    "a formula that is none": ("read", TWICE.replace("sin(x)\n", "sin(x\n"), "15:16: error: f: composite: not a Python expression\n    n == 0: sin(x\n               ^"),
    "cases in a case": ("read", TWICE.replace(" sin(x)\n", "\n      n: x\n      else: x\n", 1), "16:7: error: f: composite: plain text is expected here\n      n: x\n      ^"),
    "twice the same": ("read", TWICE.replace("n == 1:", "n == 0:"), "16:5: error: f: composite: the case 'n == 0' is written twice\n    n == 0: cos(x) if x.ndim else x\n    ^"),
    "one output by name": ("read", "- op: f(x) -> y\n  doc: F.\n  forward: -x\n  vjp:\n    x: -grad\n  jvp:\n    y: -x_t\n  samples: one\n",
                           "18:5: error: f: jvp: there is one output: write jvp: FORMULA\n    y: -x_t\n    ^"),
    "an unknown function": ("analyze", TWICE.replace("sin(x)\n", "sinn(x)\n"),
                            "15:13: error: f: composite: n == 0: unknown function 'sinn'; did you mean 'sin'?\n    n == 0: sinn(x)\n            ^"),
    "an unknown name in a condition": ("analyze", TWICE.replace("n == 1:", "m == 1:"),
                                       "16:5: error: f: composite: m == 1: unknown name 'm'\n    m == 1: cos(x) if x.ndim else x\n    ^"),
    "an unknown name at the end": ("analyze", TWICE.replace("else: twice", "else: thrice + twice"),
                                   "17:11: error: f: composite: else: unknown name 'thrice'; did you mean 'twice'?\n    else: thrice + twice\n          ^"),
    "a condition on elements": ("analyze", TWICE.replace("n == 1:", "x:"),
                                "16:5: error: f: composite: x: a condition is static; choose between elements with where\n    x: cos(x) if x.ndim else x\n    ^"),
    "no sample of a case": ("check", TRIED.replace("  - f(x(), 1)\n", ""), "16:13: error: f: composite: no sample takes the case `n == 1`\n    n == 1: cos(x)\n            ^"),
    "no sample of the last": ("check", TWICE, "17:11: error: f: composite: no sample takes the case `else`\n    else: twice\n          ^"),
    "a case that fails": ("check", TRIED.replace("cos(x)\n    else", "matmul(x, x.shape)\n    else"), "16:13: error: f: composite: n == 1: fails at f(x(), 1) in float64"),
}


@each("case", REFUSED.values(), ids=REFUSED)
def test_refusals_name_the_case(small, case):
    step, entry, message = case
    assert message in small.refusal(step, entry)


@each("case", ["b.ndim == 1", "else"])
def test_a_call_whose_gradient_is_wrong_stands_in_a_case(small, case):
    right, wrong = "matmul(a, b)", "columns(a, b)"
    first, last = (wrong, right) if case != "else" else (right, wrong)
    entry = f"- op: z(a, b) -> y\n  doc: F.\n  composite:\n    b.ndim {'==' if case != 'else' else '!='} 1: {first}\n    else: {last}\n"
    message = small.refusal("check", COLUMNS + entry + "  samples:\n  - f(x(4, 4), x(4, 4))\n  - f(x(4, 4), x(4))\n")
    assert f"error: z: composite: {case}: calls columns" in message
