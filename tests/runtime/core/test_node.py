"""Node: names, edges, metadata, saved attributes, and calling one directly."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, GradientEdge, Node, backward, get_gradient_edge, grad, once_differentiable
from gradspec.core.error_nodes import DelayedError, UndefinedGrad


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


def test_names_come_from_the_spec():
    x = leaf(1.0, 2.0)
    names = [t.grad_fn.name() for t in (x * x, x + 1, x.sum(), x.exp(), x[0], x.reshape((2, 1)))]
    assert names[:4] == ["MultiplyBackward", "AddBackward", "SumBackward", "ExpBackward"]
    assert all(name.endswith("Backward") for name in names)
    assert get_gradient_edge(x).node.name() == "AccumulateGrad"
    assert "MultiplyBackward" in repr((x * x).grad_fn) and type((x * x).grad_fn).__doc__.startswith(
        "multiply(a, b) -> y"
    )


def test_next_functions_are_the_same_objects_each_time():
    x, w = leaf(1.0), leaf(2.0)
    h = x.exp()
    node = (h * w).grad_fn
    assert node.next_functions == node.next_functions
    (first, nr), (second, _) = node.next_functions
    assert first is h.grad_fn and nr == 0 and second is get_gradient_edge(w).node
    assert (h * gs.tensor([3.0])).grad_fn.next_functions[1] == (None, 0)
    a, b = gs.unstack(leaf(1.0, 2.0))
    assert (b * 2).grad_fn.next_functions[0] == (b.grad_fn, 1)


def test_input_metadata():
    a, b = gs.unstack(gs.ones((2, 3), dtype="float32", requires_grad=True))
    metadata = b.grad_fn._input_metadata
    assert [(m.shape, m.dtype) for m in metadata] == [((3,), np.float32)] * 2
    deep = gs.ones((1, 2, 1, 2, 1, 2), requires_grad=True) * 2
    assert deep.grad_fn._input_metadata[0].shape == (1, 2, 1, 2, 1, 2)


def test_every_node_is_a_node():
    class Custom(Function):
        @staticmethod
        def forward(ctx, x):
            assert isinstance(ctx, Node)
            return x * 1

    x = leaf(1.0)
    for node in ((x * x).grad_fn, get_gradient_edge(x).node, Custom.apply(x).grad_fn):
        assert isinstance(node, Node) and issubclass(type(node), Node)
    assert not isinstance(Node, Node)


def test_metadata_survives_backward():
    y = leaf(1.0).exp()
    y.grad_fn.metadata["note"] = [1]
    assert y.grad_fn.metadata is y.grad_fn.metadata
    y.backward()
    assert y.grad_fn.metadata == {"note": [1]}


def test_sequence_numbers():
    x = leaf(1.0)
    a, b = x * 2, x * 3
    assert b.grad_fn._sequence_nr() == a.grad_fn._sequence_nr() + 1
    assert get_gradient_edge(x).node._sequence_nr() == 2**64 - 1  # leaves come first
    a.grad_fn._set_sequence_nr(10**9)
    assert a.grad_fn._sequence_nr() == 10**9


# A node is a function of its outputs' gradients.


def test_calling_a_node():
    x, w = leaf(2.0), leaf(3.0)
    y = x * w
    g_x, g_w = y.grad_fn(gs.tensor([10.0]))
    same(g_x, [30.0])
    same(g_w, [20.0])
    same(x.exp().grad_fn(gs.tensor([1.0])), np.exp([2.0]))
    assert y.grad_fn(None) == (None, None)


def test_calling_a_node_with_the_wrong_number_of_gradients():
    x = leaf(2.0)
    one = gs.tensor([1.0])
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        (x * x).grad_fn(one, one)
    with pytest.raises(TypeError, match="expected 2 arguments, got 1 instead"):
        gs.unstack(leaf(1.0, 2.0))[0].grad_fn(one)


def test_calling_a_node_with_several_outputs():
    a, _ = gs.unstack(leaf(1.0, 2.0))
    same(a.grad_fn(gs.tensor(5.0), None), [5.0, 0.0])


def test_calling_an_accumulator_accumulates():
    x = leaf(2.0)
    node = get_gradient_edge(x).node
    node(gs.tensor([3.0]))
    with gs.no_grad():
        node(gs.tensor([4.0]))
    same(x.grad, [7.0])


def test_a_called_node_is_recorded():
    x = leaf(2.0)
    g = (x**3).grad_fn(gs.tensor([1.0]))[0]
    same(g, [12.0])
    g.backward()
    same(x.grad, [12.0])


def test_a_called_node_runs_no_hooks():
    y = leaf(2.0).exp()
    y.grad_fn.register_prehook(lambda grads: 1 / 0)
    y.grad_fn.register_hook(lambda inputs, outputs: 1 / 0)
    y.grad_fn(gs.tensor([1.0]))


def test_attributes():
    node = leaf(2.0).exp().grad_fn
    assert "_saved_y" in dir(node) and "_raw_saved_y" in dir(node) and "next_functions" in dir(node)
    with pytest.raises(AttributeError, match="'ExpBackward' object has no attribute 'absent'"):
        _ = node.absent


# What the user hands over.


def test_nodes_are_not_made_by_users():
    """Not even of the types that users can get hold of."""

    class Custom(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = leaf(1.0)
    for kind in (Node, type(get_gradient_edge(x).node), type((x * x).grad_fn), type(Custom.apply(x).grad_fn)):
        with pytest.raises(TypeError, match=f"cannot create '{kind.__name__}' instances"):
            kind()


JUNK = [1.0, "text", np.ones(2), object(), [gs.ones((2,))], (gs.ones((2,)),)]


@pytest.mark.parametrize("junk", JUNK, ids=lambda value: type(value).__name__)
def test_values_that_are_no_tensors(junk):
    """Whatever a user's code returns where a gradient is expected is refused, before anything is read of it."""

    class Returns(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return junk

    class Once(Returns):
        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            return junk

    x = leaf(1.0, 2.0)
    if not isinstance(junk, tuple):  # what a backward may return is a tuple
        for function in (Returns, Once):
            for create_graph in (False, True):
                with pytest.raises(RuntimeError, match="expected Variable or None"):
                    grad(function.apply(x).sum(), x, create_graph=create_graph)
    for make in (UndefinedGrad(), DelayedError("later", 1)):
        with pytest.raises((TypeError, RuntimeError), match="expected Variable or None"):
            make(junk)
    y = x * x
    for node in (y.grad_fn, get_gradient_edge(x).node, Returns.apply(x).grad_fn):
        with pytest.raises(TypeError, match="takes Tensors or None"):
            node(junk)
    for register in (y.register_hook, y.grad_fn.register_prehook, y.grad_fn.register_hook):
        handle = register(lambda *grads: junk)
        if not isinstance(junk, tuple) or register == y.register_hook:
            with pytest.raises(TypeError, match="but hook returned"):
                y.sum().backward(retain_graph=True)
        handle.remove()


def test_a_ctx_that_is_called_before_its_forward_is_done():
    calls = []

    class Calls(Function):
        @staticmethod
        def forward(ctx, x):
            for attempt in (lambda: ctx(), lambda: ctx(x), lambda: backward(GradientEdge(ctx, 0))):
                with pytest.raises((TypeError, RuntimeError)):
                    attempt()
                calls.append(1)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    same(Calls.apply(leaf(1.0)), [1.0])
    assert len(calls) == 3


def test_a_called_node_checks_shapes():
    x = gs.ones((2, 3), requires_grad=True)
    node = (x * x).grad_fn
    same(node(gs.ones((2, 3)))[0], np.ones((2, 3)))
    for shape in ((3, 2), (2, 1), (7,)):
        with pytest.raises(RuntimeError, match="invalid gradient"):
            node(gs.ones(shape))
