"""Inference mode: what makes inference tensors, and what they refuse outside."""

import threading

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


def test_results_factories_and_views_are_inference_tensors():
    with gs.inference_mode():
        a = gs.ones((2,))
        b = gs.tensor([1.0, 2.0])
        c = a * b
        v = c[:1]
        assert all(t.is_inference() for t in (a, b, c, v)) and not v._is_view()
        c.add_(1)
    for t in (a, c, v):
        with pytest.raises(RuntimeError, match="Inference tensors do not track version counter."):
            t._version
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        leaf(1.0, 1.0) * b
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        b.add_(1)
    x = leaf(1.0, 1.0)
    (x + b).sum().backward()
    same(x.grad, [1, 1])
    w = b[:1]
    assert w.is_inference() and not w._is_view() and w.is_leaf
    with pytest.raises(RuntimeError):
        b.requires_grad_()


def test_a_normal_tensor_stays_normal_and_counts_the_write():
    h = leaf(2.0) * 1
    y = h * h
    with gs.inference_mode():
        h.add_(1)
    assert not h.is_inference() and h._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        y.backward()


def test_requires_grad_is_kept_and_nothing_is_recorded():
    with gs.inference_mode():
        t = gs.tensor([1.0], requires_grad=True)
        assert t.requires_grad
        assert not (t * 2).requires_grad


@pytest.mark.parametrize("switch", [gs.enable_grad, lambda: gs.set_grad_enabled(True)])
def test_nothing_is_recorded_inside_whatever_is_switched_on(switch):
    x = leaf(1.0, 2.0)
    with gs.inference_mode():
        c = gs.ones((2,), requires_grad=True)
        with switch():
            for inside in (c * c, c + 1, x * x, x[:1], c * x, gs.exp(x)):
                assert not inside.is_inference() or inside.grad_fn is None
                assert inside._is_view() or inside.is_inference() and not inside.requires_grad
        c.mul_(2)
    assert (x * 2).requires_grad


# Operators of an inference tensor and a normal one; the first ones save nothing of it.
USES = {
    "add": lambda c, s: c + 1, "both": lambda c, s: c + s, "multiply": lambda c, s: c * 2, "sum": lambda c, s: c.sum(),
    "view": lambda c, s: c[0], "reshape": lambda c, s: c.reshape(-1), "copy": lambda c, s: c.copy(), "exp": lambda c, s: gs.exp(c),
    "square": lambda c, s: c * c, "saved for the other": lambda c, s: c * s, "saved": lambda c, s: gs.sin(c), "matmul": lambda c, s: c @ s.mT,
}  # fmt: skip


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_outside_it_is_a_leaf_or_a_constant_that_no_graph_saves(name, requires_grad):
    """A gradient is never lost in silence: what would have to be saved is refused."""
    s = gs.ones((2, 3)) * 3
    with gs.inference_mode():
        c = gs.ones((2, 3), requires_grad=requires_grad)
    same_numbers = gs.ones((2, 3), requires_grad=True)
    assert c.requires_grad is requires_grad and ("requires_grad=True" in repr(c)) is requires_grad and c.is_leaf
    if requires_grad and name in ("square", "saved"):
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            USES[name](c, s)
        return
    y = USES[name](c, s)
    assert y.requires_grad is requires_grad
    if requires_grad:
        (y * 2).sum().backward()
        (USES[name](same_numbers, s) * 2).sum().backward()
        same(c.grad, same_numbers.grad.numpy())
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        c.mul_(2)


def test_out_does_not_write_to_an_inference_tensor_outside():
    with gs.inference_mode():
        a = gs.zeros((2,))
    for call in (gs.add, gs.equal, gs.matmul):
        operands = (gs.ones((2, 2)), gs.ones((2,))) if call is gs.matmul else (gs.ones((2,)), gs.ones((2,)))
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
            call(*operands, out=a)
    same(a, [0, 0])


def test_inference_mode_decorates_and_nests():
    @gs.inference_mode
    def f():
        return gs.ones((1,)).is_inference()

    @gs.inference_mode()
    def g():
        return gs.ones((1,)).is_inference()

    @gs.inference_mode(False)
    def h():
        return gs.ones((1,)).is_inference()

    assert f() and g() and not h()
    with gs.inference_mode():
        with gs.inference_mode(False):
            assert not gs.is_inference_mode_enabled() and not gs.ones((1,)).is_inference()


def test_one_no_grad_object_in_several_threads():
    ng = gs.no_grad()
    ok = []

    def work():
        for _ in range(2000):
            with ng:
                pass
        ok.append(gs.is_grad_enabled())

    ts = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    assert ok == [True] * 4


CUBE = lambda x: (x**3).sum()  # noqa: E731
TRANSFORMS = {
    "grad": lambda x: gs.grad(CUBE)(x), "value_and_grad": lambda x: gs.value_and_grad(CUBE)(x), "grad of grad": lambda x: gs.grad(lambda x: gs.grad(CUBE)(x)[0])(x),
    "elementwise_grad": lambda x: gs.elementwise_grad(gs.sin)(x), "vjp": lambda x: gs.func.vjp(gs.sin, x)[1](gs.ones(3)), "jvp": lambda x: gs.func.jvp(gs.sin, (x,), (x,)),
    "linearize": lambda x: gs.func.linearize(gs.sin, x)[1](x), "jacrev": lambda x: gs.jacrev(gs.sin)(x), "jacfwd": lambda x: gs.jacfwd(gs.sin)(x), "hessian": lambda x: gs.hessian(CUBE)(x),
    "jacrev of grad": lambda x: gs.jacrev(gs.grad(CUBE))(x), "jacfwd of grad": lambda x: gs.jacfwd(gs.grad(CUBE))(x), "vmap of grad": lambda x: gs.vmap(gs.grad(CUBE))(gs.stack([x, x * 2])),
    "grad of vmap": lambda x: gs.grad(lambda x: gs.vmap(lambda r: r * r)(x).sum())(x), "hvp": lambda x: gs.autograd.functional.hvp(CUBE, x, x), "vhp": lambda x: gs.autograd.functional.vhp(CUBE, x, x),
    "functional.jacobian": lambda x: gs.autograd.functional.jacobian(gs.sin, x), "functional.hessian": lambda x: gs.autograd.functional.hessian(CUBE, x),
    "functional.vjp": lambda x: gs.autograd.functional.vjp(gs.sin, x, x), "functional.jvp": lambda x: gs.autograd.functional.jvp(gs.sin, x, x),
}  # fmt: skip


@each("name", TRANSFORMS)
@each("made", ["inside", "outside", "an array"])
def test_transforms_differentiate_in_inference_mode(name, made):
    """A tensor of the mode cannot be recorded: the variables are copies of it, and no gradient is zero for that."""
    values = np.array([0.5, -1.5, 2.0])
    expected = gs.tree_util.tree_leaves(TRANSFORMS[name](gs.tensor(values)))
    x = gs.tensor(values) if made == "outside" else values
    with gs.inference_mode():
        x = gs.tensor(values) if made == "inside" else x
        found = gs.tree_util.tree_leaves(TRANSFORMS[name](x))
        assert gs.is_inference_mode_enabled()
    for one, other in zip(found, expected, strict=True):
        assert not one.requires_grad and np.array_equal(one, other)
