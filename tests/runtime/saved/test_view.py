"""Views and in-place writes: shared versions, replay, the history of a written tensor, and what is refused."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, grad
from gradspec.saved.view import replay


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


# The way from a base to a view.


def test_a_chain_of_views_is_replayed_in_order():
    def view(x):
        return gs.unstack(x.T[1:, ::-1].reshape((3, 2, 1)), axis=1)[1].swapaxes(0, 1)

    x = gs.tensor(np.arange(8.0).reshape(2, 4))
    fresh = gs.tensor(np.arange(8.0).reshape(2, 4) ** 2)
    y = view(x)
    assert y._base is x
    same(replay(y, fresh), view(fresh).numpy())
    assert replay(y, fresh)._base is fresh


def test_a_replayed_view_is_recorded():
    y = gs.tensor(np.arange(6.0))[1:4]
    base = leaf(*range(6))
    (g,) = grad((replay(y, base * 2) ** 2).sum(), base)
    same(g, [0, 8, 16, 24, 0, 0])


def test_an_alias_of_a_view_is_replayed_as_the_view():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad

    base = leaf(1.0, 2.0, 3.0) * 1
    y = Same.apply(base[1:])
    same(replay(y, gs.tensor([4.0, 5.0, 6.0])), [5.0, 6.0])
    same(replay(Same.apply(base), gs.tensor([4.0, 5.0, 6.0])), [4.0, 5.0, 6.0])


def test_what_is_no_view_cannot_be_replayed():
    with pytest.raises(ValueError, match="is not a view"):
        replay(gs.ones((2,)), gs.ones((2,)))


def test_a_long_chain_of_views_is_freed_without_recursion():
    x = gs.ones((2, 3))
    for _ in range(300_000):
        x = x.T
    assert x._base.shape == (2, 3)
    del x


# Who shares memory with whom.


def test_views_share_memory_version_and_base():
    x = gs.ones((3, 4))
    row = x[0]
    part = row[1:]
    turned = x.T
    assert row._base is x and part._base is x and turned._base is x and x._base is None
    assert row._is_view() and not x._is_view()
    row.add_(1)
    assert x._version == row._version == part._version == turned._version == 1
    x[1] = 5.0
    assert part._version == 2
    same(turned, x.numpy().T)


def test_what_copies_is_no_view():
    x = gs.ones((3, 4))
    for y in (x.T.reshape((12,)), x[[0, 1]], x + 0, x.copy(), x.clone()):
        assert not y._is_view() and y._base is None
        y.add_(1)
    assert x._version == 0


def test_detach_shares_memory_and_version():
    x = leaf(1.0, 2.0) * 1
    y = x.detach()
    assert not y.requires_grad and y.is_leaf and y._base is None
    y.mul_(3)
    assert x._version == y._version == 1
    same(x, [3.0, 6.0])


def test_data_shares_memory_only():
    x = leaf(1.0)
    version = x._version
    x.data.mul_(3)
    assert x._version == version and x.requires_grad and x.is_leaf
    same(x, [3.0])
    x.data = gs.tensor([7.0, 8.0])
    assert x.shape == (2,) and x._version == version


def test_gradients_flow_through_views():
    x = gs.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
    (x.T[1:] * gs.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    same(x.grad, [[0.0, 1.0, 3.0], [0.0, 2.0, 4.0]])


# A written tensor.


def test_a_write_gives_the_tensor_the_history_of_its_new_value():
    x = leaf(2.0)
    y = x * 3
    assert y.mul_(x) is y
    y += 1
    assert y.grad_fn.name() == "AddBackward" and y._version == 2
    same(y, [13.0])
    same(grad(y, x)[0], [12.0])


def test_a_tensor_without_gradient_gets_one_by_a_write():
    x = leaf(2.0)
    y = gs.zeros((1,))
    y.add_(x)
    assert y.requires_grad and not y.is_leaf
    y[0] = x[0] * 5
    same(grad(y, x)[0], [5.0])


def test_setitem_into_a_nonleaf():
    x, v = leaf(1.0, 2.0, 3.0), leaf(10.0)
    y = x * 2
    y[1:2] = v
    (y * gs.tensor([1.0, 10.0, 100.0])).sum().backward()
    same(x.grad, [2.0, 0.0, 200.0])
    same(v.grad, [10.0])


def test_setitem_broadcasts_its_value():
    v = gs.tensor(3.0, requires_grad=True)
    y = gs.zeros((2, 3))
    y[:, 1:] = v
    y.sum().backward()
    same(v.grad, 4.0)


WRITES = {
    "in place": lambda t: t.mul_(2),
    "to an item": lambda t: t.__setitem__(0, 1.0),
    "to a view": lambda t: t[...].mul_(2),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_recorded_write_to_what_is_saved_is_refused_in_the_mode_error(write):
    """Version check at unpack: "one of the variables needed for gradient computation has been modified"."""
    with gs.autograd.graph.set_mutation_on_saved_tensors("error"):
        h = leaf(2.0) * 3
        y = h.sin()
        write(h)
        with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
            y.backward()


UNRECORDED = {
    "through detach()": lambda t: t.detach().mul_(2),
    "under no_grad": gs.no_grad()(lambda t: t.mul_(2)),
    "through a view under no_grad": gs.no_grad()(lambda t: t[...].mul_(2)),
}


@pytest.mark.parametrize("mode", ["copy", "error"])
@pytest.mark.parametrize("write", UNRECORDED.values(), ids=UNRECORDED)
def test_an_unrecorded_write_to_what_is_saved_is_refused_in_both_modes(write, mode):
    with gs.autograd.graph.set_mutation_on_saved_tensors(mode):
        h = leaf(2.0) * 3
        y = h.sin()
        write(h)
        with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
            y.backward()


def test_data_of_another_memory_is_noticed():
    h = leaf(2.0) * 3
    y = h.sin()
    h.data = gs.ones((1,))
    with pytest.raises(RuntimeError, match="has got other data since"):
        y.backward()


def test_a_write_under_no_grad_is_noticed_too():
    h = leaf(2.0) * 3
    y = h * h
    with gs.no_grad():
        h.mul_(2)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.backward()


def test_a_write_through_a_view_is_noticed():
    h = leaf(2.0, 3.0) * 3
    y = (h * h).sum()
    with gs.no_grad():
        h[:1].mul_(2)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.backward()


def test_what_saved_nothing_does_not_mind_a_write():
    x = leaf(2.0)
    h = x * 3
    y = h + 1
    h.mul_(100)
    same(grad(y, x)[0], [3.0])


def test_an_in_place_result_that_is_saved():
    x = leaf(2.0)
    y = x * 1
    y.exp_()
    same(grad(y, x)[0], np.exp([2.0]))
    y = x * 1
    y.exp_()
    y.add_(1)  # the saved result has memory of its own
    same(grad(y, x)[0], np.exp([2.0]))


def test_in_place_operators_that_need_the_old_value_keep_it():
    x = leaf(2.0)
    y = x * 1
    y.sin_()
    same(grad(y, x)[0], np.cos([2.0]))


def test_versions_count_writes_only():
    x = gs.ones((2,))
    assert x._version == 0
    x + 1
    x[0]
    assert x._version == 0
    x.add_(1)
    x[0] = 3.0
    x *= 2
    x.zero_()
    assert x._version == 4


# Refused: leaves.


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.add_(1),
        lambda t: t.zero_(),
        lambda t: t.__setitem__(0, 1.0),
        lambda t: t.__imul__(2),
        lambda t: t.exp_(),
    ],
)
def test_a_leaf_that_requires_grad_cannot_be_written_to(write):
    x = leaf(1.0, 2.0)
    with pytest.raises(
        RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation."
    ):
        write(x)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        write(x[:1])
    same(x, [1.0, 2.0])
    assert x._version == 0 and x.is_leaf
    with gs.no_grad():
        write(x)
    assert x.is_leaf and x.requires_grad and x._version == 1


# Refused: views.


def test_views_of_what_needs_no_gradient_may_be_written_to():
    base = gs.zeros((3,))
    base[1:].add_(2)
    same(base, [0.0, 2.0, 2.0])


def test_a_view_follows_a_recorded_write_to_its_base():
    """In-place on a view's base: the view's grad_fn is made again when it is asked for, also under no_grad."""
    x = leaf(1.0, 2.0)
    base = x * 1
    view = base[:1]
    again = view[...]
    before = view.grad_fn
    base.mul_(3)
    with gs.no_grad():
        assert view.grad_fn is not before and view.grad_fn.next_functions[0][0] is base.grad_fn
    same(grad(again + 1, x, retain_graph=True)[0], [3.0, 0.0])
    same(grad(view, x)[0], [3.0, 0.0])


def test_a_view_of_a_plain_base_requires_grad_once_the_base_does():
    """In-place through a view makes a base that did not require grad require it, and earlier sibling views too."""
    base, w = gs.zeros((3,)), leaf(5.0)
    view, sibling = base[:2], base[1:]
    assert not sibling.requires_grad and sibling.is_leaf
    view.add_(w)
    assert base.requires_grad and sibling.requires_grad and not sibling.is_leaf
    assert type(base.grad_fn).__name__ == "CopySlices"
    same(grad(sibling.sum(), w)[0], [1.0])


def test_views_survive_writes_that_are_not_recorded():
    x = leaf(1.0, 2.0)
    base = x * 1
    view = base[:1]
    with gs.no_grad():
        base.mul_(3)
    same(grad(view + 1, x)[0], [1.0, 0.0])


# detach_ and out=.


def test_detach_in_place():
    y = leaf(1.0, 2.0) * 2
    view = y[:1]
    with pytest.raises(RuntimeError, match="can't detach views in-place"):
        view.detach_()
    assert y.detach_() is y and y.is_leaf and not y.requires_grad
    assert view._base is y


def test_out_has_no_history():
    x, out = leaf(1.0), gs.zeros((1,))
    with pytest.raises(RuntimeError, match="out=... arguments don't support automatic differentiation"):
        gs.exp(x, out=out)
    with gs.no_grad():
        assert gs.exp(x, out=out) is out
    assert out._version == 1 and not out.requires_grad
    same(out, np.exp([1.0]))


def test_shapes_and_dtypes_of_a_target():
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        (leaf(1.0) * 1).add_(gs.ones((3,)))
    with pytest.raises(TypeError, match="add_: Cannot cast .* from dtype..float64.. to dtype..int64.."):
        gs.ones((2,), dtype="int64").add_(0.5)


def test_read_only_arrays_are_not_written_to():
    array = np.ones(2)
    array.flags.writeable = False
    x = gs.asarray(array)
    with pytest.raises(ValueError, match="read-only"):
        x.add_(1)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 3.0
    assert x._version == 0


@pytest.mark.parametrize("name, arguments", [
    ("reshape", ((1,),)), ("expand_dims", (0,)), ("broadcast_to", ((1,),)), ("permute_dims", ((),)), ("squeeze", (())),
])  # fmt: skip
def test_a_number_has_no_view(name, arguments):
    """What is made of a Python number shares memory with nobody."""
    y = getattr(gs, name)(2.0, *arguments)
    assert not y._is_view() and y._base is None and not y.requires_grad
    z = y * gs.tensor([3.0], requires_grad=True)
    z.sum().backward()
    assert y.numpy().ravel().tolist() == [2.0]
