"""Operators on 100 000 elements: kernels take other branches there than on the samples of entries.

Each call of `benchmarks/calls.py` and its gradients have the same bits on one, two and three threads and in a replay, and the numbers
of its trace as a program over NumPy.  The sign of a zero is not asked of a replay (docs/replay.md).
"""

import zlib

import numpy as np
import pytest

import gradspec as gs
from benchmarks.calls import calls
from benchmarks.operands import differentiable, operands

SIZE = 100_000
CALLS = {call.label: call for call in calls()}
ROUNDING = {"float32": 2e-4, "float64": 1e-10}


def function_of(call, dtype):
    """The call as a function of its differentiable operands, these operands, and a function of the values and gradients."""
    arrays = operands(SIZE, dtype)
    names = [name for name, array in arrays.items() if name in call.names and differentiable(name, array)]
    fixed = {"gs": gs} | {name: gs.tensor(array) for name, array in arrays.items() if name not in names}
    value = eval(f"lambda {', '.join(names)}: {call.gradspec}", fixed)
    shape = value(*(gs.tensor(arrays[name]) for name in names)).shape
    weights = gs.tensor(np.random.default_rng(zlib.crc32(call.label.encode())).normal(size=shape).astype(dtype))

    def both(*leaves):
        leaves = [leaf.detach().requires_grad_() for leaf in leaves]
        y = value(*leaves)
        if not y.requires_grad:
            return (y,)
        return y.detach(), *gs.autograd.grad(y, leaves, weights, allow_unused=True, materialize_grads=True)

    return value, [arrays[name] for name in names], both


@pytest.fixture(autouse=True)
def threads_as_before():
    before = gs.get_num_threads()
    yield
    gs.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("label", CALLS)
def test_large_operands(label, dtype):
    value, leaves, both = function_of(CALLS[label], dtype)
    found = []
    for count in (1, 2, 3):
        gs.set_num_threads(count)
        found.append([one.numpy().copy() for one in both(*map(gs.tensor, leaves))])
    for others in found[1:]:
        for one, other in zip(found[0], others):
            assert one.tobytes() == other.tobytes()
    gs.set_num_threads(2)
    compiled = gs.compile(both, strict=True)
    for _ in range(3):
        for one, other in zip(found[0], compiled(*map(gs.tensor, leaves))):
            np.testing.assert_array_equal(other.numpy(), one)
    program = gs.trace(value, *map(gs.tensor, leaves)).compiled(numpy=True)
    np.testing.assert_allclose(
        program(*leaves), found[0][0], rtol=ROUNDING[dtype], atol=ROUNDING[dtype] * np.abs(found[0][0]).max()
    )
