"""Axis 0 of a number: what PyTorch accepts of a 0-d array is accepted, with its value and gradient."""

import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.generated.op_info import OPS
from tests.asked import each
from tests.later import later

torch = later("torch")
# NumPy's results have one axis here, PyTorch's none, or NumPy's function is another one.
NUMPYS = {"cumsum", "cumprod", "unique", "repeat", "diff", "trapezoid", "cumulative_trapezoid"}
BETWEEN = {"topk": (1,), "kthvalue": (1,), "quantile": (0.5,), "nanquantile": (0.5,)}
NAMES = [op.name for op in OPS if " axis" in op.signature and not op.name.startswith("_") and not op.namespace and op.name not in NUMPYS]


def first(found):
    return found[0] if isinstance(found, tuple) else found


def accepted(name, axis):
    """PyTorch's value and gradient of 2.5 along an axis, or None where it refuses."""
    x = torch.tensor(2.5, dtype=torch.float64, requires_grad=True)
    function = getattr(torch, name, None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = first(function(x, *BETWEEN.get(name, ()), dim=axis))
    except (TypeError, RuntimeError, IndexError, ValueError):
        return None
    y = torch.as_tensor(y)
    return y.detach().numpy(), torch.autograd.grad(y, x)[0].item() if y.requires_grad else None


@each("name", NAMES)
def test_as_in_pytorch(name):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    for axis in (0, -1):
        expected = accepted(name, axis)
        x = gs.tensor(2.5, requires_grad=True)
        if expected is None:
            continue
        named = {"correction": 1} if name in ("std", "var", "std_mean", "var_mean") else {}
        with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):  # of the one degree of freedom
            y = first(getattr(gs, name)(x, *BETWEEN.get(name, ()), axis=axis, **named))
            slope = gs.autograd.grad(y, x)[0].item() if expected[1] is not None else None
        assert y.shape == expected[0].shape and (y.item() == expected[0] or y.item() != y.item()), name
        assert slope == expected[1] or slope != slope, name


def test_there_are_many():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    assert sum(accepted(name, 0) is not None for name in NAMES) > 30


@each("call", [lambda x: x.sum(1), lambda x: x.sort(-2), lambda x: x.flip(1), lambda x: x.topk(1, 1), lambda x: x.sum((0, 0))])
def test_other_axes_are_refused(call):
    with pytest.raises((IndexError, ValueError), match="axis"):
        call(gs.tensor(2.5))


def test_rows_that_are_numbers():
    for f in (gs.sort, lambda x: gs.topk(x, 1)[0], lambda x: x.flip(0), lambda x: x.sum(0), lambda x: gs.cummax(x, 0)[0], lambda x: x.std(0)):
        y = gs.vmap(f)(gs.tensor([1.0, 3.0, 2.0]))
        assert y.tolist() == [f(gs.tensor(v)).item() for v in (1.0, 3.0, 2.0)]
