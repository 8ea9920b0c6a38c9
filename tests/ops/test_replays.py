"""Every operator of the spec, compiled, over its samples: a replay of other numbers has the bits of the call, in every mode."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.tracing.traced import same_bits
from gradspec.compiler.tracing.values import held
from gradspec.generated.op_info import OPS
from tests import day

from . import questions
from .calls import DOUBLE, REAL, STATIC, flat, samples_of
from .test_traces import backward, forward, plain


def others(arrays):
    """Other numbers in the same layout: a recording that has kept numbers is found so.  Integers may be indices and stay."""
    return [a.detach().clone() * (1 - 2**-10) if a.dtype.kind in "fc" else a.detach().clone() for a in arrays]


def refused(function, case):
    try:
        function(*case.leaves(requires_grad=False))
    except Exception:
        return True
    return False


def replayed(function, case):
    """What is wrong with the replay of one sample, None where nothing is; "as it is" where it cannot be replayed."""
    arrays = case.leaves(requires_grad=False)
    gs.manual_seed(1)
    try:
        again = others(arrays)
        wanted = function(*others(arrays))
    except Exception:  # no derivative, or no such call: what autograd refuses is not this test's affair
        return "not callable"
    compiled = gs.compile(function, static=STATIC, recheck=False)  # so that the second call is a replay
    try:
        compiled(*arrays)
    except Exception:
        if refused(function, case):
            return "not callable"
        raise
    gs.manual_seed(1)
    found = compiled(*again)
    for a, b in zip(flat(found), flat(wanted), strict=True):
        if held(b) is not None and not same_bits(held(a), held(b)):
            return f"other bits:\n{compiled.program}"
    reasons = [signature.reason for signature in compiled.signatures if signature.reason]
    return f"as it is: {reasons[0]}" if reasons else None


def inside(case):
    """The call with a backward pass inside; its results have no graph."""
    function = backward(case)

    def detached(*arrays):
        found = function(*arrays)
        return found and ([y.detach() for y in found[0]], found[1])

    return detached


def along(case):
    """The call with a tangent; its results are views of nothing."""
    function = forward(case)
    return lambda *arrays: gs.tree_util.tree_map(gs.Tensor.clone, function(*arrays))


@pytest.mark.parametrize(("make", "dtypes"), [(plain, DOUBLE), (inside, REAL), (along, REAL)])
def test_every_sample_of_every_operator(make, dtypes):
    wrong, asked, refused, as_it_is = [], 0, 0, []
    for op in OPS:
        if not questions.is_asked(op.name):
            continue
        for case in samples_of(op, dtypes):
            if make is not plain and not case.places:
                continue
            asked += 1
            try:
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    outcome = replayed(make(case), case)
            except Exception as error:
                outcome = f"{type(error).__name__}: {error}"
            refused += outcome == "not callable"
            if outcome not in (None, "not callable"):
                (as_it_is if outcome.startswith("as it is") else wrong).append(f"{op.name} {case.source} {case.dtype.__name__}: {outcome}")
    assert wrong == []
    assert not [reason for reason in as_it_is if "Error: " in reason]  # of the recording itself
    assert len(as_it_is) <= day.share(1 / 30, 1 / 12) * asked, as_it_is  # of operators that draw, with a generator that each call makes
    assert questions.chosen or (asked > day.least(2500) and refused < day.share(0.05, 0.1) * asked)
