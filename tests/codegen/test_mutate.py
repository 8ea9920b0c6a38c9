"""The mutation run: which changes it makes, and which it calls survivors."""

from __future__ import annotations

import ast

import kept_mutants
import pytest
from kept_mutants import EQUIVALENT, ROOT, the_spec
from kept_mutants import listed as kept_listed

from codegen.verify.mutate import _changes, survivors

FAMILIES = [line.split()[1] for line in (ROOT / "derivatives.yaml").read_text().splitlines() if line.startswith("family:")]

CHANGES = {
    "a - b": ["-(a - b)", "a + b", "b - a", "a", "b"],
    "2.0 * a": ["-(2.0 * a)", "2.0 / a", "2.5 * a"],
    "a if n == 1 else b": [
        "-(a if n == 1 else b)", "a", "b", "b if n == 1 else a", "a if n != 1 else b", "a if n == 2 else b",
    ],
    "sum(a, 1, keepdims)": [
        "-sum(a, 1, keepdims)", "sum(1, a, keepdims)", "sum(a, keepdims, 1)", "a", "sum(a, None, keepdims)",
        "sum(a, 1, False)", "sum(a, 1, not keepdims)", "sum(a, 2, keepdims)",
    ],
    "pad(a, n, wide=True)": [
        "-pad(a, n, wide=True)", "pad(n, a, wide=True)", "pad(a, n)", "a", "pad(a, n + 1, wide=True)",
        "pad(a, n, wide=False)",
    ],
    "a @ b": ["-(a @ b)", "b @ a", "a", "b"],
    "a and not b": ["-(a and (not b))", "a or not b", "a", "not b", "a and b"],
}  # fmt: skip


@pytest.mark.parametrize("formula", CHANGES)
def test_changes(small, formula):
    spec = small.read("""\
- op: pad(x, int n, bool wide=False) -> y
  doc: A callee.
  composite: x
  samples:
  - f(x(3), 1, True)
""")
    signatures = {name: op.signature for name, op in spec.ops.items()}
    found = [ast.unparse(tree) for tree in _changes(ast.parse(formula, mode="eval").body, signatures)]
    assert list(dict.fromkeys(found)) == CHANGES[formula]


def test_survivors(small):
    """A composite has no proof but its examples (`2 * x` leaves integers what they are); a rule is proved by its forward."""
    spec = small.analyze("""\
- op: doubled(x) -> y
  doc: Composite.
  composite: 2 * sin(x)
  samples: one
- op: proved(x) -> y
  doc: Composite with an example.
  composite: 2 * sin(x)
  samples: one
  examples:
    f(1.0): 2 * sin(1)
- op: squared(x) -> y
  doc: Partial.
  forward: x * x
  dy/dx: 2 * x
  samples: one
""")
    found = survivors(spec, small.root, ["doubled", "proved", "squared"])
    assert list(map(str, found)) == [
        "doubled: composite: -(2 * sin(x))",
        "doubled: composite: 2 / sin(x)",
        "doubled: composite: 3 * sin(x)",
    ]


def test_what_is_known_to_mean_the_same_is_asked_what_the_entry_states(small):
    """`-(2 * sin(x))` is refused by the example, which is why it is no survivor; without one nothing asks."""
    entry = "- op: f(x) -> y\n  doc: F.\n  composite: 2 * sin(x)\n  samples: one\n"
    known = "f: composite: -(2 * sin(x))"
    assert known in map(str, survivors(small.analyze(entry), small.root, ["f"], known=[known]))
    stated = small.analyze(entry + "  examples:\n    f(1.0): 2 * sin(1)\n")
    assert survivors(stated, small.root, ["f"], known=[known]) == []


def test_a_mutant_leaves_nothing_behind(small):
    spec = small.analyze("- op: f(x) -> y\n  doc: F.\n  composite: 2 * sin(x)\n  samples: one\n")
    assert survivors(spec, small.root, ["sin", "f"]) == survivors(spec, small.root, ["f"]) != []


def test_a_formula_that_calls_itself(small):
    """The op that a mutant calls by its name is the mutant, and a recursion without an end is refused."""
    spec = small.analyze("""\
- op: times(x, int n) -> y
  doc: n times x.
  composite: x if n == 1 else x + times(x, n - 1)
  samples:
  - f(x(3), 3)
  examples:
    f(1.0, 3): 3
""")
    assert survivors(spec, small.root, ["times"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_mutants_that_survive_mean_the_same(family):
    """Each is listed with its reason: a new one wants a sample, an example or a kink; one that dies leaves the list."""
    names = kept_mutants.to_try(op for op in the_spec().ops.values() if op.family == family)
    assert kept_mutants.wrong(names) == set(), (
        "add a sample, an example or a kink that refuses a change that passes, or list it in tests/codegen/equivalent_mutants.yaml; "
        f"take one that is refused off that list (KEPT_SEED={kept_mutants.SEED} repeats this run)"
    )


def test_an_entry_is_found_by_what_its_check_rests_on(monkeypatch):
    """With another list of what means the same, or without a table, its mutants are tried."""
    ops = list(the_spec().ops.values())
    everything = set(map(kept_mutants.found, ops))
    monkeypatch.setattr(kept_mutants, "ANEW", 0)
    monkeypatch.setattr(kept_mutants, "table", lambda: everything)
    assert kept_mutants.to_try(ops) == []
    monkeypatch.setattr(kept_mutants, "listed", lambda names: {"sinc: one more"} if "sinc" in names else kept_listed(names))
    assert kept_mutants.to_try(ops) == ["sinc"]
    monkeypatch.setattr(kept_mutants, "table", set)
    assert kept_mutants.to_try(ops) == [op.name for op in ops]


def test_every_listed_mutant_is_of_an_operator_and_has_one_reason():
    listed = [mutant for group in EQUIVALENT for mutant in group["mutants"]]
    assert len(set(listed)) == len(listed)
    assert {mutant.partition(":")[0] for mutant in listed} <= the_spec().ops.keys()
