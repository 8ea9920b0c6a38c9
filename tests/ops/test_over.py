"""Results over operands: where an entry says `over`, a compiled call puts the result there, with the bits and warnings of eager code.

Hard numbers raise floating-point flags, at which kernels leave the result to NumPy: the operand must still be there.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.lowering import data_movement
from gradspec.compiler.tracing.traced import same_bits
from gradspec.compiler.tracing.values import held
from gradspec.generated.op_info import OPS

from . import questions
from .calls import STATIC, samples_of

DTYPES = {"float": (np.float32, np.complex128), "any": (np.float64, np.complex64)}
HARD = (np.inf, -np.inf, np.nan, 0.0, 3e38, -3e38)


def dying(case, name):
    """A call of an operator whose operand nobody else reads, and whose result stays in the program."""

    def function(*arrays):
        arguments = case.with_arrays(arrays)
        arguments[name] = arguments[name] * 1
        return case.apply(arguments) * 1

    return function


def with_warnings(function, arrays):
    with warnings.catch_warnings(record=True) as said, np.errstate(all="warn"):
        warnings.simplefilter("always")
        return held(function(*arrays)), {str(one.message) for one in said}  # those of a call that begins again come twice


def is_over(lowered, op):
    """Whether the result lies where an operand does."""
    steps = [step for step in lowered.steps if step.name == op.name and step.kind == "forward"]
    places = [(lowered.slots[place], lowered.slots[step.writes[0]]) for step in steps for place in step.given[4]]
    return any(result.place == "offered" and operand.offset == result.offset for operand, result in places)


@pytest.mark.parametrize("op", [op for op in OPS if op.over], ids=lambda op: op.name)
def test_results_over_operands(op, monkeypatch):
    monkeypatch.setattr(data_movement, "LARGEST", 0)  # small triangles would be copied as pieces
    if questions.chosen and op.name not in questions.chosen:
        pytest.skip("not chosen")
    rng, found = np.random.default_rng(0), set()
    for case in samples_of(op, DTYPES):
        for name in op.over:
            function = dying(case, name)
            compiled = gs.compile(function, static=STATIC)
            compiled(*case.leaves(requires_grad=False))
            if compiled.program is None or not is_over(compiled.program.forward, op):
                continue
            found.add(name)
            for count in (1, 3):
                arrays = case.leaves(requires_grad=False)
                for array in arrays:
                    if array.size:
                        places = tuple(rng.integers(0, max(size, 1), count) for size in array.shape)
                        array.numpy()[places] = rng.choice(HARD, count).astype(array.real.dtype) if array.ndim else 1
                wanted, said = with_warnings(function, arrays)
                for _ in range(2):
                    outcome, heard = with_warnings(compiled, arrays)
                    assert same_bits(outcome, wanted), f"{case.source} in {case.dtype.__name__}: {arrays}"
                    assert heard == said, case.source
    assert found == set(op.over)


def test_nothing_that_is_felt_is_done_twice():
    """A call that begins again has not drawn before, and not written to what it was given."""

    def drawn(x):
        return gs.softmax(x * 2 + gs.random.standard_normal((4, 300))) * 1

    def written(x):
        x.add_(1.0)
        return gs.softmax(x * 2) * 1

    for function, over in ((drawn, False), (written, True)):
        compiled = gs.compile(function, strict=True)
        for hard in (1.0, 1.0, np.inf, 1.0, np.inf):
            outcomes = []
            for call in (compiled, function):
                x = gs.asarray(np.linspace(-1, 1, 1200).reshape(4, 300))
                x.numpy()[2, 7] = hard
                gs.manual_seed(5)
                with np.errstate(all="ignore"):
                    found = held(call(x))
                outcomes.append((found.tobytes(), x.tolist(), gs.random.standard_normal(()).item()))
            assert outcomes[0] == outcomes[1]
        assert is_over(compiled.program.forward, next(op for op in OPS if op.name == "softmax")) == over
