"""AccumulateGrad: stealing, adding in place, layout, and the `.grad` attribute."""

import gc
import os
import signal
import sys
import threading
import weakref

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, get_gradient_edge
from tests.asked import each


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
    with pytest.raises(RuntimeError, match=r"attempting to assign a gradient of size \[3\] to a tensor of size \[2\]"):
        x.grad = gs.ones((3,))
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype float32 to a tensor with grad_dtype float64"):
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


def test_edges_know_which_output_they_come_from():
    """By one operand, two or more, of which some are first outputs."""
    first, second = gs.unstack(leaf(1.0, 2.0))
    for y, numbers in ((gs.exp(second), (1,)), (first * second, (0, 1)), (gs.clip(first, second, second), (0, 1, 1))):
        assert tuple(number for _, number in y.grad_fn.next_functions) == numbers


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


# Whose memory it is.


def leaves_of(graph):
    """Leaves, and a function of them whose gradients would share memory if nobody took care."""
    a, b = (gs.tensor(np.arange(1.0, 7.0).reshape(2, 3), requires_grad=True) for _ in range(2))
    c = gs.tensor(np.arange(1.0, 7.0).reshape(3, 2), requires_grad=True)
    return [a, b, c], graph(a, b, c)


GRAPHS = {
    "sum": lambda a, b, c: a + b + c.T,
    "power": lambda a, b, c: (a + b) ** 2 + c.reshape((2, 3)),
    "views": lambda a, b, c: a.reshape((3, 2)).T + b[:, ::1] + c.T,
    "identity": lambda a, b, c: a * 1 + (b + c.T),
}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.filterwarnings("ignore:Using backward")
def test_no_two_gradients_share_memory_with_each_other_or_the_users(graph, create_graph):
    """Of two leaves fed the same grad object exactly one may steal; never modify a user-supplied grad_output."""
    leaves, y = leaves_of(GRAPHS[graph])
    given = gs.tensor(np.full(y.shape, 2.0), requires_grad=True)
    y.backward(given, create_graph=create_graph)
    grads = [x.grad for x in leaves]
    for i, g in enumerate(grads):
        assert not shares(g, given) and not any(shares(g, other) for other in grads[:i])
        assert g.strides == leaves[i].strides
        assert g.requires_grad is create_graph
    expected = [g.numpy().copy() if not create_graph else g.detach().numpy().copy() for g in grads]
    with gs.no_grad():
        grads[0].mul_(100)
    for g, e in zip(grads[1:], expected[1:]):
        same(g, e)
    same(given, np.full(y.shape, 2.0))
    for x in leaves:
        x.grad = None


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_leaf_as_its_own_root_keeps_a_copy_of_the_users_gradient():
    x = leaf(1.0, 2.0)
    given = leaf(3.0, 4.0)
    x.backward(given, create_graph=True)
    assert x.grad is not given and not shares(x.grad, given)
    same(gs.autograd.grad(x.grad.sum(), given)[0], [1.0, 1.0])  # recorded
    x.grad = None


def test_recorded_history_of_grad_is_added_to_in_place():
    """Later accumulation is in place when create_graph is False: id(.grad) kept."""
    x = leaf(2.0)
    with pytest.warns(UserWarning):
        (x**3).backward(create_graph=True)
    first = x.grad
    (x * 2).backward()
    assert x.grad is first
    same(first, [14.0])
    same(gs.autograd.grad(first, x)[0], [12.0])
    x.grad = None


# Layout.


