"""In-place view operators in every mode, on every kind of tensor: what may be done with the tensor, and with its views, afterwards.

A look is no change of values: it is recorded of a tensor with a history in any mode, and a leaf stays a leaf.
"""

import re

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, grad
from gradspec.generated.op_info import OPS
from tests.asked import each

MODES = {"enabled": gs.enable_grad, "no_grad": gs.no_grad, "inference": gs.inference_mode}
# What each does to an array of shape (1, 2, 3).
LOOKS = {
    "as_strided": lambda x: x.as_strided_((3, 2), (1, 3)),
    "expand_dims": lambda x: x.expand_dims_(0),
    "permute_dims": lambda x: x.permute_dims_((2, 0, 1)),
    "squeeze": lambda x: x.squeeze_(0),
    "swapaxes": lambda x: x.swapaxes_(0, 2),
}
VALUES = np.arange(1.0, 7.0).reshape(1, 2, 3)


class AsItIs(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad


def looked(name):
    """The array that an in-place view operator makes of VALUES."""
    x = gs.tensor(VALUES)
    LOOKS[name](x)
    return x.numpy()


def taken_in_no_grad(x):
    with gs.no_grad():
        return x[...]


def recorded():
    """A leaf, and a tensor that is recorded of it."""
    x = gs.tensor(VALUES, requires_grad=True)
    return x, x * 1


def pair(kind):
    """A leaf and what the operator is called on."""
    x, y = recorded()
    if kind == "recorded":
        return x, y
    if kind == "view":
        return x, y[...]
    if kind == "function":
        return x, AsItIs.apply(y)
    if kind == "several":
        return x, gs.unstack(y[None])[0]
    assert kind == "view of a leaf"
    return x, x[...]


KINDS = {
    "recorded": None, "view": None, "view of a leaf": "a view of a leaf Variable",
    "function": "view was created inside a custom Function", "several": "function that returns multiple views",
}  # fmt: skip


def test_all_operators_are_here():
    writes = {"conj"}  # a view of real numbers alone
    assert set(LOOKS) == {op.name for op in OPS if op.view and "inplace" in op.variants} - writes


@each("mode", MODES.values(), ids=MODES)
@each("name", LOOKS)
@each("kind", KINDS)
def test_what_has_a_history_keeps_it_and_its_creation(kind, name, mode):
    x, y = pair(kind)
    refused = KINDS[kind]
    with mode():
        if refused and mode is gs.enable_grad:
            with pytest.raises(RuntimeError, match=refused):
                LOOKS[name](y)
            assert y.shape == VALUES.shape
            return
        LOOKS[name](y)
        assert y.requires_grad and not y.is_inference() and y.shape == looked(name).shape
        np.testing.assert_array_equal(y.detach().numpy(), looked(name))
    weights = np.arange(10.0, 16.0).reshape(y.shape)
    expected = np.empty(6)
    expected[looked(name).reshape(-1).astype(int) - 1] = weights.reshape(-1)
    (found,) = grad((y * weights).sum(), x, retain_graph=True)
    np.testing.assert_array_equal(found.numpy().reshape(-1), expected)
    (found,) = grad((y.clone() * weights).sum(), x, retain_graph=True)
    np.testing.assert_array_equal(found.numpy().reshape(-1), expected)
    if refused:
        with pytest.raises(RuntimeError, match=refused):
            y.mul_(2)
    else:
        y.mul_(2)
        (found,) = grad((y * weights).sum(), x)
        np.testing.assert_array_equal(found.numpy().reshape(-1), 2 * expected)


@each("mode", ["no_grad", "inference"])
@each("name", LOOKS)
@each("times", [1, 2])
def test_a_leaf_stays_one(name, mode, times):
    w = gs.tensor(VALUES.copy(), requires_grad=True)
    early = w[0, 1]
    with MODES[mode]():
        LOOKS[name](w)
        for _ in range(times - 1):
            w.swapaxes_(0, 1)
    assert w.is_leaf and w.requires_grad and w.grad_fn is None and not w.is_inference()
    assert early.shape == (3,) and early.grad_fn is not None
    weights = np.arange(10.0, 16.0).reshape(w.shape)
    (w * weights).sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), weights)
    with gs.no_grad():
        w -= 0.5 * w.grad
    assert np.shares_memory(early.detach().numpy(), w.detach().numpy())
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        w.mul_(2)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        early.mul_(2)
    if w.shape != VALUES.shape:
        with pytest.raises(RuntimeError, match=re.escape("a gradient of shape [1, 2, 3] arrives at a leaf")):
            early.sum().backward()
    w.requires_grad_(False)
    w.mul_(gs.tensor(2.0, requires_grad=True))
    assert w.requires_grad and not w.is_leaf


@each("mode", ["no_grad", "inference"])
@each("name", LOOKS)
def test_a_view_taken_in_no_grad_stays_one(name, mode):
    for base in (recorded()[1], gs.tensor(VALUES.copy(), requires_grad=True)):
        view = taken_in_no_grad(base)
        with MODES[mode]():
            LOOKS[name](view)
        assert view.shape == looked(name).shape and (view * 2).tolist() == (2 * looked(name)).tolist()
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
            view.mul_(2)


@each("mode", MODES.values(), ids=MODES)
@each("name", LOOKS)
def test_views_of_what_it_was_follow_later_writes(name, mode):
    x, y = recorded()
    early, silent = y[0, 1], taken_in_no_grad(y)
    with mode():
        LOOKS[name](y)
    assert early.tolist() == [4, 5, 6] and silent.shape == VALUES.shape
    y.mul_(gs.tensor(3.0))
    (found,) = grad((early * np.array([1.0, 2.0, 3.0])).sum(), x)
    assert found.tolist() == [[[0, 0, 0], [3, 6, 9]]]
