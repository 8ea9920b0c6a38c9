"""Compiled functions with hooks, custom Functions, numbers that change, and derivatives of their derivatives."""

import operator
import warnings

import numpy as np
import pytest

import gradspec as gs
from tests.runtime.programs import MODES
from tests.runtime.replayed_calls import run

from .test_compiled_function import as_it_is, bits, replays, values


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# Declared pure.


class Scaled(gs.autograd.Function):
    pure = True

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gs.sin(x) * WEIGHT * 0.375

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * gs.cos(x) * WEIGHT * 0.375


WEIGHT = gs.asarray([2.0, 3.0, 5.0])


def test_a_function_that_is_declared_pure_is_recorded():
    global WEIGHT
    compiled = gs.compile(lambda x: gs.grad(lambda x: Scaled.apply(x).sum())(x), strict=True)
    for seed in range(4):
        x = values(seed=seed)
        assert np.allclose(compiled(x).numpy(), np.cos(x) * WEIGHT.numpy() * 0.375, rtol=1e-15)
    assert replays(compiled)
    WEIGHT.mul_(2)  # held by the class: read where it is
    assert np.allclose(compiled(values()).numpy(), np.cos(values()) * WEIGHT.numpy() * 0.375, rtol=1e-15)
    WEIGHT = gs.asarray([1.0, 1.0, 7.0])
    assert np.allclose(compiled(values()).numpy(), np.cos(values()) * WEIGHT.numpy() * 0.375, rtol=1e-15)


def test_custom_rules_are_pure():
    scale = gs.asarray([4.0])

    @gs.custom_vjp
    def clipped(x):
        return x * 1

    clipped.defvjp(lambda x: (x * 1, x), lambda x, g: (gs.clip(g, -0.5, 0.5) * scale * x,))

    @gs.custom_jvp
    def square(x):
        return x * x

    @square.defjvp
    def rule(primals, tangents):
        return square(primals[0]), 2 * primals[0] * tangents[0]

    compiled = gs.compile(gs.grad(lambda x: (clipped(x) * 2).sum() + square(x).sum()), strict=True)
    for seed in range(4):
        scale.add_(1)
        x = values(seed=seed)
        assert np.allclose(compiled(x).numpy(), 0.5 * scale.numpy() * x + 2 * x, rtol=1e-14)
    assert replays(compiled)


def test_hooks_that_are_declared_pure():
    factor = gs.asarray(3.0)

    @gs.func.pure
    def tripled(g):
        return g * factor

    def function(w, x):
        (w * x).sum().backward()

    mine, theirs = gs.ones(3, requires_grad=True), gs.ones(3, requires_grad=True)
    compiled = gs.compile(lambda x: function(theirs, x), strict=True)
    handles: list = []
    for round in range(3):
        handles = [w.register_hook(tripled) for w in (mine, theirs)] if round == 1 else handles if round else []
        for seed in range(3):
            factor.add_(1)
            function(mine, gs.asarray(values(seed=seed)))
            compiled(values(seed=seed))
            assert bits(mine.grad) == bits(theirs.grad)
        for handle in handles:
            handle.remove() if round == 1 else None
    assert replays(compiled)


@pytest.mark.parametrize("held", [False, True])
def test_a_hook_that_is_registered_later_runs(held):
    x = gs.ones(3, requires_grad=True)
    compiled = gs.compile((lambda: (x * x).sum().backward()) if held else (lambda x: (x * x).sum().backward()))
    args = () if held else (x,)
    for _ in range(3):
        x.grad = None
        compiled(*args)
    assert x.grad.tolist() == [2.0] * 3
    seen = []
    handle = x.register_hook(lambda g: seen.append(1) or g * 10)
    with pytest.warns(RuntimeWarning, match="a hook ran at"):
        for _ in range(3):
            x.grad = None
            compiled(*args)
            assert x.grad.tolist() == [20.0] * 3
    handle.remove()
    x.grad = None
    compiled(*args)
    assert x.grad.tolist() == [2.0] * 3 and len(seen) == 3


