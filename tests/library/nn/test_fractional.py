"""Fractional max pooling: PyTorch's windows for the same random numbers, and their derivatives."""

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.nn import functional as F
from tests.asked import each

rng = np.random.default_rng(0)
ROWS = [  # axes, leading shape, lengths, kernel, what the size of the result is said by
    (2, (2, 3), (7, 9), 2, {"output_size": 3}), (2, (3,), (7, 5), (3, 1), {"output_size": (1, 4)}), (2, (1, 1), (8, 8), 2, {"output_ratio": (0.5, 0.7)}),
    (2, (2, 1), (6, 6), 6, {"output_size": 1}), (3, (2, 3), (5, 6, 7), 2, {"output_size": (3, 2, 4)}), (3, (2,), (6, 5, 7), (1, 2, 3), {"output_ratio": 0.5}),
]  # fmt: skip


def function(axes, library=F):
    return getattr(library, f"fractional_max_pool{axes}d")


@each("dtype", ["float32", "float64"])
def test_values_places_and_gradients_are_pytorchs(dtype):
    torch = pytest.importorskip("torch", reason="compares with PyTorch's pooling, and PyTorch is not installed")
    for axes, leading, lengths, kernel, size in ROWS:
        for _ in range(4):
            x, samples = rng.normal(size=(*leading, *lengths)).astype(dtype), rng.random((*(1, *leading)[-2:], axes)).astype(dtype)
            x[..., 0] = 1  # ties
            here, there = gs.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
            found = function(axes)(here, kernel, **size, return_indices=True, _random_samples=samples)
            wanted = function(axes, torch.nn.functional)(there, kernel, **size, return_indices=True, _random_samples=torch.tensor(samples))
            for item, other in zip(found, wanted):
                np.testing.assert_array_equal(item.detach(), other.detach().numpy(), err_msg=f"{axes, kernel, size}")
            found[0].square().sum().backward(), wanted[0].square().sum().backward()
            np.testing.assert_allclose(here.grad, there.grad.numpy(), rtol=1e-5)
            layer = getattr(nn, f"FractionalMaxPool{axes}d")(kernel, **size, return_indices=True, _random_samples=samples)
            assert layer(here)[0].tolist() == found[0].tolist() and repr(layer) == f"FractionalMaxPool{axes}d()"


def test_every_mode_of_differentiation():
    samples = rng.random((2, 1, 2))
    x = gs.tensor(rng.permutation(2 * 6 * 5).reshape(2, 1, 6, 5) / 7, requires_grad=True)

    def f(x):
        return F.fractional_max_pool2d(x, 2, 3, _random_samples=samples)

    assert gs.autograd.gradcheck(f, [x], check_forward_ad=True) and gs.autograd.gradgradcheck(f, [x])


def test_draws():
    """The windows of each channel are its own, follow the seed, and lie inside; each is drawn anew by a compiled function."""
    x = gs.asarray(np.arange(8 * 81.0).reshape(2, 4, 9, 9))
    gs.manual_seed(0)
    first, places = F.fractional_max_pool2d_with_indices(x, 2, output_ratio=0.6)
    gs.manual_seed(0)
    again = F.fractional_max_pool2d(x, (2, 2), (5, 5))
    assert first.tolist() == again.tolist() and places.dtype == gs.int64 and 0 <= places.min() and places.max() == 80
    offsets = {tuple((first[n, c] - 81 * (4 * n + c)).ravel().tolist()) for n in range(2) for c in range(4)}
    assert len(offsets) > 4
    steps = np.diff(places.numpy()[..., 0] // 9, axis=-1)
    assert set(steps.ravel()) == {1, 2}  # Graham's sequences: differences are the floor of 7/4 or one more
    compiled = gs.compile(lambda x: F.fractional_max_pool2d(x, 2, 5))
    gs.manual_seed(3)
    wanted = [F.fractional_max_pool2d(x, 2, 5).tolist() for _ in range(4)]
    gs.manual_seed(3)
    assert [compiled(x).tolist() for _ in range(4)] == wanted and compiled.program is not None
    assert F.fractional_max_pool2d(x, 2, 5, generator=1).tolist() == F.fractional_max_pool2d(x, 2, 5, generator=1).tolist()


@pytest.mark.parametrize(("call", "message"), [
    (lambda x: F.fractional_max_pool2d(x, 2), "requires specifying either an output_size or an output_ratio"),
    (lambda x: F.fractional_max_pool2d(x, 2, 3, 0.5), "takes only one of"), (lambda x: F.fractional_max_pool3d(x[0], 2, 2), "expected 4 or 5 axes, got 3"),
    (lambda x: F.fractional_max_pool2d(x, 2, 6), "do not fit"), (lambda x: F.fractional_max_pool2d(x, 2, output_ratio=1.5), "between 0 and 1"),
    (lambda x: F.fractional_max_pool2d(x, 2, 3, _random_samples=[0.5]), "has the shape"), (lambda x: nn.FractionalMaxPool2d(2), "requires specifying either"),
    (lambda x: nn.FractionalMaxPool2d(2, 2, 0.5), "only one of output_size"), (lambda x: nn.FractionalMaxPool3d(2, output_ratio=2.0), "between 0 and 1"),
])  # fmt: skip
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(gs.ones((2, 1, 6, 6)))
