"""SavedVariable: identity, versions, freeing, hooks of one saved tensor and default hooks."""

import gc
import threading
import weakref

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import disable_saved_tensors_hooks, grad, saved_tensors_hooks
from gradspec.saved.saved_variable import SavedVariable


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


# What comes back.


def test_a_saved_input_is_the_very_same_object():
    x = leaf(2.0)
    h = x * 3
    y = h * x
    assert y.grad_fn._saved_a is h and y.grad_fn._saved_b is x


def test_a_saved_output_is_an_equal_tensor_with_the_same_history():
    x = leaf(2.0)
    y = x.exp()
    saved = y.grad_fn._saved_y
    assert saved is not y and saved.grad_fn is y.grad_fn and saved.requires_grad
    same(saved, y.detach().numpy())
    version = saved._version
    with gs.no_grad():
        y.mul_(1)
    assert y._version == version + 1 == saved._version


def test_how_much_is_saved():
    x, w = leaf(2.0), leaf(3.0)
    plain = gs.tensor([3.0])
    assert (x * w).grad_fn._saved_a is x and (x * w).grad_fn._saved_b is w
    product = (x * plain).grad_fn
    assert product._saved_a is None and product._saved_b is plain
    assert (x + w).grad_fn.saves == () and x.sum().grad_fn.saves != ("x",)
    assert x.exp().grad_fn.saves == ("y",) and x.sin().grad_fn.saves == ("x",)


def test_settings_keep_their_python_type():
    x = gs.ones((2, 3), requires_grad=True)
    node = x.sum(axis=1, keepdims=True).grad_fn
    assert node._saved_keepdims is True and node._saved_axis == (1,)
    node = (x**2.5).grad_fn
    assert {"_saved_a", "_saved_b"} <= set(dir(node))
    assert node._saved_a is x and node._saved_b == 2.5


def test_unknown_names():
    with pytest.raises(AttributeError, match="SinBackward saves no 'z'; it saves x"):
        _ = leaf(1.0).sin().grad_fn._saved_z


# Versions and freeing.


def test_the_message_names_node_value_and_versions():
    x = leaf(1.0) * 1
    y = x.sin()
    with gs.no_grad():
        x.add_(1)
        x.add_(1)
    with pytest.raises(
        RuntimeError, match=r"'x', saved by SinBackward, is at version 2; expected version 0 instead. Hint"
    ):
        y.backward()
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        _ = y.grad_fn._saved_x


def test_the_version_is_checked_on_every_path():
    for act in (
        lambda y, x: grad(y, x),
        lambda y, x: grad(y, x, create_graph=True),
        lambda y, x: y.grad_fn(gs.ones((1,))),
    ):
        x = leaf(1.0)
        h = x * 1
        y = h.sin()
        with gs.no_grad():
            h.add_(1)
        with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
            act(y, x)


def test_access_after_freeing():
    x = leaf(1.0)
    y = x.sin()
    y.backward()
    for name in ("_saved_x", "_raw_saved_x"):
        with pytest.raises(RuntimeError, match="after they have already been freed"):
            getattr(y.grad_fn, name)


def test_saved_arrays_are_released_by_backward():
    x = leaf(1.0)
    h = x * 2
    y = h.sin()
    held = weakref.ref(h)
    del h
    assert held() is not None
    y.backward()
    gc.disable()
    try:
        assert held() is None
    finally:
        gc.enable()


def test_detached_after_saving():
    x = leaf(1.0)
    h = x * 2
    y = h.sin()
    h.detach_()
    with pytest.raises(RuntimeError, match="Trying to use a saved tensor that has been detached"):
        grad(y, x, create_graph=True)
    y = x.exp()
    z = y * 1
    y.detach_()  # an output is saved without its tensor
    same(grad(z, x, create_graph=True)[0], np.exp([1.0]))


# Hooks of one saved tensor.


def test_hooks_on_one_saved_tensor():
    x = leaf(2.0)
    y = x.sin()
    y.grad_fn._raw_saved_x.register_hooks(lambda t: t.numpy().copy(), lambda a: gs.tensor(a * 0))
    y.backward()
    same(x.grad, [1.0])


def test_hooks_on_a_saved_output():
    x = leaf(2.0)
    y = x.exp()
    y.grad_fn._raw_saved_y.register_hooks(lambda t: t.item(), lambda v: gs.tensor([v + 1]))
    y.backward()
    same(x.grad, np.exp([2.0]) + 1)


