"""Nodes that stand where no derivative is: of operators whose entry has no rule.

The operators of the library all have one, so the tests take what generated code calls for an entry that has none.
"""

import warnings

import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad, set_missing_derivative
from gradspec.core.error_nodes import NotImplementedRule

bessel = NotImplementedRule("bessel")


def leaf(*values):
    return gs.tensor(values, requires_grad=True)


def test_backward_raises_and_names_the_operator_and_what_to_write():
    x = leaf(1.0)
    y = bessel(x * 2)
    assert y.requires_grad and y.grad_fn.name() == "NotImplementedBackward"
    with pytest.raises(NotImplementedError, match="the derivative for 'bessel' is not implemented") as caught:
        y.sum().backward()
    assert "unimplemented: true" in str(caught.value) and "vjp and jvp" in str(caught.value)
    assert "y = bessel(x * 2)" in caught.value.__notes__[0]


def test_a_branch_that_is_not_asked_for_does_not_raise():
    x, w = leaf(1.0), leaf(2.0)
    y = bessel(x) + w
    assert grad(y, w, retain_graph=True)[0].tolist() == [1.0]
    with pytest.raises(NotImplementedError):
        grad(y, x, create_graph=True)


def test_the_forward_says_nothing_by_default():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bessel(leaf(1.0))


def test_a_setting_warns_at_forward():
    x = leaf(1.0)
    with set_missing_derivative("warn"), pytest.warns(UserWarning, match="the derivative for 'bessel'") as caught:
        y = bessel(x)
    assert caught[0].filename == __file__
    with pytest.raises(NotImplementedError):
        y.backward()


def test_a_setting_refuses_at_forward():
    set_missing_derivative("error")
    try:
        with pytest.raises(NotImplementedError, match="the derivative for 'bessel' is not implemented"):
            bessel(leaf(1.0))
        with set_missing_derivative("backward"):
            bessel(leaf(1.0))
    finally:
        set_missing_derivative("backward")
    bessel(leaf(1.0))


def test_unknown_settings():
    with pytest.raises(ValueError, match="mode must be 'backward', 'warn' or 'error', got 'never'"):
        set_missing_derivative("never")


def test_forward_mode_raises_at_once():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor([1.0]), gs.tensor([1.0]))
        with pytest.raises(NotImplementedError, match="Trying to use forward AD with bessel that does not support it"):
            bessel(x)
