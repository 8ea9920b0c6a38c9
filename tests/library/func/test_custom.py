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


def lone_tangent():
    f = gs.func.custom_jvp(lambda x: 2 * x)
    f.defjvp(lambda primals, tangents: 2 * tangents[0])
    return gs.jvp(f, (1.0,), (1.0,))


def less():
    f = gs.func.custom_vjp(lambda xs: xs[0] * xs[1])
    f.defvjp(lambda xs: (xs[0] * xs[1], None), lambda kept, grad: ([grad],))
    return gs.grad(f)([1.0, 2.0])


@pytest.mark.parametrize(("call", "error", "says"), [
    (lambda: no_rule("custom_jvp")(1.0), AttributeError, "write @abs.defjvp above one"),
    (lambda: no_rule("custom_vjp")(1.0), AttributeError, r"write abs.defvjp\(forward, backward\)"),
    (lambda: gs.grad(primitive(np.sin))(1.0), NotImplementedError, r"no backward pass is given for argument 0; write defvjp\(sin, ...\)"),
    (lambda: gs.jvp(primitive(np.sin), (1.0,), (1.0,)), NotImplementedError, "no forward mode is given for argument 0"),
    (lone_tangent, TypeError, "its rule must return a pair: the result and the tangent of the result"),
    (less, TypeError, "the gradient of an argument must be a pytree of its structure, or None: expected 2 arrays, got 1"),
    (short, TypeError, "a tuple of 2"),
    (single, TypeError, "must return a pair"),
])  # fmt: skip
def test_what_is_missing(call, error, says):
    with pytest.raises(error, match=says):
        call()


def scaled_by(c, kind):
    """sin(x) * c, which knows no derivative by c, in three kinds."""
    if kind == "jvp":
        f = gs.custom_jvp(lambda x: gs.sin(x) * c)
        f.defjvp(lambda primals, tangents: (f(*primals), gs.cos(primals[0]) * c * tangents[0]))
    elif kind == "vjp":
        f = gs.custom_vjp(lambda x: gs.sin(x) * c)
        f.defvjp(lambda x: (gs.sin(x) * c, x), lambda x, g: (g * gs.cos(x) * c,))
    else:
        f = primitive(lambda x: np.sin(x) * c)
        defvjp(f, lambda ans, x: lambda g: g * gs.cos(x) * c)
    return f


def slope_scaled_by(c, kind):
    """sin(x), whose slope is said to be cos(x) * c: only the rule reads c."""
    if kind == "jvp":
        f = gs.custom_jvp(gs.sin)
        f.defjvp(lambda primals, tangents: (f(*primals), gs.cos(primals[0]) * c * tangents[0]))
    elif kind == "vjp":
        f = gs.custom_vjp(gs.sin)
        f.defvjp(lambda x: (gs.sin(x), x), lambda x, g: (g * gs.cos(x) * c,))
    else:
        f = primitive(np.sin)
        defvjp(f, lambda ans, x: lambda g: g * gs.cos(x) * c)
    return f