def test_hooks_are_set_once_and_are_two_functions():
    node = leaf(2.0).sin().grad_fn
    with pytest.raises(TypeError, match="incompatible function arguments"):
        node._raw_saved_x.register_hooks(3, lambda t: t)
    with pytest.raises(TypeError):
        node._raw_saved_x.register_hooks(lambda t: t)
    node._raw_saved_x.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="already been set"):
        node._raw_saved_x.register_hooks(lambda t: t, lambda t: t)


def test_hooks_after_freeing():
    for hooks in (0, 1):
        y = leaf(2.0).sin()
        saved = y.grad_fn._raw_saved_x
        if hooks:
            saved.register_hooks(lambda t: t, lambda t: t)
        y.backward()
        with pytest.raises(RuntimeError, match="after it has been freed"):
            saved.register_hooks(lambda t: t, lambda t: t)


def test_none_takes_no_hooks():
    node = (leaf(2.0) * gs.tensor([3.0])).grad_fn
    with pytest.raises(RuntimeError, match="None is forbidden"):
        node._raw_saved_a.register_hooks(lambda t: t, lambda t: t)


def test_what_is_kept_and_the_hook_that_unpacks_it():
    def unpack(packed):
        return gs.tensor(packed)

    x = leaf(2.0)
    with saved_tensors_hooks(lambda t: t.tolist(), unpack):
        packed = gs.square(x).grad_fn._raw_saved_x
    assert packed.data == [2.0] and packed.unpack_hook is unpack
    y = gs.exp(x)
    z = gs.square(y)
    of_input, of_output = z.grad_fn._raw_saved_x, y.grad_fn._raw_saved_y
    assert of_input.data is y and of_input.unpack_hook is None
    assert of_output.data is not y and not of_output.data.requires_grad
    same(of_output.data, y.tolist())
    assert (x * gs.tensor([3.0])).grad_fn._raw_saved_a.data is None


def test_saved_tensors_cannot_be_made_from_python():
    with pytest.raises(
        RuntimeError, match="Trying to create a SavedTensor object from Python is forbidden"
    ):
        SavedVariable()


# Default hooks.


def test_pack_at_save_and_unpack_at_each_use():
    log = []
    x = leaf(2.0)
    with saved_tensors_hooks(
        lambda t: log.append("pack") or t.numpy().copy(), lambda a: log.append("unpack") or gs.tensor(a)
    ):
        y = x.sin()
        assert log == ["pack"]
    for _ in range(2):
        y.backward(retain_graph=True)
    _ = y.grad_fn._saved_x
    assert log == ["pack"] + ["unpack"] * 3
    same(x.grad, 2 * np.cos([2.0]))


def test_the_innermost_hooks_win():
    x = leaf(1.0)
    with saved_tensors_hooks(lambda t: "outer", lambda p: gs.tensor([10.0])):
        with saved_tensors_hooks(lambda t: "inner", lambda p: gs.tensor([20.0])):
            a = x * x
        b = x * x
    c = x * x
    assert [grad(y, x)[0].item() for y in (a, b, c)] == [40.0, 20.0, 2.0]


def test_hooks_see_outputs_and_lists():
    packed = []
    a, b = leaf(1.0), leaf(2.0)
    with saved_tensors_hooks(lambda t: packed.append(t.shape) or t, lambda t: t):
        (a.exp() * b).backward()
    assert len(packed) == 3
    same(a.grad, 2 * np.exp([1.0]))


def test_numbers_bypass_the_hooks():
    packed = []
    with saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        leaf(1.0) * 3.0
    assert packed == []


def test_a_pack_hook_must_not_write():
    with saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
        with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place."):
            (leaf(1.0) * 1).sin()


def test_errors_of_hooks_keep_their_type():
    with saved_tensors_hooks(lambda t: 1 / 0, lambda t: t), pytest.raises(ZeroDivisionError):
        leaf(1.0).sin()
    with saved_tensors_hooks(lambda t: t, lambda t: {}[0]):
        y = leaf(1.0).sin()
    with pytest.raises(KeyError):
        y.backward()


def test_unpack_returns_a_tensor():
    with saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = leaf(1.0).sin()
    with pytest.raises(TypeError, match="Output of saved tensor unpack_hook expected to be a Tensor"):
        y.backward()


def test_double_backward_through_packed_values():
    x = leaf(2.0)
    with saved_tensors_hooks(lambda t: t.numpy().copy(), lambda a: gs.tensor(a)):
        y = x.exp() * x
        h = (y * y).sin()
    (g,) = grad(h, x, create_graph=True)
    (plain,) = grad(((x.exp() * x) ** 2).sin(), x, create_graph=True)
    same(g, plain.detach().numpy())
    same(grad(g, x)[0], grad(plain, x)[0].numpy())