def test_a_pass_that_goes_on_outside_of_the_call():
    """The graph there is another one at each call."""
    x = gs.ones(2, requires_grad=True)
    compiled = gs.compile(lambda y: y.sum().backward())
    with pytest.warns(RuntimeWarning, match="reaches MultiplyBackward, which was recorded before the call"):
        for factor in (3.0, 5.0, 7.0):
            x.grad = None
            compiled(x * factor)
            assert x.grad.tolist() == [factor] * 2


def test_what_python_reads_inside_of_a_range_is_seen():
    ticks = iter(range(2, 100))

    def function(x):
        with gs.profiler.record_function("part"):
            return x * (next(ticks) * 0.37)

    found = as_it_is(gs.compile(function), np.ones(1), match="it reads ticks, a range_iterator")
    assert [float(one[0]) for one in found] == [k * 0.37 for k in range(2, 10)]


# Numbers that change.


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64", "bool"])
def test_dynamic_numbers(dtype):
    def function(x, rate, t=2, n=3):
        y = x * rate
        return y, y - rate * 2 * x, y / (1 - 0.3 * t), x * n, gs.where(x != 0, x, rate), [x * t, (x + t) * rate, rate * t + x]

    compiled = gs.compile(function, dynamic=("rate", 2), strict=True)
    for number, rate in enumerate((0.5, 0.25, 1.75, -3.0, 1e-3)):
        x = (values(4, number) * 3).astype(dtype)
        found, wanted = compiled(x, rate, t=number + 3), function(gs.asarray(x), rate, t=number + 3)
        for a, b in zip((*found[:5], *found[5]), (*wanted[:5], *wanted[5])):
            assert bits(a) == bits(b)
    assert replays(compiled) and len(compiled.signatures) == 1
    compiled(x, 1)
    assert len(compiled.signatures) == 2  # an int is another kind of number


def test_a_schedule_of_learning_rates():
    mine, theirs = (gs.zeros(3, requires_grad=True, dtype="float32") for _ in range(2))

    def trainer(w):
        def step(x, y, *, rate):
            loss = ((x @ w - y) ** 2).mean()
            loss.backward()
            with gs.no_grad():
                w.sub_(rate * w.grad)
                w.grad = None
            return loss

        return step

    eager, compiled = trainer(mine), gs.compile(trainer(theirs), dynamic="rate", strict=True)
    for seed in range(8):
        x, y = values((6, 3), seed, "float32"), values(6, seed + 9, "float32")
        assert bits(eager(x, y, rate=0.1 / (seed + 1))) == bits(compiled(x, y, rate=0.1 / (seed + 1)))
        assert bits(mine) == bits(theirs)
    assert len(compiled.signatures) == 1 and replays(compiled)


def test_a_dynamic_number_that_is_looked_at():
    compiled = gs.compile(lambda x, t: x * t if t > 2 else x - t, dynamic=1)
    for t in (1.0, 3.0, 2.5, 0.5):
        assert bits(compiled(np.ones(2), t)) == bits(np.ones(2) * t if t > 2 else np.ones(2) - t)
    assert replays(compiled)
    frozen = gs.compile(lambda x, t: x * float(t), dynamic=1)
    for t in (1.0, 3.0, 2.5):
        assert bits(frozen(np.ones(2), t)) == bits(np.full(2, t))


def test_a_dynamic_integer_beside_small_ones():
    compiled = gs.compile(lambda x, n: x + n, dynamic="n")
    with pytest.warns(RuntimeWarning, match="a dynamic integer meets an operand of dtype uint8"):
        for n in (1, 2, 3):
            assert bits(compiled(np.ones(2, "uint8"), n)) == bits(np.ones(2, "uint8") + n)
        with pytest.raises(OverflowError):
            compiled(np.ones(2, "uint8"), 300)


