"""One backward pass for a batch of gradients: what users meet of it.  `tests/ops/test_batches.py` has every operator."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, detect_anomaly, forward_ad, grad, graph
from gradspec.autograd.checkpoint import checkpoint
from gradspec.autograd.functional import jacobian
from gradspec.engine.engine import current_graph_task_id

RNG = np.random.default_rng(0)
BATCH = RNG.normal(size=(4, 3))


def leaf(*shape):
    return gs.tensor(RNG.normal(size=shape), requires_grad=True)


def batched(outputs, inputs, batch=BATCH, **options):
    return grad(outputs, inputs, batch, is_grads_batched=True, **options)


def looped(output, inputs, batch=BATCH, **options):
    """The same by a pass for each row."""
    rows = [grad(output, inputs, row, retain_graph=True, **options) for row in batch]
    return [gs.stack(list(column)) for column in zip(*rows)]


def same(found, expected):
    assert [value.shape for value in found] == [value.shape for value in expected]
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-12)


class Watched(Function):
    """Twice its input; notes what its backward gets, and in which pass."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        SEEN.append((grad.shape, current_graph_task_id()))
        return grad * 2


SEEN = []


@pytest.fixture(autouse=True)
def nothing_seen():
    SEEN.clear()


# Who sees a batch.


def test_rows_of_every_layout_are_stacked():
    """Of a backward that gives transposed, foreign and broadcast arrays, and numbers without axes."""
    kinds = [lambda g: g.T.copy().T, lambda g: g.astype(">f8"), lambda g: np.broadcast_to(g[:, :1], g.shape), lambda g: g[None]]

    class Mixed(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.calls = 0
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            found = kinds[ctx.calls % len(kinds)](grad.numpy())
            ctx.calls += 1
            return gs.asarray(found)

    batch = RNG.normal(size=(8, 2, 3))
    expected = np.stack([np.broadcast_to(kinds[i % 4](row), (1, 2, 3))[0] for i, row in enumerate(batch)])
    for create_graph in (False, True):
        x = leaf(2, 3)
        same(batched(Mixed.apply(x), x, batch, create_graph=create_graph), [gs.asarray(expected)])
    x = leaf()
    same(batched(Watched.apply(x), x, BATCH[:, 0]), [gs.asarray(2 * BATCH[:, 0])])


def test_a_custom_function_gets_rows_in_one_pass():
    x = leaf(3)
    same(batched(Watched.apply(x.exp()).sin(), x, retain_graph=True), looped(gs.sin(x.exp() * 2), x))
    assert [shape for shape, _ in SEEN] == [(3,)] * 4
    assert len({task for _, task in SEEN}) == 1


def test_a_custom_function_may_leave_out_a_row():
    class FirstOnly(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.calls = 0
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            ctx.calls += 1
            return grad if ctx.calls == 1 else None

    for create_graph in (False, True):
        x = leaf(3)
        (found,) = batched(FirstOnly.apply(x), x, create_graph=create_graph)
        same([found], [gs.stack([gs.asarray(BATCH[0]), *[gs.zeros((3,))] * 3])])


@pytest.mark.parametrize("place", ["leaf", "result", "prehook", "posthook"])
def test_hooks_see_rows(place):
    x = leaf(3)
    middle = x.exp()
    y = middle * x
    expected = looped(y, x)
    seen = []

    def note(*grads):
        one = grads[0]
        seen.append(one[0].shape if isinstance(one, tuple) else one.shape)

    if place in ("leaf", "result"):
        (x if place == "leaf" else middle).register_hook(note)
    else:
        (middle.grad_fn.register_prehook if place == "prehook" else middle.grad_fn.register_hook)(note)
    same(batched(y, x), expected)
    assert seen == [(3,)] * 4


def test_hooks_change_rows():
    x = leaf(3)
    middle = x.exp()
    middle.register_hook(lambda grad: grad / gs.sum(grad))
    y = middle * 2
    same(batched(y, x, retain_graph=True), looped(y, x))


def test_a_hook_that_is_not_on_the_way_sees_nothing():
    x, other = leaf(3), leaf(3)
    other.register_hook(lambda grad: SEEN.append(grad))
    same(batched(x * other, x), [BATCH * other.detach()])
    assert not SEEN


def test_a_retained_gradient_has_the_shape_of_its_tensor():
    x = leaf(3)
    middle = x.exp()
    middle.retain_grad()
    batched(middle * 2, x)
    np.testing.assert_allclose(middle.grad.numpy(), 2 * BATCH.sum(axis=0))


def test_unpack_hooks():
    """A node that takes batches asks once; one that runs row by row asks in a pass of its own for each row."""
    for function, calls in ((gs.exp, 1), (lambda x: gs.softmax(x, 0), 4)):
        x, unpacked = leaf(3), []
        with graph.saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(current_graph_task_id()) or t):
            y = function(x)
        found = batched(y, x, retain_graph=True)
        assert len(unpacked) == len(set(unpacked)) == calls
        same(found, looped(y, x))


def test_unpack_hooks_of_a_function():
    """Each row asks in a pass of its own, as for an operator that runs row by row."""

    class Squared(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad * ctx.saved_tensors[0]

    x, unpacked = leaf(3), []
    with graph.saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(current_graph_task_id()) or t):
        y = Squared.apply(x)
    found = batched(y, x, retain_graph=True)
    assert len(unpacked) == len(set(unpacked)) == 4
    same(found, looped(y, x))


def test_checkpoints():
    x, w = leaf(3), leaf(3, 3)
    y = checkpoint(lambda x: gs.softmax(w @ x.exp(), 0), x, use_reentrant=False)
    same(batched(y, [x, w], retain_graph=True), looped(gs.softmax(w @ x.exp(), 0), [x, w]))


def test_a_pass_within_a_batch():
    """Of single gradients, over a node that the outer pass has still to run."""
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad_output):
            (inner,) = grad(total, x, retain_graph=True)
            assert inner.shape == (3,)
            return grad_output * 2 + inner

    x = leaf(3)
    shared = gs.softmax(x.exp(), 0) * x
    total = gs.sum(shared)
    y = shared * Inner.apply(x)
    same(batched(y, x, retain_graph=True), looped(y, x))


