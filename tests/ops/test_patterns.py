"""Every operator of the spec under `sparsity`, over its samples: no element of a dense Jacobian or Hessian is missed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradspec as gs

from . import questions
from .calls import REAL, Case, samples_of

pytest.importorskip("scipy")


def function(case: Case):
    """The floating-point outputs of a sample in a row, as a function of its arrays."""

    def f(*arrays):
        found = [gs.reshape(gs.real(y), (-1,)) for y in case(*arrays)]
        return gs.concat(found) if found else gs.zeros(0)

    return f


def dense(matrix_of, f, arrays):
    blocks = matrix_of(f, tuple(range(len(arrays))))(*arrays)
    return np.concatenate([np.reshape(block.numpy(), (block.shape[0], -1)) for block in blocks], axis=1)


def missed(pattern, matrix):
    """How many elements of a matrix that are other than zero, and than the rounding of solvers, have none in a pattern."""
    there = pattern.toarray()
    assert there.shape == matrix.shape
    return int(np.sum((np.abs(matrix) > 1e-14 * np.abs(matrix).max(initial=0, where=np.isfinite(matrix))) & ~there))


def outcome(case: Case):
    """What is wrong with one sample, None where nothing is."""
    arrays = [np.array(a) for a in case.arrays]
    if not arrays or any(a.dtype.kind != "f" for a in arrays):
        return "not callable"
    f, numbers = function(case), tuple(range(len(arrays)))
    try:
        matrix = dense(gs.jacfwd, f, arrays)
    except Exception:  # no derivative, or no such call
        return "not callable"
    for local in (False, True):
        found = gs.func.sparsity(f, *arrays, argnums=numbers, local=local)
        if count := missed(found, matrix):
            return f"Jacobian, local={local}: {count} elements are missed"

    if not questions.chosen:
        return None
    weights = np.linspace(0.5, 1.5, len(matrix))

    def weighed(*arrays):
        return (f(*arrays) * weights).sum()

    try:
        rows = gs.hessian(weighed, numbers)(*arrays)
    except Exception:
        return None
    matrix = np.concatenate([np.concatenate([np.reshape(block.numpy(), (a.size, b.size)) for block, b in zip(row, arrays)], axis=1)
                             for row, a in zip(rows, arrays)])  # fmt: skip
    found = gs.func.sparsity(weighed, *arrays, argnums=numbers, hessian=True)
    if count := missed(found, matrix):
        return f"Hessian: {count} elements are missed"
    return None


def samples(op):
    """The first sample of an entry; with `--op` all of them, and Hessians as well."""
    return samples_of(op, REAL)[: None if questions.chosen else 1]


@questions.of_entries(lambda op: op.inputs)
def test_no_element_is_missed(op):
    for case in samples(op):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = outcome(case)
        assert found in (None, "not callable"), f"{op.name} {case.source}: {found}"
