"""Engine: order, pruning, captures, reentrancy, failures, callbacks and threads."""

import _thread
import contextvars
import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, GradientEdge, backward, forward_ad, get_gradient_edge, grad, graph
from gradspec.engine import worker
from gradspec.engine.engine import current_graph_task_id, queue_callback, will_engine_execute_node
from tests.asked import each


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


def tagged(tag, log, fail=None):
    """A Function that notes when it runs, and can fail."""

    class Tagged(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            log.append(tag)
            if fail is not None:
                raise fail
            return grad

    return Tagged.apply


# Dependencies.


def test_dependencies_are_counted_per_edge():
    x = leaf(0.3)
    h = x.exp()
    (h * h + h.exp().exp()).sum().backward()
    e = np.exp([0.3])
    same(x.grad, (2 * e + np.exp(np.exp(e)) * np.exp(e)) * e)


def test_a_repeated_operand_gets_both_gradients():
    x = leaf(3.0)
    (x * x).backward()
    same(x.grad, [6.0])


def test_the_same_root_twice_accumulates_twice():
    x = leaf(3.0)
    y = x * 2
    backward([y, y])
    same(x.grad, [4.0])
    y = x.exp()
    same(grad([y, y], x)[0], 2 * np.exp([3.0]))


def test_roots_that_are_ancestors_of_each_other():
    x = leaf(3.0)
    y = x * x
    z = y * y
    backward([y, z, x])
    same(x.grad, [6.0 + 4 * 27 + 1])
    y = x * x
    same(grad([y * y, y], y)[0], [2 * 9.0 + 1])


def test_diamonds_run_every_node_once():
    log = []
    x = leaf(1.0)
    y = tagged("shared", log)(x)
    for _ in range(20):
        y = y + y
    y.backward()
    same(x.grad, [2.0**20])
    assert log == ["shared"]


# Order.


def test_the_node_made_last_runs_first():
    log = []
    x = leaf(1.0)
    a = tagged("a", log)(x)
    b = tagged("b", log)(x)
    c = tagged("c", log)(a)
    (a + b + c).backward()
    assert log == ["c", "b", "a"]


def test_sequence_numbers_grow_and_can_be_set():
    log = []
    x = leaf(1.0)
    a = tagged("a", log)(x)
    b = tagged("b", log)(x)
    assert b.grad_fn._sequence_nr() > a.grad_fn._sequence_nr()
    y = a + b
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 1)
    y.backward()
    assert log == ["a", "b"]


def test_leaves_are_served_as_soon_as_they_are_ready():
    log = []
    early, late = leaf(1.0), leaf(1.0)
    early.register_hook(lambda g: log.append("early"))
    y = tagged("node", log)(late)
    (y * early).backward()
    assert log == ["early", "node"]


# Only what is needed runs.


def test_only_nodes_on_a_path_to_the_inputs_run():
    log = []
    a, b = leaf(1.0), leaf(2.0)
    y = tagged("a", log)(a) * tagged("b", log, ValueError("not asked for"))(b)
    same(grad(y, a, retain_graph=True)[0], [2.0])
    assert log == ["a"]
    y.backward(inputs=[a], retain_graph=True)
    assert log == ["a", "a"] and b.grad is None
    with pytest.raises(ValueError, match="not asked for"):
        y.backward()


def test_nothing_runs_beyond_a_captured_nonleaf():
    log = []
    x = leaf(1.0)
    h = tagged("before", log)(x)
    y = tagged("after", log)(h)
    same(grad(y, h)[0], [1.0])
    assert log == ["after"]


def test_an_input_and_what_it_was_made_from():
    x = leaf(3.0)
    h = x * 2
    y = h * h
    g_h, g_x = grad(y, [h, x])
    same(g_h, [12.0])
    same(g_x, [24.0])


def test_needed_marks_through_shared_nodes():
    # A node met first on a short path still leads to the input through a longer one.
    x, w = leaf(2.0), leaf(5.0)
    h = x.exp()
    g = h * w
    y = g + g * h + h.sin()
    e = np.exp(2.0)
    same(grad(y, x)[0], [(5 + 2 * 5 * e + np.cos(e)) * e])


