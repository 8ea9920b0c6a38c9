"""AccumulateGrad: stealing, adding in place, layout, and the `.grad` attribute."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, get_gradient_edge


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


class Gives(Function):
    """Gives every input one and the same gradient."""

    @staticmethod
    def forward(ctx, value, *tensors):
        ctx.value, ctx.count = value, len(tensors)
        return sum(tensor.sum() for tensor in tensors)

    @staticmethod
    def backward(ctx, grad):
        return (None,) + (ctx.value,) * ctx.count


def shares(a, b):
    return np.shares_memory(a.detach().numpy(), b.detach().numpy())


def test_the_first_gradient_may_be_stolen_but_not_from_somebody():
    value = gs.ones((2,))
    x, y = gs.ones((2,), requires_grad=True), gs.ones((2,), requires_grad=True)
    Gives.apply(value, x, y).backward()
    assert not shares(x.grad, y.grad) and not shares(x.grad, value) and not shares(y.grad, value)


def test_expanded_gradients_are_copied():
    x = gs.ones((3, 4), requires_grad=True)
    x.sum().backward()
    assert x.grad.strides == (32, 8)
    x.grad.mul_(2)
    same(x.grad, np.full((3, 4), 2.0))


def test_later_gradients_are_added_in_place():
    x = leaf(1.0)
    (x * 2).backward()
    first = x.grad
    (x * 3).backward()
    assert x.grad is first
    same(first, [5.0])


def test_recorded_gradients_are_added_out_of_place():
    x = leaf(2.0)
    (x * x).backward()
    first = x.grad
    with pytest.warns(UserWarning, match="Using backward.. with create_graph=True"):
        (x * x).backward(create_graph=True)
    assert x.grad is not first
    same(first, [4.0])
    same(x.grad, [8.0])
    x.grad = None


def test_adding_in_place_bumps_the_version():
    x = leaf(1.0)
    (x * 2).backward()
    version = x.grad._version
    (x * 2).backward()
    assert x.grad._version == version + 1


def test_layout_of_a_transposed_leaf():
    x = gs.asarray(np.arange(6.0).reshape(2, 3).T).requires_grad_()
    (x * 1).backward(gs.ones((3, 2)))
    assert x.grad.strides == x.strides
    x.grad = None
    x.sum().backward()  # a broadcast gradient too
    assert x.grad.strides == x.strides


def test_layout_of_a_leaf_that_is_not_dense():
    x = gs.asarray(np.arange(12.0).reshape(3, 4)[:, ::2]).requires_grad_()
    (x * 1).backward(gs.ones((3, 2)))
    assert x.grad.strides == (16, 8)


def test_zero_size_broadcasts():
    a, b = gs.ones((4, 1), requires_grad=True), gs.ones((4, 0), requires_grad=True)
    (a + b).sum().backward()
    same(a.grad, np.zeros((4, 1)))
    assert b.grad.shape == (4, 0)


def test_read_only_gradients_are_not_written_to():
    given = np.ones(2)
    given.flags.writeable = False
    x = leaf(1.0, 2.0)
    y = x + 0
    y.backward(gs.asarray(given), retain_graph=True)
    y.backward(gs.asarray(given))
    same(x.grad, [2.0, 2.0])
    np.testing.assert_array_equal(given, 1.0)


def test_a_read_only_grad_is_replaced():
    held = np.ones(2)
    held.flags.writeable = False
    x = leaf(1.0, 2.0)
    x.grad = gs.asarray(held)
    (x * 3).sum().backward()
    same(x.grad, [4.0, 4.0])
    np.testing.assert_array_equal(held, 1.0)


def test_dtype_of_the_gradient_is_that_of_the_leaf():
    x = gs.ones((2,), dtype="float32", requires_grad=True)
    (x * gs.tensor([2.0, 3.0])).sum().backward()
    assert x.grad.dtype == np.float32
    same(x.grad, [2.0, 3.0])


def test_grad_setter():
    x = leaf(1.0, 2.0)
    with pytest.raises(TypeError, match="expected to be a Tensor or None"):
        x.grad = 3
    with pytest.raises(RuntimeError, match="has shape"):
        x.grad = gs.ones((3,))
    with pytest.raises(RuntimeError, match="has dtype"):
        x.grad = gs.ones((2,), dtype="float32")
    with pytest.raises(RuntimeError, match="as its own grad"):
        x.grad = x
    g = x.grad = gs.ones((2,))
    assert x.grad is g
    (x * 2).sum().backward()
    assert x.grad is g
    same(g, [3.0, 3.0])
    x.grad = None
    assert x.grad is None
    x.grad = g
    del x.grad
    assert x.grad is None


@pytest.mark.parametrize("name", ["data", "requires_grad", "_grad_fn", "_backward_hooks"])
def test_what_cannot_be_deleted(name):
    with pytest.raises(RuntimeError, match="cannot delete"):
        delattr(leaf(1.0), name)


def test_one_accumulator_for_a_leaf():
    x = leaf(1.0)
    node = get_gradient_edge(x).node
    assert (x * 2).grad_fn.next_functions[0][0] is node is (x.exp()).grad_fn.next_functions[0][0]
    assert node.variable is x and node.name() == "AccumulateGrad"
    assert node.next_functions == () and x.grad_fn is None


def test_a_written_grad_does_not_reach_the_graph():
    # The leaf's gradient is its own memory: to clear it in place must not change a saved value or a cotangent.
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    x.grad.zero_()
    y.backward()
    same(x.grad, [4.0])
