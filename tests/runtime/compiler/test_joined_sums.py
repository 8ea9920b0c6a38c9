"""Sums taken where the numbers are made: the bits of eager code, warnings, any number of threads, and no array in between."""

import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.lowering import failures, lowering
from gradspec.kernels.reductions.sums import span_of

from .test_compiled_function import bits, replays, values

SHAPES = ((5000,), (70000,), (131, 1031), (3, 40, 50), (1000, 7), (1000, 9), (2, 2100), (1, 5000), (100, 1, 64), (2, 3, 1200), (20, 600, 3))
AXES = (None, 0, -1, 1, (0, 1), (1, 2))


def sums(x, y):
    """Sums and means of what is made of two arrays, along all axes that there are, with and without axes kept."""
    found = []
    for axis in AXES:
        try:
            found += [(x * y).sum(axis), gs.mean(x - y, axis, keepdims=True), (gs.exp(x) / (y * y + 1)).mean(axis)]
        except (IndexError, ValueError):
            continue
    for shape in (x.shape[1:], (1,) * x.ndim, (x.shape[0], *(1,) * (x.ndim - 1))):
        found.append(gs.sum_to_size(x + y, shape) if shape else (x + y).sum())
    return found


@pytest.fixture(params=[1, 3])
def threads(request):
    before = gs.get_num_threads()
    gs.set_num_threads(request.param)
    yield request.param
    gs.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_sums_of_what_loops_make(dtype, threads):
    for shape in SHAPES:
        x, y = (values(shape, seed).astype(dtype) for seed in range(2))
        compiled = gs.compile(sums, strict=True)
        wanted = [bits(part) for part in sums(gs.asarray(x), gs.asarray(y))]
        for _ in range(2):
            assert [bits(part) for part in compiled(x, y)] == wanted, shape
        assert ("sum" in {step.kind for step in compiled.program.forward.steps}) == (dtype != "complex128")


@pytest.mark.parametrize("shape", [(300_007,), (601, 499), (20_001, 15)])
def test_blocks_that_are_asked_for_ahead(shape, threads):
    """Many loops over more than a cache holds: the end of an array, of a row and of what a thread takes are no other than elsewhere."""

    def function(x, y):
        z = gs.exp(-x * x) * y + x / (y * y + 1) - x[:1] * 2
        return z, gs.sum(z * 3), gs.sum(gs.tanh(z), 0), gs.mean(z - x, -1)

    x, y = (values(shape, seed) for seed in range(2))
    compiled = gs.compile(function, strict=True)
    wanted = [bits(part) for part in function(gs.asarray(x), gs.asarray(y))]
    for _ in range(2):
        assert [bits(part) for part in compiled(x, y)] == wanted


def test_no_array_stands_between():
    """A program that adds what it makes needs no more than a block, be the array as large as it may."""
    x = values((300, 400))
    for function in (lambda x: gs.sum(x * x), lambda x: gs.mean(gs.sin(x) * 2, 0), lambda x: gs.sum(gs.exp(x), -1)):
        compiled = gs.compile(function, strict=True)
        assert bits(compiled(x)) == bits(function(gs.asarray(x))) == bits(compiled(x))
        assert compiled.program.forward.memory < 1000
        assert "in cache" in str(compiled.program)


def test_what_is_made_may_be_read_again():
    def function(x):
        y = gs.tanh(x) * x
        z = y - 1
        return y.sum(0), (y * 2).sum(), z.mean(), z, (z * y).sum(-1).sum()

    x = values((90, 90))
    compiled = gs.compile(function, strict=True)
    wanted = [bits(part) for part in function(gs.asarray(x))]
    for _ in range(2):
        assert [bits(part) for part in compiled(x)] == wanted


def test_a_sum_of_what_is_written_to_afterwards():
    state = gs.zeros((80, 80))

    def function(x):
        state.add_(x)
        before = state.sum()
        state.mul_(x)
        return before, state.sum(0), (state * 2).mean()

    compiled, x = gs.compile(function, strict=True), values((80, 80))
    found = [[bits(part) for part in compiled(x)] for _ in range(3)]
    state.zero_()
    assert found == [[bits(part) for part in function(gs.asarray(x))] for _ in range(3)]
    assert replays(compiled)


def test_signed_zeros_and_what_is_not_finite():
    x = np.full((70, 70), -0.0)
    x[3], x[5, 7], x[9, 9], x[11, 3] = 1.0, np.inf, np.nan, -np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in (x[:1], x[3:5], x[5:9], x[9:10], x[:3]):
            part = np.repeat(part, 60, 0)
            compiled = gs.compile(sums, strict=True)
            wanted = [bits(each) for each in sums(gs.asarray(part), gs.asarray(part))]
            for _ in range(2):
                assert [bits(each) for each in compiled(part, part)] == wanted


def test_a_sum_that_overflows_warns():
    x = np.full((80, 80), 1e308)
    for function in (lambda x: (x * 1.5).sum(), lambda x: (x * 1.5).sum(0), lambda x: gs.sum_to_size(x * 1.5, (80, 1)), lambda x: x.sum()):
        compiled = gs.compile(function, strict=True)
        compiled(x * 1e-300)
        compiled(x * 1e-300)
        with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
            found = compiled(x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert bits(found) == bits(function(gs.asarray(x)))
        with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="reduce"):
            compiled(x)


def test_sums_can_be_switched_off(monkeypatch):
    monkeypatch.setattr(lowering, "sum_from", lambda line: None)
    monkeypatch.setattr(failures, "sum_from", lambda line: None)
    x, y = values((131, 1031)), values((131, 1031), 1)
    compiled = gs.compile(sums, strict=True)
    wanted = [bits(part) for part in sums(gs.asarray(x), gs.asarray(y))]
    for _ in range(2):
        assert [bits(part) for part in compiled(x, y)] == wanted
    assert "forward" in {step.kind for step in compiled.program.forward.steps}


def test_how_axes_are_added():
    assert span_of("sum", (2, 3, 4), (None, False)) == (1, 24, 1, False)
    assert span_of("mean", (2, 3, 4), (-2, True)) == (2, 3, 4, True)
    assert span_of("_sum_to", (2, 3, 4), ((3, 1),)) is None  # the first axis and the last
    assert span_of("_sum_to", (2, 3, 4), ((4,),)) == (1, 6, 4, False)
    assert span_of("sum", (2, 0), (0, False)) is None and span_of("exp", (2,), ()) is None