def test_several_outputs_of_one_node_are_captured_in_one_pass():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    a, b, c = gs.unstack(y)
    calls = []
    y.grad_fn.register_prehook(lambda grads: calls.append(1))
    g_a, g_c, g_y = grad(a * 2 + b * 3 + c * c, [a, c, y])
    assert g_a.item() == 2.0 and g_c.item() == 6.0 and calls == []
    same(g_y, [2.0, 3.0, 6.0])


def test_capturing_one_input_twice():
    x = leaf(3.0)
    first, second = grad(x * x, [x, x])
    same(first, [6.0])
    same(second, [6.0])


def test_grad_touches_no_leaf():
    x, w = leaf(3.0), leaf(1.0)
    w.grad = gs.tensor([5.0])
    grad(x * w, [x, w])
    assert x.grad is None
    same(w.grad, [5.0])


def test_a_root_as_its_own_input():
    x = leaf(3.0)
    same(grad(x, x)[0], [1.0])
    x.backward()
    same(x.grad, [1.0])
    y = x * 2
    same(grad(y, y)[0], [1.0])


def test_unreachable_inputs():
    x, z = leaf(1.0), leaf(2.0)
    with pytest.raises(RuntimeError, match="to not have been used in the graph. Set allow_unused=True"):
        grad(x * 2, z)
    g_x, g_z = grad(x * 2, [x, z], allow_unused=True)
    same(g_x, [2.0])
    assert g_z is None
    (x * 2).backward(inputs=[x, z])
    assert z.grad is None


# Values on the way.


def test_user_gradients_are_never_written_to():
    x = leaf(1.0, 2.0)
    given = gs.tensor([1.0, 1.0])
    y = x + x
    y.backward(given)
    (x + x).backward(given)
    same(given, [1.0, 1.0])
    assert x.grad is not given
    x.grad.mul_(7)
    same(given, [1.0, 1.0])


def test_one_gradient_seen_in_two_places_stays_intact():
    a, b = leaf(1.0), leaf(2.0)
    total = a + b  # both get the very same gradient
    seen = []
    a.register_hook(lambda g: seen.append(g))
    (total * 3).backward()
    (a + b).backward()
    same(seen[0], [3.0])
    same(a.grad, [4.0])
    same(b.grad, [4.0])


def test_broadcast_gradients_are_summed():
    row, column, number = leaf(1.0, 2.0, 3.0), gs.ones((2, 1), requires_grad=True), gs.tensor(2.0, requires_grad=True)
    (row * column * number).sum().backward()
    same(row.grad, [4.0] * 3)
    same(column.grad, [[12.0], [12.0]])
    same(number.grad, 12.0)
    assert number.grad.shape == ()


# Several passes over one graph.


def test_second_backward_needs_retain_graph():
    x = leaf(2.0)
    y = x.exp()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="Specify retain_graph=True"):
        y.backward()
    same(x.grad, 2 * np.exp([2.0]))


def test_graphs_that_saved_nothing_may_run_again():
    x = leaf(2.0)
    y = (x + x).sum()
    y.backward()
    y.backward()
    same(x.grad, [4.0])


def test_create_graph_retains_the_graph():
    x = leaf(2.0)
    y = x**3
    (g,) = grad(y, x, create_graph=True)
    same(grad(g, x)[0], [12.0])
    same(grad(y, x)[0], [12.0])


def test_saved_values_are_freed_node_by_node_and_settings_stay():
    x = gs.ones((2, 3), requires_grad=True)
    h = x.exp()
    y = h.sum(axis=1)
    y.backward(gs.ones((2,)))
    assert y.grad_fn._saved_axis is not None
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = h.grad_fn._saved_y


def test_repeated_double_backward_is_equal():
    x = leaf(0.7)
    (g,) = grad((x * x).sin(), x, create_graph=True)
    first = grad(g, x, retain_graph=True)[0]
    same(grad(g, x)[0], first.numpy())


