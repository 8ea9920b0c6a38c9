"""Sizes that a trace leaves open: expressions for lengths and numbers, and programs that run at other sizes."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.tracing.sizes import Size, expression, points_of
from gradspec.support.dispatch import ops

POINTS = points_of({"n": 3, "m": 4})


@pytest.mark.parametrize("text", [
    "n", "m", "n*m", "n*n", "2*n", "n + 1", "3*m - 2", "-n", "2*n*m + 5", "n + m", "m - n", "n + m - 1", "n//2", "(n + 1)//2", "(m - 2)//3",
])  # fmt: skip
def test_expressions(text):
    numbers = [eval(text, dict(point)) for point in POINTS]
    found = expression(numbers, POINTS)
    assert [eval(found, dict(point)) for point in POINTS] == numbers
    assert eval(found, {"n": 20, "m": 31}) == eval(text, {"n": 20, "m": 31})


def test_what_is_no_expression():
    assert expression([1, 7, 2, 100, 3, 4], POINTS) is None


def test_a_size_is_its_number_and_prints_as_its_expression():
    size = Size(6, "2*n")
    assert size == 6 and size + 1 == 7 and f"{size} {(size, 1)}" == "2*n (2*n, 1)"


def test_shapes_of_results_and_programs_at_other_sizes():
    def f(x, w):
        y = gs.tanh(x @ w).reshape(-1)
        return y.sum(), gs.concat([y[::2], y[1:]]), gs.zeros((x.shape[0] * 2, w.shape[1]))

    taken = gs.trace(f, np.ones((3, 4)), np.ones((4, 2)), shapes={"x": ("n", "k"), "w": ("k", 2)})
    assert str(taken).splitlines()[0] == "program(x: float64[n, k], w: float64[k, 2])"
    assert taken.where("matmul")[0].outputs.type == "float64[n, 2]"
    assert [value.type for value in taken.results] == ["float64[]", "float64[3*n - 1]", "float64[2*n, 2]"]
    rng = np.random.default_rng(0)
    for n, k in (2, 5), (7, 3), (20, 1):
        x, w = rng.normal(size=(n, k)), rng.normal(size=(k, 2))
        for found, over_numpy, wanted in zip(taken.run(x, w), taken.compiled(numpy=True)(x, w), f(x, gs.asarray(w)), strict=True):
            assert found.tolist() == wanted.tolist() and over_numpy.shape == wanted.shape
            np.testing.assert_allclose(over_numpy, wanted.numpy(), rtol=1e-13)
    with pytest.raises(ValueError, match=r"w was float64\[k, 2\] when it was traced"):
        taken.run(np.ones((3, 4)), np.ones((5, 2)))
    with pytest.raises(ValueError, match=r"x was float64\[n, k\] when it was traced"):
        taken.run(np.ones(3), np.ones((4, 2)))


def test_a_gradient_at_other_sizes():
    taken = gs.trace(lambda x: (x * x.mean()).sum(), np.arange(3.0), shapes={"x": ("n",)}).derivative()
    x = np.array([1.0, -2.0, 3.0, 0.5, 7.0])
    value, gradient = taken.run(x)
    np.testing.assert_allclose(value.numpy(), x.sum() ** 2 / 5)
    np.testing.assert_allclose(gradient.numpy(), np.full(5, 2 * x.sum() / 5))
    assert "(n,)" in taken.python() and "(n,)" in taken.python(numpy=True)


def test_a_decomposed_program_at_other_sizes():
    taken = gs.trace(lambda x: gs.addcmul(x, x, x), np.ones(3), shapes={"x": ("n",)}).decompose()
    assert taken.run(np.full(6, 2.0)).tolist() == [6.0] * 6


def test_random_numbers_are_drawn_at_the_size():
    gs.manual_seed(4)
    taken = gs.trace(lambda x: x + gs.randn(*x.shape), np.zeros(3), shapes={"x": ("n",)})
    after = gs.randn(2).tolist()
    gs.manual_seed(4)
    gs.randn(3)
    assert gs.randn(2).tolist() == after  # the runs at other sizes have drawn nothing
    assert taken.run(np.zeros(5), generator=np.random.default_rng(1)).tolist() == np.random.default_rng(1).normal(size=5).tolist()


def looped(x):
    total = x[0]
    for i in range(1, x.shape[0]):
        total = total + x[i]
    return total


@pytest.mark.parametrize(("f", "shapes", "message"), [
    (looped, {"x": ("n",)}, "the sequence of operators depends on the size"),
    (lambda x: x * np.arange(float(len(x))), {"x": ("n",)}, "no operator computed depends on the size"),
    (lambda x: x @ np.ones(3), {"x": ("n",)}, "at n=.* the function fails, ValueError"),
    (lambda x: gs.zeros(x.shape[0] ** 3 % 7), {"x": ("n",)}, "in a way that has no expression"),
    (lambda x: x * x.shape[0] ** 3.5, {"x": ("n",)}, "in a way that has no expression"),
    (lambda x: ops._fitted(x, (3,)), {"x": ("n",)}, "in a way that has no expression"),  # which gives back what fits already
    (lambda x: x, {"y": ("n",)}, "no input is called 'y'; there are x"),
    (lambda x: x, {"x": ("n", 2)}, r"x is of shape \(3,\), not"),
    (lambda x: x, {"x": (4,)}, r"x is of shape \(3,\), not"),
    (lambda x: x, {"x": ("x",)}, "'x' cannot name a size"),
    (lambda x: x, {"x": ("for",)}, "'for' cannot name a size"),
])  # fmt: skip
def test_what_is_refused(f, shapes, message):
    with pytest.raises(TypeError, match=message):
        gs.trace(f, np.ones(3), shapes=shapes)


def test_one_symbol_is_one_size():
    with pytest.raises(TypeError, match="n is 3 and 4"):
        gs.trace(lambda x: x, np.ones((3, 4)), shapes={"x": ("n", "n")})
