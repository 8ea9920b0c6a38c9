"""check_grads: what is right passes, in both spellings, and what is wrong in one mode or order does not."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import GradcheckError
from gradspec.test_util import check_grads


class Cube(gs.autograd.Function):
    """Wrong where it is told to be."""

    wrong: str = ""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x.detach() ** 3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        x = x.detach() if Cube.wrong == "second" else x
        return g * 3 * x**2 * (2 if Cube.wrong == "rev" else 1)

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return t * 3 * x**2 * (2 if Cube.wrong == "fwd" else 1)


@pytest.fixture(params=["", "rev", "fwd", "second"])
def wrong(request):
    Cube.wrong = request.param
    yield request.param
    Cube.wrong = ""


@pytest.mark.parametrize("modes", [["rev"], ["fwd"], ["fwd", "rev"]])
@pytest.mark.parametrize("order", [1, 2])
def test_finds_what_is_wrong(wrong, modes, order):
    found = wrong in modes or wrong == "second" and order == 2 and "rev" in modes
    x = np.array([0.5, -1.5])
    for call in (lambda: check_grads(Cube.apply, (x,), order=order, modes=modes), lambda: check_grads(Cube.apply, modes, order)(x)):
        if found:
            with pytest.raises(GradcheckError):
                call()
        else:
            assert call() is None


def test_nests_numbers_and_what_is_no_variable():
    check_grads(lambda p, n, c: {"y": gs.sin(p["w"]) * n, "z": p["b"] * c}, ({"w": np.ones(2), "b": 2.0}, 3, 1 + 2j), order=3)
    with pytest.raises(ValueError, match="'fwd' and 'rev', got"):
        check_grads(gs.sin, modes=["reverse"])
    with pytest.raises(TypeError, match="floating point"):
        check_grads(gs.sin, (1,))


class Same(gs.autograd.Function):
    """Wrong in backward."""

    @staticmethod
    def forward(ctx, x):
        return x.detach() * 1.0

    @staticmethod
    def backward(ctx, g):
        return g * 1.5


class Twice(gs.autograd.Function):
    """Linear, right in value and gradient, and wrong where its gradient is differentiated by the cotangent."""

    @staticmethod
    def forward(ctx, x):
        return x.detach() * 2.0

    @staticmethod
    def backward(ctx, g):
        return Same.apply(g) * 2.0


def test_the_second_order_is_by_the_cotangent_too():
    def twice(x):
        return Twice.apply(x)

    check_grads(twice, (np.ones(2),), order=1, modes=["rev"])
    with pytest.raises(AssertionError, match="check_grads of vjp of twice: Jacobian mismatch"):
        check_grads(twice, (np.ones(2),), modes=["rev"])
