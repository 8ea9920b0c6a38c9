"""PyTorch's older classes of tensors: data, lengths of axes, and the question for a dtype."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.api import kinds


@pytest.mark.parametrize("name", kinds.__all__)
def test_a_class_makes_tensors_of_its_dtype_and_knows_them(name):
    kind = getattr(gs, name)
    made = kind([[1, 0], [1, 1]])
    assert type(made) is gs.Tensor and made.dtype == kind.dtype and made.tolist() == [[1, 0], [1, 1]]
    assert kind(2, 3).shape == (2, 3) and kind(4).shape == (4,) and kind().shape == (0,) and kind(np.zeros(2)).dtype == kind.dtype
    assert isinstance(made, kind) and not isinstance(made.numpy(), kind)
    assert [other for other in kinds.__all__ if isinstance(made, getattr(gs, other))] == [name]
    with pytest.raises(TypeError, match=f"{name}: expected data, or the length of each axis, got 2 arguments"):
        kind([1], [2])


def test_the_dtypes_are_pytorchs():
    torch = pytest.importorskip("torch", reason="compares with PyTorch's classes, and PyTorch is not installed")
    for name in kinds.__all__:
        assert str(getattr(torch, name)().dtype).removeprefix("torch.") == str(getattr(gs, name)().dtype)


@pytest.mark.parametrize("name", kinds.__all__)
def test_a_class_stands_for_its_dtype_wherever_one_is_taken(name):
    kind, x = getattr(gs, name), gs.tensor([1.0, 0.0])
    for made in (
        x.type(kind), x.to(kind), x.astype(kind), gs.zeros(2, dtype=kind), gs.tensor([1, 0], dtype=kind), gs.ones_like(x, dtype=kind),
    ):  # fmt: skip
        assert isinstance(made, kind) and made.dtype == kind.dtype == np.dtype(kind)
