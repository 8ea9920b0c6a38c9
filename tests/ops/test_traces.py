"""Every operator of the spec, traced and run again from its printed text over its samples: the same bits, in every mode."""

from __future__ import annotations

import copy

import pytest

import gradspec as gs
from gradspec.generated.op_info import OPS
from gradspec.tracing.traced import same_bits
from gradspec.tracing.values import held

from . import questions
from .calls import DOUBLE, REAL, flat, samples_of


def plain(case):
    return lambda *arrays: case.apply(case.with_arrays(arrays))


def backward(case):
    def function(*arrays):
        leaves = [gs.asarray(a.detach(), requires_grad=True) for a in arrays]
        outputs = [y for y in case.all_outputs(*leaves) if y.requires_grad]
        if not outputs:
            return None
        total = sum(gs.real(gs.conj(y) * y).sum() for y in outputs)
        return outputs, gs.autograd.grad(total, leaves, allow_unused=True)

    return function


def forward(case):
    return lambda *arrays: gs.func.jvp(lambda *xs: tuple(case(*xs)), arrays, tuple(gs.ones_like(a) * 0.5 for a in arrays))


def replayed(function, case):
    """What is wrong with the replay of one sample, None where nothing is."""
    gs.manual_seed(1)
    try:
        wanted = function(*case.leaves(requires_grad=False))
    except Exception:  # no derivative, or no such call: what autograd refuses is not this test's affair
        return "not callable"
    gs.manual_seed(1)
    taken = gs.trace(function, *case.leaves(requires_grad=False))
    generators = {source.name: copy.deepcopy(source.state) for source in taken.sources}
    found = taken.run(*case.leaves(requires_grad=False), **generators)
    pairs = zip(flat(found), flat(wanted), strict=True)
    return None if all(held(b) is None or same_bits(held(a), held(b)) for a, b in pairs) else f"other bits:\n{taken.python()}"


@pytest.mark.parametrize(("make", "dtypes"), [(plain, DOUBLE), (backward, REAL), (forward, REAL)])
def test_every_sample_of_every_operator(make, dtypes):
    wrong, asked, refused = [], 0, 0
    for op in OPS:
        if questions.chosen and op.name not in questions.chosen:
            continue
        for case in samples_of(op, dtypes):
            if make is not plain and not case.places:
                continue
            asked += 1
            try:
                outcome = replayed(make(case), case)
            except Exception as error:
                outcome = f"{type(error).__name__}: {error}"
            refused += outcome == "not callable"
            if outcome not in (None, "not callable"):
                wrong.append(f"{op.name} {case.source} {case.dtype.__name__}: {outcome}")
    assert wrong == []
    assert questions.chosen or (asked > 2500 and refused < asked / 20)
