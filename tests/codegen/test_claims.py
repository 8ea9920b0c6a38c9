"""Names: each of an entry's, in formulas, in a namespace, as a method, in place, as Python's operator, is claimed once among all entries."""

from __future__ import annotations

import re
from pathlib import Path

from codegen.spec.claims import claims, is_function
from tests.asked import each

ROOT = Path(__file__).parents[2]

FIRST = """\
- op: first(x) -> y
  doc: F.
  alias: [other, special.third, .fourth, nn.first]
  namespace: linalg
  operator: __neg__
  variants: [method, inplace]
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
"""
NAMES = ("first", "linalg.first", "first_", "linalg.first_", "other", "linalg.other", "other_", "linalg.other_", "special.third", "fourth",
         "nn.first", "__neg__")  # fmt: skip
# How another entry, `g`, may claim a name: {n} is the last part of it and {s} its namespace.
WAYS = {
    "op": ("- op: {n}(x) -> y\n  doc: G.\n", lambda space, name: not space and name[:2] != "__"),
    "namespace": ("- op: {n}(x) -> y\n  doc: G.\n  namespace: {s}\n", lambda space, name: bool(space)),
    "alias": ("- op: g(x) -> y\n  doc: G.\n  alias: [{n}]\n", lambda space, name: not space and name[:2] != "__"),
    "alias in the main namespace": ("- op: g(x) -> y\n  doc: G.\n  alias: [.{n}]\n  namespace: nn\n", lambda space, name: not space and name[:2] != "__"),
    "alias elsewhere": ("- op: g(x) -> y\n  doc: G.\n  alias: [{s}.{n}]\n", lambda space, name: bool(space)),
    "alias in its namespace": ("- op: g(x) -> y\n  doc: G.\n  alias: [{n}]\n  namespace: {s}\n", lambda space, name: bool(space)),
    "in place": ("- op: {stem}(x) -> y\n  doc: G.\n  variants: inplace\n", lambda space, name: name.strip("_") + "_" == name and not space),
    "in place, elsewhere": ("- op: {stem}(x) -> y\n  doc: G.\n  namespace: {s}\n  variants: inplace\n", lambda space, name: name[-1] == "_" and bool(space)),
    "operator": ("- op: g(x) -> y\n  doc: G.\n  operator: {n}\n", lambda space, name: name[:2] == "__"),
}
REST = "  forward: np.sin(x)\n  dy/dx: cos(x)\n  samples: one\n"


def split(name):
    space, _, last = name.rpartition(".")
    return space, last


def clashing():
    for name in NAMES:
        space, last = split(name)
        for way, (text, fits) in WAYS.items():
            if fits(space, last):
                yield name, way, text.format(n=last, s=space, stem=last.rstrip("_")) + REST


def test_the_names_of_an_entry(small):
    op = small.analyze(FIRST).ops["first"]
    assert {claim.name for claim in claims(op)} == set(NAMES)
    assert len({claim.name for claim in claims(op)}) == len([*claims(op)])


@each("name, way, entry", clashing(), ids=lambda case: f"{case[0]} as {case[1]}")
def test_a_second_claim_is_refused_with_both_places(small, name, way, entry):
    for entries in (FIRST + entry, entry + FIRST):
        said = small.refusal("read", entries)
        places = [(int(line), int(column)) for line, column in re.findall(r"derivatives\.yaml:(\d+):(\d+)", said)]
        lines = [11 + number for number, line in enumerate(entries.split("\n"), 1) if line.startswith("- op:")]
        assert "already: derivatives.yaml:" in said, said
        first = [place for place in places if lines[0] <= place[0] < lines[1]]
        second = [place for place in places if lines[1] <= place[0] < lines[1] + 12]
        assert first and second, (places, said)


def test_what_stands_twice_in_one_entry(small):
    for alias, column in ("[other, other]", 18), ("[special.third, special.third]", 26), ("[linalg.first]", 11), ("[first]", 11):
        said = small.refusal("read", FIRST.replace("[other, special.third, .fourth, nn.first]", alias))
        assert f"derivatives.yaml:14:{column}: error: first: alias: " in said, said


def test_each_name_of_the_library_is_its_operators():
    """`gs.special.expm1` computes what the entry does that claims it; a function written by hand around one names it."""
    import gradspec as gs
    from codegen.package import Package
    from codegen.spec.library import read_library
    from codegen.spec_cache import analysed

    around, count = read_library(ROOT).around, 0
    for op in analysed(Package(ROOT)).ops.values():
        own = f"{op.namespace}.{op.name}".removeprefix(".")
        for claim in claims(op) if "function" in op.variants else ():
            if not is_function(op, claim.name) or claim.name.endswith("_") or {claim.name, own} & around:
                continue
            named, theirs = (re.sub(r"^random\.", "_random.", name) for name in (claim.name, own))  # where no name takes a key
            assert found(gs, named) is found(gs, theirs), claim
            count += 1
    assert count > 700


def found(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module
