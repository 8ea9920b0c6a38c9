"""Common subexpressions: a replay has the bits of the eager call where values are asked for twice, also as operands that are results."""

import numpy as np
import pytest

import gradspec as gs


def recurrent(a, b, rows, n=6):
    """Values that repeat, whose gradients ask for the vector itself: `ravel` and `conj` of it return it."""
    c, d = a * b, a - b
    for k in range(n):
        e = d
        d = gs.tanh(c + rows[: k % 4 + 1].sum() / 16)
        a = gs.tanh(0.5 * a + gs.outer(a, e).sum(0) / 8)
    return (a * a).sum() + (d * d).sum()


def random_program(seed):
    r = np.random.default_rng(seed)
    chosen = [(int(r.integers(5)), *r.integers(4, size=3).tolist()) for _ in range(r.integers(2, 6))]

    def operator(kind, k, a, b, rows):
        match kind:
            case 0:
                return a * 0.5 + b * 0.25
            case 1:
                return a * 0.5 + gs.outer(a, b).sum(0) / 8
            case 2:
                return a + rows[: k % 4 + 1].sum() / 16
            case 3:
                return gs.stack([a, b]).ravel()[:3] * 0.5
            case _:
                return a.reshape(3, 1).ravel() @ gs.outer(b, b) / 4

    def function(a, b, rows, n=8):
        held = [a, b, a * b, a - b]
        for k in range(n):
            before = list(held)
            for kind, x, y, to in chosen:
                for _ in range(2):
                    held[to] = gs.tanh(operator(kind, k, held[x], before[y], rows))
        return sum((one * one).sum() for one in held)

    return function


def check(function):
    rng = np.random.default_rng(0)
    args = [rng.normal(size=shape) / 2 for shape in ((3,), (3,), (16, 3))]
    slopes = gs.value_and_grad(function, argnums=(0, 1, 2))
    compiled = gs.compile(slopes, strict=True, recheck=False)
    for factor in (1.0, 0.9, -0.7):
        given = [a * factor for a in args]
        for a, b in zip(gs.tree_util.tree_leaves(compiled(*given)), gs.tree_util.tree_leaves(slopes(*given)), strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_value_that_is_its_operand_keeps_its_place():
    check(recurrent)


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_with_repeated_values(seed):
    check(random_program(seed))
