"""trace_nans: the first operator that makes NaN or infinity of ordinary numbers, forward and backward, with its line."""

import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec import autograd


def leaf(*numbers):
    return gs.tensor(list(numbers), requires_grad=True)


class Wrong(autograd.Function):
    """Its backward leaves the library."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return gs.asarray(np.log(grad.numpy() - 2))


def of_function(x):
    y = Wrong.apply(x)  # planted
    return y.sum()


def zero_over_zero(x):
    y = x - x
    z = y / y  # planted
    return (z + x).sum()


def logarithm(x):
    y = gs.exp(x) + 1
    z = gs.log(y - y)  # planted
    return gs.tanh(z).sum()


def infinity_minus_infinity(x):
    y = gs.exp(x * 1000)  # planted
    return (y - y).sum()


def overflow_in_place(x):
    y = x.detach() * 1e200
    y.mul_(y)  # planted
    return (y * x).sum()


def into_out(x):
    y = gs.zeros(2)
    gs.log(gs.zeros(2), out=y)  # planted
    return (x * y).sum()


def square_root(x):
    y = gs.sqrt(x * 0)  # planted backward
    return (y * 3).sum()


def norm_of_zero(x):
    y = gs.hypot(x * 0, x * 0) * 2
    z = gs.sqrt(y)  # planted backward
    return z.sum()


def power(x):
    y = (x * 0) ** 0.5  # planted backward
    return y.sum()


def not_chosen(x):
    y = gs.sqrt(x * 0)  # planted backward
    return gs.where(x > 100, y, x).sum()  # the classical trap: a gradient of zero times a slope of infinity


FORWARD = {
    zero_over_zero: ("NaN", "divide"), logarithm: ("infinity", "log"), infinity_minus_infinity: ("infinity", "exp"),
    overflow_in_place: ("infinity", "multiply_"), into_out: ("infinity", "log.out"),
}  # fmt: skip
BACKWARD = {square_root: "SqrtBackward", norm_of_zero: "SqrtBackward", power: "PowBackward", of_function: "Wrong",
            not_chosen: "SqrtBackward"}  # fmt: skip


def planted(function):
    """The number of the line with the comment."""
    import inspect

    lines, first = inspect.getsourcelines(function)
    (offset,) = [i for i, line in enumerate(lines) if "# planted" in line]
    return first + offset


def run(function, **options):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with autograd.trace_nans(**options) as found:
            function(leaf(1.0, 2.0)).backward()
    return found


@pytest.mark.parametrize("function", FORWARD, ids=lambda function: function.__name__)
def test_forward(function):
    origin = run(function).origin
    assert (origin.what, origin.operator, origin.backward) == (*FORWARD[function], "")
    assert origin.line == (__file__, planted(function), function.__name__)


@pytest.mark.parametrize("function", BACKWARD, ids=lambda function: function.__name__)
def test_backward(function):
    found = run(function)
    origin = found.origin
    assert BACKWARD[function] in origin.backward
    assert origin.line == (__file__, planted(function), function.__name__)
    assert origin.operands and str(origin) in str(found)
    assert bool(origin.formula) == (function is not of_function)


def test_nothing_is_found_where_nothing_is():
    found = run(lambda x: (gs.tanh(x) * gs.sigmoid(x)).sum())
    assert found.origin is None and str(found) == "nothing was found"


def test_what_the_operands_had_is_nobodys_fault():
    assert run(lambda x: (x * gs.inf).sum() + (x * gs.nan).sum()).origin is None
    assert run(lambda x: gs.softmax(gs.where(x > 1, x, -gs.inf)).sum()).origin is None


def test_infinity_may_be_left_out():
    assert run(infinity_minus_infinity, infinity=False).origin.operator == "subtract"


def test_an_error_on_request_comes_from_the_operator():
    with np.errstate(all="ignore"), autograd.trace_nans(error=True):
        with pytest.raises(FloatingPointError, match="NaN was made by divide"):
            zero_over_zero(leaf(1.0, 2.0))
    with np.errstate(all="ignore"), autograd.trace_nans(error=True), pytest.raises(FloatingPointError, match="SqrtBackward"):
        square_root(leaf(1.0, 2.0)).backward()


def test_a_warning_comes_when_the_with_is_left():
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning, match="infinity was made by log") as caught:
        with autograd.trace_nans():
            logarithm(leaf(1.0, 2.0))
    assert caught[0].filename == __file__


def test_finite_numbers_whose_sum_is_not():
    big = gs.full((4,), 1.7e308)
    with autograd.trace_nans() as found:
        big * 1.0
        gs.full((4,), 6e4, dtype=np.float16) * 1
    assert found.origin is None


def test_gradients_are_those_of_a_plain_pass():
    def gradient(x):
        (gs.tanh(x) / x + gs.cumsum(x, 0)).sum().backward()
        return x.grad.numpy()

    with autograd.trace_nans():
        found = gradient(leaf(1.0, 2.0, 3.0))
    np.testing.assert_array_equal(found, gradient(leaf(1.0, 2.0, 3.0)))
