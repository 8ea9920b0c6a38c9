"""What mpmath gave is found again where nothing of it has changed, and nowhere else."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
from mpmath import mpc, mpf

from . import kept, test_hard_points
from .spec import the_spec

AT = 5e-324


def erfcx():
    return the_spec().ops["erfcx"]


def test_the_table_is_of_this_code():
    assert test_hard_points.exact_at.key(erfcx(), {}, AT) in kept.table(), "tests/ops/kept.txt is stale: run python -m tests.ops.kept"


def changed(monkeypatch, name, field, source):
    """The formulas of an operator of a spec in which one has another text."""
    ops = the_spec().ops
    other = replace(ops[name], **{field: replace(getattr(ops[name], field), source=source)})
    monkeypatch.setattr(kept, "the_spec", lambda: SimpleNamespace(ops={**ops, name: other}))
    kept.formulas.cache_clear()


def test_other_arguments_formulas_and_code_have_other_keys(monkeypatch):
    key = test_hard_points.exact_at.key
    keys = [key(erfcx(), given, x) for given, x in (({}, AT), ({}, -AT), ({"n": 1}, AT))]
    keys.append(kept.key_of("other code", (erfcx(), {}, AT)))
    changed(monkeypatch, "erfcx", "reference", "erfc(x)")
    keys.append(key(erfcx(), {}, AT))
    kept.formulas.cache_clear()
    assert len(set(keys)) == len(keys) == 5


def test_what_an_operator_calls_is_part_of_its_formulas(monkeypatch):
    ops = the_spec().ops
    caller, called = next((op.name, ops[name].name) for op in ops.values() if op.composite for name in op.composite.calls
                          if name in ops and ops[name].forward)  # fmt: skip
    before = kept.formulas(caller)
    changed(monkeypatch, called, "forward", "another")
    assert kept.formulas(caller) != before
    kept.formulas.cache_clear()


def test_a_kept_value_that_is_not_mpmaths_is_found(monkeypatch):
    key = test_hard_points.exact_at.key(erfcx(), {}, 0.3)
    right = kept.written(test_hard_points.exact_at.__wrapped__(erfcx(), {}, 0.3))
    monkeypatch.setattr(kept, "ANEW", 1.0)
    for value in (right, right.replace("0.73459", "0.73458"), "null"):
        monkeypatch.setattr(kept, "table", lambda value=value: {key: value})
        if value == right:
            test_hard_points.exact_at(erfcx(), {}, 0.3)
        else:
            with pytest.raises(kept.Stale, match="erfcx at .*KEPT_SEED"):
                test_hard_points.exact_at(erfcx(), {}, 0.3)


def test_values_are_read_as_they_are_written():
    values = [1 / 3, -0.0, math.inf, None, [], [mpf(1) / 3, mpc(2, -3)], mpf("1e-4000"), mpc("inf", 0)]
    again = kept.read(kept.written(values))
    assert kept.alike(again, values) and math.copysign(1, again[1]) == -1
    assert math.isnan(kept.read(kept.written(math.nan))) and [type(v) for v in again] == [type(v) for v in values]
