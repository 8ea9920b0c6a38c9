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


def test_the_class_of_tensors_makes_them_in_the_default_dtype():
    """As `torch.Tensor`, whose dtype is PyTorch's default; here the default is float64."""
    data = np.arange(3)
    x = gs.Tensor(data)
    assert type(x) is gs.Tensor and x.dtype == gs.get_default_dtype() and x.tolist() == [0, 1, 2] and x.is_leaf and not x.requires_grad
    x[0] = 5.0
    assert data[0] == 0 and gs.Tensor([[1, 2]]).shape == (1, 2) and gs.Tensor(2, 3).shape == (2, 3) and gs.Tensor().shape == (0,)
    y = gs.Tensor([1.0, 2.0]).requires_grad_()
    (y * y).sum().backward()
    assert y.grad.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="would drop its history"):
        gs.Tensor(y * 2)
    with pytest.raises(TypeError, match=r"\(2, 3\) may be data or a shape; write gradspec.tensor\(\[2, 3\]\) or gradspec.empty\(\(2, 3\)\)"):
        gs.Tensor((2, 3))
    with pytest.raises(TypeError, match="this tensor has its array"):
        x.__init__([1.0])
