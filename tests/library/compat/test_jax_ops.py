"""`gradspec.ops.segment_sum` and its kin: values and gradients as JAX's, under every transform."""

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each
from tests.later import later

jax = later("jax")
NAMES = "segment_sum", "segment_prod", "segment_max", "segment_min"
X = np.array([[0.5, -1.5], [3.0, 0.25], [-0.75, 2.0], [0.5, 1.0], [0.5, -4.0]])
IDS = {"some": [2, 0, 2, 0, 2], "beside": [2, -1, 0, 7, 2], "sorted": [0, 0, 1, 3, 3]}


@each("name", NAMES)
@each("ids", IDS)
@each("count", (4, None))
def test_as_in_jax(name, ids, count):
    pytest.importorskip("jax", reason="compares with JAX's results, and JAX is not installed")
    ids = np.array(IDS[ids])

    def f(package):
        return lambda x: getattr(package.ops, name)(x, ids, count)

    found, back = gs.vjp(f(gs), X)
    weights = np.cos(np.arange(found.size)).reshape(found.shape)
    with jax.enable_x64(True):
        np.testing.assert_allclose(found.numpy(), f(jax)(X), rtol=1e-14)
        try:
            (slope,) = jax.vjp(f(jax), X)[1](weights)
        except NotImplementedError:  # of a product of repeated indices
            assert gs.autograd.gradcheck(f(gs), [gs.tensor(X, requires_grad=True)])
        else:
            np.testing.assert_allclose(back(weights)[0].numpy(), slope, rtol=1e-12)
        integers = np.array([3, -1, 4, 1, 5], np.int32)
        expected = np.asarray(f(jax)(integers))
    np.testing.assert_array_equal(f(gs)(integers).numpy(), expected)
    assert f(gs)(integers).dtype == expected.dtype


@each("name", NAMES)
def test_rows_and_replays(name):
    f = getattr(gs.ops, name)
    ids = np.array([[0, 2, 2, 1, 0], [1, 1, -3, 5, 1]])
    rows = gs.vmap(lambda i: f(gs.tensor(X), i, num_segments=3))(ids)
    replayed = gs.compile(lambda x, i: f(x, i, 3))
    for row, one in zip(rows, ids, strict=True):
        alone = f(X, one, 3).numpy()
        np.testing.assert_array_equal(row.numpy(), alone)
        for _ in range(3):
            np.testing.assert_array_equal(replayed(gs.tensor(X), gs.tensor(one)).numpy(), alone)


def test_ids_of_two_axes_and_other_modes():
    np.testing.assert_array_equal(gs.ops.segment_sum(np.ones((2, 3, 4)), np.array([[0, 1, 1], [1, 1, 0]]), 2)[:, 0].numpy(), [2, 4])
    with pytest.raises(NotImplementedError, match=r"write gs.clip\(segment_ids, 0, num_segments - 1\)"):
        gs.ops.segment_sum(np.ones(3), np.array([0, 1, 5]), 2, mode="clip")
    with pytest.raises(TypeError, match=r"write data.astype\(int\)"):
        gs.ops.segment_max(np.ones(3, bool), np.array([0, 1, 1]), 2)
    with pytest.raises(ValueError, match="num_segments=-1 is negative"):
        gs.ops.segment_sum(np.ones(3), np.array([0, 1, 1]), -1)
    with pytest.raises(AttributeError, match="no counterpart"):
        gs.ops.aten  # noqa: B018 (PyTorch's `torch.ops`)
