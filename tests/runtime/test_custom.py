"""Functions with derivatives of their own: JAX's `custom_jvp` and `custom_vjp`, HIPS autograd's `primitive`.

The rules are right here, so every derivative, to second order and in both modes, is held to differences.
"""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import gradcheck, gradgradcheck
from gradspec.extend import defjvp, defvjp, primitive

X, Y = np.array([0.5, -1.25, 2.0]), np.array([1.5, 0.25, -0.75])


def leaves(*arrays):
    return [gs.tensor(array, requires_grad=True) for array in arrays]


@gs.custom_jvp
def product(x, y):
    return gs.sin(x) * y


@product.defjvp
def product_rule(primals, tangents):
    (x, y), (x_t, y_t) = primals, tangents
    return product(x, y), gs.cos(x) * y * x_t + gs.sin(x) * y_t


by_terms = gs.custom_jvp(lambda x, y: gs.sin(x) * y)
by_terms.defjvps(lambda x_t, ans, x, y: x_t * gs.cos(x) * y, lambda y_t, ans, x, y: y_t * gs.sin(x))


@gs.custom_vjp
def pulled(x, y):
    return gs.sin(x) * y


pulled.defvjp(lambda x, y: (gs.sin(x) * y, (x, gs.sin(x), y)), lambda kept, g: (g * gs.cos(kept[0]) * kept[2], g * kept[1]))


@primitive
def raw(x, y):
    assert not isinstance(x, gs.Tensor) and not isinstance(y, gs.Tensor)
    return np.sin(x) * y


defvjp(raw, lambda ans, x, y: lambda g: g * gs.cos(x) * y, lambda ans, x, y: lambda g: g * gs.sin(x))
defjvp(raw, lambda g, ans, x, y: g * gs.cos(x) * y, lambda g, ans, x, y: g * gs.sin(x))
FORWARD = [product, by_terms, raw]


@pytest.mark.parametrize("function", [*FORWARD, pulled])
def test_derivatives(function):
    x, y = leaves(X, Y)
    np.testing.assert_allclose(function(x, y).detach().numpy(), np.sin(X) * Y)
    assert gradcheck(function, (x, y), check_forward_ad=function is not pulled)
    assert gradgradcheck(function, (x, y), check_fwd_over_rev=function is product)
    assert gradcheck(lambda x: function(x, 2.0), x) and gradcheck(lambda y: function(0.5, y), y)


@pytest.mark.parametrize("function", [*FORWARD, pulled])
def test_third_derivative(function):
    third = gs.grad(gs.grad(gs.grad(lambda x: function(x, 2.0))))(0.5)
    np.testing.assert_allclose(third.item(), -2 * np.cos(0.5), rtol=1e-12)
    np.testing.assert_allclose(gs.hessian(lambda x: function(x, Y).sum())(gs.asarray(X)).numpy(), np.diag(-np.sin(X) * Y), rtol=1e-12)


@pytest.mark.parametrize("function", FORWARD)
def test_tangents_of_tangents(function):
    slope = lambda x: gs.jvp(lambda x: function(x, 2.0), (x,), (1.0,))[1]  # noqa: E731
    np.testing.assert_allclose(slope(0.5).item(), 2 * np.cos(0.5), rtol=1e-12)
    np.testing.assert_allclose(gs.jvp(slope, (0.5,), (1.0,))[1].item(), -2 * np.sin(0.5), rtol=1e-12)


def test_the_rule_is_what_is_used():
    """Rules that are not the derivative: what comes out is theirs."""
    f = gs.custom_jvp(lambda x: x * 2)
    f.defjvp(lambda primals, tangents: (primals[0] * 2, 7 * tangents[0]))
    assert gs.grad(f)(1.0).item() == 7 and gs.jvp(f, (1.0,), (1.0,))[1].item() == 7
    g = gs.custom_vjp(lambda x: x * 2)
    g.defvjp(lambda x: (x * 2, None), lambda kept, ct: (7 * ct,))
    assert gs.grad(g)(1.0).item() == 7
    p = primitive(lambda x: x * 2)
    defvjp(p, lambda ans, x: lambda ct: 7 * ct)
    assert gs.grad(p)(1.0).item() == 7


