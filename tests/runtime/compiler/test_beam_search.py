"""Searched: an order that no rule finds needs less memory, and is found where there are few lines."""

import gradspec as gs

from .test_compiled_function import values
from .test_memory_scheduling import planned

FLOAT, ROWS, WIDTH = 8, 32, 64


def step(x, targets, w, v):
    """A gradient of two layers, of which the second one's is written to its parameter."""
    w, v = (gs.asarray(each.detach(), requires_grad=True) for each in (w, v))
    h = gs.maximum(x @ w, 0.0)
    y = gs.maximum(h @ v, 0.0)
    gw, gv = gs.autograd.grad((y * targets).sum(), [w, v])
    return (v.detach() * gv).sum(axis=0), gw.sum(axis=0)


def test_a_gradient_comes_before_what_goes_on_backward():
    """The gradient of `v`, the gradient before and behind its product, and of the layers no more than their signs live at once: what
    goes on backward is made after that gradient, and the signs are taken between them."""
    arrays = values((ROWS, WIDTH)), values((ROWS, WIDTH), 1), values((WIDTH, WIDTH), 2), values((WIDTH, WIDTH), 3)
    layer = FLOAT * ROWS * WIDTH
    assert planned(step, *arrays) <= FLOAT * WIDTH * WIDTH + 2 * layer + 2 * layer // FLOAT


def of_parts(order):
    """Parts that need much for a moment and leave some, written down in an order."""

    def function(x):
        found = {}
        for size in order:
            found[size] = gs.cumsum(gs.cumsum(x[:, :1] * gs.ones((1, size)), 0) @ gs.ones((size, 16 - size // 10)), 0)
        return sum(found[size].sum() * found[size].max() for size in sorted(order))

    return function


def test_independent_parts_come_in_the_best_order():
    x = values((40, 40))
    needed = [planned(of_parts(order), x) for order in ((10, 80, 30, 60), (60, 30, 80, 10), (80, 60, 30, 10), (10, 30, 60, 80))]
    assert max(needed) <= 1.05 * min(needed)
