"""Writes to views: the history of the base, of the view and of its siblings, and where a write is refused."""

import gc
import warnings
import weakref

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, grad
from gradspec.autograd import forward_ad as fwAD
from gradspec.autograd.graph import get_gradient_edge
from gradspec.saved.copy_slices import first_histories
from tests.asked import each


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


def test_a_leaf_and_its_view_are_refused_at_once():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        x[:1].relu_()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation."):
        x.relu_()


def test_a_write_to_a_view_rewrites_the_base_and_views_follow():
    x = leaf(1.0, 2.0, 3.0)
    b = x * 1
    v = b[1:]
    vv = v[:1]
    v.mul_(2)
    assert "CopySlices" in str(b.grad_fn)
    assert "AsStridedBackward" in str(v.grad_fn), v.grad_fn
    assert v.output_nr == 0
    with gs.no_grad():
        assert "AsStridedBackward" in str(vv.grad_fn)
    b.sum().backward()
    same(x.grad, [1, 2, 2])


def test_the_edge_of_a_view_is_that_of_its_present_value():
    y = leaf(1.0, 2.0) * 1
    v = y[:1]
    before = get_gradient_edge(v)
    y.mul_(2)
    now = get_gradient_edge(v)
    assert now.node is v.grad_fn and now.node is not before.node
    assert [g.tolist() for g in grad((v * 3).sum(), [now])] == [[3]]


def test_views_follow_by_their_own_operator_where_it_is_asked_for():
    x = leaf(1.0, 2.0)
    with gs.autograd._force_original_view_tracking(True):
        assert gs.autograd.is_view_replay_enabled()
        v = (x * 1).reshape((2, 1))
        v.add_(1)
        assert "Reshape" in str(v.grad_fn)
    assert not gs.autograd.is_view_replay_enabled()


def test_a_view_made_in_no_grad():
    b = leaf(1.0, 2.0) * 1
    with gs.no_grad():
        v = b[:1]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        v.mul_(leaf(2.0))


VIEWS = {
    "getitem": lambda b: b[1:],
    "item": lambda b: b[0],
    "reshape": lambda b: b.reshape((-1,)),
    "transpose": lambda b: b.T,
    "flip": lambda b: b[::-1],
    "expand_dims": lambda b: b[None],
    "as_strided": lambda b: gs.as_strided(b, (2,), (1,)),
    "unfold": lambda b: b.unfold(0, 1, 1),
    "unstack": lambda b: b.unstack()[0],
    "real": lambda b: b.real,
    "view of a view": lambda b: b[1:][:1],
}
WRITES = {
    "number": lambda v: v.mul_(2),
    "tensor": lambda v: v.add_(gs.ones(v.shape)),
    "leaf": lambda v: v.mul_(gs.ones(v.shape, requires_grad=True)),
    "setitem": lambda v: v.__setitem__(..., 7.0),
    "copy": lambda v: v.copy_(gs.zeros(v.shape)),
    "unary": lambda v: v.exp_(),
}


@each("write", WRITES)
@each("view", VIEWS)
@each("mode", ["no_grad", "inference_mode"])
@each("when", ["result", "leaf", "asked later"])
def test_no_write_goes_unrecorded_through_a_view_made_where_nothing_is(mode, view, write, when):
    """Such a view requires grad if its base does, so that a write to it is seen: it is refused, and nothing is written."""
    x = gs.tensor(np.arange(6.0).reshape(3, 2), requires_grad=when != "asked later")
    b = x * 1 if when == "result" else x
    with getattr(gs, mode)():
        v = VIEWS[view](b)
    if when == "asked later":
        b.requires_grad_()
    assert v.requires_grad and v.is_leaf
    with pytest.raises(RuntimeError, match="is being modified inplace|view of a leaf Variable"):
        WRITES[write](v)
    same(b, np.arange(6.0).reshape(3, 2))
    with gs.no_grad():
        VIEWS[view](b)[...] = 7.0  # what no mode records is allowed
    assert (b.detach().numpy() == 7).any()


