"""Lifetime: what reference counting alone frees, what the collector frees, and chains too long for recursion."""

import gc
import itertools
import sys
import time
import weakref

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, forward_ad, grad, saved_tensors_hooks
from tests.asked import each


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


@pytest.fixture
def no_collector():
    """Only reference counts free anything."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Witness:
    """Something that dies with what it was attached to."""


# Freed by reference counts.


def test_dropping_a_result_drops_its_graph(no_collector):
    x = leaf(1.0)
    y = (x.exp() * x).sin().sum()
    died = [weakref.ref(y), weakref.ref(y.grad_fn), weakref.ref(y.grad_fn.next_functions[0][0])]
    del y
    assert [ref() for ref in died] == [None] * 3


def test_a_graph_is_freed_after_backward(no_collector):
    x = leaf(1.0)
    y = (x.exp() * x).sqrt().sum()  # sqrt and exp save their outputs
    died = weakref.ref(y.grad_fn.next_functions[0][0])
    y.backward()
    del y
    alone = leaf(1.0)
    assert died() is None and sys.getrefcount(x) == sys.getrefcount(alone)


def test_a_recorded_backward_is_freed(no_collector):
    x = leaf(1.0)
    y = (x.exp() * x).sqrt()
    (g,) = grad(y, x, create_graph=True)
    (h,) = grad(g, x, create_graph=True)
    died = [weakref.ref(node) for node in (y.grad_fn, g.grad_fn, h.grad_fn)]
    del y, g, h
    assert [ref() for ref in died] == [None] * 3


def test_a_leaf_dies_with_its_graph(no_collector):
    x = leaf(1.0)
    y = x * 2
    died = weakref.ref(x)
    del x
    assert died() is not None
    del y
    assert died() is None


def test_retain_grad_holds_no_tensor(no_collector):
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    z = y + 1
    died = weakref.ref(y)
    del y
    assert died() is None
    z.backward()
    same(x.grad, [2.0])


def test_a_detached_tensor_does_not_hold_its_source(no_collector):
    x = leaf(1.0, 2.0)
    y = x * 2
    died = weakref.ref(y), weakref.ref(y.grad_fn)
    detached, view = y.detach(), y.detach()[:1]
    del y
    assert died[0]() is None and died[1]() is None
    same(detached, [2.0, 4.0])
    same(view, [2.0])


def test_in_place_operators_that_save_their_result(no_collector):
    y = leaf(1.0) * 1
    y.exp_()
    y.sqrt_()
    died = weakref.ref(y.grad_fn)
    del y
    assert died() is None


def test_views_and_their_base(no_collector):
    base = leaf(1.0, 2.0) * 1
    view = base[:1]
    died = weakref.ref(base), weakref.ref(base.grad_fn)
    del base
    assert died[0]() is not None  # a view holds its base
    del view
    assert died[0]() is None and died[1]() is None


def test_leaf_hooks_that_do_not_close_a_circle(no_collector):
    x = leaf(1.0)
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    (x * 2).backward()
    died = weakref.ref(x)
    del x
    assert died() is None and seen == [2.0]


def test_hooks_die_with_their_tensor(no_collector):
    witness = Witness()
    died = weakref.ref(witness)
    y = leaf(1.0) * 2
    y.register_hook(lambda g, witness=witness: None)
    y.grad_fn.register_prehook(lambda grads, witness=witness: None)
    del witness
    assert died() is not None
    del y
    assert died() is None


def test_functions_and_what_they_keep(no_collector):
    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.witness = Witness()
            died.append(weakref.ref(ctx.witness))
            y = x.exp()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[1]

    died = []
    x = leaf(1.0)
    y = Keeps.apply(x)
    y.backward()
    del y
    y = Keeps.apply(x) * 2
    del y
    assert [ref() for ref in died] == [None, None]


def test_unbalanced_saved_tensor_hooks_do_not_leak(no_collector):
    def unpack(value):
        hooks.__exit__()
        hooks.__enter__()
        return value

    hooks = saved_tensors_hooks(lambda t: t, unpack)
    x = leaf(1.0)
    with hooks:
        y = x.sin()
        y.backward()
    died = weakref.ref(y.grad_fn)
    del y
    assert died() is None


def test_duals(no_collector):
    with forward_ad.dual_level():
        x = forward_ad.make_dual(leaf(1.0), gs.ones((1,)))
        y = x.exp() * x
        died = [weakref.ref(t) for t in (x, y, y.grad_fn, forward_ad.unpack_dual(y).tangent)]
        del x, y
        assert [ref() for ref in died] == [None] * 4


def test_a_failed_backward_leaves_nothing_behind(no_collector):
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("no")

    x = leaf(1.0)
    h = x * 2
    y = Fails.apply(h) + h * 3
    try:
        y.backward()
    except ValueError:
        pass
    died = weakref.ref(h.grad_fn), weakref.ref(y.grad_fn)
    del h, y
    assert died[0]() is None and died[1]() is None


def test_gradients_that_wait_in_a_failed_pass_are_dropped(no_collector):
    x = leaf(1.0)
    h = x * 2
    y = h.sin() + h.cos()
    arrays = []

    def fail(g):
        arrays.append(weakref.ref(g))
        raise ValueError("no")

    h.register_hook(fail)
    for _ in range(3):
        try:
            y.backward(retain_graph=True)
        except ValueError:
            pass
    assert [ref() for ref in arrays] == [None] * 3


# Freed by the collector.


def dies(build):
    """Whether what `build()` returns a weak reference to is collected, and alive until then."""
    gc.collect()
    gc.disable()
    try:
        ref = build()
        alive = ref() is not None
    finally:
        gc.enable()
    gc.collect()
    return alive and ref() is None


def test_hook_of_a_leaf_that_closes_over_the_leaf():
    def build():
        x = leaf(1.0)
        x.register_hook(lambda g: x)
        (x * 2).sum()
        return weakref.ref(x)

    assert dies(build)


def test_post_accumulate_hook_that_closes_over_its_leaf():
    def build():
        x = leaf(1.0)
        x.register_post_accumulate_grad_hook(lambda t: print(x))
        x * 2
        return weakref.ref(x)

    assert dies(build)


def test_hook_of_a_result_that_closes_over_it():
    def build():
        y = leaf(1.0) * 2
        y.register_hook(lambda g: print(y))
        return weakref.ref(y.grad_fn)

    assert dies(build)


def test_hook_of_a_node_that_closes_over_later_results():
    def build():
        h = leaf(1.0) * 2
        box = []
        h.grad_fn.register_hook(lambda inputs, outputs: print(box))
        y = (h.exp() + h).sum()
        box.append(y)
        return weakref.ref(y)

    assert dies(build)


def test_metadata_of_a_node():
    def build():
        y = leaf(1.0) * 2
        y.grad_fn.metadata["result"] = y
        return weakref.ref(y)

    assert dies(build)


def test_attribute_of_a_tensor():
    def build():
        x = leaf(1.0)
        x.me = [x]
        return weakref.ref(x)

    assert dies(build)


def test_circles_through_nodes_of_any_number_of_edges_are_collected():
    """Where the hook that closes the circle is there when the node is made, and where one of the node itself comes later."""
    for count, later in itertools.product((1, 2, 3, 5), (False, True)):

        def build():
            held, x = [], leaf(1.0) * 1
            if not later:  # noqa: B023
                x.register_hook(lambda grad: held)
            held.append(gs.stack([x] * count))  # noqa: B023
            if later:  # noqa: B023
                x.register_hook(lambda grad: held)
                held[0].register_hook(lambda grad: None)
            return weakref.ref(held[0])

        assert dies(build), (count, later)


def test_circles_stay_alive_while_they_are_used():
    def build():
        y = leaf(1.0) * 2
        y.register_hook(lambda g: seen.append(y.tolist()))
        return y + 1

    seen = []
    z = build()
    gc.collect()
    z.backward()
    assert seen == [[2.0]]


# Long chains.


def chain(n, step):
    x = y = gs.tensor(1.0, requires_grad=True)
    for _ in range(n):
        y = step(y)
    return x, y


def test_a_million_nodes_build_run_and_die_without_recursion():
    x, y = chain(1_000_000, lambda t: t + 1.0)
    y.backward()
    same(x.grad, 1.0)
    del y


def test_a_million_nodes_are_dropped_without_backward():
    x, y = chain(1_000_000, lambda t: t * 1.0)
    died = weakref.ref(y.grad_fn)
    del y
    alone = leaf(1.0)
    assert died() is None and sys.getrefcount(x) == sys.getrefcount(alone)


@pytest.mark.parametrize(
    "step",
    [
        lambda t: t.mul_(1.0),
        lambda t: t.tanh(),
        lambda t: t[...],
        lambda t: t + t,
    ],
    ids=["in place", "saved output", "views", "two edges"],
)
def test_other_long_chains(step):
    x = gs.tensor(0.0, requires_grad=True)
    y = x * 1
    for _ in range(150_000):
        y = step(y)
    grad(y, x, gs.tensor(0.0))
    del y


def test_long_chains_with_hooks():
    y = gs.tensor(1.0, requires_grad=True)
    calls = []
    for i in range(100_000):
        y = y + 1
        if i % 1000 == 0:
            y.register_hook(lambda g: calls.append(1))
    y.backward()
    assert len(calls) == 100
    del y


def test_long_chains_of_recorded_gradients():
    x, y = chain(20_000, lambda t: t * 1.0)
    (g,) = grad(y, x, create_graph=True)
    same(g, 1.0)
    del y, g


def test_pruning_of_a_long_chain_does_not_recurse():
    w = gs.tensor(3.0, requires_grad=True)
    x, y = chain(200_000, lambda t: t + 1.0)
    same(grad(y * w, w, retain_graph=True)[0], 200_001.0)
    same(grad(y, x)[0], 1.0)


def test_time_is_linear_in_the_number_of_nodes():
    def seconds(n):
        best = np.inf
        for _ in range(3):
            start = time.process_time()
            _, y = chain(n, lambda t: t * 1.0)
            y.backward()
            del y
            best = min(best, time.process_time() - start)
        return best

    small, large = seconds(10_000), seconds(100_000)
    assert large < 30 * small  # ten times the nodes; a quadratic step would take a hundred times as long


# Gradients of gradients, and pointers that nobody counts.


@pytest.mark.parametrize("kind", ["chain", "held", "subclass"])
def test_long_chains_of_gradients_do_not_recurse(kind):
    """Nothing may recurse on destruction: a gradient that has a gradient, and so on."""
    Own = type("Own", (gs.Tensor,), {})
    first = current = gs.ones((1,)) if kind != "subclass" else Own.__new__(Own)
    if kind == "subclass":
        current.data = gs.ones((1,))
    held = []
    for i in range(500_000):
        current.grad = gs.ones((1,))
        current = current.grad
        if kind == "held" and i in (1, 1000, 250_000):
            held.append(current)
    del current
    witness = weakref.ref(first.grad)
    del first
    assert witness() is None
    for tensor in held:
        assert tensor.grad is not None
    del held


def test_an_accumulator_in_a_garbage_cycle_leaves_its_leaf_sound():
    """ctx -> dict -> accumulator -> ctx: freed by gc, and the leaf gets another one."""

    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.me = ctx
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    for _ in range(20):
        x = leaf(1.0)
        x.register_hook(lambda g: g * 2)
        y = Keeps.apply(x)
        y.grad_fn.accumulator = gs.autograd.get_gradient_edge(x).node
        dead = weakref.ref(y.grad_fn)
        del y
        gc.collect()
        assert dead() is None
        (x * 3).backward()
        same(x.grad, [6.0])


def test_a_primal_in_a_garbage_cycle_inside_levels():
    with forward_ad.dual_level(), forward_ad.dual_level():
        d = forward_ad.make_dual(leaf(1.0), gs.ones((1,)))
        p = forward_ad.unpack_dual(d).primal
        p.me = p
        dead = weakref.ref(p)
        del p, d
        gc.collect()
        assert dead() is None


@pytest.mark.parametrize("view", [False, True])
@pytest.mark.parametrize("saves", ["before", "after"])
def test_a_function_that_saves_what_it_wrote_to_holds_no_circle(view, saves, no_collector):
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.mul_(2)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            x, = ctx.saved_tensors
            return grad * 2 * (x / x)

    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    out = Double.apply(y[1:] if view else y)
    (y * y if saves == "after" else y).sum().backward()
    gone = weakref.ref(out)
    del y, out
    assert gone() is None


def test_what_a_function_wrote_to_a_view_and_saved_is_differentiated_again():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.mul_(x.clone())
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, grad):  # y = x * x of positive x, by its output
            y, = ctx.saved_tensors
            return grad * 2 * y ** 0.5

    x = gs.tensor([2.0, 3.0], requires_grad=True)
    y = x * 1
    Square.apply(y[1:])
    first, = gs.autograd.grad(y.sum(), x, create_graph=True)
    second, = gs.autograd.grad(first.sum(), x)
    assert first.tolist() == [1.0, 6.0] and second.tolist() == [0.0, 2.0]


@each("passes", [0, 1, 2])
@each("keeps", ["attribute", "metadata", "hook"])
@each("function", [False, True])
def test_a_node_that_keeps_what_it_saved_is_collected(function, keeps, passes):
    """What a node gives of its saved values leads back to it, so the collector has to see it."""

    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            y, = ctx.saved_tensors
            return grad * y

    x = leaf(1.0, 2.0)
    y = Exp.apply(x) if function else x.exp()
    node, witness = y.grad_fn, Witness()
    saved = node.saved_tensors[0] if function else node._saved_y
    saved.witness = witness
    if keeps == "attribute" and function:
        node.kept = saved
    elif keeps == "hook":
        node.register_hook(lambda inputs, outputs, kept=saved: None)
    else:
        node.metadata["kept"] = saved
    for _ in range(passes):
        y.sum().backward(retain_graph=True)
    gone = weakref.ref(witness)
    del y, node, saved, witness
    gc.collect()
    assert gone() is None
