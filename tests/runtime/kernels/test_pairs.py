"""Pairs: the loop for a function and its slope gives the bits and the warnings of both loops, whatever it is given."""

import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.kernels.fusion_engine.pairs import is_pair
from gradspec.support.dispatch import ops

F = np.dtype("float32")
PAIRS = [("tanh", "_tanh_slope"), ("sigmoid", "_sigmoid_slope")]
JOINED = is_pair("tanh", "_tanh_slope", 0)  # where the processor multiplies and adds in one instruction


def bits(tensor):
    return tensor.numpy().tobytes()


def pairs_in(compiled):
    loops = [step for step in compiled.program.forward.steps if step.kind == "loop"]
    return [(step.name, step.given.second) for step in loops if step.given.second]


@pytest.fixture(params=[1, 3])
def threads(request):
    before = gs.get_num_threads()
    gs.set_num_threads(request.param)
    yield request.param
    gs.set_num_threads(before)


def patterns(seed):
    """Floats of all kinds: random bits, every exponent, what is special, the neighbours of 1 and of where tanh is 1,
    and long rows of moderate ones."""
    rng = np.random.default_rng(seed)
    special = np.array([0, 1, np.inf, 1e-45, 1.1754944e-38, 3.4028235e38, 8.66, 9.1, 87.4, 104, 52, np.log(2)], F)
    near = [np.nextafter(F.type(x), F.type(to)) for x in (1, 9.1, 9.01, 104, 52) for to in (0, 200)]
    exponents = np.ldexp(F.type(1.37), np.arange(-149, 128)).astype(F)
    found = np.concatenate([special, np.array(near, F), exponents, rng.integers(0, 2**31, 1 << 19, dtype=np.uint32).view(F),
                            rng.normal(size=1 << 17).astype(F) * 5, rng.uniform(0.9, 10, 1 << 17).astype(F),
                            np.linspace(0, 34, 1 << 16, dtype=F), np.linspace(0, 68, 1 << 16, dtype=F)])  # fmt: skip
    return np.concatenate([found, -found])


@pytest.mark.parametrize("first, second", [*PAIRS, *(pair[::-1] for pair in PAIRS)])
def test_bits_of_both_loops(first, second, threads):
    one, other = (getattr(ops, name) for name in (first, second))
    compiled = gs.compile(lambda x: (one(x), other(x)), strict=True)
    x = patterns(threads)
    with np.errstate(all="ignore"):
        for part in (x, x, x[:4097], x[1:70_002], np.ascontiguousarray(x[::3]), x[~np.isnan(x)][5:]):
            given = gs.asarray(part)
            assert [bits(y) for y in compiled(given)] == [bits(y) for y in (one(given), other(given))]
    pair = min(first, second, key=len), max(first, second, key=len)
    assert pairs_in(compiled) == [pair] * JOINED
    assert f"{pair[0]}(x0), {pair[1]}(x0)" in str(compiled.program) or not JOINED
    assert f'label="{pair[0]} and {pair[1]}"' in compiled.program.dot() or not JOINED


def test_warnings_are_those_of_the_loops():
    signal = np.array([0x7FA00000], np.uint32).view(F)

    def heard(function, x):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            results = function(gs.asarray(x))
        return [bits(part) for part in results], [str(one.message) for one in found]

    for first, second in PAIRS:
        function = lambda x, first=first, second=second: ((getattr(ops, first)(x) + 1) * x, getattr(ops, second)(x) * 2)  # noqa: E731
        for size in (6001, 200_001):
            compiled = gs.compile(function, strict=True)
            x = np.linspace(-200, 200, size).astype(F)
            for number in (0, np.nan, np.inf, signal):
                x[[7, size // 2]] = number
                assert heard(compiled, x) == heard(function, x) == heard(compiled, x), (first, number)
            assert pairs_in(compiled) == [(first, second)] * JOINED


def test_which_loops_are_pairs():
    names = ("tanh", "_tanh_slope", "sigmoid", "_sigmoid_slope", "exp", "add")
    for slot in range(4):
        assert [(a, b) for a in names for b in names if is_pair(a, b, slot)] == (PAIRS if slot == 0 and JOINED else [])