def test_names_of_dynamic_numbers():
    with pytest.raises(ValueError, match="'rte' is not a parameter"):
        gs.compile(lambda x, rate: x * rate, dynamic="rte")

    class Model:
        @gs.compile(dynamic="rate")
        def step(self, x, rate):
            return x * rate

    model = Model()
    for rate in (1.0, 2.0, 3.0):
        assert bits(model.step(np.ones(2), rate)) == bits(np.full(2, rate))
    assert len(model.step.signatures) == 1
    assert bits(gs.jit(lambda x, t: x * t, dynamic=1)(np.ones(2), 3.0)) == bits(np.full(2, 3.0))


# Derivatives of derivatives.


def second(function, x, w):
    """The derivative of the sum of squares of a gradient, and the gradient."""
    out = function(x, w)
    out = out if isinstance(out, gs.Tensor) else out[0] + 2 * out[1]
    first = gs.autograd.grad((out * out).sum(), [x, w], create_graph=True)
    total = sum((g * g).sum() for g in first)
    return [*first, *gs.autograd.grad(total, [x, w])]


@pytest.mark.parametrize("function", [
    lambda x, w: gs.tanh(x * w).sum(), lambda x, w: gs.exp(x) * w, lambda x, w: (gs.sin(x * w), x * w * w),
    lambda x, w: gs.nn.dropout(gs.sin(x) * w, 0.5) * gs.random.standard_normal(3),
])  # fmt: skip
def test_a_backward_pass_from_outside_is_differentiated(function):
    compiled = gs.compile(function, strict=True)
    for seed in range(4):
        pairs = [[gs.tensor(values(seed=seed + k), requires_grad=True) for k in range(2)] for _ in range(2)]
        gs.manual_seed(seed)
        wanted = [*second(function, *pairs[0]), gs.random.standard_normal(2)]
        gs.manual_seed(seed)
        found = [*second(compiled, *pairs[1]), gs.random.standard_normal(2)]
        assert [bits(one) for one in found[:2]] == [bits(one) for one in wanted[:2]]
        for a, b in zip(found, wanted):
            assert np.allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-13, atol=1e-15)
    assert replays(compiled)


def test_arrays_are_those_of_the_call():
    compiled = gs.compile(lambda x, y: (x**3 * y).sum())
    x, y = gs.tensor([2.0], requires_grad=True), np.array([5.0])
    compiled(x, y), compiled(x, y)
    for _ in range(3):
        y[...] = 5
        (g,) = gs.autograd.grad(compiled(x, y), x, create_graph=True)
        out = compiled(x, y)
        y[...] = 7
        assert gs.autograd.grad(g.sum(), x)[0].item() == 60.0
        (g,) = gs.autograd.grad(out, x, create_graph=True)
        assert g.item() == 60.0


def test_what_cannot_be_run_again_is_refused():
    w, seen = gs.tensor(values(), requires_grad=True), []
    held = {"rate": 2.0}
    cases = {
        "it calls back": lambda x: (gs.debug.callback(seen.append, x), (x * x * w).sum())[1],
        "writes to what it is given": lambda x: (TOTAL.add_(1), (x * x * w).sum())[1],
        "has changed since": lambda x: (x * x * held["rate"] * w).sum(),
    }
    for words, function in cases.items():
        compiled = gs.compile(function, recheck=False)
        for _ in range(3):
            x = gs.tensor(values(), requires_grad=True)
            out = compiled(x)
        held["rate"] += 1
        with pytest.raises(RuntimeError, match=f"running the function again, which cannot be done: .*{words}"):
            gs.autograd.grad(out, x, create_graph=True)
    compiled = gs.compile(lambda x: (x * x * w).sum(), recheck=False)
    for _ in range(3):
        out = compiled(x)
    with gs.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        gs.autograd.grad(out, x, create_graph=True)


TOTAL = gs.zeros(())


