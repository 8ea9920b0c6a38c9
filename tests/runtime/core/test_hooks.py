"""Hooks: order, return values, removal, undefined gradients, and what an in-place write does to them."""

import functools

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, get_gradient_edge, grad, saved_tensors_hooks


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


def noting(log, name):
    """A hook that notes its name and the gradient it sees."""
    return lambda g: log.append((name, g if g is None else g.item()))


# Order.


def test_order_at_a_node():
    # Tensor hooks, retained gradient, node pre-hooks, node, post-hooks, whatever the order of registration.
    log = []
    x = leaf(1.0)
    y = x * 3
    y.grad_fn.register_hook(lambda inputs, outputs: log.append(("post", inputs[0].item(), outputs[0].item())))
    y.grad_fn.register_prehook(lambda grads: log.append(("pre", grads[0].item(), y.grad.item())) or (grads[0] * 10,))
    y.register_hook(lambda g: log.append(("first", g.item())) or g + 1)
    y.retain_grad()
    y.register_hook(lambda g: log.append(("second", g.item())) or g + 1)
    y.backward()
    assert log == [("first", 1.0), ("second", 2.0), ("pre", 3.0, 3.0), ("post", 90.0, 30.0)]
    same(y.grad, [3.0])
    same(x.grad, [90.0])


def test_order_at_a_leaf():
    log = []
    x = leaf(1.0)
    node = get_gradient_edge(x).node
    node.register_hook(lambda inputs, outputs: log.append(("post", inputs, outputs[0].item(), x.grad.item())))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("accumulated", t is x, x.grad.item())))
    node.register_prehook(lambda grads: log.append(("pre", grads[0].item(), x.grad)))
    x.register_hook(noting(log, "tensor"))
    (x * 2).backward()
    assert log == [("tensor", 2.0), ("pre", 2.0, None), ("accumulated", True, 2.0), ("post", (), 2.0, 2.0)]


def test_grad_runs_tensor_hooks_only():
    log = []
    x = leaf(1.0)
    h = x * 2
    y = h * 3
    h.grad_fn.register_prehook(lambda grads: log.append("node pre"))
    h.grad_fn.register_hook(lambda inputs, outputs: log.append("node post"))
    h.register_hook(noting(log, "h"))
    same(grad(y, h, retain_graph=True)[0], [3.0])
    assert log == [("h", 3.0)]
    node = get_gradient_edge(x).node
    node.register_prehook(lambda grads: log.append("leaf pre"))
    node.register_hook(lambda inputs, outputs: log.append("leaf post"))
    x.register_post_accumulate_grad_hook(lambda t: log.append("accumulated"))
    x.register_hook(lambda g: g * 10)
    log.clear()
    same(grad(y, x)[0], [60.0])
    assert log == [("h", 3.0), "node pre", "node post"]


def test_backward_into_a_nonleaf_runs_its_node():
    log = []
    x = leaf(1.0)
    h = x * 2
    h.grad_fn.register_prehook(lambda grads: log.append("pre"))
    h.grad_fn.register_hook(lambda inputs, outputs: log.append("post"))
    (h * 3).backward(inputs=(h,))
    assert log == ["pre", "post"] and x.grad is None
    same(h.grad, [3.0])


def test_hooks_of_leaves_that_are_not_asked_for_do_not_run():
    log = []
    a, b = leaf(1.0), leaf(2.0)
    b.register_hook(noting(log, "b"))
    get_gradient_edge(b).node.register_prehook(lambda grads: log.append("pre"))
    b.register_post_accumulate_grad_hook(lambda t: log.append("accumulated"))
    (a * b).backward(inputs=[a])
    assert log == [] and b.grad is None


def test_first_registered_first():
    log = []
    y = leaf(1.0) * 2
    for name in "abc":
        y.register_hook(noting(log, name))
    y.backward()
    assert [name for name, _ in log] == ["a", "b", "c"]


# What hooks return.


def test_a_returned_tensor_replaces_the_gradient():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: g * 5)
    y.register_hook(lambda g: None)
    y.backward()
    same(x.grad, [10.0])


@pytest.mark.parametrize("register", ["tensor", "prehook", "hook"])
def test_wrong_return_values(register):
    def attempt(value):
        y = leaf(1.0, 2.0) * 2
        if register == "tensor":
            y.register_hook(lambda g: value)
        elif register == "prehook":
            y.grad_fn.register_prehook(lambda grads: (value,))
        else:
            y.grad_fn.register_hook(lambda inputs, outputs: (value, None))
        y.sum().backward()

    with pytest.raises(TypeError, match="expected Variable, but hook returned 'str'"):
        attempt("text")
    with pytest.raises(RuntimeError, match="hook '<lambda>' has changed the size of value"):
        attempt(gs.ones((3,)))
    with pytest.raises(RuntimeError, match="hook '<lambda>' has changed the type of value"):
        attempt(gs.ones((2,), dtype="float32"))


