"""What the gradient of a leaf looks like: `grad_dtype` in every way that a gradient goes, and the memory order of another dtype."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, get_gradient_edge, grad
from tests.asked import each


def leaf(*values, dtype=np.float64, grad_dtype=...):
    x = gs.tensor(np.array(values, dtype), requires_grad=True)
    if grad_dtype is not ...:
        x.grad_dtype = grad_dtype
    return x


class Single(Function):
    """Has a gradient of single precision."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad.astype(np.float32)


def test_it_is_the_tensors_own_until_it_is_set():
    x = leaf(1.0, dtype=np.float32)
    assert x.grad_dtype == np.float32
    assert gs.tensor([1, 2]).grad_dtype == np.int64
    x.data = gs.tensor([1.0])
    assert x.grad_dtype == np.float64
    x.grad_dtype = "float32"
    x.data = gs.tensor([3.0])
    assert x.grad_dtype == np.float32


@each("own", ["float16", "float32", "float64", "complex64", "complex128"])
@each("wanted", ["float16", "float32", "float64", "complex64", "complex128", None])
def test_what_arrives_is_cast(own, wanted):
    if own.startswith("c") and wanted is not None and wanted.startswith("f"):
        return  # refused, below
    x = leaf([1.0, 2.0], [3.0, 4.0], dtype=own, grad_dtype=wanted)
    expected = np.dtype(own if wanted is None else wanted)
    seen = []
    x.register_hook(lambda g: seen.append(g.dtype))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.dtype))
    abs(x * 3).sum().backward()
    abs(x.T * 4).sum().backward()  # added in place
    (abs(x).sum() + abs(x * 2).sum()).backward()  # two that come together
    assert x.grad.dtype == expected and seen == [expected] * 6
    np.testing.assert_allclose(x.grad.numpy(), np.full((2, 2), 10), rtol=1e-3)
    assert [g.dtype for g in grad(abs(x * 3).sum(), [x])] == [expected]
    assert grad(abs(x * 3).sum(), get_gradient_edge(x))[0].dtype == expected
    assert x.dtype == own


def test_a_setting_after_the_forward_holds():
    x = leaf(1.0, 2.0)
    y = (x * 2).sum()
    held = get_gradient_edge(x)
    x.grad_dtype = np.float32
    y.backward()
    assert x.grad.dtype == np.float32
    assert held.node._input_metadata[0].dtype == np.float64


def test_none_takes_gradients_as_they_are():
    x = leaf(1.0, 2.0, grad_dtype=None)
    Single.apply(x).sum().backward()
    assert x.grad.dtype == np.float32
    x.sum().backward()
    assert x.grad.dtype == np.float32 and x.grad.tolist() == [2.0, 2.0]
    x.grad = None
    (Single.apply(x).sum() + (x * 2).sum()).backward()
    assert x.grad.dtype == np.float64 and x.grad.tolist() == [3.0, 3.0]
    x.grad = gs.ones((2,), dtype="float16")


def test_a_root_that_is_a_leaf():
    for wanted in ("float32", None):
        x = gs.tensor(2.0, requires_grad=True)
        x.grad_dtype = wanted
        x.backward()
        assert x.grad.dtype == (wanted or "float64")
        assert grad(get_gradient_edge(x), x)[0].dtype == (wanted or "float64")


def test_recorded_gradients():
    x = leaf(1.0, 2.0, grad_dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x**3).sum().backward(create_graph=True)
    assert x.grad.dtype == np.float32 and x.grad.requires_grad
    second, = grad(x.grad.sum(), x)
    assert second.dtype == np.float32 and second.tolist() == [6.0, 12.0]


def test_batches_of_gradients():
    x = leaf(1.0, 2.0, grad_dtype=np.float32)
    rows, = grad(x * 3, x, gs.eye(2), is_grads_batched=True)
    assert rows.dtype == np.float32 and rows.tolist() == [[3.0, 0.0], [0.0, 3.0]]


def test_what_is_refused():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="must be a dtype or None"):
        x.grad_dtype = "wide"
    for wanted in (int, bool, "datetime64[s]"):
        with pytest.raises(RuntimeError, match="cannot hold the gradient"):
            x.grad_dtype = wanted
    with pytest.raises(RuntimeError, match="complex ones alone"):
        leaf(1.0, dtype=complex).grad_dtype = float
    y = x * 2
    with pytest.raises(RuntimeError, match="can only be accessed on leaf tensors"):
        y.grad_dtype  # noqa: B018
    with pytest.raises(RuntimeError, match="can only be set on leaf tensors"):
        y.grad_dtype = np.float32
    y.sum().backward()
    with pytest.raises(RuntimeError, match="already a gradient with dtype float64"):
        x.grad_dtype = np.float32
    x.grad_dtype = np.float64
    assert x.grad_dtype == np.float64
    x.grad_dtype, x.grad = None, None
    x.grad_dtype = np.float32
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype float64 to a tensor with grad_dtype float32"):
        x.grad = gs.ones((2,))
    x.grad = gs.ones((2,), dtype="float32")


def test_complex_data_that_comes_later_loses_no_part():
    x = leaf(1.0, grad_dtype=np.float32)
    x.data = gs.tensor([1 + 1j])
    (x * (2 + 3j)).real.sum().backward()
    assert x.grad.tolist() == [2 - 3j]


def test_who_has_the_setting_and_who_has_not():
    x = leaf(1.0, 2.0, grad_dtype=np.float32)
    assert x.detach().grad_dtype == np.float64
    with gs.no_grad():
        x.mul_(2)
        assert x.grad_dtype == np.float32
    x.grad = gs.ones((2,), dtype="float32")
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other.grad_dtype == np.float32 and other.grad.dtype == np.float32
    y = x * 2
    y.retain_grad()
    y.sum().backward()
    assert y.grad.dtype == np.float64


def test_a_recording_ends_where_the_setting_changes():
    x = leaf(1.0, 2.0)

    @gs.compile
    def step(factor):
        x.grad = None
        (x * factor).sum().backward()
        return x.sum()

    for wanted in (np.float64, np.float32, None, np.float64):
        x.grad, x.grad_dtype = None, wanted
        for factor in (2.0, 3.0, 4.0):
            step(gs.tensor([factor, 1.0]))
            assert x.grad.dtype == (wanted or np.float64) and x.grad.tolist() == [factor, 1.0]


def test_memory_order_in_another_dtype():
    x = gs.asarray(np.arange(12.0).reshape(3, 4).T).requires_grad_()
    x.grad_dtype = np.float32
    (x * np.arange(3.0)).sum().backward()
    assert x.grad.numpy().strides == (4, 16)
    assert x.grad.tolist() == np.tile(np.arange(3.0), (4, 1)).tolist()
