"""What PyTorch's manual shows of each feature of autograd, done with the same calls: the values are those that it prints."""

import warnings

import numpy as np
import pytest

import gradspec as gs
import gradspec.autograd.forward_ad as fwAD
from gradspec import autograd
from gradspec.autograd import Function, functional, graph
from gradspec.autograd.checkpoint import checkpoint, checkpoint_sequential
from gradspec.autograd.function import once_differentiable


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12, atol=1e-12)


def randn(*shape, requires_grad=False):
    return gs.tensor(np.random.default_rng(sum(shape)).standard_normal(shape), requires_grad=requires_grad)


class Exp(Function):
    @staticmethod
    def forward(ctx, i):
        result = i.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * result


class SimpleFunc(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone(), x.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g1, g2):
        return g1 + g2  # zeros, not None, for what has no gradient


class Inplace(Function):
    @staticmethod
    def forward(ctx, x):
        values = x.numpy()
        values += 1
        ctx.mark_dirty(x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        return grad_output


class Sort(Function):
    @staticmethod
    def forward(ctx, x):
        values, order = np.sort(x.numpy()), np.argsort(x.numpy())
        order = gs.asarray(order)
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(x, order)
        return gs.asarray(values), order

    @staticmethod
    @once_differentiable
    def backward(ctx, g1, g2):  # g2 is of the positions
        x, order = ctx.saved_tensors
        grad = gs.zeros_like(x)
        grad[order] += g1
        return grad


# Functions and their contexts.


def test_a_function_is_applied_to_input():
    x = randn(3, requires_grad=True)
    y = Exp.apply(x)
    y.sum().backward()
    same(x.grad, np.exp(x.detach().numpy()))
    assert y.grad_fn.name() == "ExpBackward"


def test_materialized_gradients_in_place_and_without_gradient():
    x = gs.tensor(1.0, requires_grad=True)
    a, b = SimpleFunc.apply(x)
    a.backward()
    assert x.grad.item() == 1.0
    x = gs.tensor(1.0, requires_grad=True).clone()
    y = Inplace.apply(x)
    assert y is x and x.item() == 2.0
    x = gs.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, order = Sort.apply(x)
    assert not order.requires_grad
    (values * gs.tensor([1.0, 10.0, 100.0])).sum().backward()
    same(x.grad, [100, 1, 10])


def test_a_function_in_both_modes_and_with_constants():
    class Func(Function):
        @staticmethod
        def forward(ctx, x, y, z):
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(x, y)
            ctx.z = z
            return x * y * z

        @staticmethod
        def jvp(ctx, x_t, y_t, _):
            x, y = ctx.saved_tensors
            return ctx.z * (y * x_t + x * y_t)

        @staticmethod
        def vjp(ctx, grad_out):
            x, y = ctx.saved_tensors
            return ctx.z * grad_out * y, ctx.z * grad_out * x, None

    a, t = gs.tensor(1.0, requires_grad=True), gs.tensor(1.0)
    b = gs.tensor(2.0, requires_grad=True)
    with fwAD.dual_level():
        d = Func.apply(fwAD.make_dual(a, t), b, 4)
        assert fwAD.unpack_dual(d).tangent.item() == 8.0
    assert [g.item() for g in autograd.grad(Func.apply(a, b, 4), (a, b))] == [8.0, 4.0]


# Locally disabled gradients.


def test_modes_as_contexts_and_decorators():
    x = gs.tensor([1.0], requires_grad=True)
    with gs.no_grad():
        assert not (x * 2).requires_grad

        @gs.enable_grad()
        def doubled(x):
            return x * 2

        assert doubled(x).requires_grad
        assert not gs.ones((2,), requires_grad=False).requires_grad and gs.ones((2,), requires_grad=True).requires_grad

    @gs.no_grad()
    def tripled(x):
        return x * 3

    assert not tripled(x).requires_grad
    for is_train in (False, True):
        with gs.set_grad_enabled(is_train):
            assert (x * 2).requires_grad is is_train
    previous = gs.set_grad_enabled(True)
    assert previous is not None and (x * 2).requires_grad

    @gs.inference_mode()
    def times(x):
        return x * x

    assert not times(x).requires_grad
    with gs.inference_mode():
        y = x * x
    assert not y.requires_grad
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter."):
        y._version


# Hooks.


def test_hooks_of_tensors_and_nodes():
    v = gs.tensor([0.0, 0.0, 0.0], requires_grad=True)
    handle = v.register_hook(lambda grad: grad * 2)
    v.backward(gs.tensor([1.0, 2.0, 3.0]))
    same(v.grad, [2, 4, 6])
    handle.remove()

    v = gs.tensor([0.0, 0.0, 0.0], requires_grad=True)
    lr = 0.01
    handle = v.register_post_accumulate_grad_hook(lambda p: set_data(p, lr))
    v.backward(gs.tensor([1.0, 2.0, 3.0]))
    same(v, [-0.01, -0.02, -0.03])
    handle.remove()

    a = gs.tensor([0.0, 0.0, 0.0], requires_grad=True)
    b = a.clone()
    handle = b.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (grad_inputs[0] * 2,))
    b.sum().backward(retain_graph=True)
    same(a.grad, [2, 2, 2])
    handle.remove()
    a.grad = None
    b.sum().backward(retain_graph=True)
    same(a.grad, [1, 1, 1])

    a = gs.tensor([0.0, 0.0, 0.0], requires_grad=True)
    b = a.clone()
    handle = b.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    b.sum().backward(retain_graph=True)
    same(a.grad, [2, 2, 2])
    handle.remove()


