"""nn.pad: values and gradients are PyTorch's."""

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn.functional as F
from gradspec.autograd import gradcheck

X = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
CALLS = [
    ((1, 2),), ((1, 2, 0, 3),), ((1, 1, 2, 2, 3, 3),), ((0, -2),), ((-1, 2, 1, -1), "constant", 2.5), ((), "constant", 1.0),
    ((1, 2, 2, 1), "reflect"), ((3, 0, 2, 2), "replicate"), ((2, 1, 0, 2), "circular"), ((-1, 2, 1, -1), "replicate"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", CALLS, ids=str)
def test_as_torch(arguments):
    torch = pytest.importorskip("torch")
    x, x_torch = gs.tensor(X, requires_grad=True), torch.tensor(X, requires_grad=True)
    y, y_torch = F.pad(x, *arguments), torch.nn.functional.pad(x_torch, *arguments)
    np.testing.assert_array_equal(y.detach().numpy(), y_torch.detach().numpy())
    (y * y).sum().backward()
    (y_torch * y_torch).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), x_torch.grad.numpy(), rtol=1e-14)
    assert gradcheck(lambda x: gs.nn.pad(x, *arguments), x, check_forward_ad=True)


@pytest.mark.parametrize(("arguments", "says"), [
    (((1,),), "pairs of widths for at most 4 axes, from the last one on"),
    (((1,) * 10,), "pairs of widths for at most 4 axes"),
    (((1, 1), "edge"), "constant, reflect, replicate, circular, not 'edge'; gs.pad has NumPy's modes"),
    (((1, 1), "reflect", 2.0), "takes no value"),
    (((-3, -3),), "more is cut off axis 3 than its 5 elements"),
])  # fmt: skip
def test_what_is_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        gs.nn.pad(X, *arguments)