@pytest.mark.parametrize("mode", MODES)
def test_random_calls(mode):
    """Draws, branches, callbacks, and what is held changes between the calls: bits of the function, whatever ran as it is."""
    outcomes = [run(seed, mode) for seed in range(6)]
    assert outcomes.count("equal") >= 2 and all(one in ("equal", "refused") or one.startswith("as it is") for one in outcomes)


# Results in given memory.


def test_results_are_written_where_a_call_says():
    held = gs.asarray(2.0)
    compiled = gs.compile(lambda x: {"a": x * held, "b": [x.sum(), x.T]} if x[0, 0] > -9 else {}, out="into", strict=True)
    into = {"a": np.empty((2, 3)), "b": [gs.zeros(()), gs.zeros((3, 2))]}
    for seed in range(5):
        held.add_(1)
        x = values((2, 3), seed)
        found, wanted = compiled(x, into=into), compiled(x)
        assert np.shares_memory(found["a"].numpy(), into["a"]) and found["b"][0] is into["b"][0]
        assert bits(into["a"]) == bits(wanted["a"]) and [bits(one) for one in into["b"]] == [bits(one) for one in wanted["b"]]
        assert bits(wanted["a"]) == bits(x * held.numpy())
    assert replays(compiled) and len(compiled.signatures) == 2


def test_results_may_be_written_to_the_arguments():
    compiled = gs.compile(lambda x, y: (y, x), out="into", strict=True)
    for seed in range(4):
        x, y = gs.asarray(values(3, seed)), gs.asarray(values(3, seed + 9))
        compiled(x, y, into=(x, y))
        assert bits(x) == bits(values(3, seed + 9)) and bits(y) == bits(values(3, seed))
    step = gs.compile(lambda x: x[::-1] * 2, out="into", strict=True)
    for seed in range(4):
        x = gs.asarray(values(5, seed))
        assert step(x, into=x) is x and bits(x) == bits(values(5, seed)[::-1] * 2)


def test_an_argument_that_is_given_up_for_the_result_counts_the_write():
    step = gs.compile(lambda x: gs.sin(x) * 2, out="into", strict=True)
    for seed in range(3):
        x, w = gs.tensor(values(5, seed)), gs.tensor(values(5), requires_grad=True)
        y = (x * w).sum()
        with gs.no_grad():
            assert step(x, into=x) is x and bits(x) == bits(gs.sin(gs.asarray(values(5, seed))) * 2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_memory_that_does_not_fit():
    compiled = gs.compile(lambda x: x * 2, out="into")
    for into, error, words in [(np.ones(3), ValueError, r"has float64\[3\] for a result float64\[2\]"), (np.ones(2, "f4"), ValueError, "float32"),
                               ((np.ones(2), np.ones(2)), ValueError, "2 arrays, but the function returns"), (3.0, TypeError, "got float for")]:  # fmt: skip
        with pytest.raises(error, match=words):
            compiled(np.ones(2), into=into)
    with pytest.raises(RuntimeError, match="memory without a history"):
        compiled(gs.ones(2, requires_grad=True), into=np.ones(2))


def test_methods_with_options():
    class Model:
        @gs.compile(out="into", dynamic="rate")
        def step(self, x, rate):
            return x * rate

    model, buffer = Model(), np.empty(2)
    for rate in (1.0, 2.0, 3.0):
        model.step(np.ones(2), rate, into=buffer)
        assert buffer.tolist() == [rate, rate]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("compare", [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
def test_numbers_that_the_dtype_lacks_are_compared_as_they_are(compare, dtype):
    """A loop over booleans took 0.5 and 2 for True."""
    x = np.array([0, 1, 1, 0]).astype(dtype)
    for number in (0.5, 2, -1, 1, 0, True, 100, 1e30, np.inf, np.nan):
        for function in (lambda x, number=number: compare(x, number), lambda x, number=number: compare(number, x)):
            compiled, expected = gs.compile(function, recheck=False), function(gs.asarray(x)).numpy()
            for _ in range(3):
                np.testing.assert_array_equal(compiled(x).numpy(), expected, err_msg=f"{number}")