def set_data(p, lr):
    p.data = gs.asarray(p.detach().numpy() - lr * p.grad.numpy())


def test_the_order_of_hooks():
    order = []
    a = gs.tensor(1.0, requires_grad=True) * 1
    b = a * 2
    a.grad_fn.register_prehook(lambda grads: order.append("prehook"))
    a.register_hook(lambda grad: order.append("tensor"))
    a.retain_grad()
    a.grad_fn.register_hook(lambda inputs, outputs: order.append("posthook"))
    b.backward()
    assert order == ["tensor", "prehook", "posthook"] and a.grad.item() == 2.0


def test_hooks_of_several_gradients():
    a, b, c, d = (randn(2, 3, requires_grad=True) for _ in range(4))

    def fn(grads):
        seen.append([g is not None for g in grads])

    seen = []
    graph.register_multi_grad_hook((a, b, c, d), fn)
    total = (a * b).sum()
    total.backward(inputs=(a, b))
    (c * a).sum().backward(inputs=(c,))
    assert seen == [[True, True, False, False], [False, False, True, False]]


# Nodes.


def test_nodes_have_names_edges_metadata():
    a = gs.tensor([0.0, 0.0, 0.0], requires_grad=True)
    b = a.clone()
    assert isinstance(b.grad_fn, graph.Node) and b.grad_fn.name() == "CopyBackward"
    c = gs.tensor([0.0], requires_grad=True)
    d = b.mean() + c.sum()
    names = [node.name() for node, _ in d.grad_fn.next_functions]
    assert names == ["MeanBackward", "SumBackward"]
    d.grad_fn.metadata["test"] = 3
    assert d.grad_fn.metadata == {"test": 3}
    assert graph.get_gradient_edge(b) == graph.GradientEdge(b.grad_fn, 0)


# Saved tensors.


def test_hooks_of_saved_tensors():
    said = []

    def pack_hook(x):
        said.append("Packing")
        return x

    def unpack_hook(x):
        said.append("Unpacking")
        return x

    a = gs.ones((5,), requires_grad=True)
    b = gs.ones((5,), requires_grad=True) * 2
    with graph.saved_tensors_hooks(pack_hook, unpack_hook):
        y = a * b
    assert said == ["Packing", "Packing"]
    y.sum().backward()
    assert said[2:] == ["Unpacking", "Unpacking"]
    same(a.grad, [2] * 5)


def test_saved_tensors_on_disk_and_hooks_that_are_disabled():
    a, b = randn(5, requires_grad=True), randn(5, requires_grad=True)
    with graph.save_to_disk():
        prod_1 = a * b
    y = (prod_1 * a).sum()
    y.backward()
    same(b.grad, a.detach().numpy() ** 2)
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"), graph.save_to_disk():
            pass


def test_values_that_are_saved_may_be_written_to():
    with graph.allow_mutation_on_saved_tensors():
        a = gs.ones((2, 3), requires_grad=True)
        b = a.clone()
        out = (b**2).sum()
        b.sin_()  # which backward needs
        out.backward()
    same(a.grad, np.full((2, 3), 2.0))


