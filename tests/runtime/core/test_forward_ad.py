"""Forward mode: levels that nest, tangents that vanish, and both modes mixed."""

import gc
import threading
import weakref

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad
from gradspec.autograd.flat_derivatives import push
from gradspec.methods.dual_level import dual_level, enter_dual_level, exit_dual_level, make_dual, unpack_dual


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


def tangent(tensor):
    return unpack_dual(tensor).tangent


def derivative(f, x):
    """Of a function of one number."""
    with dual_level():
        return tangent(f(make_dual(x, gs.ones_like(x))))


def number(value, requires_grad=False):
    return gs.tensor(float(value), requires_grad=requires_grad)


# Levels.


def test_levels_have_an_index_and_are_left_innermost_first():
    with dual_level() as outer:
        with dual_level() as inner:
            assert (outer, inner) == (0, 1)
            with pytest.raises(RuntimeError, match="Trying to exit a forward AD level that was not the last one"):
                exit_dual_level(level=outer)
    level = enter_dual_level()
    exit_dual_level(level=level)
    with pytest.raises(RuntimeError, match="no level is open"):
        exit_dual_level()


def test_make_dual_needs_a_level():
    with pytest.raises(RuntimeError, match="Trying to create a dual Tensor for forward AD but no level exists"):
        make_dual(number(1), number(1))
    with dual_level(), pytest.raises(RuntimeError, match="level 2 is not open"):
        make_dual(number(1), number(1), level=2)


def test_unpack_outside_has_no_tangent():
    x = number(1)
    assert unpack_dual(x) == (x, None)
    with dual_level():
        assert unpack_dual(x).tangent is None


def test_levels_belong_to_a_thread():
    results = []
    with dual_level():
        x = make_dual(number(2), number(1))
        thread = threading.Thread(target=lambda: results.append(derivative(lambda a: a * a, number(3)).item()))
        thread.start()
        thread.join()
        same(tangent(x * x), 4.0)
    assert results == [6.0]


def test_a_dual_of_another_thread_is_refused():
    refused = []

    def use(call):
        with dual_level(), pytest.raises(RuntimeError, match="has a tangent at dual level 1 of another thread"):
            call()
        refused.append(call)

    with dual_level():
        x = make_dual(number(2), number(1))
        calls = [lambda: gs.exp(x), lambda: gs.stack([number(1), x]), lambda: unpack_dual(x), lambda: x.numpy()]
        for call in calls:
            thread = threading.Thread(target=use, args=(call,))
            thread.start()
            thread.join()
    assert refused == calls


# make_dual and unpack_dual.


def test_what_make_dual_refuses():
    with dual_level():
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex"):
            make_dual(gs.tensor([1]), gs.tensor([1.0]))
        with pytest.raises(ValueError, match="Expected tangent to be floating point or complex"):
            make_dual(gs.tensor([1.0]), gs.tensor([1]))
        with pytest.raises(RuntimeError, match="Trying to set a forward gradient that has a different size"):
            make_dual(gs.ones((2,)), gs.ones((3,)))
        dual = make_dual(gs.ones((2,)), gs.ones((2,)))
        with pytest.raises(RuntimeError, match="has a forward gradient at the same level"):
            make_dual(gs.ones((2,)), dual)
        with pytest.raises(TypeError, match="Expected primal to be a Tensor, got float"):
            make_dual(1.0, number(1))


def test_a_dual_shares_memory_and_version_and_keeps_the_tangent():
    x, t = gs.ones((2,)), gs.ones((2,))
    with dual_level():
        dual = make_dual(x, t)
        assert np.shares_memory(dual.detach().numpy(), x.numpy())
        assert tangent(dual) is t and tangent(x) is None
        x.add_(1)
        assert dual._version == x._version == 1
        primal = unpack_dual(dual).primal
        assert primal is not unpack_dual(dual).primal and unpack_dual(primal).tangent is None


def test_the_result_is_a_named_tuple():
    with dual_level():
        result = unpack_dual(make_dual(number(2), number(3)))
        primal, t = result
        assert result.primal is primal and result.tangent is t


# Tangents.


def test_tangents_of_operators():
    with dual_level():
        x, y = make_dual(number(2), number(3)), make_dual(number(5), number(7))
        same(tangent(x * y), 3 * 5 + 2 * 7)
        same(tangent(x.sin()), np.cos(2) * 3)
        same(tangent(x * 10), 30)
        same(tangent((x * y).exp() - y), np.exp(10) * 29 - 7)
        assert tangent(x > 1) is None and tangent(x.detach()) is None