# Reentrancy.


def test_backward_inside_backward():
    inner_x = leaf(5.0)

    class Nested(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            with gs.enable_grad():
                (inner_x * inner_x).backward()
            return g * inner_x.grad

    x = leaf(1.0)
    Nested.apply(x).backward()
    same(inner_x.grad, [10.0])
    same(x.grad, [10.0])
    assert gs.is_grad_enabled()


def test_nested_pass_over_nodes_of_the_outer_one():
    x = leaf(2.0)
    h = x.exp()
    y = h * h
    inner = []

    entered = []

    def hook(g):
        if not entered:
            entered.append(True)
            inner.append(grad(y, x, retain_graph=True)[0])

    h.register_hook(hook)
    (y * 3).backward(retain_graph=True)
    e = np.exp([2.0])
    same(inner[0], 2 * e * e)
    same(x.grad, 6 * e * e)


def test_deeply_nested_backward():
    depth = 200

    class Nested(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            counter[0] += 1
            if counter[0] < depth:
                with gs.enable_grad():
                    Nested.apply(leaf(1.0)).backward()
            return g

    for _ in range(2):
        counter = [0]
        Nested.apply(leaf(1.0)).backward()
        assert counter[0] == depth


def nested(depth, inside):
    """Backward passes within each other, `depth` levels deep, `inside()` in the last."""

    class Nested(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            level[0] += 1
            if level[0] < depth:
                with gs.enable_grad():
                    Nested.apply(leaf(1.0)).backward()
            else:
                inside()
            return g

    level = [0]
    x = leaf(1.0)
    Nested.apply(x).backward()
    same(x.grad, [1.0])
    return level[0]


def workers():
    """Number of the engine's own threads: those of other tests come and go."""
    return sum(thread.name == "gradspec-worker" for thread in threading.enumerate())


@pytest.mark.parametrize("depth", [2000, 200, 59, 60, 61, 2000])
def test_reentrant_backward_to_any_depth(depth):
    """2000 nested levels must not overflow the stack; 200-deep again afterwards reuses it."""
    seen = []

    def inside():
        seen.append((gs.is_grad_enabled(), current_graph_task_id(), len(worker._idle)))

    before, recursion = current_graph_task_id(), sys.getrecursionlimit()
    assert nested(depth, inside) == depth and len(seen) == 1
    assert seen[0][0] is False and seen[0][1] >= depth and before == current_graph_task_id() == -1
    assert gs.is_grad_enabled() and sys.getrecursionlimit() == recursion
    end = time.monotonic() + 20  # for those that were let go
    while workers() > worker.IDLE_LIMIT and time.monotonic() < end:
        time.sleep(0.01)
    assert workers() <= worker.IDLE_LIMIT


def test_the_state_of_the_thread_goes_with_a_deep_pass():
    """Modes, levels, numbers of nodes and what depends on the context are the same on the other stack."""
    context = contextvars.ContextVar("context", default="default")
    packed, found = [], {}

    def inside():
        with gs.enable_grad():
            y = gs.exp(leaf(1.0))
        found.update(
            sequence=y.grad_fn._sequence_nr(), context=context.get(), errors=np.geterr()["over"], packed=len(packed),
            dual=forward_ad.unpack_dual(dual * dual).tangent, thread=threading.get_ident(),
            recorded=(leaf(1.0) * 2).requires_grad,
        )  # fmt: skip

    context.set("mine")
    before = (leaf(1.0) * 2).grad_fn._sequence_nr()
    hooks = gs.autograd.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t)
    with forward_ad.dual_level(), np.errstate(over="raise"), hooks:
        dual = forward_ad.make_dual(gs.tensor([3.0]), gs.tensor([1.0]))
        nested(150, inside)
        same(forward_ad.unpack_dual(dual).tangent, [1.0])
    after = (leaf(1.0) * 2).grad_fn._sequence_nr()
    assert found["thread"] != threading.get_ident()
    assert before < found["sequence"] < after
    assert (found["context"], found["errors"], found["recorded"]) == ("mine", "raise", False) and found["packed"] > 0
    same(found["dual"], [6.0])
    seen = len(packed)
    gs.exp(leaf(1.0))
    assert len(packed) == seen


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, RecursionError])
def test_errors_of_a_deep_pass_keep_type_message_and_traceback(error):
    def inside():
        raise error("from below")

    for _ in range(3):
        with pytest.raises(error, match="from below") as caught:
            nested(130, inside)
        frames = []
        traceback = caught.value.__traceback__
        while traceback is not None:
            frames.append(traceback.tb_frame.f_code.co_name)
            traceback = traceback.tb_next
        assert frames[-1] == "inside" and frames.count("backward") >= 130
    assert current_graph_task_id() == -1 and gs.is_grad_enabled()
    assert nested(130, lambda: None) == 130


