"""One entry for the operators of one, two and three axes."""
# ruff: noqa: E501

from __future__ import annotations

import pytest
from conftest import HEADER, PRELUDE

from codegen.errors import SpecErrors
from codegen.spec.model import Text
from codegen.spec.ranks import filled
from codegen.spec.reader import read_text
from codegen.spec.source_files import entries
from tests.asked import each

ENTRY = """\
- op: twice{n}d(x, int[{n}] size=1) -> y
  ranks: 1..2
  doc: Along the last {axes}.
  alias: .twice{n}
  shape: _
  composite: sum(_cosine(x), {n} - 1)
  samples:
  - f(x(2, 3, 4))
  - twice1d(x(3), 2)
  - twice2d(x(3, 1), (2, 3))
  examples:
    twice1d([0.0, 0.0]): 2
    twice2d([[0.0]]): [1]

- op: _cosine(x) -> y
  doc: Cosine.
  composite: cos(x)
  samples: one
"""


def ops(text=ENTRY, **further):
    return read_text(HEADER + text + PRELUDE, further=further)


def test_an_entry_stands_for_an_operator_of_each_rank():
    one, two = list(ops().ops.values())[:2]
    assert (one.name, two.name) == ("twice1d", "twice2d")
    assert (one.signature.source, two.doc) == ("twice1d(x, int[1] size=1) -> y", "Along the last two axes.")
    assert (one.doc, two.aliases, two.elsewhere) == ("Along the last axis.", (), (("", "twice2"),))
    assert two.composite.source == "sum(_cosine(x), 2 - 1)"
    assert one.location == two.location


def test_calls_are_of_all_or_of_one_by_name():
    one, two = list(ops().ops.values())[:2]
    assert [s.source for s in one.samples] == ["f(x(2, 3, 4))", "f(x(3), 2)"]
    assert [s.source for s in two.samples] == ["f(x(2, 3, 4))", "f(x(3, 1), (2, 3))"]
    assert [(e.call.source, e.value.source) for e in two.examples] == [("f([[0.0]])", "[1]")]
    assert str(two.samples[1].location) == "derivatives.yaml:21:5"


def test_each_has_further_samples_of_its_own_and_the_lines_of_the_entry():
    spec = ops(**{"samples/tested.yaml": "twice1d:\n  samples:\n  - f(x(9), 3)\ntwice2d:\n  samples:\n  - f(x(9, 1), 3)\n"})
    assert [spec.ops[name].samples[-1].source for name in ("twice1d", "twice2d")] == ["f(x(9), 3)", "f(x(9, 1), 3)"]
    texts = entries(spec)
    assert texts["twice1d"] == texts["twice2d"] == ENTRY[: ENTRY.index("- op: _cosine")]


def test_places_are_those_of_the_holes():
    text = Text("a{n}b{axes}", "f", tuple((1, i) for i in range(12)))
    found = filled(text, {"n": "12", "axes": "axis"})
    assert found.value == "a12baxis" and found.places[:5] == ((1, 0), (1, 1), (1, 1), (1, 4), (1, 5)) and found.places[-1] == (1, 11)


REFUSED = {
    "no range": (ENTRY.replace("1..2", "2"), "13:10: error: twice: ranks: the first and the last number of axes are expected, such as 1..3\n  ranks: 2\n         ^"),
    "the wrong way": (ENTRY.replace("1..2", "2..1"), "13:10: error: twice: ranks: the first and the last number"),
    "no hole": (ENTRY.replace("twice{n}d(x", "twice(x"), "12:7: error: twice: ranks: the name of an op of several ranks holds {n}, as conv{n}d\n- op: twice(x"),
    "holes without ranks": (ENTRY.replace("  ranks: 1..2\n", ""), "12:7: error: twice: op: "),
    "a call of another": (ENTRY.replace("- twice2d(", "- twice3d("), "21:5: error: twice1d: samples: 'twice3d' is no op of this entry: f(...) is a call of each, "
                          "twice1d(...) of one; did you mean 'twice2d'?\n  - twice3d(x(3, 1), (2, 3))\n    ^"),
    "a name that is taken": (ENTRY + "\n- op: twice2d(x) -> y\n  doc: F.\n  forward: -x\n  dy/dx: -1\n  samples: one\n",
                             "'twice2d' has an entry already"),
    "an unknown function": (ENTRY.replace("sum(_cosine", "summ(_cosine"), "17:14: error: twice2d: composite: unknown function 'summ'"),
    "behind the doc": (ENTRY.replace("  ranks: 1..2\n  doc: Along the last {axes}.\n", "  doc: Along the last {axes}.\n  ranks: 1..2\n"),
                       "the order of keys is fixed: it belongs above 'doc'"),
    "far from what it alone calls": (ENTRY[: ENTRY.index("- op: _cosine")] + "- op: unlike(x) -> y\n  doc: F.\n  forward: -x\n  dy/dx: -1\n  samples: one\n\n"
                                     + ENTRY[ENTRY.index("- op: _cosine") :], "error: _cosine: op: only twice1d calls it: it belongs directly below twice1d"),
}


@each("case", REFUSED.values(), ids=REFUSED)
def test_refused(small, case):
    text, message = case
    with pytest.raises(SpecErrors) as caught:
        small.analyze(text)
    assert message in str(caught.value)


def test_every_rank_is_checked_by_itself(small):
    small.check(ENTRY)
    assert "error: twice2d: examples: f([[0.0]]) gives y = 1, not 3" in small.refusal("check", ENTRY.replace("): [1]", "): [3]"))
