"""Inference mode: what makes inference tensors, and what they refuse outside."""

import threading

import numpy as np
import pytest

import gradspec as gs


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


@pytest.mark.parametrize("requires_grad", [False, True])
def test_nothing_is_recorded_of_inference_tensors_wherever_they_are_used(requires_grad):
    with gs.inference_mode():
        c = gs.ones((2, 3), requires_grad=requires_grad)
        with gs.enable_grad():
            inside = c * c
        assert inside.is_inference() and not inside.requires_grad
        c.mul_(2)
    outside = c * c
    assert not outside.is_inference() and not outside.requires_grad and outside.is_leaf
    assert c.requires_grad is requires_grad and ("requires_grad=True" in repr(c)) is requires_grad
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        c.mul_(2)
    with pytest.raises(RuntimeError, match="does not require grad"):
        outside.sum().backward()


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