LAYOUTS = {
    "contiguous": lambda a: a,
    "transposed": lambda a: a.T,
    "sliced": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "sliced and transposed": lambda a: np.repeat(a, 2, axis=1)[:, ::2].T,
    "reversed": lambda a: a[::-1],
    "one row": lambda a: a[:1].T,
    "broadcast": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "middle axis first": lambda a: a.reshape(a.shape[0], 2, -1).transpose(1, 0, 2),
    "empty": lambda a: a[:0].T,
}
DTYPES = ["float16", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble"]


@each("layout", LAYOUTS)
@each("made", ["plain", "expanded", "recorded"])
@pytest.mark.filterwarnings("ignore:Using backward")
def test_layout_contract(layout, made):
    """Leaf non-overlapping and dense -> the leaf's strides (also for broadcast grads); otherwise row-major contiguous."""
    x = gs.asarray(LAYOUTS[layout](np.arange(12.0).reshape(3, 4))).requires_grad_()
    y = x.sum() if made == "expanded" else (x * 2).sum()
    y.backward(create_graph=made == "recorded")
    dense = {"transposed", "reversed", "one row", "middle axis first"}
    wanted = np.empty_like(x.detach().numpy(), order="K" if layout in dense else "C").strides
    assert x.grad.strides == wanted
    (x * 2).sum().backward(create_graph=made == "recorded")
    same(x.grad, np.full(x.shape, 3.0 if made == "expanded" else 4.0))
    assert x.grad.strides == wanted
    x.grad = None


# Shapes that changed, memory that overlaps.


def test_a_grad_of_another_shape_than_the_new_data():
    """What is added in place has the size of what it is added to, whatever became of .data."""
    for old, new in (((5000,), (3,)), ((3,), (5000,)), ((2, 3), (3, 2)), ((1,), ())):
        x = gs.ones(old, requires_grad=True)
        x.grad = gs.zeros(old)
        x.data = gs.ones(new)
        with pytest.raises(RuntimeError, match="cannot be added to a .grad of shape"):
            (x * 1.0).sum().backward()
        same(x.grad, np.zeros(old))


@each("replace", ["data", "set_", "resize_"])
@each("old, new", [((3,), (1,)), ((2, 3), (3,)), ((4,), ()), ((1,), (3,)), ((2, 2), (4,))])
def test_data_of_another_shape_after_the_forward(old, new, replace):
    """An old graph's gradient is never summed to a shape that its leaf did not have."""
    x = gs.ones(old, requires_grad=True)
    y = (x + 1.0).sum() if old != (1,) else (x + gs.ones((1,))).sum()
    with gs.no_grad():
        if replace == "data":
            x.data = gs.ones(new)
        elif replace == "set_":
            x.set_(gs.ones(new))
        else:
            x.resize_(new)
    with pytest.raises(RuntimeError, match="data was replaced|invalid gradient"):
        y.backward()
    assert x.grad is None
    (x * gs.ones((2, *new))).sum().backward()  # a new graph broadcasts and is summed back
    same(x.grad, np.full(new, 2.0))


@pytest.mark.parametrize("shape", [(2, 2, 3), (3, 2), (7,), ()])
def test_a_gradient_handed_to_an_accumulator_has_the_shape_of_its_leaf(shape):
    """grad_fn is callable: with tensors of the shape of its outputs, or that broadcast from it."""
    x = gs.ones((2, 3), requires_grad=True)
    node = get_gradient_edge(x).node
    if shape == (2, 2, 3):
        node(gs.ones(shape))
        same(x.grad, np.full((2, 3), 2.0))
    else:
        with pytest.raises(RuntimeError, match="invalid gradient"):
            node(gs.ones(shape))
        assert x.grad is None


@pytest.mark.parametrize("strides, shape", [((0,), (2,)), ((8,), (3,)), ((8, 8), (2, 2)), ((16, 24), (3, 2)), ((0, 8), (2, 3))])
def test_a_grad_whose_elements_share_memory(strides, shape):
    """Accumulation in place into memory that overlaps is refused; strides that only look like it are not."""
    held = np.lib.stride_tricks.as_strided(np.zeros(50), shape, strides, writeable=True)
    x = gs.ones(shape, requires_grad=True)
    x.grad = gs.asarray(held)
    values = np.arange(1.0, 1 + x.size).reshape(shape)
    if strides in ((8,), (16, 24)):
        (x * values).sum().backward()
        same(x.grad, values)
    else:
        with pytest.raises(RuntimeError, match="refers to a single memory location"):
            (x * values).sum().backward()


def test_a_grad_made_inside_a_level_is_no_view():
    x = gs.ones((2,), requires_grad=True)
    with gs.autograd.forward_ad.dual_level():
        d = gs.autograd.forward_ad.make_dual(x, gs.ones((2,)))
        (d * d).sum().backward()
        tangent = gs.autograd.forward_ad.unpack_dual(x.grad).tangent
        same(tangent, [2.0, 2.0])
        assert x.grad._base is None and not x.grad._is_view()
    same(x.grad, [2.0, 2.0])
    x.grad.detach_()


def test_a_leaf_frozen_after_the_forward_gets_nothing():
    x, w = leaf(1.0), leaf(3.0)
    y = x * w
    x.requires_grad_(False)
    y.sum().backward()
    assert x.grad is None
    same(w.grad, [1.0])


# Threads.


def run_together(work, count=8):
    """Call `work(i)` in threads that start together and change often; what they raise is raised here."""
    errors, barrier = [], threading.Barrier(count)

    def run(i):
        try:
            barrier.wait(30)
            work(i)
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive()
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]