UNRECORDED = {
    "the view": lambda b, v: v.mul_(2),
    "a view of the view": lambda b, v: v.reshape((-1,))[:1].mul_(2),
    "the base": lambda b, v: b.mul_(2),
    "another view": lambda b, v: b[:1].mul_(2),
    "detached": lambda b, v: b.detach().mul_(2),
    "out": lambda b, v: gs.add(gs.ones(b.shape), 1, out=b),
    "the base looks otherwise": lambda b, v: b.swapaxes_(0, 1),
}
USES = {
    "operator": lambda v: v * 3,
    "view": lambda v: v[...],
    "stack": lambda v: gs.stack([v, v]),
    "grad_fn": lambda v: v.grad_fn,
    "is_leaf": lambda v: v.is_leaf,
    "edge": get_gradient_edge,
    "backward": lambda v: v.backward(gs.ones(v.shape)),
    "in place": lambda v: v.mul_(2),
}


@each("written", [name for name in UNRECORDED if name != "the base looks otherwise"])
@each("view", VIEWS)
@each("mode", ["no_grad", "inference_mode"])
@each("when", ["result", "leaf", "asked later"])
def test_a_view_made_where_nothing_is_recorded_has_no_use_after_an_unrecorded_write(mode, view, written, when):
    """It is no leaf of its own, and whether the graph should know of the write cannot be known: every use says so."""
    x = gs.tensor(np.arange(6.0).reshape(3, 2), requires_grad=when != "asked later")
    b = x * 1 if when == "result" else x
    with getattr(gs, mode)():
        v = VIEWS[view](b)
    if when != "asked later":
        for use in ("operator", "view", "stack", "grad_fn", "is_leaf", "edge"):
            USES[use](v)
    with gs.no_grad():
        UNRECORDED[written](b, v)
        assert (v * 1).tolist() == v.tolist() and not (v * 1).requires_grad  # where nothing is recorded it may be read
        v.mul_(1)
    b.requires_grad_()
    for use in USES.values():
        with pytest.raises(RuntimeError, match=f"A view was created in {mode[:7]}.* mode and"):
            use(v)
    assert "Invalid" in repr(v)
    USES["operator"](VIEWS[view](b)).sum().backward()
    assert x.grad is not None


@each("mode", ["no_grad", "inference_mode"])
def test_a_view_made_where_nothing_is_recorded_has_no_use_after_its_base_looks_otherwise(mode):
    b = leaf(1.0, 2.0).reshape((1, 2)) * 1
    with getattr(gs, mode)():
        v = b.reshape((-1,))
    UNRECORDED["the base looks otherwise"](b, v)
    with pytest.raises(RuntimeError, match="and its base or another view of its base has been modified inplace"):
        v.grad_fn


@each("mode", ["no_grad", "inference_mode"])
@each("written", UNRECORDED)
def test_an_unrecorded_write_is_no_matter_where_no_gradient_is_needed(mode, written):
    b = gs.tensor(np.arange(4.0).reshape(2, 2))
    with getattr(gs, mode)():
        v = b[...]
    UNRECORDED[written](b, v)
    assert v.is_leaf and v.grad_fn is None and not (v * 2).requires_grad
    v.requires_grad_()
    with gs.no_grad():
        v.add_(1)  # as an optimizer writes to it
    (v * 3).sum().backward()
    same(v.grad, np.full((2, 2), 3.0))


def test_a_view_taken_before_its_leaf_was_asked_for_a_gradient():
    b = gs.ones((3,))
    v, d = b[:2], b.detach()
    assert not v.requires_grad
    b.requires_grad_()
    assert v.requires_grad and v.is_leaf and not d.requires_grad
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        v.mul_(2)


def test_one_of_several_views_and_views_of_it():
    b = leaf(1.0, 2.0) * 1
    v = b.unstack()[1]
    with pytest.raises(
        RuntimeError,
        match="Output 1 of Unstack.* is a view and is being modified inplace. This view is the output of a function that returns multiple views",
    ):
        v.mul_(2)
    w = v.reshape((1,))
    with pytest.raises(RuntimeError, match="is a view"):
        w.mul_(2)


def test_one_of_several_views_that_need_no_gradient():
    b = gs.ones((2,))
    b.unstack()[0].mul_(3)
    same(b, [3, 1])