def test_gradients_that_were_passed_are_not_written_to():
    """One batch that arrives at two inputs of a node, or at a node twice, is added up elsewhere."""
    x = leaf(3)
    batch = BATCH.copy()
    y = x + x
    (found,) = batched([y, y], x, [batch, batch], retain_graph=True)
    np.testing.assert_array_equal(batch, BATCH)
    np.testing.assert_array_equal(found.numpy(), 4 * BATCH)


def test_anomaly_mode_names_what_is_nan():
    x = gs.tensor([-1.0, 4.0, 9.0], requires_grad=True)
    with np.errstate(invalid="ignore"), pytest.warns(UserWarning), detect_anomaly():
        y = gs.sqrt(x)
        with pytest.raises(RuntimeError, match="SqrtBackward' returned nan values"):
            batched(y, x)


def test_an_error_names_its_node():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return gs.ones((5,))

    x = leaf(3)
    with pytest.raises(RuntimeError, match=r"FailsBackward returned an invalid gradient at index 0 - got \[5\] but expected"):
        batched(Fails.apply(x), x)
    same(batched(x * 2, x), [gs.asarray(BATCH * 2)])  # nothing of the pass that failed is left


# What comes in, and what goes out.


def test_none_stands_for_ones():
    x = leaf(3)
    found = batched([x * 2, gs.sum(x * x)], x, [BATCH, None])
    same(found, [gs.asarray(2 * BATCH) + 2 * x])


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("create_graph", [False, True])
def test_an_empty_batch(hooked, create_graph):
    x, w = leaf(3), leaf(2, 3)
    if hooked:
        x.register_hook(lambda grad: None)
    found = batched(w @ x.exp(), [x, w], np.zeros((0, 2)), create_graph=create_graph)
    assert [value.shape for value in found] == [(0, 3), (0, 2, 3)]


