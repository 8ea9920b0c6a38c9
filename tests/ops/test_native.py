"""Every operator of the spec, written as C over its samples: the numbers of a replay, at hard points as well, or a refusal."""

from __future__ import annotations

import functools
import re
import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.native import module
from gradspec.compiler.native.function import exported
from gradspec.compiler.tracing.traced import same_bits
from gradspec.compiler.tracing.values import held
from gradspec.generated.op_info import OPS
from tests import day
from tests.runtime.compiler.c_modules import COMPILERS, Module

from . import questions
from .calls import REAL, STATIC, flat, samples_of
from .test_replays import inside
from .test_traces import ULPS, plain

HARD = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-40, 1.0, -2.5, 4.0]


def in_c_order(arrays):
    """What a C function is given: new arrays in C order."""
    return [np.array(a.numpy() if isinstance(a, gs.Tensor) else a, order="C") for a in arrays]


def points(arrays):
    """Other numbers: near the sample's, with one hard number in each array, and all alike."""
    near = [a * (1 - 2**-10) if a.dtype.kind == "f" else a for a in arrays]
    yield near
    for number in HARD:
        made = in_c_order(near)
        for k, a in enumerate(made):
            if a.dtype.kind == "f" and a.size:
                a.reshape(-1)[3 * k % a.size] = number
        yield made
    for number in (0.0, 1.0, -np.inf):
        yield [np.full_like(a, number) if a.dtype.kind == "f" else a.copy() for a in near]


def distance(a, b, scale):
    """How far two arrays are apart, in units of the last digit of the largest number."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return np.inf
    if same_bits(a, b):
        return 0
    finite = np.isfinite(b) if a.dtype.kind == "f" else np.zeros(b.shape, bool)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=a.dtype.kind == "f"):
        return np.inf
    return np.abs(a - b)[finite].max(initial=0) / (scale * np.finfo(b.dtype).eps)


def lost(x):
    """The array with NaN where it is not finite."""
    return np.where(np.isfinite(x), x, x.dtype.type(np.nan)) if x.dtype.kind == "f" else x


def recorded(make, case):
    """The compiled call of a sample, and its arrays; None where it has no recording."""
    arrays = in_c_order(case.leaves(requires_grad=False))
    compiled = gs.compile(make(case), static=STATIC, recheck=False)
    gs.manual_seed(1)
    try:
        compiled(*map(gs.asarray, arrays))
    except Exception:  # no derivative, or no such call: what autograd refuses is not this test's affair
        return None
    return None if compiled.program is None else (compiled, arrays)


def wrong_numbers(module, name, compiled, arrays, factorises):
    """The points where the C function differs from the replay.  Of matrices, those where rounding does not decide: finite, of full rank."""
    for given in points(arrays):
        if factorises and not all(np.isfinite(a).all() and (a.size < 2 or np.ptp(a)) for a in given):
            continue
        mine = in_c_order(given)
        try:
            wanted = [np.array(held(b)) for b in flat(compiled(*map(gs.asarray, given))) if held(b) is not None]
        except Exception:  # the replay refuses these numbers
            continue
        pairs = list(zip([*module(name, *mine), *mine], [*wanted, *given], strict=True))
        if factorises:  # of a singular triangle
            pairs = [(lost(a), lost(b)) for a, b in pairs]
        numbers = [x[np.isfinite(x)] for x in (*given, *wanted) if x.dtype.kind == "f"]
        scale = max([1e-300, *(np.abs(x).max(initial=0) for x in numbers)])
        if max(distance(a, b, scale) for a, b in pairs) > (100 * ULPS if factorises else ULPS):
            yield f"{given}: {[a for a, _ in pairs]}, not {[b for _, b in pairs]}"


@pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")
def test_every_sample_of_every_operator(tmp_path, monkeypatch):
    """No exported call returns another number, and each refusal names the operator and says why."""
    written = functools.cache(exported)  # once for the refusal, and once for the file
    monkeypatch.setattr(module, "exported", written)
    wrong, count, refused = [], 0, []
    for op in OPS:
        if not questions.is_asked(op.name):
            continue
        calls = {}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for make in (plain, inside):
                for case in samples_of(op, REAL):
                    call = None if make is inside and not case.places else recorded(make, case)
                    try:
                        if call is not None:
                            name = f"f{len(calls)}"
                            calls[name] = *call, written(name, call[0]).code.factorises, f"{op.name} {case.source} {make.__name__}"
                    except (TypeError, RuntimeError) as error:
                        refused.append(str(error))
            if not calls:
                continue
            stem = f"m{OPS.index(op)}"
            gs.export_c(tmp_path / stem, {name: call[0] for name, call in calls.items()})
            built = Module(tmp_path, stem, calls, flags=["-O0"])
            for name, (compiled, arrays, factorises, what) in calls.items():
                wrong += [f"{what} at {text}" for text in wrong_numbers(built, name, compiled, arrays, factorises)]
            count += len(calls)
            written.cache_clear()
    assert wrong == []
    assert [
        text for text in refused if not re.match(r"c: .*(cannot be written as C: .|has no type|random|Python reads|writes)", text)
    ] == []
    print(f"{count} exported, {len(refused)} refused")
    assert questions.chosen or count > day.least(4000) and len(refused) < day.share(0.5, 0.9) * count