def test_node_hooks_return_the_right_number_of_values():
    y = leaf(1.0) * 2
    y.grad_fn.register_prehook(lambda grads: (grads[0], grads[0]))
    with pytest.raises(
        RuntimeError,
        match=r"hook '<lambda>' has returned an incorrect number of values \(got 2, but expected 1\), of MultiplyBackward",
    ):
        y.backward()
    y = leaf(1.0) * 2
    y.grad_fn.register_hook(lambda inputs, outputs: (None,))
    with pytest.raises(RuntimeError, match="has returned an incorrect number of values"):
        y.backward()
    y = leaf(1.0) * 2
    y.grad_fn.register_prehook(lambda grads: grads[0])
    with pytest.raises(TypeError, match="expected tuple, but hook returned 'Tensor'"):
        y.backward()


def test_callables_without_a_name():
    class Callable:
        def __call__(self, g):
            return g * 2

    x = leaf(1.0)
    x.register_hook(Callable())
    x.register_hook(functools.partial(lambda k, g: g * k, 3))
    (x * 1).backward()
    same(x.grad, [6.0])


def test_hooks_must_be_callable():
    x = leaf(1.0)
    with pytest.raises(TypeError, match="expected a callable, got int"):
        x.register_hook(3)
    with pytest.raises(TypeError, match="expected a callable, got int"):
        (x * 2).grad_fn.register_prehook(3)


def test_tensors_without_gradient_take_no_hooks():
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        gs.ones((2,)).register_hook(print)


# Removal.


def test_removed_hooks_do_not_run():
    log = []
    x = leaf(1.0)
    handle = x.register_hook(noting(log, "removed"))
    x.register_hook(noting(log, "stays"))
    handle.remove()
    handle.remove()
    with x.register_hook(noting(log, "inside")):
        (x * 1).backward()
    (x * 1).backward()
    assert [name for name, _ in log] == ["stays", "inside", "stays"]
    with x.register_hook(noting(log, "early")) as handle:
        handle.remove()
        (x * 1).backward()
    assert [name for name, _ in log[3:]] == ["stays"]


def test_a_hook_may_remove_itself_and_others():
    log = []
    x = leaf(1.0)
    handles = {}

    def first(g):
        log.append("first")
        handles["first"].remove()
        handles["second"].remove()
        handles["first"].remove()

    handles["first"] = x.register_hook(first)
    handles["second"] = x.register_hook(noting(log, "second"))
    handles["third"] = x.register_hook(noting(log, "third"))
    (x * 1).backward()
    (x * 1).backward()
    assert log == ["first", ("second", 1.0), ("third", 1.0), ("third", 1.0)]


@pytest.mark.parametrize("register", ["register_prehook", "register_hook"])
def test_a_node_hook_that_an_earlier_one_removes_runs_this_once(register):
    log, handles = [], []
    y = leaf(1.0) * 2
    getattr(y.grad_fn, register)(lambda *grads: log.append("first") or handles[0].remove())
    handles.append(getattr(y.grad_fn, register)(lambda *grads: log.append("removed")))
    y.backward(retain_graph=True)
    y.backward()
    assert log == ["first", "removed", "first"]


# Undefined gradients.


class Stops(Function):
    """Passes no gradient on."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return None


def test_hooks_see_undefined_gradients_as_none():
    """The position None for undefined; a leaf's hooks run all the same, and nothing is accumulated."""
    log = []

    def note(name):
        return lambda *values: log.append((name, values))

    x = leaf(1.0)
    h = x * 2
    h.register_hook(note("tensor"))
    h.retain_grad()
    h.grad_fn.register_prehook(note("pre"))
    h.grad_fn.register_hook(note("post"))
    x.register_hook(note("leaf"))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("accumulated", t.grad)))
    Stops.apply(h).backward()
    assert log == [
        ("tensor", (None,)), ("pre", ((None,),)), ("post", ((None, None), (None,))), ("leaf", (None,)), ("accumulated", None),
    ]  # fmt: skip
    assert h.grad is None and x.grad is None


