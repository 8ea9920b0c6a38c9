"""Recomputed: loops that run again in place of long lives need less memory, and change nothing else."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.passes import memory_scheduling, pipeline, rematerialisation
from gradspec.compiler.record import executed_code
from tests.runtime.aliased_programs import run as run_aliased
from tests.runtime.programs import MODES
from tests.runtime.replayed_calls import run as run_calls
from tests.runtime.replayed_programs import run

from .test_large_programs import bits, program
from .test_memory_scheduling import planned


@pytest.fixture
def always(monkeypatch):
    """Every value that may be is computed again, be it worth it or not."""
    monkeypatch.setattr(memory_scheduling, "SMALL", 0)
    monkeypatch.setattr(pipeline, "LARGE", 0)
    monkeypatch.setattr(pipeline, "WORTH_LOOPS", 100.0)
    monkeypatch.setattr(rematerialisation, "FAR", 2)


def test_a_result_that_lies_otherwise_is_laid_out(always, monkeypatch):
    """Behind a callback there is no way back: what it did would be done twice. A loop that runs again has another layout here.

    The program has a handler of errors, so that it would run eagerly; no error comes.
    """
    monkeypatch.setattr(executed_code, "handles_errors", lambda code: False)
    assert run_calls(7203195, MODES[7203195 % len(MODES)]) == "equal"


@pytest.mark.slow
def test_random_programs_with_loops_that_run_again(always, monkeypatch):
    found = []
    original = pipeline.rematerialise
    monkeypatch.setattr(pipeline, "rematerialise", lambda lines, *rest: found.append((lines, original(lines, *rest))) or found[-1][1])
    outcomes = [run(seed, mode) for seed in range(700, 703) for mode in MODES]
    assert outcomes.count("equal") >= 12 and set(outcomes) <= {"equal", "refused"}
    outcomes = [run_aliased(seed) for seed in range(700, 732)]
    assert outcomes.count("equal") >= 9
    outcomes = [run_calls(seed, MODES[seed % len(MODES)]) for seed in range(50, 66)]
    assert outcomes.count("equal") >= 5
    for seed in range(40, 46):
        shape = (40, 30)
        function, numbers = program(seed, shape, "f4"), np.random.default_rng(seed)
        compiled = gs.compile(function)
        with np.errstate(all="ignore"):
            for _ in range(3):
                inputs = [gs.tensor(numbers.normal(size=shape).astype("f4"), requires_grad=True) for _ in range(2)]
                assert [*map(bits, compiled(*inputs))] == [*map(bits, function(*inputs))], f"seed {seed}"
    assert sum(len(after) > len(before) for before, after in found) >= 20


def recurrent(x, weight):
    weight = gs.asarray(weight.detach(), requires_grad=True)
    state = x
    for _ in range(30):
        gate, new = gs.sigmoid(state @ weight), gs.tanh(weight.sum() * state)
        state = gate * new + (1 - gate) * state
    return gs.autograd.grad((state * state).sum(), weight)


def test_gates_of_a_recurrent_network_are_computed_again(monkeypatch):
    rng = np.random.default_rng(0)
    arrays = rng.normal(size=(16, 32)), rng.normal(size=(32, 32)) / 6
    with_it = planned(recurrent, *arrays)
    monkeypatch.setattr(pipeline, "rematerialise", lambda lines, *_: lines)
    assert with_it < 0.75 * planned(recurrent, *arrays)


def test_a_program_that_saves_little_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(pipeline, "WORTH_LOOPS", 0.0)
    rng = np.random.default_rng(0)
    compiled = gs.compile(recurrent)
    for _ in range(2):
        compiled(rng.normal(size=(16, 32)), rng.normal(size=(32, 32)) / 6)
    names = [line.name for line in compiled.program.forward.lines]
    assert names.count("tanh") == names.count("sigmoid") == 30
