"""Gradients that are zeros but for some places: added where a gradient is, and seen whole by everybody else."""

import time

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from tests.asked import each

SHAPE = (40, 6, 8)
INDICES = {
    "row": 3,
    "last": -1,
    "element": (2, -1, 0),
    "slices": (slice(None, None, 7), 2),
    "new axis": (None, 4, ..., 1),
    "ellipsis": (..., 2),
    "places twice": (np.array([1, 3, 1]),),
    "apart": (np.array([0, 2, 0]), slice(1, 3), np.array([1, 1, 1])),
    "mask": np.arange(40) == 7,
    "list": [3, 3, 5],
}


@each("name", INDICES)
def test_whole_and_added(name):
    index, rng = INDICES[name], np.random.default_rng(0)
    x = rng.normal(size=np.zeros(SHAPE)[index].shape)
    expected = np.zeros(SHAPE)
    np.add.at(expected, tuple(index) if isinstance(index, tuple) else (index,), x)
    assert np.array_equal(np.asarray(kernels.getitem_placed(x, index, SHAPE)), expected)
    a = gs.tensor(rng.normal(size=SHAPE), requires_grad=True)
    weight = gs.tensor(x)
    ((a[index] * weight).sum() + (a[5] * 2).sum() + (a * a).sum() + (a[index] * weight).sum()).backward()
    whole = 2 * expected + 2 * a.detach().numpy()
    whole[5] += 2
    np.testing.assert_allclose(a.grad.numpy(), whole, rtol=1e-14, atol=1e-14)


@each("name", [*INDICES, "many"])
def test_bits_are_those_of_whole_arrays(name):
    """A pass that is recorded, and so replayed, adds whole arrays; sums of three numbers tell in which order they are added."""
    rng = np.random.default_rng(0)
    index = INDICES[name] if name in INDICES else (rng.integers(0, 40, 50), rng.integers(0, 6, 50), rng.integers(0, 8, 50))
    weights = [gs.tensor(rng.normal(size=np.zeros(SHAPE)[index].shape)) for _ in range(12)]

    def gradient(x):
        y = x * 1.1
        return gs.autograd.grad(sum([(y[index] * weight).sum() for weight in weights], (y * y).sum()), x)[0]

    compiled = gs.compile(gradient)
    x = gs.tensor(rng.normal(size=SHAPE), requires_grad=True)
    for _ in range(3):
        assert compiled(x).numpy().tobytes() == gradient(x).numpy().tobytes()


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_take_adds_along_an_axis(axis):
    a = gs.tensor(np.random.default_rng(0).normal(size=SHAPE), requires_grad=True)
    places = np.array([[1, 3], [1, -1]])
    (gs.take(a, places, axis) * 3).sum().backward(retain_graph=True)
    first = a.grad.numpy().copy()
    (gs.take(a, places, axis).sum() + gs.take(a, places, axis).sum() + gs.take(a, places, axis).sum()).backward()
    assert np.array_equal(a.grad.numpy(), 2 * first)
    counts = np.zeros(SHAPE[axis])
    np.add.at(counts, places.ravel(), 3)
    assert np.array_equal(first.max(tuple(i for i in range(3) if i != axis % 3)), counts)


def test_hooks_and_captures_see_whole_gradients():
    a = gs.tensor(np.ones((100, 10)), requires_grad=True)
    b = a * 1.0
    seen = []
    row, other = b[3], b[4]
    row.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs[0]))
    b.register_hook(lambda grad: seen.append(grad.clone()))
    b.retain_grad()
    (row.sum() + other.sum()).backward(retain_graph=True)
    whole = np.zeros((100, 10))
    whole[3] = 1
    assert np.array_equal(seen[0].numpy(), whole)
    whole[4] = 1
    for found in (seen[1], b.grad, a.grad, gs.autograd.grad(row.sum() + other.sum(), b)[0]):
        assert np.array_equal(found.numpy(), whole)


def test_what_somebody_else_holds_is_not_written_to():
    """The gradient of the sum is one array for both of its operands, and a user may keep the one that was passed in."""
    a, given = gs.tensor(np.ones((100, 10)), requires_grad=True), gs.tensor(np.ones((100, 10)))
    b = a * 1.0
    gs.autograd.backward([b[2].sum(), b], [gs.tensor(1.0), given])
    assert (given.numpy() == 1).all()
    assert a.grad.numpy().sum() == 1010


@pytest.mark.parametrize("read", [lambda x, i: x[i], lambda x, i: x[i : i + 1], lambda x, i: gs.take(x, [i], 0)])
def test_a_row_costs_a_row(read):
    """500 rows of 10^6 numbers: less than 100 additions of the whole, where each row made a whole of its own they were 1500."""
    x = gs.tensor(np.zeros((500, 2000)), requires_grad=True)
    y = gs.stack([read(x, i).sum() for i in range(500)]).sum()
    start = time.process_time()
    y.backward()
    spent = time.process_time() - start
    a, b = np.ones((500, 2000)), np.ones((500, 2000))
    start = time.process_time()
    for _ in range(20):
        a += b
    assert spent < 5 * (time.process_time() - start)


def test_a_recurrence_in_a_buffer_costs_a_row():
    """Each write and each read of a row leave the gradient of the rest where it is."""
    rate = gs.tensor(np.full(2000, 0.5), requires_grad=True)
    out = gs.zeros((500, 2000))
    out[0] = 1.0
    for i in range(499):
        out[i + 1] = out[i] * rate
    total = out.sum()
    start = time.process_time()
    total.backward()
    spent = time.process_time() - start
    n = np.arange(500)
    np.testing.assert_allclose(rate.grad.numpy(), (n * 0.5 ** (n - 1.0)).sum(), rtol=1e-12)
    a, b = np.ones((500, 2000)), np.ones((500, 2000))
    start = time.process_time()
    for _ in range(20):
        a += b
    assert spent < 5 * (time.process_time() - start)