def test_a_hook_cannot_make_a_gradient_out_of_none():
    a, b = gs.unstack(leaf(1.0, 2.0))
    a.register_hook(lambda g: gs.ones(()))
    with pytest.raises(RuntimeError, match="hook '<lambda>' can't replace a None gradient with a non-None value, of UnstackBackward"):
        b.backward()


def test_a_leaf_that_was_frozen_keeps_its_hooks_and_gets_nothing():
    log = []
    x = leaf(1.0)
    y = x * 2
    x.register_hook(noting(log, "tensor"))
    x.register_post_accumulate_grad_hook(lambda t: log.append("accumulated"))
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None and log == [("tensor", 2.0), "accumulated"]


# Several outputs.


def test_hooks_belong_to_one_output():
    log = []
    a, b = gs.unstack(leaf(1.0, 2.0) * 1)
    a.register_hook(noting(log, "a"))
    b.register_hook(noting(log, "b"))
    (a * 5).backward(retain_graph=True)
    assert log == [("a", 5.0), ("b", None)]
    (a * 5 + b * 7).backward()
    assert log[2:] == [("a", 5.0), ("b", 7.0)]


def test_hooks_of_several_outputs_run_in_the_order_of_registration():
    """Tensor pre-hooks in registration order, then the retained gradients of all outputs."""
    log = []
    a, b = gs.unstack(leaf(1.0, 2.0) * 1)
    a.retain_grad()
    b.register_hook(lambda g: log.append(("b", a.grad)))
    a.register_hook(lambda g: log.append(("a", a.grad)))
    b.register_hook(lambda g: log.append(("b again", a.grad)))
    (a * 5 + b * 7).backward()
    assert log == [("b", None), ("b again", None), ("a", None)]
    same(a.grad, 5.0)


def test_prehooks_get_none_for_outputs_without_gradient():
    seen = []
    a, b = gs.unstack(leaf(1.0, 2.0) * 1)
    a.grad_fn.register_prehook(lambda grads: seen.append([g if g is None else g.item() for g in grads]))
    (b * 7).backward()
    assert seen == [[None, 7.0]]


def test_a_prehook_that_takes_every_gradient_away():
    """What is undefined stays so on its way: no zeros arrive."""
    x = leaf(1.0, 2.0)
    a, b = gs.unstack(x)
    a.grad_fn.register_prehook(lambda grads: (None, None))
    (a * b).backward()
    assert x.grad is None


def test_posthooks_get_none_for_inputs_without_gradient():
    seen = []
    x = leaf(2.0)
    y = x * gs.tensor([3.0])
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append([g if g is None else g.item() for g in inputs]))
    y.backward()
    assert seen == [[3.0, None]]


# retain_grad.


def test_retain_grad():
    x = leaf(2.0)
    y = x * 3
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad and not x.retains_grad
    z = y * y
    z.backward(retain_graph=True)
    same(y.grad, [12.0])
    z.backward()
    same(y.grad, [24.0])
    x.retain_grad()
    assert not x.retains_grad
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        gs.ones((2,)).retain_grad()


def test_a_retained_gradient_of_a_recorded_pass_is_its_own():
    x = leaf(2.0)
    y = x * x
    y.retain_grad()
    (g,) = grad(y * y, x, create_graph=True)
    kept = y.grad
    with gs.no_grad():
        kept.mul_(100)
    same(grad(g, x)[0], [12 * 4.0])


@pytest.mark.parametrize("shape", [(), (3,)])
def test_retained_gradients_add_up(shape):
    x = gs.ones(shape, requires_grad=True)
    y = x * 3
    y.retain_grad()
    z = (y * y).sum()
    for count in (1, 2, 3):
        z.backward(retain_graph=True)
        same(y.grad, np.full(shape, 6.0 * count))


def test_a_retained_gradient_is_its_own():
    x = leaf(2.0)
    y = x + 1
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    (y * 3).backward()
    y.grad.mul_(100)
    same(x.grad, [6.0])


def test_retain_grad_of_an_output_among_several():
    a, b = gs.unstack(leaf(1.0, 2.0) * 1)
    b.retain_grad()
    (a * 5 + b * 7).backward()
    same(b.grad, 7.0)


def test_reading_grad_of_a_nonleaf_warns(recwarn):
    x = leaf(1.0)
    y = x * 2
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert y.grad is None
    y.retain_grad()
    recwarn.clear()
    assert y.grad is None and x.grad is None
    assert len(recwarn) == 0


# In-place writes.


