"""The table of modes in generated/OPS.md: what it says is tested is what these tests run, cell by cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec.codegen.package import Package
from gradspec.codegen.rules.analyze import analyze
from gradspec.codegen.spec.reader import read
from gradspec.codegen.verify import proofs
from gradspec.codegen.write.modes import COLUMNS, FIRST, SECOND, YES, Modes

from . import test_forms, test_gradients, test_hard_points, test_hard_special, test_numpy
from .calls import BY_NAME

PACKAGE = Package(Path(__file__).parents[2])
SPEC = analyze(read(PACKAGE.path(PACKAGE.spec)), PACKAGE)
PUBLIC = [op for op in SPEC.ops.values() if not op.private]
MODES = Modes(SPEC)
TABLE = {op.name: MODES.row(op) for op in PUBLIC}


def names(parameters, where=lambda case: True):
    """The operators of parametrised cases."""
    return {case.op.name for case in (p.values[0] for p in parameters) if where(case)}


def said(column, word=YES):
    return {name for name, row in TABLE.items() if row[column] == word}


def public(found):
    return found & TABLE.keys()


@pytest.mark.parametrize("column", [*FIRST, *SECOND])
def test_derivatives(column):
    """One function compares each first-order mode, another the four pairings, on the samples that hold an array of floats."""
    assert said(column) == public(names(test_gradients.DIFFERENTIABLE, lambda case: case.places))


def test_complex_numbers():
    ran = names(test_gradients.DIFFERENTIABLE, lambda case: case.places and case.dtype is complex or "complex" in str(case.dtype))
    assert said("complex numbers") == public(ran)


def test_single_precision():
    assert said("single precision") == public(names(test_forms.TestDtypes.IN_SINGLE_PRECISION))


def test_writes():
    assert said("in place") == public(names([*test_forms.TestInPlace.INPLACE, *test_forms.TestInPlaceViews.CASES])) | {n for n in TABLE if n.endswith("_")}


def test_hard_points_are_run():
    ran = {p.values[0].name for count in (1, 2) for p in test_hard_points.functions(count)}
    ran |= {name for name, *_ in test_hard_special.CASES}
    assert said("hard points") == {name for name in public(ran) if BY_NAME[name].form != "nondifferentiable"}


def test_values():
    """Those of NumPy's functions, of examples and of mpmath are compared where the table says so."""
    answered = {name for name in test_numpy.NAMES.values() if any(t[:4] in ("Arra", "Inde", "Mask") for _, t, *_ in BY_NAME[name].arguments)}
    for op in PUBLIC:
        words = TABLE[op.name]["value"].split(", ")
        assert ("NumPy" in words) == (op.name in answered), op.name
        assert ("examples" in words) == bool(op.examples), op.name


def test_no_cell_is_empty():
    assert all(list(row) == list(COLUMNS) and all(row.values()) for row in TABLE.values())


def test_the_proofs_are_of_the_rules_as_they_are():
    """What changes a rule, or one that it calls, wants `python -m codegen check --prove`."""
    stale = [name for name, mark in proofs.proofs().items() if name not in SPEC.ops or proofs.mark(SPEC.ops[name], SPEC) != mark]
    assert not stale
    assert len(proofs.proofs()) >= 39
