"""Plain numbers of every operator, given as tensors: in a vmap a row is no number, and a replay sees that another one is given."""

from __future__ import annotations

import warnings

import numpy as np

import gradspec as gs
from gradspec.generated.op_info import OPS
from tests import day

from . import questions
from .calls import DOUBLE, STATIC, array, flat, samples_of

KINDS = ("int", "float", "Scalar", "bool")


def others(value):
    """The number and two more of its kind."""
    if isinstance(value, bool):
        return [value, not value, value]
    return [value, value + 1, value + 2] if isinstance(value, int) else [value, value * 1.25 + 0.125, value * 1.5 + 0.25]


def numbers_of(op):
    """For each plain number of an operator the first sample that takes it as a tensor, and changes with it."""
    for name, kind, *_ in op.arguments:
        if kind.rstrip("?") not in KINDS:
            continue
        for case in samples_of(op, DOUBLE):
            value = case.arguments()[name]
            if type(value) not in (int, float, bool):
                continue

            def call(number, case=case, name=name):
                return flat(case.apply({**case.arguments(), name: number}))

            try:
                wanted = [[array(one) for one in call(gs.asarray(number))] for number in others(value)]
            except Exception:  # no such number, or no tensor in its place
                continue
            if all(array(one).dtype.kind in "biufc" for results in wanted for one in results):
                yield name, call, others(value), wanted
                break


def same(found, wanted):
    return all(np.array_equal(array(a), b, equal_nan=True) for a, b in zip(found, wanted, strict=True))


def in_a_vmap(call, numbers, wanted):
    if len({tuple(one.shape for one in results) for results in wanted}) > 1:
        return None
    try:
        found = gs.vmap(lambda number: tuple(call(number)))(gs.asarray(numbers))
    except RuntimeError as error:
        return None if "vmap:" in str(error) else f"{type(error).__name__}: {error}"
    columns = [np.stack(column) for column in zip(*wanted)]
    close = all(np.allclose(array(a), b, rtol=1e-12, atol=1e-12, equal_nan=True) for a, b in zip(found, columns, strict=True))
    return None if close else "a row has another value"


def in_a_replay(call, numbers, wanted):
    compiled = gs.compile(lambda number: tuple(call(number)), static=STATIC, recheck=False)
    for i in (0, 1, 0):
        if not same(compiled(gs.asarray(numbers[i])), wanted[i]):
            return f"a replay has the value of another number at {numbers[i]}"
    broken = [signature.reason for signature in compiled.signatures if "Error" in (signature.reason or "")]
    return f"recording failed: {broken[0]}" if broken else None


def test_every_number_of_every_operator():
    wrong, asked = [], 0
    for op in OPS:
        if not questions.is_asked(op.name) or any(type_ == "Generator?" for _, type_, *_ in op.arguments):
            continue
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, *given in numbers_of(op):
                asked += 1
                for question in (in_a_vmap, in_a_replay):
                    try:
                        found = question(*given)
                    except Exception as error:
                        found = f"{type(error).__name__}: {str(error)[:200]}"
                    if found:
                        wrong.append(f"{op.name}, {name}, {question.__name__}: {found}")
    assert wrong == []
    assert questions.chosen or asked > day.least(300)
