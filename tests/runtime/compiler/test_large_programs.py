"""Random programs of arrays that are large enough to be put off, placed, gathered and joined: a replay has the bits of the call.

Those of `programs` are of six elements, which take none of these ways.  The sign of a zero is not asked (docs/replay.md).
"""

import random

import numpy as np
import pytest

import gradspec as gs

SHAPES = [(40, 30), (24, 25), (600, 3), (3, 700), (300, 260)]
ELEMENTWISE = [gs.tanh, gs.sigmoid, gs.sin, gs.square, gs.expm1, gs.nn.relu, gs.nn.gelu, gs.nn.softplus, gs.nn.silu, gs.erf]
# Of two arrays of one shape, places along the first axis that may repeat, and one of them.
STEPS = [
    lambda x, y, i, k: x * y,
    lambda x, y, i, k: x + y * 0.5,
    lambda x, y, i, k: x / (1 + y * y),
    lambda x, y, i, k: gs.maximum(x, y),
    lambda x, y, i, k: gs.where(x > y, x, 0.3 * y),
    lambda x, y, i, k: x - x.mean(axis=k % 2, keepdims=True),
    lambda x, y, i, k: gs.nn.softmax(x, axis=k % 2),
    lambda x, y, i, k: gs.nn.layer_norm(x, x.shape[1:]) * y,
    lambda x, y, i, k: x * gs.logsumexp(y, axis=1, keepdims=True),
    lambda x, y, i, k: x * (gs.sum(y * y) / y.size),
    lambda x, y, i, k: x + (x[i] * gs.flip(y[i], axis=0)).sum(axis=0, keepdims=True),
    lambda x, y, i, k: y + (gs.take(x, i, axis=0) ** 2).sum(axis=0, keepdims=True),
    lambda x, y, i, k: x + gs.take(y, i[:1], axis=0) * x[k],
    lambda x, y, i, k: x + x[k],
    lambda x, y, i, k: gs.sort(x, axis=1) + gs.flip(y, axis=0),
    lambda x, y, i, k: gs.concat([x[:k], y[k:]], axis=0),
    lambda x, y, i, k: x @ gs.mT(y) @ y * (0.01 / x.shape[0]),
    lambda x, y, i, k: gs.cumsum(x, axis=k % 2) * 0.01,
]


def written(x, y, k):
    z = x.clone()
    z[k] = y[0] * 2
    z[:, ::2] *= 0.5
    return z.add_(y)


def program(seed, shape, dtype):
    """A function of two arrays: some of what it has computed, weighed, and the gradients."""

    def called(*inputs):
        choice, numbers, pool = random.Random(seed), np.random.default_rng(seed), list(inputs)
        for _ in range(choice.randrange(4, 14)):
            x, y, k = choice.choice(pool), choice.choice(pool), choice.randrange(shape[0])
            i = numbers.integers(0, choice.choice([2, shape[0]]), choice.choice([3, max(1, shape[0] // 8), shape[0]]))
            kind = choice.randrange(len(STEPS) + 4)
            if kind >= len(STEPS) + 1:
                pool.append(choice.choice(ELEMENTWISE)(x))
            else:
                pool.append(written(x, y, k) if kind == len(STEPS) else STEPS[kind](x, y, i, k))
        loss = sum((one * gs.tensor(numbers.normal(size=shape).astype(dtype))).sum() for one in pool[-3:])
        return [loss, *gs.autograd.grad(loss, inputs, allow_unused=True)]

    return called


def bits(tensor):
    return None if tensor is None else (tensor.detach().numpy() + 0.0).tobytes()


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_replays_have_the_bits_of_calls(dtype):
    replayed = 0
    for seed in range(30):
        shape = SHAPES[seed % len(SHAPES)]
        function, numbers = program(seed, shape, dtype), np.random.default_rng(seed)
        compiled = gs.compile(function)
        with np.errstate(all="ignore"):
            for _ in range(3):
                inputs = [gs.tensor(numbers.normal(size=shape).astype(dtype), requires_grad=True) for _ in range(2)]
                assert [*map(bits, compiled(*inputs))] == [*map(bits, function(*inputs))], f"seed {seed}, shape {shape}"
        replayed += compiled.program is not None
    assert replayed >= 28