def test_tangents_vanish_with_their_level():
    with dual_level():
        dual = make_dual(number(2), number(3))
        result = dual * dual
    assert unpack_dual(dual).tangent is None and unpack_dual(result).tangent is None
    with dual_level():
        assert tangent(dual) is None and tangent(result) is None
        assert tangent(dual * make_dual(number(1), number(1))).item() == 2.0


def test_tangents_vanish_although_a_graph_holds_the_duals():
    x = number(2, True)
    with dual_level():
        y = make_dual(x, number(1)).exp() * make_dual(x, number(1))
    assert unpack_dual(y).tangent is None
    same(grad(y, x)[0], np.exp(2) * 3)


def test_tangents_vanish_after_an_error():
    with pytest.raises(ZeroDivisionError), dual_level():
        dual = make_dual(number(2), number(3))
        raise ZeroDivisionError
    with dual_level() as level:
        assert level == 0 and tangent(dual) is None


def test_no_grad_keeps_tangents_and_fwd_grad_disabled_stops_them():
    with dual_level():
        x = make_dual(number(2), number(3))
        with gs.no_grad():
            same(tangent(x * x), 12)
        with forward_ad._set_fwd_grad_enabled(False):
            assert tangent(x * x) is None
        same(tangent(x * x), 12)


def test_in_place_writes_take_the_tangent_along():
    with dual_level():
        x = make_dual(gs.ones((2,)), gs.ones((2,)))
        y = x * 3
        y.mul_(x)
        same(tangent(y), [6.0, 6.0])
        z = gs.zeros((2,))
        z.add_(x)
        same(tangent(z), [1.0, 1.0])
        z.zero_()
        assert tangent(z) is None or tangent(z).tolist() == [0.0, 0.0]


def test_setitem_writes_into_the_tangent():
    with dual_level():
        y = make_dual(gs.ones((3,)), gs.ones((3,))) * 2
        y[1] = make_dual(number(5), number(7))
        same(tangent(y), [2.0, 7.0, 2.0])
        y[0] = 9.0
        same(tangent(y), [0.0, 7.0, 2.0])


def test_out_refuses_tangents():
    with dual_level(), pytest.raises(RuntimeError, match="out= function"):
        gs.exp(make_dual(number(1), number(1)), out=number(0))


# Nesting.


def test_second_and_third_derivatives():
    f = lambda x: x**4  # noqa: E731
    x = number(2)
    same(derivative(f, x), 32)
    same(derivative(lambda a: derivative(f, a), x), 48)
    same(derivative(lambda a: derivative(lambda b: derivative(f, b), a), x), 48)


def test_no_perturbation_confusion():
    # d/dx (x * d/dy (x + y)) = 1; confusion of the levels gives 2.
    result = derivative(lambda x: x * derivative(lambda y: x + y, number(1)), number(1))
    same(result, 1)
    # d/dx (x * d/dy (x * y)) = 2x
    same(derivative(lambda x: x * derivative(lambda y: x * y, number(5)), number(3)), 6)


def test_mixed_partials_through_two_levels():
    with dual_level() as outer:
        x = make_dual(number(2), number(1))
        with dual_level() as inner:
            y = make_dual(number(3), number(1))
            z = (x * y).sin()
            d_inner = unpack_dual(z, level=inner).tangent
            both = unpack_dual(d_inner, level=outer).tangent
        same(unpack_dual(z, level=outer).tangent, np.cos(6) * 3)
    same(d_inner, np.cos(6) * 2)
    same(both, np.cos(6) - 6 * np.sin(6))


def test_leaving_the_inner_level_keeps_the_outer_tangent():
    with dual_level():
        x = make_dual(number(2), number(3))
        with dual_level():
            y = make_dual(x, number(1)) * x
        same(tangent(y), 12)


# With reverse mode.


def f(x):
    return (x * x).sin() * x.exp()


def second(x):
    g = lambda v: np.exp(v) * (np.sin(v * v) + 2 * v * np.cos(v * v))  # noqa: E731
    return g(x) + np.exp(x) * (2 * x * np.cos(x * x) + 2 * np.cos(x * x) - 4 * x * x * np.sin(x * x))


