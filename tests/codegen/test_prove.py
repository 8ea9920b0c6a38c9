"""Symbolic proofs: what sympy shows of the rules of this spec, and that it shows nothing of a wrong one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from gradspec.codegen.package import Package
from gradspec.codegen.spec_cache import analysed
from tests.later import later

prove = later("gradspec.codegen.verify.prove", "sympy is not installed", needs="sympy")
PACKAGE = Package(Path(__file__).parents[2])


@pytest.fixture(scope="module")
def spec():
    return analysed(PACKAGE)


def test_most_partials_are_proved(spec):
    found = dict(prove.prove(spec))
    counts = Counter(found.values())
    assert counts[prove.PROVED] >= 39, counts
    assert all(found[name] == prove.PROVED for name, op in spec.ops.items() if op.operator and name in ("multiply", "divide"))


@pytest.mark.parametrize("name, other", [("sin", "cosh"), ("exp", "cosh"), ("divide", "multiply"), ("asin", "atan")])
def test_the_rules_of_another_operator_are_not(spec, name, other):
    wrong = replace(spec.ops[name], derived=spec.ops[other].derived, lets=spec.ops[other].lets)
    symbolic = prove.Symbolic(spec)
    symbolic.ops = {**spec.ops, name: wrong}
    assert prove._proved(wrong, symbolic) != prove.PROVED
    assert prove._proved(spec.ops[name], prove.Symbolic(spec)) == prove.PROVED
