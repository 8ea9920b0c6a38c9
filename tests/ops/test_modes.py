"""The table of modes in generated/OPS.md: what it says is tested is what these tests run, cell by cell."""

from __future__ import annotations

from functools import cache

import pytest

from gradspec.codegen.verify import proofs
from gradspec.codegen.write.modes import COLUMNS, FIRST, SECOND, YES, Modes

from . import test_forms, test_gradients, test_hard_pairs, test_hard_points, test_hard_special, test_numpy
from .calls import BY_NAME
from .questions import names_asked
from .spec import the_spec


@cache
def table():
    modes = Modes(the_spec())
    return {op.name: modes.row(op) for op in the_spec().ops.values() if not op.private}


def said(column, word=YES):
    return {name for name, row in table().items() if row[column] == word}


def public(found):
    return found & table().keys()


@pytest.mark.parametrize("column", [*FIRST, *SECOND])
def test_derivatives(column):
    """One function compares each first-order mode, another the four pairings, on the samples that hold an array of floats."""
    assert said(column) == public(names_asked(test_gradients.test_gradcheck, lambda case: case.places))


def test_complex_numbers():
    ran = names_asked(test_gradients.test_gradcheck, lambda case: case.places and "complex" in str(case.dtype))
    assert said("complex numbers") == public(ran)


def test_single_precision():
    assert said("single precision") == public(names_asked(test_forms.TestDtypes.test_single_precision_stays_single))


def test_writes():
    written = names_asked(test_forms.test_in_place) | names_asked(test_forms.TestInPlaceViews.test_becomes_the_view)
    assert said("in place") == public(written) | {name for name in table() if name.endswith("_")}


def test_hard_points_are_run():
    ran = names_asked(test_hard_points.test_one_array) | names_asked(test_hard_pairs.test_in_one_argument)
    told = {name for name, *_ in test_hard_special.CASES}
    ran, told = ({name for name in public(names) if BY_NAME[name].form != "nondifferentiable"} for names in (ran, told))
    assert ran <= said("hard points") <= ran | told


def test_values():
    """Those of NumPy's functions, of examples and of mpmath are compared where the table says so."""
    answered = {name for name in test_numpy.NAMES.values() if any(t[:4] in ("Arra", "Inde", "Mask") for _, t, *_ in BY_NAME[name].arguments)}
    for op in (op for op in the_spec().ops.values() if not op.private):
        words = table()[op.name]["value"].split(", ")
        assert ("NumPy" in words) == (op.name in answered), op.name
        assert ("examples" in words) == bool(op.examples), op.name


def test_no_cell_is_empty():
    assert all(list(row) == list(COLUMNS) and all(row.values()) for row in table().values())


def test_the_proofs_are_of_the_rules_as_they_are():
    """What changes a rule, or one that it calls, wants `python -m codegen check --prove`."""
    spec = the_spec()
    stale = [name for name, mark in proofs.proofs().items() if name not in spec.ops or proofs.mark(spec.ops[name], spec) != mark]
    assert not stale
    assert len(proofs.proofs()) >= 39
