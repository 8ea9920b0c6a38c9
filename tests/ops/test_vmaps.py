"""Every operator of the spec inside of vmap, over its samples: what it gives for a batch is what it gives for each row."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.codegen.spec.expression import Call, walk
from gradspec.generated.batching import BATCHING
from gradspec.generated.op_info import OPS
from tests import day

from . import questions
from .calls import DOUBLE, array, flat, in_place_only, samples_of
from .spec import the_spec

ROWS = 3
# Looks at memory, which a row has not of its own, and masks that differ from row to row, so that the shape is not known.


def variables(case):
    """Where a sample has arrays that a batch may stand for, as (argument, place in a list or None): of numbers, then of indices."""
    arguments = case.arguments()
    found = list(case.places)
    for name, type_, *_ in case.op.arguments:
        value = arguments[name]
        if type_.rstrip("?") in ("Array", "Index", "Mask") and isinstance(value, np.ndarray) and (name, None) not in found:
            found.append((name, None))
    return found


def at(arguments, place):
    name, number = place
    return arguments[name] if number is None else arguments[name][number]


def row(value, i):
    """Other values that are as good: of floats near ones, of indices the same in another order."""
    if value.dtype.kind in "fc":
        return value * (1 - i * 2**-10)
    return np.roll(value, i, axis=-1) if value.ndim else value


def called(case, places, values):
    arguments = case.arguments()
    for (name, number), value in zip(places, values):
        if number is None:
            arguments[name] = value
        else:
            arguments[name][number] = value
    return flat(case.apply(arguments))


def outcome(case, places):
    """What is wrong with a sample whose arrays at some places are batches, None where nothing is."""
    rows = [[row(at(case.arguments(), place), i) for place in places] for i in range(ROWS)]
    try:
        wanted = [called(case, places, values) for values in rows]
        expected = [np.stack([array(one) for one in column]) for column in zip(*wanted, strict=True)]
    except Exception:  # no such call, or another shape for each row
        return "not callable"
    batches = [np.stack(column) for column in zip(*rows)]
    try:
        found = gs.vmap(lambda *values: tuple(called(case, places, values)))(*batches)
    except RuntimeError as error:
        if "is not possible" in str(error) and (case.op.arguments[0][0], None) not in places and in_place_only(case.op):
            return None  # what is the same for all rows cannot get another value for each
        if "vmap:" in str(error):
            return f"refused: {str(error)[:90]}"
        raise
    for a, b in zip(found, expected, strict=True):
        a = array(a)
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{a.shape} in place of {b.dtype}{b.shape}"
        if not np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True):
            return f"other values: {a.ravel()[:4]} in place of {b.ravel()[:4]}"
    return None


def may_refuse(op):
    """Whether an operator looks at memory, or at a mask or an index whose values decide the shape of the result."""
    calls = [call.op for call in walk(op.composite.expression) if isinstance(call, Call)] if op.composite else []
    by_values = any(argument.type.base in ("Index", "Mask") for argument in op.signature.arguments)
    return op.vmap == "refused" or by_values and "index" in [op.vmap, *(the_spec().ops[name].vmap for name in calls)]


def test_every_sample_of_every_operator():
    wrong, refused, asked = [], {}, 0
    for op in OPS:
        if not questions.is_asked(op.name) or any(type_ == "Generator?" for _, type_, *_ in op.arguments):
            continue
        for case in samples_of(op, DOUBLE):
            places = variables(case)
            for some in [places, *([[place] for place in places] if len(places) > 1 else [])]:
                if not some:
                    continue
                asked += 1
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        found = outcome(case, some)
                    except Exception as error:
                        found = f"{type(error).__name__}: {str(error)[:200]}"
                if found and found.startswith("refused"):
                    refused.setdefault(op.name, found)
                elif found not in (None, "not callable"):
                    wrong.append(f"{op.name} {case.source} {case.dtype.__name__} at {some}: {found}")
    assert wrong == []
    assert [name for name in refused if not may_refuse(the_spec().ops[name])] == [], refused
    assert questions.chosen or asked > day.least(5000)


DRAWS = [op for op in OPS if any(type_ == "Generator?" for _, type_, *_ in op.arguments)]


def test_every_draw_is_one_for_all_rows_or_one_for_each():
    for op, case in [(op, samples_of(op)[0]) for op in DRAWS]:
        if not questions.is_asked(op.name):
            continue

        def drawn(x, case=case):
            found = case.apply({**case.arguments(), "generator": np.random.default_rng(3)})
            return sum((y * 1.0).sum() for y in flat(found))

        rows = gs.zeros(4)
        same = gs.vmap(drawn, randomness="same")(rows)
        assert (same == same[0]).all(), op.name
        assert same[0] == drawn(rows[0]), op.name
        if BATCHING[op.name][0] == "draws":  # of a composite the draws in it, which not every sample has
            with pytest.raises(RuntimeError, match="randomness error mode"):
                gs.vmap(drawn)(rows)
        if not in_place_only(op):
            assert gs.vmap(drawn, randomness="different")(rows).shape == (4,), op.name
    assert len(DRAWS) > 20