def test_inputs_that_are_not_used():
    x, other = leaf(3), leaf(2)
    with pytest.raises(RuntimeError, match="appears to not have been used"):
        batched(x * 2, [x, other])
    assert batched(x * 2, [x, other], allow_unused=True)[1] is None
    assert batched(x * 2, [x, other], materialize_grads=True)[1].shape == (4, 2)


def test_inputs_inside_of_the_graph():
    x = leaf(3)
    middle = x.exp()
    y = gs.softmax(middle, 0)
    inputs = [x, middle, graph.get_gradient_edge(middle)]
    same(batched(y, inputs, retain_graph=True), looped(y, inputs))


def test_edges_as_outputs():
    x = leaf(3)
    y = gs.softmax(x.exp(), 0)
    edge = graph.get_gradient_edge(y)
    same(batched([edge], x, [BATCH], retain_graph=True), looped(y, x))
    with pytest.raises(RuntimeError, match=r"output\[0\] has a shape of \(3,\)"):
        batched([edge], x, [BATCH[:, :2]])
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        batched([edge, y], x, [BATCH])


def test_an_operator_with_several_outputs():
    matrix = leaf(3, 3)
    values, vectors = gs.linalg.eigh(matrix + matrix.mT)
    for outputs, batch in (([values], [BATCH]), ([vectors], [RNG.normal(size=(4, 3, 3))])):
        same(batched(outputs, [matrix], batch, retain_graph=True), looped(outputs[0], [matrix], batch[0]))


def test_writes_and_views():
    for create_graph in (False, True):
        x, w = leaf(3), leaf(2)
        y = x * 1
        y[1:] *= w
        y[0] = y[1] * 2
        same(batched(y, [x, w], retain_graph=True, create_graph=create_graph), looped(y, [x, w]))


def test_dtypes_of_gradients():
    x = gs.tensor(np.ones(3, np.float32), requires_grad=True)
    (found,) = batched(x * gs.asarray(np.ones(3)), x)
    assert found.dtype == np.float32
    x = gs.tensor(np.ones(3), requires_grad=True)
    (found,) = batched(x * (1 + 2j), x, BATCH + 0j)
    assert found.dtype == np.float64 and np.allclose(found.numpy(), BATCH)
    with pytest.raises(RuntimeError, match="grad_output and output are required to have the same dtype"):
        batched(x * (1 + 2j), x, BATCH)


def test_the_graph_is_freed():
    x = leaf(3)
    y = gs.softmax(x.exp(), 0)
    batched(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        batched(y, x)


def test_gradients_may_carry_tangents():
    """Forward over a batch: the tangent of each row is that of the gradient of the row."""
    values, direction = RNG.normal(size=3), RNG.normal(size=3)
    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor(values, requires_grad=True), gs.tensor(direction))
        y = gs.softmax(x.exp(), 0) * x
        pairs = [forward_ad.unpack_dual(one[0]) for one in (batched(y, x, retain_graph=True), looped(y, x))]
        same(*[[pair.primal, pair.tangent] for pair in pairs])


# Jacobians.


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_jacobian_of_many_rows_goes_in_parts(create_graph):
    x, w = RNG.normal(size=(300,)), RNG.normal(size=(7, 300))
    SEEN.clear()
    found = jacobian(lambda x: Watched.apply(x).exp()[:250], x, create_graph=create_graph, strategy="reverse-mode")
    np.testing.assert_allclose(found.detach().numpy(), np.eye(250, 300) * 2 * np.exp(2 * x))
    assert 1 < len({task for _, task in SEEN}) < 10
    SEEN.clear()
    whole = jacobian(lambda x: Watched.apply(x).exp()[:250], x, create_graph=create_graph, strategy="reverse-mode", vectorize=True)
    same([found], [whole])
    assert len({task for _, task in SEEN}) == 1
    same([jacobian(lambda x: gs.asarray(w) @ x, x, create_graph=create_graph)], [gs.asarray(w)])
