"""Offers: a forward puts its result where its caller wants it, or the caller sees that it did not."""

import threading

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.lowering import lowering

FORWARDS = {
    "sum": (lambda x, y: gs.sum(x, axis=1) * 2 + y[:, 0], True),
    "mean": (lambda x, y: gs.mean(x, axis=0, keepdims=True) * y, True),
    "max": (lambda x, y: gs.max(x, axis=1) + y[:, 0], True),
    "softmax": (lambda x, y: gs.nn.softmax(x) * y, True),
    "logsumexp": (lambda x, y: gs.logsumexp(x, axis=1) + y[:, 1], True),
    "cholesky": (lambda x, y: gs.linalg.cholesky(x @ gs.mT(x) + gs.eye(5, dtype=x.dtype)) * 2, True),
    "cumulative": (lambda x, y: gs.cumsum(x, axis=1) * y, False),
    "products": (lambda x, y: gs.cumprod(x, axis=1) - y, False),
}


@pytest.fixture(autouse=True)
def without_sums(monkeypatch):
    """Sums are called as other operators are: a replay takes them without their forward."""
    monkeypatch.setattr(lowering, "sum_from", lambda line: None)


def bits(tensor):
    return tensor.numpy().tobytes()


def steps(compiled):
    return compiled.program.forward.steps


@pytest.mark.parametrize("name", FORWARDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_forwards_have_the_bits_of_wrappers(name, dtype, monkeypatch):
    function, _ = FORWARDS[name]
    rng = np.random.default_rng(0)
    compiled = gs.compile(function)
    for _ in range(4):
        x, y = rng.normal(size=(2, 5, 7)).astype(dtype)
        assert bits(compiled(gs.tensor(x), gs.tensor(y))) == bits(function(gs.tensor(x), gs.tensor(y)))
    assert any(step.kind == "forward" for step in steps(compiled))
    monkeypatch.setattr(lowering, "forward_from", lambda line: None)
    other = gs.compile(function)
    for _ in range(2):
        assert bits(other(gs.tensor(x), gs.tensor(y))) == bits(function(gs.tensor(x), gs.tensor(y)))
    assert not any(step.kind == "forward" for step in steps(other)) and any(step.kind == "call" for step in steps(other))


@pytest.mark.parametrize("name", [name for name, (_, taken) in FORWARDS.items() if taken])
def test_a_result_that_is_offered_memory_lies_there(name):
    compiled = gs.compile(FORWARDS[name][0])
    x, y = (gs.tensor(array) for array in np.random.default_rng(1).normal(size=(2, 5, 7)))
    for _ in range(2):
        compiled(x, y)
    (step,) = (step for step in steps(compiled) if step.kind == "forward" and step.name == name)
    slot = compiled.program.forward.slots[step.writes[0]]
    assert slot.place == "offered" and slot.offset + slot.bytes <= compiled.program.forward.memory


def test_what_a_forward_makes_elsewhere_is_used_and_let_go():
    """A kernel that meets a floating-point flag leaves the work to NumPy, whose result lies elsewhere: now there, now here."""
    function = lambda x: gs.sum(x, axis=1) * 2  # noqa: E731
    compiled = gs.compile(function)
    plain, endless = np.ones((3, 400)), np.full((3, 400), 1e308)
    with np.errstate(all="ignore"):
        for array in (plain, plain, endless, plain, endless, endless, plain):
            assert bits(compiled(gs.tensor(array))) == bits(function(gs.tensor(array)))
    assert compiled.program is not None


def test_results_are_fresh():
    compiled = gs.compile(lambda x: (gs.sum(x, axis=0), gs.nn.softmax(x)))
    x = gs.ones((3, 4))
    compiled(x)
    first = compiled(x)
    kept = [bits(item) for item in first]
    compiled(x * 3)
    assert [bits(item) for item in first] == kept


def test_threads_offer_their_own():
    """Kernels give up the GIL, and other threads take arrays of the same dtype and shape meanwhile."""
    function = lambda x: gs.sum(gs.nn.softmax(x) * x, axis=1) + gs.mean(x, axis=1)  # noqa: E731
    compiled = gs.compile(function)
    given = [gs.tensor(np.random.default_rng(seed).normal(size=(64, 600))) for seed in range(3)]
    wanted = [bits(function(x)) for x in given]
    compiled(given[0])
    failures = []

    def work(number):
        for _ in range(15):
            if bits(compiled(given[number])) != wanted[number]:
                failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