KINDS = ["jvp", "vjp", "primitive"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_function_reads_without_being_given_it_is_refused(kind):
    f = lambda c: scaled_by(c, kind)(1.0)  # noqa: E731
    leaf = gs.tensor(2.0, requires_grad=True)
    for call in (lambda: f(leaf), lambda: gs.grad(f)(2.0), lambda: gs.jvp(f, (2.0,), (1.0,)), lambda: gs.jacfwd(f)(2.0),
                 lambda: gs.jvp(lambda c: gs.jvp(lambda x: x * f(c), (1.0,), (1.0,))[1], (2.0,), (1.0,))):  # fmt: skip
        with pytest.raises(RuntimeError, match="requires grad,? or has a tangent"):
            call()
    with gs.no_grad():
        assert f(leaf).item() == 2 * np.sin(1.0)
    assert f(gs.tensor(2.0)).item() == f(leaf.detach()).item() == 2 * np.sin(1.0)
    if kind == "primitive":
        return
    factors = np.array([1.0, 2.0])
    assert gs.vmap(f)(factors).tolist() == (np.sin(1.0) * factors).tolist()
    by_x = gs.grad(lambda x: gs.vmap(lambda c: scaled_by(c, kind)(x))(factors).sum())(0.5)
    np.testing.assert_allclose([by_x.item(), *gs.vmap(lambda c: gs.grad(scaled_by(c, kind))(0.5))(factors)], np.cos(0.5) * np.array([3, 1, 2]))


@pytest.mark.parametrize("kind", KINDS)
def test_what_only_a_rule_reads(kind):
    slope = lambda c, x=0.5: gs.grad(slope_scaled_by(c, kind))(x)  # noqa: E731
    assert gs.jvp(slope, (2.0,), (1.0,))[1].item() == pytest.approx(np.cos(0.5))
    for call in (lambda: gs.grad(slope)(2.0), lambda: slope(gs.tensor(2.0, requires_grad=True))):
        with pytest.raises(RuntimeError, match="its rule reads a tensor that requires grad"):
            call()
    c, x = leaves(2.0, 0.5)
    gs.autograd.grad(slope_scaled_by(c, kind)(x), x, create_graph=True)[0].backward()
    assert c.grad.item() == pytest.approx(np.cos(0.5)) and x.grad.item() == pytest.approx(-2 * np.sin(0.5))
    slope_scaled_by(c, kind)(x).backward()  # a first derivative is what was asked for
    if kind == "jvp":
        assert gs.grad(lambda c: gs.jvp(slope_scaled_by(c, kind), (0.5,), (1.0,))[1])(2.0).item() == pytest.approx(np.cos(0.5))


def test_an_argument_that_is_no_variable_is_refused_where_it_has_a_derivative():
    scaled = gs.custom_vjp(lambda n, x: n * x, nondiff_argnums=0)
    scaled.defvjp(lambda n, x: (n * x, None), lambda n, kept, g: (n * g,))
    with pytest.raises(RuntimeError, match="not one of its variables"):
        scaled(gs.tensor(2.0, requires_grad=True), 1.0)


def test_a_function_that_returns_a_constant_or_its_argument_as_it_is():
    constant, x = gs.ones(2), gs.ones(2, requires_grad=True)
    f = gs.custom_vjp(lambda x: (constant, x))
    f.defvjp(lambda x: ((constant, x), None), lambda kept, g: (g[0] + 2 * g[1],))
    one, other = f(x)
    assert not constant.requires_grad and one.requires_grad and other is not x
    assert gs.autograd.grad(one.sum() + other.sum(), x)[0].tolist() == [3.0, 3.0]


def test_an_ordinary_function_refuses_a_row_that_it_was_not_given():
    class Scale(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x, f):
            return f(x)

    x = gs.ones((), requires_grad=True)
    with pytest.raises(RuntimeError, match="Scale: its forward reads a row of a vmap"):
        gs.vmap(lambda c: Scale.apply(x, lambda x: x * c))(gs.ones(2))


# Rules for tangents inside of a vmap whose rows share an input.

SHARED = {
    "add": lambda a, b: a + b * b,
    "product": lambda a, b: gs.sin(a) * b,
    "second alone": lambda a, b: gs.exp(b) + a * 0,
    "reduced": lambda a, b: (a * b).sum() * b,
    "two results": lambda a, b: (a * b, gs.cos(b)),
}  # fmt: skip


def with_tangents(f):
    """The same function with its own derivative as its rule."""
    function = gs.custom_jvp(f)
    function.defjvp(lambda primals, tangents: (f(*primals), gs.func.jvp(f, primals, tangents)[1]))
    return function


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("shape", [(), (2,)])
def test_rows_that_share_an_input_of_a_rule_for_tangents(name, shape):
    random = np.random.default_rng(0)
    a, b = random.normal(size=(3, *shape)), random.normal(size=shape)
    plain, ruled = SHARED[name], with_tangents(SHARED[name])

    def total(nest):
        return sum(((leaf * leaf).sum() for leaf in (nest if isinstance(nest, tuple) else (nest,))), gs.zeros(()))

    def programs(f):
        mapped = gs.vmap(f, in_axes=(0, None))
        closed = lambda a, b: gs.vmap(lambda a: f(a, b))(a)  # noqa: E731
        nested = lambda a, b: gs.vmap(lambda c: gs.vmap(f, in_axes=(0, None))(a, c), in_axes=None, axis_size=2)(b)  # noqa: E731
        rows = lambda a, b: gs.vmap(lambda c: gs.vmap(f, in_axes=(None, 0))(c, a * 2))(a + b)  # noqa: E731
        for call in (mapped, closed, nested, rows):
            scalar = lambda a, b, call=call: total(call(a, b))  # noqa: E731
            for argnum in (0, 1):
                yield gs.grad(scalar, argnum)
                yield gs.jacrev(scalar, argnum)
                yield gs.jacfwd(scalar, argnum)
                yield gs.hessian(scalar, argnum)
                yield gs.func.jacrev(lambda a, b, call=call: leaves(call(a, b))[0], argnum)
            yield lambda a, b, scalar=scalar: gs.func.hvp(lambda b: scalar(a, b), b, b * 2)
            yield lambda a, b, scalar=scalar: gs.vmap(gs.grad(scalar, 1), in_axes=(0, None))(gs.stack([a, a * 2]), b)
            yield gs.vmap(gs.grad(lambda a, b: total(f(a, b)), 1), in_axes=(0, None)) if call is mapped else gs.grad(scalar)

    def leaves(nest):
        return nest if isinstance(nest, tuple) else (nest,)

    for number, (found, wanted) in enumerate(zip(programs(ruled), programs(plain))):
        np.testing.assert_allclose(found(a, b), wanted(a, b), rtol=1e-12, atol=1e-12, err_msg=str(number))
