"""Moves: which operators only put numbers elsewhere is found out, and what computes is never taken for one."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.lowering.data_movement import pieces_of


def pieces(function, *arrays):
    """Of the last operator of a call."""
    return pieces_of(gs.trace(function, *[gs.asarray(array) for array in arrays], check=False).instructions[-1])


A, B = np.arange(6.0).reshape(2, 3) + 1, np.arange(3.0) + 10

MOVES = {
    "stack": (lambda b: gs.stack([b, b * 1]), [B]),
    "concat": (lambda a, b: gs.concat([a, b[None]]), [A, B]),
    "flip": (lambda a: gs.flip(a, 1).copy(), [A]),
    "roll": (lambda a: gs.roll(a, 1, 1), [A]),
    "tril": (lambda a: gs.tril(a), [A]),
    "take": (lambda a: gs.take(a, gs.asarray([1, 0]), 0), [A]),
}


@pytest.mark.parametrize("name", ["stack", "concat", "roll", "tril"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_moves_are_found(name, dtype):
    function, arrays = MOVES[name]
    arrays = [array.astype(dtype) for array in arrays]
    found = pieces(function, *arrays)
    assert found is not None and sum(size for _, _, _, size in found) == gs.asarray(function(*map(gs.asarray, arrays))).nbytes


def test_slices_and_their_derivatives():
    instructions = gs.trace(gs.grad(lambda a: (a[1, ::2] * a[0, 1:]).sum()), gs.asarray(A), check=False).instructions
    backward = [line for line in instructions if line.name == "_getitem_backward"]
    assert backward and all(pieces_of(line) is not None for line in backward)


@pytest.mark.parametrize("function", [
    lambda a: gs.sum(a, 0), lambda a: gs.cumsum(a, 1), lambda a: a * 2, lambda a: gs.mean(a), lambda a: -a, lambda a: a @ a.T,
    lambda a: gs.sort(a, 1), lambda a: gs.where(a > 2, a, -a), lambda a: gs.sum(a[:, :1], 1), lambda a: gs.fft.fft(a),
])  # fmt: skip
def test_what_computes_is_none(function):
    """Not even a sum of one number, which makes 0.0 of -0.0, and not a sort, whose order hangs on the numbers."""
    assert pieces(function, A) is None


def test_copies_that_reshape_makes_are_found_in_single_precision():
    """Among 12 000 random numbers of single precision some are equal."""
    x = np.arange(24000, dtype=np.float32).reshape(2, 300, 40)
    found = pieces(lambda a: gs.reshape(gs.swapaxes(a, 0, 1), (300, 80)), x)
    assert len(found) == 600 and all(size == 160 for _, _, _, size in found)
    assert pieces(lambda a: gs.reshape(a.T, (-1,)), x) is None  # number by number it is no gain


def test_operands_may_lie_far_apart():
    x = np.arange(400_000.0).reshape(400, 1000)
    for wide in (x, x[::-1]):
        compiled = gs.compile(lambda a: gs.concat([a[:, 0], a[:3, 1]]) * 2, strict=True)
        for _ in range(2):
            assert compiled(wide).tolist() == (np.concatenate([wide[:, 0], wide[:3, 1]]) * 2).tolist()
    assert pieces(lambda a: gs.concat([a[:, 0], a[:, 1]]), np.zeros((3, 2_000_000), np.float32)) is None