def test_ctrl_c_while_a_deep_pass_works():
    """Whoever waits for another stack passes the interruption on, and waits until the pass has ended."""
    ended, never = threading.Event(), threading.Event()

    def inside():
        try:
            _thread.interrupt_main()
            for _ in range(60_000):  # ten minutes, which only a lost interruption takes
                never.wait(0.01)
        finally:
            never.wait(0.3)  # time enough for a caller that does not wait
            ended.set()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start what runs in the background with SIGINT ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            nested(130, inside)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.is_set() and gs.is_grad_enabled() and current_graph_task_id() == -1
    assert nested(130, lambda: None) == 130


def test_errors_of_the_inner_pass_keep_type_and_message():
    inner = tagged("inner", [], ValueError("from inside"))(leaf(1.0))

    def outer(g):
        inner.backward()

    y = leaf(1.0) * 2
    y.register_hook(outer)
    with pytest.raises(ValueError, match="from inside"):
        y.backward()


def test_grad_mode_inside_backward():
    modes = []
    x = leaf(1.0)
    y = x * x
    y.register_hook(lambda g: modes.append(gs.is_grad_enabled()))
    y.backward(retain_graph=True)
    grad(y, x, create_graph=True)
    with gs.no_grad():
        grad(y, x, create_graph=True, retain_graph=True)
        assert not gs.is_grad_enabled()
    assert modes == [False, True, True] and gs.is_grad_enabled()


# Failures.


