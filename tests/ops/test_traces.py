"""Every operator of the spec, traced and run again from its printed text over its samples, in every mode.

Over gradspec the text gives the same bits.  Over NumPy it gives those of arithmetic, sums and choices; elementary functions, and
factors of matrices of a few rows, are our own, and may differ in their last digits.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.tracing.traced import code_of, same_bits
from gradspec.compiler.tracing.values import held
from gradspec.generated.op_info import OPS
from tests import day

from . import questions
from .calls import DOUBLE, REAL, array, flat, samples_of


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
    """What is wrong with the replay of one sample, None where nothing is; the trace, and what the replay gave."""
    gs.manual_seed(1)
    try:
        wanted = function(*case.leaves(requires_grad=False))
    except Exception:  # no derivative, or no such call: what autograd refuses is not this test's affair
        return "not callable", None, None
    gs.manual_seed(1)
    taken = gs.trace(function, *case.leaves(requires_grad=False), check=False)  # what it would check is what this test asks
    made = {value for line in taken.instructions for value in line.made}
    drawn = [value.inner for value in taken.constants if taken.sources and value.inner and value not in made]
    if drawn:
        return f"draws nothing anew: it has a constant that {', '.join(drawn)} made", taken, None
    given = case.leaves(requires_grad=False)
    found = flat(taken.run(*given, **drawers(taken)))
    if not all(same_bits(array(a), array(b)) for a, b in zip(given, case.leaves(requires_grad=False))):
        return f"writes to what it is given:\n{taken.python()}", taken, None
    right = all(held(b) is None or same_bits(held(a), held(b)) for a, b in zip(found, flat(wanted), strict=True))
    return None if right else f"other bits:\n{taken.python()}", taken, found


def drawers(taken):
    """Generators in the states in which the call found them."""
    return {source.name: copy.deepcopy(source.state) for source in taken.sources}


def draws(op):
    """Whether an operator takes a generator: what it is made of may keep what it drew."""
    return any(kind.startswith("Generator") for _, kind, _, _ in op.arguments)


def moved(case):
    """Leaves with other numbers: those of the sample in other places, or smaller where they make a matrix of a kind."""
    for a in (leaf.numpy() for leaf in case.leaves(requires_grad=False)):
        other = a.copy(order="K")
        other[...] = np.roll(a.reshape(-1), 1).reshape(a.shape) if a.size > 1 and "psd(" not in case.source else a * a.dtype.type(0.9375)
        yield gs.asarray(other)


def test_every_derivative_at_other_inputs():
    """What a trace has taken for a constant, and is none, gives the derivative at the inputs that it was traced at."""
    wrong, asked = [], 0
    for op in OPS:
        if not questions.is_asked(op.name) or draws(op):
            continue
        for case in [case for case in samples_of(op, REAL) if case.places and "generator(" not in case.source][:2]:
            function = backward(case)
            try:
                wanted = function(*moved(case))
            except Exception:  # what autograd refuses
                continue
            asked += 1
            taken = gs.trace(function, *case.leaves(requires_grad=False), check=False)
            found = taken.run(*moved(case), **taken.states())
            pairs = zip(flat(found), flat(wanted), strict=True)
            if not all(held(b) is None or same_bits(held(a), held(b)) for a, b in pairs):
                wrong.append(f"{op.name} {case.source}")
    assert wrong == []
    assert questions.chosen or asked > day.least(900)


ULPS = 32  # of the largest number of a program


def over_numpy(taken, wanted, case):
    """What is wrong with the program over NumPy of one sample; None where it has the same bits, "close" where it is that."""
    text = taken.python(numpy=True)
    names = {}
    exec(code_of(text), names)
    inputs = [gs.asarray(a).numpy() for a in case.leaves(requires_grad=False)]
    before = [a.copy() for a in inputs]
    found = names["program"](*inputs, **drawers(taken))
    pairs = [(a, held(b)) for a, b in zip(flat(found), wanted, strict=True) if held(b) is not None]
    if "from gradspec" in text or "import gradspec" in text:
        return "needs gradspec"
    if any(type(a) is not np.ndarray or a.dtype != b.dtype or a.shape != b.shape for a, b in pairs):
        return f"other types:\n{text}"
    if all(same_bits(a, b) for a, b in pairs):
        return None
    exact = all(same_bits(a, b) for a, b in pairs if b.dtype.kind not in "fc")
    real = [(a, b) for a, b in pairs if b.dtype.kind in "fc" and b.size]
    scale = max([1.0, *(np.abs(x[np.isfinite(x)]).max(initial=0) for x in (*before, *(b for _, b in real)))])
    close = all(np.allclose(a, b, 0, ULPS * scale * np.finfo(b.dtype).eps, equal_nan=True) for a, b in real)
    return "close" if exact and close else f"other numbers:\n{text}"


@pytest.mark.parametrize(("make", "dtypes"), [(plain, DOUBLE), (backward, REAL), (forward, REAL)])
def test_every_sample_of_every_operator(make, dtypes):
    """Each is traced once, for the replay and for the program over NumPy."""
    wrong, asked, refused, programs = [], 0, 0, []
    for op in OPS:
        if not questions.is_asked(op.name):
            continue
        for case in samples_of(op, dtypes):
            if make is not plain and not case.places:
                continue
            asked += 1
            taken = found = None
            try:
                outcome, taken, found = replayed(make(case), case)
            except Exception as error:
                outcome = f"{type(error).__name__}: {error}"
            refused += outcome == "not callable"
            if outcome not in (None, "not callable"):
                wrong.append(f"{op.name} {case.source} {case.dtype.__name__}: {outcome}")
            if found is None:
                continue
            try:
                with np.errstate(all="ignore"):
                    programs.append(over_numpy(taken, found, case))
            except Exception as error:
                programs.append(f"{type(error).__name__}: {error}")
            if programs[-1] not in (None, "close"):
                wrong.append(f"{op.name} {case.source} {case.dtype.__name__} over NumPy: {programs[-1]}")
    assert wrong == []
    assert questions.chosen or (asked > day.least(2500) and refused < day.share(0.05, 0.1) * asked)
    assert questions.chosen or (len(programs) > day.least(2500) and programs.count(None) > day.share(0.85, 0.75) * len(programs))
