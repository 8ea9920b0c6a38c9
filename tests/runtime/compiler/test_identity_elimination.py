"""Unchanged: what is dropped is what gives its operand back, to the bit; all else stays, and warns as it did."""

import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.passes import pipeline
from gradspec.compiler.passes.identity_elimination import SIGNALLING, is_neutral, makes_quiet

from .test_compiled_function import bits, replays, values

FLOATS = [np.dtype("float32"), np.dtype("float64")]


def names(compiled):
    return [step.name for step in compiled.program.forward.steps if step.kind == "loop"]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_which_arithmetic_gives_its_operand_back(dtype):
    both = dtype, dtype
    neutral = {(name, place) for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "copysign", "power", "atan2",
                                          "hypot", "floor_divide", "remainder", "greater", "equal", "matmul")
               for place in range(2) if is_neutral(name, both, place)}  # fmt: skip
    assert neutral == {("multiply", 0), ("multiply", 1), ("divide", 1)}
    assert is_neutral("multiply", (dtype, None), 1) and is_neutral("multiply", (None, dtype), 0)
    assert not is_neutral("multiply", (np.dtype("complex64"), np.dtype("complex64")), 0)


def test_which_loops_make_no_signalling_nan():
    for dtype in FLOATS:
        quiet = {name for name in ("tanh", "sigmoid", "exp", "sqrt", "square", "negative", "absolute", "positive")
                 if makes_quiet(name, (dtype,))}  # fmt: skip
        assert quiet >= {"tanh", "sigmoid", "exp", "sqrt", "square"} and not quiet & {"negative", "absolute"}
        assert makes_quiet("multiply", (dtype, None)) and not makes_quiet("where", (np.dtype(bool), dtype, dtype))


def test_the_ones_of_a_sum_are_no_factor(monkeypatch):
    def step(x, y):
        value = gs.sum(gs.tanh(x * y / 1) * gs.sigmoid(x))
        return value, *gs.autograd.grad(value, [x, y])

    found = []
    for dtype in FLOATS:
        for without in (False, True):
            if without:
                monkeypatch.setattr(pipeline, "eliminate_identities", lambda lines, returned: lines)
            compiled = gs.compile(step, strict=True)
            for seed in range(3):
                given = [gs.tensor(values((70, 90), seed + i).astype(dtype), requires_grad=True) for i in range(2)]
                given[0].detach().numpy().flat[:4] = 0, -0.0, np.inf, -np.inf
                with np.errstate(all="ignore"):
                    assert [bits(part) for part in compiled(*given)] == [bits(part) for part in step(*given)]
            assert replays(compiled)
            found.append((names(compiled).count("multiply"), names(compiled).count("divide")))
            monkeypatch.undo()
    assert found == [(6, 0), (8, 2)] * 2


def with_a_number_that_changes(x):
    number = gs.asarray(np.ones(()))
    first = gs.exp(x) * number
    number.add_(1)
    return gs.sum(first), gs.sum(gs.exp(x) * number)


@pytest.mark.parametrize("function", [
    lambda x: gs.exp(x) * 1,                                # returned
    lambda x: gs.sum((x * 1)[::2] + 1),                     # of what was given: it may hold signalling NaN
    lambda x: gs.sum((gs.exp(x) * 1)[::2] + 1),             # looked at
    lambda x: gs.sum((gs.exp(x) * 1).add_(2)),              # written to
    lambda x: gs.sum(gs.where(x > 0, x, x) * 1),            # a choice
    lambda x: gs.sum(gs.exp(x) + 0.0),                      # not the same at -0
    lambda x: gs.sum(1 / gs.exp(x)),
    lambda x: with_a_number_that_changes(x)[0] + with_a_number_that_changes(x)[1],
])  # fmt: skip
def test_what_is_not_dropped(function, monkeypatch):
    compiled, found = gs.compile(function), []
    x = values((9, 11), 0)
    for without in (False, True):
        if without:
            monkeypatch.setattr(pipeline, "eliminate_identities", lambda lines, returned: lines)
            compiled = gs.compile(function)
        for _ in range(3):
            assert bits(compiled(gs.tensor(x))) == bits(function(gs.tensor(x)))
        found.append(names(compiled))
    assert found[0] == found[1]


def test_a_signalling_nan_warns_as_it_did():
    def function(x, y):
        return gs.sum(gs.maximum(gs.negative(x) * 1, y)), gs.sum(gs.negative(x) / 1 > y)

    def heard(call):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            results = call()
        return [bits(part) for part in results], [(one.category, str(one.message)) for one in found]

    compiled = gs.compile(function)
    for dtype, signal in SIGNALLING.items():
        for size in (5, 5000):
            x, y = np.ones((2, size), dtype)
            for _ in range(2):
                compiled(gs.tensor(x), gs.tensor(y))
            x[3:4] = signal
            for _ in range(2):
                assert heard(lambda x=x, y=y: compiled(gs.tensor(x), gs.tensor(y))) == heard(
                    lambda x=x, y=y: function(gs.tensor(x), gs.tensor(y)))  # fmt: skip