def test_a_failing_node_leaves_the_graph_usable():
    fails = [True]

    class Sometimes(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if fails[0]:
                raise ArithmeticError("not yet")
            return g

    x, w = leaf(1.0), leaf(3.0)
    h = Sometimes.apply(x * w)
    y = h + h * 2
    for _ in range(2):
        with pytest.raises(ArithmeticError, match="not yet"):
            y.backward(retain_graph=True)
    assert gs.is_grad_enabled() and current_graph_task_id() == -1 and x.grad is None
    fails[0] = False
    y.backward()
    same(x.grad, [9.0])  # nothing was left over from the failed passes
    same(w.grad, [3.0])


def test_a_failing_hook_leaves_the_graph_usable():
    x = leaf(2.0)
    h = x * x
    y = h + h.sin()
    handle = h.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.backward(retain_graph=True)
    handle.remove()
    y.backward()
    same(x.grad, [4.0 + np.cos(4.0) * 4.0])


@pytest.mark.parametrize("ends", ["hook", "node", "interrupt"])
def test_a_pass_that_failed_leaves_no_word_of_what_it_wanted(ends):
    """What one pass asked for is not believed by the next: grad() by one input fails, backward() reaches the others."""
    error = KeyboardInterrupt if ends == "interrupt" else ValueError

    def boom(*grads):
        raise error("boom")

    x, w, v = leaf(2.0), leaf(3.0), leaf(5.0)
    h = tagged("below", [], error("boom"))(x) if ends == "node" else x * 1
    y = h * w * v
    if ends != "node":
        handle = y.grad_fn.register_prehook(boom)
    for i, inputs in enumerate(([x], [x, w], [x, v])):
        with pytest.raises(error, match="boom"):
            grad(y.sum(), inputs, retain_graph=True)
        if ends == "node":
            with pytest.raises(error, match="boom"):
                y.sum().backward(retain_graph=True)
        else:
            handle.remove()
            y.sum().backward(retain_graph=True)
            handle = y.grad_fn.register_prehook(boom)
            same(x.grad, [15.0 * (i + 1)])
        same(w.grad, [10.0 * (i + 1)])
        same(v.grad, [6.0 * (i + 1)])


def test_a_nested_pass_that_fails_inside_a_hook_leaves_the_outer_one_whole():
    x, w = leaf(2.0), leaf(3.0)
    h = x.exp()
    y = h * w
    depth = []

    def nested(grads):
        depth.append(1)
        if len(depth) > 1:
            raise ValueError("boom")
        with pytest.raises(ValueError, match="boom"):
            grad(y, x, retain_graph=True)

    y.grad_fn.register_prehook(nested)
    y.backward(retain_graph=True)
    same(x.grad, 3 * np.exp([2.0]))
    same(w.grad, np.exp([2.0]))


def test_warnings_reach_the_caller():
    y = leaf(1.0) * 2
    y.register_hook(lambda g: warnings.warn("careful", UserWarning, stacklevel=2))
    with pytest.warns(UserWarning, match="careful"):
        y.backward()


def test_warnings_of_a_deep_pass_reach_the_caller():
    """A warning raised inside backward reaches the caller as a Python warning, also from another stack, and as an error."""
    with pytest.warns(UserWarning, match="careful"):
        nested(130, lambda: warnings.warn("careful", UserWarning, stacklevel=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="careful"):
            nested(130, lambda: warnings.warn("careful", UserWarning, stacklevel=2))


# What a running pass tells.


def test_graph_task_ids():
    ids = []
    y = leaf(1.0) + 2
    y.register_hook(lambda g: ids.append(current_graph_task_id()))
    assert current_graph_task_id() == -1
    y.backward()
    y.backward()
    assert ids[1] == ids[0] + 1 >= 1
    assert current_graph_task_id() == -1


def test_will_engine_execute_node():
    a, b = leaf(1.0), leaf(2.0)
    h, k = a * 2, b * 3
    y = h * k
    seen = []
    y.register_hook(lambda g: seen.append((will_engine_execute_node(h.grad_fn), will_engine_execute_node(k.grad_fn))))
    grad(y, a, retain_graph=True)
    y.backward(retain_graph=True)
    y.backward(inputs=[k], retain_graph=True)
    assert seen == [(True, False), (True, True), (False, True)]
    with pytest.raises(RuntimeError, match="during the backward pass"):
        will_engine_execute_node(h.grad_fn)
    accumulator = get_gradient_edge(a).node
    y.register_hook(lambda g: seen.append(will_engine_execute_node(accumulator)))
    y.backward(retain_graph=True)
    assert seen[-1] is True
    x = leaf(3.0)
    first = x * 2
    second = first * first
    first.register_hook(lambda g: seen.append([will_engine_execute_node(t.grad_fn) for t in (first, second, h)]))
    second.backward(inputs=[x], retain_graph=True)
    second.backward(retain_graph=True)
    assert seen[-2:] == [[True, True, False]] * 2  # those that ran, too
    with pytest.raises(RuntimeError, match=r"are currently running autograd.grad\(\)"):
        grad(y, a, retain_graph=True)
    y.register_hook(lambda g: will_engine_execute_node(3))
    with pytest.raises(RuntimeError, match="expects an grad_fn"):
        y.backward()


def test_the_graph_is_kept_or_not():
    """keep_graph is readable from inside backward."""
    seen = []
    y = leaf(1.0) * 2
    y.register_hook(lambda g: seen.append(graph._get_current_graph_task_keep_graph()))
    y.backward(retain_graph=True)
    grad(y, y, create_graph=True)
    y.backward()
    assert seen == [True, True, False]


def random_graph(rng, ran):
    """A graph of some nodes that note when they run; the leaves, and all that was made of them."""
    leaves = [leaf(1.0) for _ in range(3)]
    values = list(leaves)
    for i in range(12):
        a, b = rng.choice(len(values), 2)
        y = values[a] * values[b] if i % 3 else gs.stack([values[a], values[b], values[a]]).sum(0)
        y.grad_fn.register_prehook(lambda grads, node=y.grad_fn: ran.append(node))
        values.append(y)
    for x in leaves:
        node = get_gradient_edge(x).node
        values.append(node)  # kept, so that it is the same one in the end
        node.register_prehook(lambda grads, node=node: ran.append(node))
    return leaves, values[3:-3], values


@each("seed", range(40))
def test_the_execution_order_is_predicted(seed):
    """_current_graph_task_execution_order() predicts exactly that order (stable for several roots)."""
    rng = np.random.default_rng(seed)
    ran, order = [], []
    leaves, inner, _ = random_graph(rng, ran)
    roots = [inner[-1], inner[-2], inner[int(rng.integers(len(inner)))]]
    for t in inner[:4]:
        t.grad_fn._set_sequence_nr(int(rng.integers(100)))

    def predict(grads):
        if not order:
            order.extend(graph._current_graph_task_execution_order())

    for root in roots:
        root.grad_fn.register_prehook(predict)
    with gs.autograd.set_multithreading_enabled(False):
        for inputs in (None, [leaves[0]], [inner[2], leaves[1]], inner[3:5]):
            ran.clear()
            order.clear()
            if inputs is None:
                backward(roots, retain_graph=True)
            else:
                for x in inputs:  # what is not reached is not executed, and nothing is if that is all
                    x.grad = None
                backward(roots, retain_graph=True, inputs=inputs)
            noted = set(ran)
            assert [node for node in order if node in noted] == ran and len(set(order)) == len(order)
            assert noted <= set(order) or not order


def test_the_execution_order_wants_one_thread():
    errors = []

    def hook(g):
        try:
            graph._current_graph_task_execution_order()
        except RuntimeError as error:
            errors.append(str(error))

    y = leaf(1.0) * 2
    y.register_hook(hook)
    y.backward()
    assert len(errors) == 1 and "expects the current backward to be executed with multithreading disabled" in errors[0]
    with gs.autograd.set_multithreading_enabled(False):
        with pytest.raises(RuntimeError, match="should only be called during the backward pass"):
            graph._current_graph_task_execution_order()


def test_set_multithreading_enabled_is_a_function_and_a_context_manager():
    """set_multithreading_enabled is a function and a context manager; it belongs to its thread."""
    enabled, switch = gs.autograd.is_multithreading_enabled, gs.autograd.set_multithreading_enabled
    assert enabled()
    with switch(False):
        assert not enabled()
        with switch(True):
            assert enabled()
        assert not enabled()
        assert in_threads(lambda: [1 / enabled()], 1) == []
    switch(False)
    assert not enabled()
    switch(True)
    assert enabled()

    @switch(False)
    def inside():
        return enabled()

    assert enabled() and inside() is False and enabled()
    with pytest.raises(ValueError):
        with switch(False):
            raise ValueError
    assert enabled()


def test_callbacks_run_once_at_the_end_of_their_pass():
    log = []
    x = leaf(1.0)
    y = tagged("node", log)(x)

    def hook(g):
        queue_callback(lambda: (log.append("callback"), queue_callback(lambda: log.append("another"))))

    y.register_hook(hook)
    y.backward()
    assert log == ["node", "callback", "another"]
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass"):
        queue_callback(print)


def test_the_engine_under_its_old_name():
    log = []
    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: gs.autograd.Variable._execution_engine.queue_callback(lambda: log.append("done")))
    y.sum().backward()
    assert log == ["done"] and isinstance(y, gs.autograd.Variable) and not isinstance(3, gs.autograd.Variable)
    v = gs.autograd.Variable(y, requires_grad=True)
    assert v.is_leaf and v.requires_grad and np.shares_memory(v.detach().numpy(), y.detach().numpy())


def test_callbacks_of_an_inner_pass_run_at_its_end():
    log = []

    def inner(g):
        with gs.enable_grad():
            z = leaf(1.0) * 2
        z.register_hook(lambda g: queue_callback(lambda: log.append("inner callback")))
        z.backward()
        log.append("inner done")

    y = leaf(1.0) * 2
    y.register_hook(inner)
    y.backward()
    assert log == ["inner callback", "inner done"]


# Edges as roots and inputs.


def test_edges_stand_for_tensors():
    x = leaf(2.0)
    h = x * x
    y = h.exp()
    same(grad(get_gradient_edge(y), get_gradient_edge(h), gs.tensor([1.0]), retain_graph=True)[0], np.exp([4.0]))
    same(grad(y, GradientEdge(h.grad_fn, 0), retain_graph=True)[0], np.exp([4.0]))
    y.backward(inputs=[get_gradient_edge(x)])
    same(x.grad, 4 * np.exp([4.0]))


def test_an_edge_taken_before_a_write_addresses_the_old_value():
    x = leaf(2.0)
    h = x * 3
    edge = get_gradient_edge(h)
    h.mul_(5)
    same(grad(h, edge, retain_graph=True)[0], [5.0])
    same(grad(h, h)[0], [1.0])


# Threads.


def in_threads(function, count=10):
    errors = []

    def run():
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return errors


def test_ten_threads_into_one_leaf():
    """10 Python threads backward into one leaf: .grad is the exact sum."""
    x = gs.ones((5, 5), requires_grad=True)

    def work():
        for _ in range(20):
            ((x + 3) * (x + 4) * 0.5).sum().backward()

    assert in_threads(work) == []
    same(x.grad, np.full((5, 5), (0.5 * (2 + 7)) * 10 * 20))


def test_grad_in_threads_is_independent():
    x = leaf(2.0)
    results = []
    assert in_threads(lambda: results.append(grad(x**3, x)[0].item())) == []
    assert results == [12.0] * 10


def test_one_graph_in_threads_with_retain_graph():
    x = leaf(2.0)
    y = tagged("node", [])(x.exp() * x).sum()
    assert in_threads(lambda: y.backward(retain_graph=True)) == []
    same(x.grad, [10 * np.exp(2.0) * 3])


def test_one_graph_in_threads_without_retain_graph():
    x = leaf(2.0)
    y = (x.exp() * x).sum()
    errors = in_threads(lambda: grad(y, x))
    assert len(errors) < 10
    assert all(isinstance(error, RuntimeError) and "Specify retain_graph=True" in str(error) for error in errors)


def test_passes_with_different_inputs_beside_each_other_on_one_graph():
    """`backward` of everything, and grad() by each input, on one graph at the same time: nothing is left out."""
    size = 100_000  # large enough for the arithmetic to let the other threads run
    leaves = [gs.full((size,), value, requires_grad=True) for value in (2.0, 3.0)]
    y = (leaves[0] * leaves[1]).sum()
    turns = iter(range(10**9))

    def work():
        for _ in range(100):
            asked = ([0], [0, 1], [1])[next(turns) % 3]
            found = grad(y, [leaves[i] for i in asked], retain_graph=True)
            for i, g in zip(asked, found):
                assert g.numpy()[0] == g.numpy()[-1] == (3.0, 2.0)[i]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        assert in_threads(work, 4) == []
    finally:
        sys.setswitchinterval(interval)


def test_threads_meet_in_the_middle_of_one_graph():
    # Every pass stops in a hook until all of them are inside: each has its own notes on the shared nodes.
    barrier = threading.Barrier(4)
    x = leaf(2.0)
    h = x.exp()
    y = h * h + h
    y.register_hook(lambda g: [barrier.wait(20)] and None)
    results = []
    assert in_threads(lambda: results.append(grad(y, x, retain_graph=True)[0].item()), 4) == []
    e = np.exp(2.0)
    assert results == pytest.approx([(2 * e + 1) * e] * 4)