def test_hooks_stay_with_the_value_before_a_write():
    log = []
    x = leaf(1.0)
    y = x * 2
    y.register_hook(noting(log, "before"))
    y.mul_(5)
    y.register_hook(noting(log, "after"))
    y.backward()
    assert log == [("after", 1.0), ("before", 5.0)]
    same(x.grad, [10.0])


def test_retain_grad_moves_to_the_newest_value():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.mul_(5)
    y.mul_(3)
    (y * 7).backward()
    assert y.retains_grad
    same(y.grad, [7.0])
    same(x.grad, [210.0])


# Post-accumulate hooks.


def test_post_accumulate_grad_hooks():
    x = leaf(1.0)
    handle = x.register_post_accumulate_grad_hook(lambda t: setattr(t, "grad", None))
    (x * 2).backward()
    assert x.grad is None
    handle.remove()
    (x * 2).backward()
    same(x.grad, [2.0])


def test_post_accumulate_grad_hooks_are_for_leaves_and_return_nothing():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)
    x.register_post_accumulate_grad_hook(lambda t: 3)
    with pytest.raises(RuntimeError, match="hooks should return None."):
        (x * 2).backward()


def test_hooks_of_an_accumulator_that_nobody_holds():
    log = []
    x = leaf(1.0)
    y = x * 2
    y.grad_fn.next_functions[0][0].register_prehook(lambda grads: log.append("pre"))
    get_gradient_edge(x).node.register_hook(lambda inputs, outputs: log.append("post"))
    x.register_hook(noting(log, "tensor"))
    y.backward()
    assert log == [("tensor", 2.0), "pre", "post"]


def test_hooks_registered_on_a_leaf_after_the_forward():
    log = []
    x = leaf(1.0)
    y = x * 2
    x.register_hook(noting(log, "late"))
    y.backward()
    assert log == [("late", 2.0)]


def test_hooks_while_the_backward_is_recorded():
    x = leaf(2.0)
    y = x**3
    x.register_hook(lambda g: g * g)
    (g,) = grad(y, x, create_graph=True)
    same(g, [144.0])
    same(grad(g, x)[0], [288.0**2])  # of 9 x^4, squared by the hook again


# The state of the thread.


def test_modes_that_a_hook_leaves_switched_are_restored():
    """The engine restores the state of the thread after a pass."""
    x = leaf(1.0)
    hooks = saved_tensors_hooks(lambda t: t, lambda t: t)
    kept = []

    def switch(g):
        kept.append(gs.set_grad_enabled(True))
        kept.append(gs.inference_mode().__enter__())
        hooks.__enter__()

    y = x * 2
    y.register_hook(switch)
    y.backward()
    assert gs.is_grad_enabled() and not gs.is_inference_mode_enabled()
    z = gs.exp(x)
    z.grad_fn._raw_saved_y.register_hooks(lambda t: t, lambda t: t)  # none of the hooks above has been set


def test_saved_tensor_hooks_that_unpack_enters_or_exits_are_as_before():
    """Unbalanced exit or enter inside unpack must neither crash nor leak."""
    x = leaf(1.0)

    def enters(t):
        outer.__enter__()
        return t

    def exits(t):
        outer.__exit__(None, None, None)
        return t

    for unpack in (enters, exits):
        packed = []
        outer = saved_tensors_hooks(lambda t: packed.append(1) or t, unpack)
        with outer:
            gs.sin(x).sum().backward()
            gs.sin(x)
            assert len(packed) == 2
        gs.sin(x)
        assert len(packed) == 2
        z = gs.exp(x)
        z.grad_fn._raw_saved_y.register_hooks(lambda t: t, lambda t: t)  # none has been set


@pytest.mark.parametrize("function", [gs.var_mean, gs.std_mean])
def test_both_results_of_one_node_pass_its_hooks_together(function):
    x = gs.tensor(np.random.default_rng(0).normal(size=(3, 4)), requires_grad=True)
    spread, mean = function(x, 0, correction=0)
    assert spread.grad_fn is mean.grad_fn and (spread.output_nr, mean.output_nr) == (0, 1)
    wanted = grad((spread + 3 * mean).sum(), x, retain_graph=True)[0]
    seen = []
    handle = mean.grad_fn.register_prehook(lambda grads: seen.append(len(grads)) or tuple(2 * g for g in grads))
    np.testing.assert_allclose(grad((spread + 3 * mean).sum(), x, retain_graph=True)[0], 2 * wanted)
    handle.remove()
    np.testing.assert_allclose(grad(mean.sum(), x)[0], np.full((3, 4), 1 / 3))
    assert seen == [2]