def test_reverse_over_forward():
    x = number(0.7, True)
    same(grad(derivative(f, x), x)[0], second(0.7))


def test_forward_over_reverse():
    with dual_level():
        x = make_dual(number(0.7, True), number(1))
        (g,) = grad(f(x), x)
        same(tangent(g), second(0.7))


def test_forward_over_reverse_through_backward():
    x = number(0.7, True)
    with dual_level():
        dual = make_dual(x, number(1))
        f(dual).backward()
        same(tangent(x.grad), second(0.7))
    assert unpack_dual(x.grad).tangent is None


def test_all_second_orders_agree():
    x = number(0.7, True)
    (g,) = grad(f(x), x, create_graph=True)
    same(grad(g, x)[0], second(0.7))
    same(derivative(lambda a: derivative(f, a), number(0.7)), second(0.7))


def test_backward_flows_through_primal_and_tangent():
    x, t = number(2, True), number(3, True)
    with dual_level():
        primal, out = unpack_dual(make_dual(x, t) ** 2)
        (primal + out).backward()
    same(x.grad, 2 * 2 + 2 * 3)
    same(t.grad, 4)


# Lifetime.


def test_the_tangent_dies_with_its_dual():
    gc.disable()
    try:
        with dual_level():
            t = gs.ones((2,))
            died = weakref.ref(t)
            dual = make_dual(gs.ones((2,)), t)
            del t
            assert died() is not None
            del dual
            assert died() is None
    finally:
        gc.enable()


def test_tangents_of_survivors_die_with_the_level():
    gc.disable()
    try:
        with dual_level():
            t = gs.ones((2,))
            died = weakref.ref(t)
            dual = make_dual(gs.ones((2,)), t)
            del t
        assert died() is None and dual.shape == (2,)
    finally:
        gc.enable()


def test_numpy_does_not_lose_a_tangent():
    x = gs.tensor([1.0, 2.0])
    with dual_level():
        dual = make_dual(x, x)
        with pytest.raises(RuntimeError, match="Can't call numpy.. on Tensor that carries a tangent: .* it would lose the history"):
            np.asarray(dual)
        with gs.no_grad(), pytest.raises(RuntimeError, match="carries a tangent"):
            dual.numpy()
        assert dual.detach().numpy().tolist() == [1.0, 2.0] and dual.tolist() == [1.0, 2.0] and dual[1].item() == 2.0
        assert unpack_dual(dual).primal.numpy().tolist() == [1.0, 2.0]
        with forward_ad._set_fwd_grad_enabled(False):
            assert dual.numpy().tolist() == [1.0, 2.0]
        with dual_level():
            with pytest.raises(RuntimeError, match="carries a tangent"):
                dual.numpy()
    assert dual.numpy().tolist() == [1.0, 2.0]


def test_a_backward_in_numpy_does_not_lose_a_tangent():
    """Forward over reverse through a backward that leaves gradspec: an error, not a second derivative that is zero."""

    class Cube(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return gs.asarray(x.numpy() ** 3)

        @staticmethod
        @gs.autograd.once_differentiable
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return gs.asarray(grad.numpy() * 3 * x.numpy() ** 2)

        @staticmethod
        def jvp(ctx, x_t):
            (x,) = ctx.saved_tensors
            return x_t * 3 * x * x

    x = gs.tensor([2.0], requires_grad=True)
    with dual_level():
        y = Cube.apply(make_dual(x, gs.tensor([1.0])))
        assert unpack_dual(y).tangent.tolist() == [12.0]
        with pytest.raises(RuntimeError, match="carries a tangent"):
            grad(y.sum(), x)


def test_each_row_of_tangents_is_as_wide_as_the_result():
    """The rule of one operand alone gives what has its shape, not that of both."""
    rows = np.arange(12.0).reshape(4, 3)
    for move in (lambda a: gs.complex(a, gs.zeros((2, 3))), lambda a: gs.complex(gs.zeros((2, 3)), a)):
        (y,), (moved,) = push(lambda duals: [move(*duals)], [gs.tensor([1.0, 2.0, 3.0])], [gs.tensor(rows)], 4)
        assert moved.shape == (4, *y.shape) == (4, 2, 3)
        expected = move(gs.tensor(1.0)).numpy()[0, 0] * rows
        np.testing.assert_array_equal(moved.numpy(), np.broadcast_to(expected[:, None], (4, 2, 3)))
