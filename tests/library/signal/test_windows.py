"""What shows elements several times: windows along an axis."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import grad


@pytest.mark.parametrize(("dimension", "size", "step"), [(0, 3, 1), (-1, 2, 2), (1, 4, 3), (1, 0, 1)])
def test_unfold_is_a_view_of_windows(dimension, size, step):
    values = np.arange(20.0).reshape(4, 5)
    x, base = gs.tensor(values, requires_grad=True), gs.tensor(values.copy())
    y = x.unfold(dimension, size, step)
    expected = np.moveaxis(np.lib.stride_tricks.sliding_window_view(values, size, dimension % 2), dimension % 2, 0)[::step]
    np.testing.assert_array_equal(y.detach().numpy(), np.moveaxis(expected, 0, dimension % 2))
    counts = np.zeros_like(values)
    for start in range(0, values.shape[dimension] - size + 1, step):
        np.moveaxis(counts, dimension, 0)[start : start + size] += 1
    np.testing.assert_array_equal(grad(y.sum(), x)[0].numpy(), counts)
    view = base.unfold(dimension, size, step)
    assert view._base is base
    if counts.max() > 1:
        with pytest.raises((RuntimeError, ValueError), match="read-only|single memory location"):
            view.mul_(2)
    else:
        view.mul_(2)
        np.testing.assert_array_equal(base.numpy(), np.where(counts > 0, 2 * values, values))


def test_windows_that_do_not_fit():
    x = gs.ones(3)
    for size, step in ((4, 1), (-1, 1), (2, 0)):
        with pytest.raises(ValueError, match="no windows of"):
            x.unfold(0, size, step)
