"""Every operator of the spec in a program file: what a recording says of it is what it does, and the file gives the bits of the call."""

from __future__ import annotations

import warnings

import numpy as np

import gradspec as gs
from gradspec.compiler.tracing.traced import same_bits
from gradspec.compiler.tracing.values import held
from gradspec.generated.op_info import OPS
from tests import day

from . import questions
from .calls import DOUBLE, STATIC, flat, samples_of
from .test_replays import inside, others
from .test_traces import plain

SAMPLES = 1  # of each operator; more change layouts, of which replays ask


def outside(case):
    """The call, which is given what requires grad."""
    return plain(case)


def slopes(outs, arrays):
    """The derivatives of some results by what was given, all together."""
    outs = [out for out in flat(outs) if isinstance(out, gs.Tensor) and out.requires_grad]
    return list(gs.autograd.grad(outs, arrays, [gs.ones_like(out) for out in outs], allow_unused=True)) if outs else []


def wrong_of(make, case, path):
    """What is wrong with a sample that is saved and loaded; None where nothing is, or where it cannot be saved."""
    function, needs = make(case), make is outside
    arrays = case.leaves(requires_grad=needs)

    def anew():
        return [array.requires_grad_(needs) for array in others(arrays)]

    try:
        wanted = function(*anew())
    except Exception:  # no such call
        return "not saved"
    compiled = gs.compile(lambda *given: flat(function(*given)), static=STATIC, recheck=False)
    compiled(*arrays), compiled(*anew())
    try:
        compiled.save(path)
    except RuntimeError:  # draws of a generator of their own, results that are no arrays
        return "not saved"
    gs.manual_seed(1)
    mine, own = anew(), anew()
    found = gs.load_program(path)(*mine)
    gs.manual_seed(1)
    wanted = function(*own)
    if needs:
        found, wanted = [*flat(found), *slopes(found, mine)], [*flat(wanted), *slopes(wanted, own)]
    same = [held(a) is held(b) is None or same_bits(held(a), held(b)) for a, b in zip(flat(found), flat(wanted), strict=True)]
    return None if all(same) else "other bits"


def test_every_operator_is_proved(tmp_path):
    wrong, counts = [], {"asked": 0, "not saved": 0}
    for op in OPS:
        if not questions.is_asked(op.name):
            continue
        for case in list(samples_of(op, DOUBLE))[:SAMPLES]:
            for make in (plain, inside, outside) if case.places else (plain,):
                counts["asked"] += 1
                try:
                    with np.errstate(all="ignore"), warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        outcome = wrong_of(make, case, tmp_path / "f.gsp")
                except Exception as error:
                    outcome = f"{type(error).__name__}: {error} {getattr(error, '__notes__', '')}"
                if outcome == "not saved":
                    counts["not saved"] += 1
                elif outcome is not None:
                    wrong.append(f"{op.name} {case.source} {make.__name__}: {outcome}")
    assert wrong == []
    assert questions.chosen or counts["asked"] > day.least(1000) and counts["not saved"] < day.share(0.1, 0.2) * counts["asked"], counts