@each("layout", ["contiguous", "transposed", "sliced and transposed", "reversed"])
@each("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore:overflow")
def test_eight_threads_into_shared_leaves(dtype, layout):
    """N Python threads backward into one leaf: .grad is the exact sum, from the first gradient on."""
    base = np.ones((40, 60), dtype)
    leaves = [gs.asarray(LAYOUTS[layout](base.copy())).requires_grad_() for _ in range(2)]
    rounds = 45  # times 8 threads, 7 dtypes and 4 layouts: 10 080 passes; 360 is exact in float16

    def work(_):
        for i in range(rounds):
            y = leaves[0] + leaves[1]
            # Gradients of another layout than the leaf's as well, and such as a loop cannot take as they are.
            given = np.ones(y.shape, dtype, order="CF"[i % 2])
            y.backward(gs.asarray(given))

    run_together(work)
    for x in leaves:
        np.testing.assert_array_equal(x.grad.numpy(), np.full(x.shape, 8 * rounds, dtype))


@pytest.mark.parametrize("kind", ["first", "recorded", "both", "0-d"])
@pytest.mark.filterwarnings("ignore:Using backward")
def test_threads_meet_at_the_first_gradient(kind):
    """The first accumulation of several threads, and that of recorded passes beside others, loses nothing."""
    for _ in range(40):
        x = gs.ones(() if kind == "0-d" else (3000,), requires_grad=True)

        def work(i):
            for _ in range(3):
                y = (x * x).sum()
                y.backward(create_graph=kind == "recorded" or kind == "both" and i % 2 == 0)

        run_together(work, 4)
        same(x.grad, np.full(x.shape, 2.0 * 12))
        x.grad = None


def test_retained_gradients_of_a_graph_that_threads_share():
    """retain_grad accumulates over backwards, whichever threads run them."""
    for dtype in ("float16", "float64"):
        x = gs.ones((3000,), dtype=dtype, requires_grad=True)
        h = x * 1
        h.retain_grad()
        y = (h * 2).sum() if dtype == "float64" else h * 2
        seed = gs.ones(y.shape, dtype=dtype)
        run_together(lambda i: [y.backward(seed, retain_graph=True) for _ in range(50)])
        same(h.grad, np.full(h.shape, 2.0 * 400))
        same(x.grad, np.full(h.shape, 2.0 * 400))


def test_hooks_of_leaves_that_threads_share():
    """Every pass runs the hooks of a leaf once, and post-accumulate hooks after its gradient is in."""
    x = gs.ones((3000,), requires_grad=True)
    seen, least = [], []
    x.register_hook(lambda g: seen.append(1) or g * 2)
    x.register_post_accumulate_grad_hook(lambda t: least.append(float(t.grad.numpy().min())))
    run_together(lambda i: [(x * 1).sum().backward() for _ in range(40)])
    assert len(seen) == len(least) == 320 and min(least) >= 2.0
    same(x.grad, np.full(x.shape, 640.0))


def test_leaves_that_share_one_grad():
    held = gs.zeros((3000,), dtype="float16")
    leaves = [gs.ones((3000,), dtype="float16", requires_grad=True) for _ in range(4)]
    for x in leaves:
        x.grad = held
    seed = gs.ones((3000,), dtype="float16")
    run_together(lambda i: [(leaves[i % 4] * 1).backward(seed) for _ in range(100)])
    same(held, np.full(3000, 800.0))


def test_one_accumulator_for_a_leaf_in_all_threads():
    for _ in range(100):
        x = leaf(1.0)
        nodes = []
        run_together(lambda i: nodes.append(get_gradient_edge(x).node), 4)
        assert len({id(node) for node in nodes}) == 1