def test_the_version_of_a_packed_value_does_not_matter():
    x = leaf(2.0)
    h = x * 1
    with saved_tensors_hooks(lambda t: t.numpy().copy(), lambda a: gs.tensor(a)):
        y = h.sin()
    h.mul_(100)
    same(grad(y, x)[0], np.cos([2.0]))


def test_hooks_belong_to_a_thread():
    packed = []
    with saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        thread = threading.Thread(target=lambda: leaf(1.0).sin())
        thread.start()
        thread.join()
    assert packed == []


def test_disabled_hooks():
    hooks = saved_tensors_hooks(lambda t: t, lambda t: t)
    with disable_saved_tensors_hooks("outer message"):
        with disable_saved_tensors_hooks("inner message"), pytest.raises(RuntimeError, match="inner message"):
            hooks.__enter__()
        with pytest.raises(RuntimeError, match="outer message"):
            hooks.__enter__()
    with hooks, pytest.raises(RuntimeError, match="while hooks"):
        disable_saved_tensors_hooks("while hooks").__enter__()
    with hooks:
        leaf(1.0).sin()


def test_hooks_can_be_subclassed():
    class Halve(saved_tensors_hooks):
        def __init__(self):
            super().__init__(lambda t: t.numpy() / 2, gs.tensor)

    x = leaf(2.0)
    with Halve():
        y = x * x
    same(grad(y, x)[0], [2.0])


def test_hooks_die_with_what_they_packed():
    class Hook:
        def __call__(self, value):
            return value

    pack, unpack = Hook(), Hook()
    died = weakref.ref(pack), weakref.ref(unpack)
    gc.disable()
    try:
        with saved_tensors_hooks(pack, unpack):
            y = leaf(1.0).sin()
        del pack, unpack
        assert died[1]() is not None
        del y
        assert died[0]() is None and died[1]() is None
    finally:
        gc.enable()


class TestIndices:
    """AUTOGRAD_BEHAVIOURS, saved-variables: index and mask arguments are saved like any tensor."""

    def test_a_write_is_refused_by_version(self):
        x, i = leaf(1.0, 2.0, 3.0), gs.tensor([0, 1])
        y = x[i].sum()
        i.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation: 'index', saved by GetitemBackward"):
            y.backward()

    def test_a_tensor_is_the_same_object_until_it_is_freed(self):
        x, i = leaf(1.0, 2.0, 3.0), gs.tensor([0, 1])
        y = x[i]
        assert y.grad_fn._saved_index is i
        assert isinstance(y.grad_fn._raw_saved_index, SavedVariable)
        y.sum().backward()
        with pytest.raises(RuntimeError, match="Specify retain_graph=True"):
            y.sum().backward()

    def test_integers_and_slices_stay(self):
        x = leaf(1.0, 2.0, 3.0)
        y = x[1:, None]
        y.sum().backward()
        y.sum().backward()
        assert y.grad_fn._saved_index == (slice(1, None), None)
        same(x.grad, [0, 2, 2])

    def test_each_array_of_a_tuple(self):
        x, i, n = gs.ones((3, 3)).requires_grad_(), gs.tensor([0, 1]), np.array([2, 2])
        node = x[i, n].grad_fn
        first, second = node._saved_index
        assert first is i and second.numpy() is not n
        seen = []
        raw = node._raw_saved_index
        raw[1].register_hooks(lambda t: seen.append(t.tolist()), lambda _: gs.tensor([0, 0]))
        assert seen == [[2, 2]] and node._saved_index[1].tolist() == [0, 0]

    def test_a_single_number_is_a_number(self):
        x, i = gs.tensor([1.0, 2.0, 3.0], requires_grad=True), gs.tensor(1)
        y = x[i]
        i.add_(1)
        y.backward()
        same(x.grad, [0, 1, 0])

    def test_an_ndarray_is_copied_only_where_it_is_saved(self):
        x, i = gs.tensor([1.0, 2.0, 3.0]), np.array([0, 1])
        assert x[i].grad_fn is None
        y = x.requires_grad_()[i]
        i[:] = 2
        y.sum().backward()
        same(x.grad, [1, 1, 0])


@pytest.mark.parametrize(("size", "kept"), [(4096, False), (4097, True)])
def test_a_small_ndarray_operand_is_copied_and_a_large_one_is_not(size, kept):
    w = np.ones(size)
    node = (gs.ones(size).requires_grad_() * w).grad_fn
    assert np.shares_memory(node._saved_b.numpy(), w) is kept
    whole = (gs.ones(size).requires_grad_() * gs.asarray(w)).grad_fn
    assert np.shares_memory(whole._saved_b.numpy(), w)  # asarray is asked to share
