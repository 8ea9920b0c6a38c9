"""backward() and grad(): what they accept, refuse and return."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, GradientEdge, backward, get_gradient_edge, grad
from gradspec.engine.backward import depends_on_others


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


# Roots.


def test_roots_need_a_graph():
    plain = gs.ones((1,))
    for call in (lambda: backward(plain), lambda: backward([leaf(1.0) * 2, plain]), lambda: grad(plain, leaf(1.0))):
        with pytest.raises(
            RuntimeError, match="element [01] of tensors does not require grad and does not have a grad_fn"
        ):
            call()
    with gs.no_grad():
        y = leaf(1.0) * 2
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        y.backward()


def test_implicit_gradients_are_for_real_scalars():
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (leaf(1.0, 2.0) * 2).backward()
    z = gs.tensor(1 + 2j, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar outputs"):
        (z * 2).backward()
    x = leaf(2.0)  # one element of any shape
    (x * x).reshape((1, 1)).backward()
    same(x.grad, [4.0])


def test_shape_of_a_gradient():
    y = leaf(1.0, 2.0) * 2
    with pytest.raises(RuntimeError) as error:
        grad(y, y, gs.ones((3,)))
    assert str(error.value) == "Mismatch in shape: grad_output[0] has a shape of (3,) and output[0] has a shape of (2,)."
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[1\] has a shape of \(2, 1\)"):
        backward([y, y], [gs.ones((2,)), gs.ones((2, 1))])


def test_dtype_of_a_gradient():
    y = leaf(1.0) * 2
    with pytest.raises(RuntimeError, match="are required to have the same dtype"):
        y.backward(gs.tensor([1j]))
    x = leaf(1.0)
    (x * 2).backward(gs.ones((1,), dtype="float32"))
    assert x.grad.dtype == np.float64


def test_roots_are_looked_at_before_inputs():
    x = gs.ones((3,))
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        gs.autograd.grad(x.sum(), x)


def test_number_of_gradients():
    y = leaf(1.0) * 2
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        backward([y], [gs.ones((1,)), gs.ones((1,))])
    with pytest.raises(RuntimeError, match="grad requires non-empty outputs"):
        grad([], leaf(1.0))
    with pytest.raises(RuntimeError, match=r"`inputs` argument to `grad\(\)` cannot be empty"):
        grad(y, [])


def test_some_gradients_may_be_none():
    x = leaf(2.0)
    same(grad([x * 3, x * 5], x, [None, gs.tensor([10.0])])[0], [53.0])


def test_a_gradient_may_be_an_array():
    x = leaf(1.0, 2.0)
    (x * x).backward(np.array([1.0, 10.0]))
    same(x.grad, [2.0, 40.0])


# inputs.


def test_inputs_of_backward():
    a, b = leaf(1.0), leaf(2.0)
    h = a * b
    y = h * h
    y.backward(inputs=a, retain_graph=True)
    assert b.grad is None
    y.backward(inputs=[h, b], retain_graph=True)
    same(a.grad, [8.0])
    same(b.grad, [4.0])
    same(h.grad, [4.0])
    y.backward(inputs=(get_gradient_edge(a),))
    same(a.grad, [16.0])
    with pytest.raises(RuntimeError, match=r"`inputs` argument to `backward\(\)` cannot be empty"):
        y.backward(inputs=[])


def test_inputs_that_need_no_gradient():
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        grad(leaf(1.0) * 2, gs.ones((1,)))
    with pytest.raises(TypeError, match="input 0 must be a Tensor or a GradientEdge, got int"):
        grad(leaf(1.0) * 2, [3])


def test_backward_into_a_nonleaf_accumulates():
    x = leaf(1.0)
    h = x * 2
    y = h * 3
    y.backward(inputs=[h], retain_graph=True)
    y.backward(inputs=[h])
    same(h.grad, [6.0])
    assert x.grad is None


# Unused inputs.


def test_allow_unused_and_materialize_grads():
    x, unused = leaf(1.0, 2.0), gs.ones((3,), dtype="float32", requires_grad=True)
    y = (x * x).sum()
    with pytest.raises(
        RuntimeError,
        match="One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True",
    ):
        grad(y, [x, unused], retain_graph=True)
    assert grad(y, [x, unused], allow_unused=True, retain_graph=True)[1] is None
    zeros = grad(y, [x, unused], materialize_grads=True, retain_graph=True)[1]
    assert zeros.shape == (3,) and zeros.dtype == np.float32 and not zeros.numpy().any()
    with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed when"):
        grad(y, x, allow_unused=False, materialize_grads=True)


def test_materialized_zeros_can_be_differentiated_again():
    """materialize_grads=True implies allow_unused and yields zeros; they require grad where the pass is recorded."""
    x, a = gs.tensor(0.5, requires_grad=True), gs.tensor(1.0, requires_grad=True)
    (g,) = grad(x * a, x, create_graph=True)
    (zeros,) = grad(g, x, create_graph=True, materialize_grads=True)
    assert zeros.requires_grad and zeros.item() == 0.0
    assert grad(zeros, x, materialize_grads=True)[0].item() == 0.0
    assert not grad(x * 2, a, materialize_grads=True)[0].requires_grad


def test_materialize_grads_with_edges():
    """Not allowed for a GradientEdge that was not reached: there is no tensor whose zeros to return."""
    x, unused = leaf(1.0, 2.0), leaf(1.0)
    y = (x * x).sum()
    same(grad(y, get_gradient_edge(x), materialize_grads=True, retain_graph=True)[0], [2.0, 4.0])
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input is a GradientEdge"):
        grad(y, [x, get_gradient_edge(unused)], materialize_grads=True)


# Results.


def test_grad_returns_a_tuple_in_the_order_of_the_inputs():
    a, b = leaf(1.0), leaf(2.0)
    g_b, g_a = grad(a * b * b, [b, a])
    same(g_b, [4.0])
    same(g_a, [4.0])
    assert isinstance(grad(a * 2, a), tuple)


def test_results_are_recorded_with_create_graph_only():
    x = leaf(2.0)
    (g,) = grad(x**3, x)
    assert not g.requires_grad
    (g,) = grad(x**3, x, create_graph=True)
    assert g.requires_grad and not g.is_leaf
    (g,) = grad(x * 3, x, create_graph=True)
    same(g, [3.0])


def test_create_graph_inside_no_grad():
    x = leaf(2.0)
    y = x**3
    with gs.no_grad():
        (g,) = grad(y, x, create_graph=True)
    same(grad(g, x)[0], [12.0])


def test_gradient_of_the_gradient_that_was_passed():
    x, v = leaf(2.0), leaf(5.0)
    (g,) = grad(x**3, x, v, create_graph=True)
    same(grad(g, v)[0], [12.0])


def test_third_derivatives():
    x = leaf(2.0)
    g = x**4
    for expected in (32.0, 48.0, 48.0):
        (g,) = grad(g, x, create_graph=True)
        same(g, [expected])


def test_backward_with_create_graph_warns():
    x = leaf(2.0)
    with pytest.warns(UserWarning, match="Using backward.. with create_graph=True"):
        (x**3).backward(create_graph=True)
    same(grad(x.grad, x)[0], [12.0])
    x.grad = None


# Edges.


def test_gradient_edges():
    x = leaf(2.0)
    y = x * 3
    edge = get_gradient_edge(y)
    assert isinstance(edge, GradientEdge) and edge.node is y.grad_fn and edge.output_nr == 0
    assert get_gradient_edge(x).node.name() == "AccumulateGrad"
    with pytest.raises(RuntimeError, match="Tensor that does not require gradients"):
        get_gradient_edge(gs.ones((1,)))
    with pytest.raises(TypeError, match="expected a Tensor, got int"):
        get_gradient_edge(3)


def test_edges_as_roots():
    x = leaf(2.0)
    edge = get_gradient_edge(x * x)
    backward(edge, retain_graph=True)
    same(x.grad, [4.0])
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        backward(edge, gs.ones((2,)))
    several = get_gradient_edge(gs.unstack(leaf(1.0, 2.0) * 1)[1])
    assert several.output_nr == 1
    backward(several)


@pytest.mark.parametrize("number", [1, -1, 2**31, 2**70, None, 0.0, "0"])
def test_edges_to_outputs_that_there_are_not(number):
    """GradientEdge(node, output_nr) is usable as grad() input or output: of outputs that exist."""
    x = leaf(2.0)
    y = x * x
    wrong = GradientEdge(y.grad_fn, number)
    for call in (
        lambda: backward(wrong),
        lambda: grad(wrong, x),
        lambda: grad(y, wrong),
        lambda: y.backward(inputs=[x, wrong]),
        lambda: backward(GradientEdge(get_gradient_edge(x).node, number)),
    ):
        with pytest.raises((RuntimeError, TypeError), match="GradientEdge"):
            call()


@pytest.mark.parametrize("node", [None, 3, "node", object()])
def test_edges_to_no_node(node):
    x = leaf(2.0)
    y = x * gs.tensor([3.0])
    assert y.grad_fn.next_functions[1] == (None, 0)
    for edge in (GradientEdge(node, 0), GradientEdge(*y.grad_fn.next_functions[1])):
        for call in (lambda: grad(edge, x), lambda: backward([y, edge]), lambda: grad(y, edge), lambda: y.backward(inputs=edge)):
            with pytest.raises(TypeError, match="GradientEdge leads to no node"):
                call()


def test_an_edge_to_an_output_without_gradient():
    class Splits(Function):
        @staticmethod
        def forward(ctx, x):
            whole = gs.astype(x, int)
            ctx.mark_non_differentiable(whole)
            return whole, x * 1

        @staticmethod
        def backward(ctx, g_whole, g):
            return g

    x = leaf(2.0)
    _, y = Splits.apply(x)
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        backward(GradientEdge(y.grad_fn, 0))
    assert grad(y, GradientEdge(y.grad_fn, 0), allow_unused=True) == (None,)


# Batches of gradients.


def test_is_grads_batched():
    x = leaf(1.0, 2.0)
    y = x * x
    (rows,) = grad(y, x, gs.tensor(np.eye(2)), is_grads_batched=True, retain_graph=True)
    same(rows, [[2.0, 0.0], [0.0, 4.0]])
    text = r"If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch.*"
    with pytest.raises(RuntimeError, match=text + r"grad_output\[0\] has a shape of \(2, 3\)"):
        grad(y, x, gs.ones((2, 3)), is_grads_batched=True)
    with pytest.raises(RuntimeError, match="If `is_grads_batched=True`, we interpret the first dimension"):
        grad(y.sum(), x, gs.ones(()), is_grads_batched=True)


def test_what_results_depend_on_is_found_at_any_depth():
    """Along graphs of one node, of many, and where a node is met twice."""
    own, other = leaf(1.0), leaf(2.0)
    for depth in (1, 2, 5):
        alone, mixed = own * 1.0, own * other
        for _ in range(depth):
            alone = gs.sin(alone) + alone
        for _ in range(depth):
            mixed = gs.sin(mixed) + mixed
        assert not depends_on_others([alone], [own])
        assert depends_on_others([alone], [])
        assert depends_on_others([mixed], [own]) and depends_on_others([mixed], [other])
        assert depends_on_others([alone, mixed], [own])
        assert not depends_on_others([alone, mixed], [own, other])
    assert depends_on_others([other], [own]) and not depends_on_others([own], [own])