@each("shape", [(5,), (2, 2), (1, 3), (), (3, 1)])
@each("replace", ["data", "set_"])
@each("create_graph", [False, True])
def test_an_accumulator_that_is_held_refuses_the_gradient_of_another_shape(shape, replace, create_graph):
    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    edge = get_gradient_edge(x)
    y = (x * 2).sum()
    with gs.no_grad():
        if replace == "data":
            x.data = gs.ones(shape)
        else:
            x.set_(gs.ones(shape))
    with pytest.raises(RuntimeError, match="data was replaced|invalid gradient"):
        y.backward(create_graph=create_graph)
    assert x.grad is None and edge.node.variable is x
    (x * 3).sum().backward()
    same(x.grad, np.full(shape, 3.0))


def test_set_on_a_leaf_replaces_its_accumulator():
    """It is another variable from there on; what was recorded before has the edge of the old one."""
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    edge = get_gradient_edge(x)
    y = (x * x).sum()
    with gs.no_grad():
        x.set_(gs.ones((2,)))
    new = get_gradient_edge(x)
    assert new.node is not edge.node and new.node is get_gradient_edge(x).node
    with pytest.raises(RuntimeError, match="to not have been used in the graph"):
        gs.autograd.grad((x.detach() + y).sum(), x)
    z = (x * 5).sum()
    same(gs.autograd.grad(z, x, retain_graph=True)[0], [5, 5])
    with pytest.raises(RuntimeError, match="to not have been used in the graph"):
        gs.autograd.grad(z, edge)
    w = x.clone().sum()
    with gs.no_grad():
        x.set_(gs.zeros((2,)))
    same(gs.autograd.grad(w, new)[0], [1, 1])


def test_set_on_a_leaf_leaves_old_edges_that_work():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    edge = get_gradient_edge(x)
    y = x.clone().sum()
    with gs.no_grad():
        x.set_(gs.ones((2,)))
    with pytest.raises(RuntimeError, match="to not have been used in the graph"):
        gs.autograd.grad(y, x)
    same(gs.autograd.grad(y, edge)[0], [1, 1])
    y.backward()  # the variable of the old accumulator is still this tensor, as in PyTorch
    same(x.grad, [1, 1])


@pytest.mark.parametrize("moves", [1, 2, 3])
def test_nodes_of_any_thread_have_the_accumulator_of_their_time(moves):
    """A new thread counts its nodes from nought; here all are made after the leaf has moved, or in turns with its moves."""
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    first = get_gradient_edge(x)
    y = (x * x).clone().sum() + x.sum()
    made = [(y, first)]

    def use():
        made.append(((x * 3).sum(), get_gradient_edge(x)))

    for _ in range(moves):
        with gs.no_grad():
            x.set_(gs.ones((2,)))
        for thread in (threading.Thread(target=use), threading.Thread(target=use)):
            thread.start()
            thread.join()
        use()
    for i, (root, edge) in enumerate(made):
        for other in {edge.node for _, edge in made}:
            assert (other is edge.node) == (other in reached(root.grad_fn)), i
        if i:
            same(gs.autograd.grad(root, edge, retain_graph=True)[0], [3, 3])
    assert len({edge.node for _, edge in made}) == moves + 1


def reached(node):
    """All nodes below one, itself included."""
    if node is None:
        return set()
    return {node}.union(*(reached(other) for other, _ in node.next_functions))


def test_a_leaf_with_a_former_accumulator_is_collected():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone().sum()
    with gs.no_grad():
        x.set_(gs.ones((2,)))
    gone = weakref.ref(x)
    del x, y
    gc.collect()
    assert gone() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_in_the_middle_of_an_addition_does_not_wait_for_it():
    shared = gs.tensor(np.zeros(300_000, np.float16), requires_grad=True)  # which NumPy adds, with the GIL given up
    shared.sum().backward()
    over = threading.Event()

    def work():
        while not over.is_set():
            shared.sum().backward()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        for _ in range(12):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                with gs.enable_grad():
                    shared.sum().backward()
                    shared.sum().backward(create_graph=True)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        over.set()
        thread.join()
