"""Nodes that stand where no derivative is: of operators whose entry has no rule, and of what may be differentiated once.

The operators of the library all have one, so the tests take what generated code calls for an entry that has none.
"""

import itertools
import warnings

import pytest

import gradspec as gs
from gradspec.autograd import Function, forward_ad, grad, once_differentiable, set_missing_derivative
from gradspec.autograd.graph import make_dot
from gradspec.core.error_nodes import DelayedError, NotImplementedRule, UndefinedGrad
from tests.asked import each

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


# Nodes of any number of inputs, of which any may require grad.


class Passing(Function):
    """Gives its gradient to all arguments but the last."""

    @staticmethod
    def forward(ctx, *args):
        ctx.count = len(args) - 1
        return sum(args[:-1])

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        return (gradient,) * ctx.count + (None,)


@each("count", range(1, 7))
@each("recorded", [False, True])
def test_a_second_derivative_of_what_has_only_one_is_refused(count, recorded):
    leaves = [leaf(1.0, 2.0) for _ in range(count)]
    gradient = leaf(1.0, 1.0) if recorded else gs.ones((2,))
    found = grad(Passing.apply(*leaves, None), leaves, gradient, create_graph=True)
    for value in found:
        assert value.tolist() == [1, 1] and value.requires_grad
        ends = [node.variable for node, _ in value.grad_fn.next_functions]  # all that a second derivative may be asked for
        assert len(ends) == count + recorded and all(end is one for end, one in zip(ends, [*leaves, gradient]))
        assert "Error" in make_dot(value).source
        with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once_diff"):
            value.sum().backward()


MAKERS = {
    "DelayedError": lambda count: DelayedError("not twice", count), "UndefinedGrad": lambda count: UndefinedGrad(),
    "NotImplementedRule": lambda count: NotImplementedRule("bessel"),
}  # fmt: skip


@each("maker", MAKERS.values(), ids=MAKERS)
@each("kinds", ["".join(kinds) for n in range(1, 5) for kinds in itertools.product("lrc", repeat=n)])
def test_edges_lead_where_a_gradient_is_needed(maker, kinds):
    made = {"l": lambda: leaf(1.0), "r": lambda: leaf(1.0) * 2, "c": lambda: gs.tensor([1.0])}
    inputs = [made[kind]() for kind in kinds]
    outputs = maker(len(inputs))(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    (node,) = {output.grad_fn for output in outputs}
    assert [edge is None for edge, _ in node.next_functions] == [kind == "c" for kind in kinds]
    assert make_dot(outputs).source.count("->") >= sum(kind != "c" for kind in kinds)
    total = sum(outputs).sum()
    if maker is MAKERS["UndefinedGrad"]:
        total.backward()
        assert all(x.grad is None for x in inputs if x.is_leaf)
    else:
        with pytest.raises((RuntimeError, NotImplementedError)):
            total.backward()