# Higher-level functions.


def test_products_of_functional():
    x, y = randn(4, 4), randn(4, 4)
    v = gs.ones((4,))
    out, found = functional.vjp(lambda x: x.exp().sum(axis=1), x, v)
    same(found, np.exp(x.numpy()))
    _, (first, second) = functional.vjp(lambda x, y: 2 * x + 3 * y, (x, y), gs.ones((4, 4)))
    same(first, np.full((4, 4), 2.0))
    same(second, np.full((4, 4), 3.0))
    _, found = functional.jvp(lambda x: x.exp().sum(axis=1), x, gs.ones((4, 4)))
    same(found, np.exp(x.numpy()).sum(1))


def test_matrices_of_functional():
    x = randn(2, 2)
    found = functional.jacobian(lambda x: x.exp().sum(axis=1), x)
    expected = np.zeros((2, 2, 2))
    expected[0, 0], expected[1, 1] = np.exp(x.numpy())
    same(found, expected)
    recorded = functional.jacobian(lambda x: x.exp().sum(axis=1), x, create_graph=True)
    assert recorded.requires_grad
    a, b = randn(2), randn(2)
    first, second = functional.jacobian(lambda x, y: 2 * x + 3 * y, (a, b))
    same(first, 2 * np.eye(2))
    same(second, 3 * np.eye(2))
    found = functional.hessian(lambda x: (x**3).sum(), x)
    same(found.reshape((4, 4)), np.diag(6 * x.numpy().ravel()))
    ((xx, xy), (yx, yy)) = functional.hessian(lambda x, y: (2 * x * x + 3 * y * y).sum(), (a, b))
    same(xx, 4 * np.eye(2))
    same(xy, np.zeros((2, 2)))
    same(yx, np.zeros((2, 2)))
    same(yy, 6 * np.eye(2))
    for product in (functional.vhp, functional.hvp):
        out, found = product(lambda x: (x**3).sum(), x, gs.ones((2, 2)))
        same(found, 6 * x.numpy())


def test_forward_mode():
    primal, tangent = randn(10, 10), randn(10, 10)
    with fwAD.dual_level():
        dual_input = fwAD.make_dual(primal, tangent)
        assert fwAD.unpack_dual(dual_input).tangent is tangent
        plain = randn(10, 10)
        dual_output = dual_input**2 + plain**2
        jvp = fwAD.unpack_dual(dual_output).tangent
    same(jvp, 2 * primal.numpy() * tangent.numpy())
    assert fwAD.unpack_dual(dual_output).tangent is None


# Anomalies, checks, checkpoints.


def test_anomaly_detection_names_what_failed():
    class MyFunc(Function):
        @staticmethod
        def forward(ctx, inp):
            return inp.clone()

        @staticmethod
        def backward(ctx, go):
            raise RuntimeError("Some error in backward")

    def run_fn(a):
        return MyFunc.apply(a).sum()

    inp = randn(10, 10, requires_grad=True)
    with pytest.raises(RuntimeError, match="Some error in backward"):
        run_fn(inp).backward()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with autograd.detect_anomaly(), pytest.raises(RuntimeError, match="Some error in backward"):
            run_fn(inp).backward()
    assert any("return MyFunc.apply(a).sum()" in str(warning.message) for warning in caught)


def test_a_custom_function_is_checked():
    assert autograd.gradcheck(Exp.apply, (randn(3, 2, requires_grad=True),), eps=1e-6, atol=1e-4)
    assert autograd.gradgradcheck(Exp.apply, (randn(3, 2, requires_grad=True),))


def test_checkpoints():
    x = randn(4, 3, requires_grad=True)
    steps = [lambda h: h.sin(), lambda h: h * 2, lambda h: h.exp()]
    expected = np.exp(2 * np.sin(x.detach().numpy()))
    same(checkpoint(lambda h: (h.sin() * 2).exp(), x, use_reentrant=False), expected)
    y = checkpoint_sequential(steps, 2, x, use_reentrant=False)
    same(y, expected)
    y.sum().backward()
    same(x.grad, expected * 2 * np.cos(x.detach().numpy()))