def test_a_view_from_a_custom_function():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1]

        @staticmethod
        def backward(ctx, g):
            return gs.concat([g, gs.zeros((1,))])

    b = leaf(1.0, 2.0) * 1
    v = F.apply(b)
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        v.mul_(2)


def test_a_view_of_a_view_made_in_no_grad():
    with gs.no_grad():
        b = gs.ones((3,))
        v = b[:2]
    v.requires_grad_()
    w = v[:1]
    with pytest.raises(RuntimeError, match="inside the no_grad block|leaf Variable"):
        w.mul_(2)


def test_a_view_made_in_inference_mode():
    b = leaf(1.0, 2.0) * 1
    with gs.inference_mode():
        v = b[:1]
    assert not v.is_inference() and v.requires_grad == b.requires_grad
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being modified inplace"):
        v.mul_(2)


def test_a_view_made_in_inference_mode_whose_base_is_written_to():
    b = leaf(1.0, 2.0) * 1
    with gs.inference_mode():
        v = b[:1]
    b.mul_(2)
    with pytest.raises(RuntimeError, match="A view was created in inference mode and its base or another view"):
        v.grad_fn
    assert "Invalid" in repr(v)


def test_copy_broadcasts_and_takes_reals_into_complex_without_a_warning():
    y = gs.zeros((2,), dtype=complex)
    x = leaf(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y.copy_(x)
    gs.real(y).sum().backward()
    same(x.grad, [2.0])


def test_the_gradient_that_another_holds_is_not_written_to():
    """Whether it comes from the user, in a view, or from a function that keeps it."""

    class Gives(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return sent

    for shape, turned in (((3,), lambda y: y), ((1, 3), lambda y: y.reshape((1, 3))), ((3,), Gives.apply)):
        x = leaf(1.0, 2.0, 3.0)
        y = x * 1
        y[1:].copy_(leaf(5.0))
        sent = gs.ones(shape)
        turned(y).backward(sent)
        same(x.grad, [1.0, 0.0, 0.0])
        same(sent, np.ones(shape))


def test_a_hook_sees_the_gradient_that_arrived_at_a_write():
    seen = []
    y = leaf(1.0, 2.0, 3.0) * 1
    y[1:].copy_(leaf(5.0))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append([g.numpy().tolist() for g in (*outputs, *inputs)]))
    (y * 2).sum().backward()
    assert seen == [[[2.0, 2.0, 2.0], [2.0, 0.0, 0.0], [2.0, 2.0]]]


def test_second_derivatives_through_a_write():
    x, v = leaf(1.0, 2.0, 3.0), leaf(4.0)
    y = x * 1
    y[1:2].copy_(v * v)
    first = grad((y**3).sum(), (x, v), create_graph=True)
    same(first[0], [3.0, 0.0, 27.0])
    same(first[1], [6 * 4.0**5])
    second = grad(first[0].sum() + first[1].sum(), (x, v))
    same(second[0], [6.0, 0.0, 18.0])
    same(second[1], [30 * 4.0**4])


def test_what_gets_its_first_history_by_a_write_is_noted():
    y = leaf(1.0, 2.0)
    fresh, derived, plain = gs.zeros(2), y * 1, gs.zeros(2)
    with first_histories() as found:
        derived.mul_(y)
        fresh[:1].copy_(y[:1])
        fresh.mul_(y)
        plain.mul_(2)
    assert len(found) == 1 and found[0]() is fresh


def test_detach_keeps_no_reference_to_the_base():
    b = gs.ones((3,))
    r = weakref.ref(b)
    d = b.detach()
    del b
    assert r() is None
    same(d, [1.0, 1.0, 1.0])


def test_detach_in_place_leaves_views_attached():
    b = leaf(1.0, 2.0) * 1
    v = b[:1]
    with pytest.raises(RuntimeError, match="view"):
        v.detach_()
    b.detach_()
    assert v._base is b and v.requires_grad


def test_requires_grad_of_a_non_leaf_cannot_be_dropped():
    with pytest.raises(RuntimeError):
        (leaf(1.0) * 1).requires_grad_(False)


def test_a_leaf_written_to_in_no_grad_stays_a_leaf():
    x = leaf(1.0, 2.0)
    with gs.no_grad():
        x[0] = 5
    assert x.is_leaf
    same(x, [5, 2])


def test_writes_to_the_real_part():
    x = gs.tensor([1 + 2j, 3 + 4j], requires_grad=True)
    y = x * 1
    y.real.mul_(3)
    (y.real.sum() + y.imag.sum()).backward()
    same(x.grad, [3 + 1j, 3 + 1j])


def test_writes_to_a_view_of_the_imaginary_part():
    x = gs.tensor([1 + 2j, 3 + 4j], requires_grad=True)
    y = x * 1
    y.imag[:1].mul_(5)
    (y.real.sum() + y.imag.sum()).backward()
    same(x.grad, [1 + 5j, 1 + 1j])


def test_repr_of_a_leaf_and_data_of_integers():
    x = leaf(1.0)
    assert repr(x) == "tensor([1.], requires_grad=True)"
    with pytest.raises(RuntimeError, match="must be floating point or complex dtype"):
        x.data = gs.tensor([1])


def test_retain_grad_moves_over_views():
    b = leaf(1.0) * 1
    v = b[:]
    v2 = b[:]
    v.retain_grad()
    v2.retain_grad()
    v.mul_(2)
    (v + v2).sum().backward()
    same(v.grad, [1.0])
    same(v2.grad, [1.0])


def test_retain_grad_moves_to_the_newest_node():
    x = leaf(1.0)
    y = x * 1
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    same(y.grad, [1.0])


def test_hooks_stay_with_the_value_that_they_were_registered_on():
    seen = []
    x = leaf(1.0)
    y = x * 1
    y.register_hook(lambda g: seen.append(("old", g.item())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("new", g.item())))
    y.sum().backward()
    assert seen == [("new", 1.0), ("old", 3.0)]


def test_hooks_of_a_view_registered_before_a_write_to_a_sibling_never_fire():
    seen = []
    b = leaf(1.0, 2.0) * 1
    v = b[:1]
    v.register_hook(lambda g: seen.append(1))
    b[1:].mul_(2)
    v.grad_fn
    v.register_hook(lambda g: seen.append(2))
    v.sum().backward()
    assert seen == [2]


def test_written_views_and_dead_duals_are_freed_by_reference_count_alone():
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        y = gs.exp(x)
        v = y[:1]
        v.exp_()
        r = weakref.ref(y)
        rv = weakref.ref(v)
        del y, v
        assert r() is None and rv() is None
        with fwAD.dual_level():
            t = gs.ones((2,))
            d2 = fwAD.make_dual(gs.ones((2,)), t)
            r = weakref.ref(t)
            del t
            del d2
            assert r() is None
    finally:
        gc.enable()


def test_t_in_place():
    x = gs.tensor([[1.0, 2.0], [3.0, 4.0]])
    x.t_()
    same(x, [[1, 3], [2, 4]])


def test_in_place_view_operators_by_all_their_names():
    x = gs.ones((2, 3))
    x.transpose_()
    x.swapaxes_(0, 1)
    x.unsqueeze_(0)
    x.squeeze_()
    x.swapdims_(0, 1)
    assert x.shape == (3, 2)


def test_hooks_of_a_view_registered_before_a_write_to_it_never_fire():
    """What is written goes by the base; a hook of the view as it was has no place in that."""
    x = leaf(1.0, 2.0)
    b = x * 1
    v, w = b[:1], b[:1]
    v.register_hook(lambda grad: pytest.fail("a hook of the view as it was"))
    v.mul_(3)
    seen = []
    w.grad_fn  # follows
    w.register_hook(lambda grad: seen.append(grad.item()))
    (v + w).sum().backward()
    assert seen == [1.0]
    same(x.grad, [6, 0])


@pytest.mark.parametrize("accessed", [False, True])
def test_retain_grad_of_a_view_is_that_of_what_it_is_after_a_write(accessed):
    x = leaf(1.0, 2.0, 3.0)
    b = x * 1
    v = b[:2]
    b.retain_grad()
    v.retain_grad()
    v.mul_(5)
    if accessed:
        v.grad_fn
    (v.sum() + 3 * b.sum()).backward()
    same(b.grad, [4, 4, 3])  # that of v goes through it
    same(v.grad, [1, 1])
    same(x.grad, [20, 20, 3])
