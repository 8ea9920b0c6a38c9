"""Lodging: what is over before a result is made lies in its memory, and results are nobody else's."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.lowering import lowering, result_aliasing
from tests.runtime.aliased_programs import run as run_aliased
from tests.runtime.programs import MODES
from tests.runtime.replayed_programs import run

from .test_compiled_function import bits, values


def step(x):
    """A product that is over before the result is made, looks at it among what reads it, and a result that is large."""
    y = gs.tanh(x @ x)
    z = gs.cumsum(y.T[::-1], 0)
    return gs.cumsum(z @ x, 1) * 2 + 1, (z * z).sum()


def test_a_result_has_held_what_was_over(monkeypatch):
    memory = []
    x, other = values((90, 90)), values((90, 90), 1)
    for _ in range(2):
        compiled = gs.compile(step, strict=True)
        wanted = [[bits(part) for part in step(gs.asarray(each))] for each in (x, other)]
        found = [compiled(each) for each in (x, other, x)]
        assert [[bits(part) for part in each] for each in found] == [*wanted, wanted[0]]
        assert all(part.numpy().base is None for each in found for part in each)
        memory.append(compiled.program.forward.memory)
        assert ("in a result" in str(compiled.program)) == (len(memory) == 1)
        monkeypatch.setattr(lowering, "alias_results", lambda slots, steps, pieces: (steps, pieces))
    assert memory[0] <= memory[1] - x.nbytes


def test_results_outlive_what_lay_in_them():
    """What a call returned keeps its numbers, whatever later calls compute."""
    compiled = gs.compile(step, strict=True)
    kept = [(compiled(values((90, 90), seed)), seed) for seed in range(6)]
    for found, seed in kept:
        assert [bits(part) for part in found] == [bits(part) for part in step(gs.asarray(values((90, 90), seed)))]


def test_a_call_that_fails_leaves_earlier_results(recwarn):
    compiled = gs.compile(lambda x: gs.cumsum(gs.linalg.inv(gs.exp(x)) @ x, 0) * 3 + 1, strict=True)
    good = values((80, 80))
    first = [compiled(good) for _ in range(3)]
    with pytest.raises(np.linalg.LinAlgError):
        compiled(np.zeros((80, 80)))
    assert len({bits(part)[2] for part in [*first, compiled(good)]}) == 1


def test_random_programs_with_lodgers_of_any_size(monkeypatch):
    monkeypatch.setattr(result_aliasing, "LARGE", 0)
    outcomes = [run(seed, mode) for seed in range(400, 406) for mode in MODES]
    assert outcomes.count("equal") >= 24 and set(outcomes) <= {"equal", "refused"}
    outcomes = [run_aliased(seed) for seed in range(900, 960)]
    assert outcomes.count("equal") >= 25