def test_nests_and_arguments_that_are_no_variables():
    @gs.custom_vjp
    def f(params, x):
        return {"y": params["w"] * x[0], "z": params["b"] + x[1]}

    f.defvjp(lambda params, x: (f.fun(params, x), (params, x)),
             lambda kept, g: ({"w": g["y"] * kept[1][0], "b": g["z"]}, (g["y"] * kept[0]["w"], g["z"])))  # fmt: skip
    w, b, x0, x1 = leaves(X, Y, X + 1, Y + 1)

    def flat(w, b, x0, x1):
        return tuple(f({"w": w, "b": b}, (x0, x1)).values())

    assert gradcheck(flat, (w, b, x0, x1)) and gradgradcheck(flat, (w, b, x0, x1))

    @gs.func.custom_jvp
    def power(x, n):
        return x**n

    power = gs.func.custom_jvp(power.fun, nondiff_argnums=1)
    power.defjvp(lambda n, primals, tangents: (primals[0] ** n, n * primals[0] ** (n - 1) * tangents[0]))
    assert gs.grad(power)(2.0, 3).item() == 12 and gs.grad(power)(2.0, n=3).item() == 12
    clipped = gs.custom_vjp(lambda limit, x: x, nondiff_argnums=(0,))
    clipped.defvjp(lambda limit, x: (x, None), lambda limit, kept, g: (gs.clip(g, -limit, limit),))
    assert gs.grad(lambda x: 5 * clipped(1.0, x))(2.0).item() == 1


def test_methods_and_several_argnums():
    class Model:
        scale = 3.0

        @gs.custom_jvp
        def times(self, x):
            return x * self.scale

        @primitive
        def raw(self, x):
            return x * self.scale

    Model.times.defjvp(lambda primals, tangents: (Model.times(*primals), primals[0].scale * tangents[1]))
    defvjp(Model.raw, lambda ans, self, x: lambda g: g * self.scale, argnums=[1])
    assert gs.grad(Model().raw)(2.0).item() == 3


def test_one_gradient_is_none():
    f = gs.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, y), lambda y, g: (g * y, None))
    x, y = leaves(X, Y)
    f(x, y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), Y)
    assert y.grad is None
    half = gs.custom_jvp(lambda x, y: x * y)
    half.defjvps(lambda x_t, ans, x, y: x_t * y, None)
    assert [g.item() for g in gs.grad(half, (0, 1))(2.0, 3.0)] == [3, 0]


def no_rule(kind):
    return getattr(gs, kind)(abs)


def short():
    f = gs.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, y), lambda y, g: (g * y,))
    return gs.grad(f)(1.0, 2.0)


def single():
    f = gs.custom_vjp(lambda x: x)
    f.defvjp(lambda x: x, lambda kept, g: (g,))
    return gs.grad(f)(1.0)


@pytest.mark.parametrize(("call", "error", "says"), [
    (lambda: no_rule("custom_jvp")(1.0), AttributeError, "write @abs.defjvp above one"),
    (lambda: no_rule("custom_vjp")(1.0), AttributeError, r"write abs.defvjp\(forward, backward\)"),
    (lambda: gs.grad(primitive(np.sin))(1.0), NotImplementedError, r"no backward pass is given for argument 0; write defvjp\(sin, ...\)"),
    (lambda: gs.jvp(primitive(np.sin), (1.0,), (1.0,)), NotImplementedError, "no forward mode is given for argument 0"),
    (short, TypeError, "a tuple of 2"),
    (single, TypeError, "must return a pair"),
])  # fmt: skip
def test_what_is_missing(call, error, says):
    with pytest.raises(error, match=says):
        call()
