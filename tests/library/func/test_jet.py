"""Taylor coefficients and Laplacians of functions: closed forms, nested levels, other transforms around and inside, refusals."""

from math import factorial

import numpy as np
import pytest

import gradspec as gs
from gradspec.core.events import Listener, current_mapping
from gradspec.func import grad, hessian, jet, jvp, laplacian, value_and_laplacian, vmap
from tests.asked import each

RNG = np.random.default_rng(3)


def along(function, x, *terms):
    """Derivatives as arrays."""
    return [term.detach().numpy() for term in jet(function, (x,), (terms,))[1]]


def nested(function, x, order, *terms):
    """The same by levels in each other, along x + t v + t**2 w / 2 + ..."""

    def path(t):
        value, power = gs.asarray(x), t
        for number, term in enumerate(terms, 1):
            value, power = value + power * (gs.asarray(term) / factorial(number)), power * t
        return function(value)

    found = []
    for _ in range(order):
        path = (lambda inner: lambda t: jvp(inner, (t,), (1.0,))[1])(path)
        found.append(path(0.0).detach().numpy())
    return found


def f(x):
    return gs.sin(x) * gs.exp(x)


CLOSED = {
    "sin": (gs.sin, 0.3, lambda n: np.sin(0.3 + n * np.pi / 2)),
    "exp": (lambda x: gs.exp(2 * x), 0.1, lambda n: 2**n * np.exp(0.2)),
    "geometric": (lambda x: 1 / (1 - x), 0.0, factorial),
    "log": (gs.log, 2.0, lambda n: (-1) ** (n - 1) * factorial(n - 1) / 2.0**n),
    "power": (lambda x: x**-0.5, 1.0, lambda n: np.prod([-0.5 - i for i in range(n)])),
    "polynomial": (lambda x: x**3, 2.0, lambda n: [12, 12, 6][n - 1] if n < 4 else 0),
}


@each("name", CLOSED)
def test_closed_forms_to_order_12(name):
    function, x, exact = CLOSED[name]
    found = along(function, x, 1.0, *[0.0] * 11)
    np.testing.assert_allclose(found, [exact(n) for n in range(1, 13)], rtol=1e-10, atol=1e-9)


def test_the_solution_of_a_differential_equation():
    terms = [gs.asarray(1.0)]  # y' = 1 + y * y from 0: the tangent
    for _ in range(8):
        terms = [terms[0], *jet(lambda y: 1 + y * y, (0.0,), (terms,))[1]]
    np.testing.assert_allclose([term.item() for term in terms], [1, 0, 2, 0, 16, 0, 272, 0, 7936])


def test_a_third_derivative_in_a_direction():
    x, v = RNG.normal(size=3), RNG.normal(size=3)

    def cubic(x):
        return x[0] * x[1] * x[2] + (x**3).sum()

    exact = 6 * v.prod() + 6 * (v**3).sum()
    assert along(cubic, x, v, 0 * v, 0 * v)[2] == pytest.approx(exact)


def test_nests_several_arguments_and_results():
    def function(pair, z):
        return {"a": pair[0] * z, "b": [pair["c"] if isinstance(pair, dict) else pair[1]]}

    value, terms = jet(function, ((2.0, 3.0), 5.0), ([(1.0, 0.0), (0.0, 1.0)], [1.0, 0.0]))
    assert value["a"].item() == 10 and [term.item() for term in terms["a"]] == [7, 2]
    assert value["b"][0].item() == 3 and [term.item() for term in terms["b"][0]] == [0, 1]


def test_a_result_that_does_not_depend():
    value, terms = jet(lambda x: gs.ones(2), (1.0,), ([1.0, 2.0],))
    assert value.tolist() == [1, 1] and [term.tolist() for term in terms] == [[0, 0], [0, 0]]
    assert jet(f, (0.5,), ([],))[1] == []


def test_what_was_given_is_left_alone():
    x, v = gs.asarray([1.0, 2.0]), gs.asarray([1.0, 1.0])

    def function(x):
        x *= x
        return x

    assert [term.tolist() for term in jet(function, (x,), ([v, gs.zeros(2)],))[1]] == [[2, 4], [2, 2]]
    assert x.tolist() == [1, 2] and v.tolist() == [1, 1]


def written(x):
    out = gs.zeros_like(x)
    out[0] = x[1] * x[1]
    out[1] = gs.sin(x[0])
    view = out[1:]
    view *= x[0]
    out += 1
    row = x.reshape(1, -1)
    row[0, 1] = 3.0
    row.add_(out)
    out.copy_(out * row[0])
    out[:1].fill_(x[0])
    return gs.exp(out) + gs.concat([x[1:], x[:1]])


def with_memory_of_their_own(x):
    y = x + 1
    y *= 2
    z = x[:, None] + gs.ones((2, 3))
    z += y[:, None]
    z[0] = 0
    return x * y + z.sum(1)


@each("function", [written, with_memory_of_their_own, lambda x: gs.linalg.solve(gs.outer(x, x) + gs.eye(2), x), lambda x: gs.softmax(x) * x.max(),
                   lambda x: gs.where(x > 0.35, x, gs.sin(x)).cumsum(0), lambda x: gs.sort(x**2)[::-1] / gs.std(x)])  # fmt: skip
def test_functions_as_by_nested_levels(function):
    x, terms = np.array([0.3, 0.4]), [np.array([1.0, 2.0]), np.array([0.5, -1.0]), np.array([0.1, 0.3])]
    np.testing.assert_allclose(along(function, x, *terms), nested(function, x, 3, *terms), rtol=1e-9, atol=1e-9)


def test_branches_follow_the_value():
    def function(x):
        return x * x if (x > 0).item() else -x

    assert along(function, 2.0, 1.0, 0.0) == [4, 2] and along(function, -2.0, 1.0, 0.0) == [-1, 0]


def test_as_jax():
    jax = pytest.importorskip("jax", reason="compares with JAX's Taylor coefficients, and JAX is not installed")
    jet_module = pytest.importorskip("jax.experimental.jet")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        x, terms = RNG.uniform(0.3, 0.9, (2, 3)), list(RNG.normal(size=(5, 2, 3)))

        def function(xp, x):
            return xp.tanh(x @ x.T) / xp.sqrt(1 + (x * x).sum()) + xp.log(x).sum(1)

        wanted = jet_module.jet(lambda x: function(jax.numpy, x), (x,), (terms,))[1]
    finally:
        jax.config.update("jax_enable_x64", before)
    np.testing.assert_allclose(along(lambda x: function(gs, x), x, *terms), wanted, rtol=1e-9)


def test_complex_numbers():
    np.testing.assert_allclose(along(gs.exp, 0.3 + 0.2j, 1j, 0j, 0j), np.exp(0.3 + 0.2j) * np.array([1j, -1, -1j]))


X, V = np.array([0.3, 0.4]), np.array([1.0, 2.0])
EXPECTED = along(f, X, V, 0 * V, 0 * V, 0 * V)


def test_gradients_inside():
    found = along(lambda x: grad(lambda z: f(z).sum())(x), X, V, 0 * V, 0 * V)
    np.testing.assert_allclose(found, [a / v for a, v in zip(EXPECTED[1:], [V] * 3)])
    pair = along(lambda x: hessian(lambda z: f(z).sum())(x), X, V, 0 * V)
    np.testing.assert_allclose(pair, [np.diag(a / V**2) for a in EXPECTED[2:]], atol=1e-12)
    weights = gs.asarray([2.0, 3.0])
    found = along(lambda x: grad(lambda w: (w * f(x)).sum())(weights), X, V, 0 * V)
    np.testing.assert_allclose(found, EXPECTED[:2])


def test_other_transforms_inside():
    found = along(lambda x: jvp(f, (x,), (gs.ones_like(x),))[1], X, V, 0 * V, 0 * V)
    np.testing.assert_allclose(found, [a / V for a in EXPECTED[1:]])
    np.testing.assert_allclose(along(vmap(f), X, V, 0 * V), EXPECTED[:2])
    inner = jet(lambda x: jet(f, (x,), ([1.0, 0.0],))[1][1], (0.3,), ([1.0, 0.0],))[1]
    np.testing.assert_allclose([term.item() for term in inner], along(f, 0.3, 1.0, *[0.0] * 3)[2:])


def test_other_transforms_around():
    def third(x):
        return jet(f, (x,), ([gs.ones_like(x), gs.zeros_like(x), gs.zeros_like(x)],))[1][2]

    fourth = EXPECTED[3] / V**4
    np.testing.assert_allclose(grad(lambda x: third(x).sum())(X).numpy(), fourth)
    np.testing.assert_allclose(jvp(third, (X,), (V,))[1].numpy(), fourth * V)
    np.testing.assert_allclose(vmap(third)(X).numpy(), EXPECTED[2] / V**3)
    np.testing.assert_allclose(vmap(grad(third))(X).numpy(), fourth)
    compiled = gs.compile(third)
    for x in (X, X + 1, X + 2):
        np.testing.assert_array_equal(compiled(gs.asarray(x)).numpy(), third(gs.asarray(x)).numpy())


def test_batches_of_paths_and_closed_over_batches():
    xs, w = RNG.uniform(0.2, 0.5, (3, 2)), gs.asarray(RNG.normal(size=(3, 2)))

    def second(x, w):
        return jet(lambda x: gs.tanh(x @ w) * gs.linalg.norm(x), (x,), ([w, 0 * w],))[1][1]

    found = vmap(second)(gs.asarray(xs), w)
    np.testing.assert_allclose(found.numpy(), [second(gs.asarray(x), one).numpy() for x, one in zip(xs, w)])


def test_coefficients_have_a_graph():
    x = gs.asarray(X, requires_grad=True)
    v = gs.asarray(V, requires_grad=True)
    jet(f, (x,), ([v, gs.zeros(2)],))[1][1].sum().backward()
    np.testing.assert_allclose(v.grad.numpy(), 2 * EXPECTED[1] / V)
    np.testing.assert_allclose(x.grad.numpy(), EXPECTED[2] / V)


# Laplacians.

WEIGHTS = [RNG.normal(size=size) / 4 for size in ((16, 64), (64, 64), (64, 64), (64, 1))]


def mlp(x, weights=WEIGHTS):
    *hidden, last = map(gs.asarray, weights)
    for weight in hidden:
        x = gs.tanh(x @ weight)
    return (x @ last)[0]


def trace(function, *args):
    return gs.einsum("...ii->...", hessian(function)(*args))


def test_the_laplacian_of_a_network():
    x = gs.asarray(RNG.normal(size=16))
    value, found = value_and_laplacian(mlp)(x)
    assert value.item() == mlp(x).item()
    assert found.item() == pytest.approx(trace(mlp, x).item(), rel=1e-12)
    xs = gs.asarray(RNG.normal(size=(3, 16)))
    np.testing.assert_allclose(vmap(laplacian(mlp))(xs).numpy(), [trace(mlp, x).item() for x in xs], rtol=1e-10)


def test_gradients_of_a_laplacian():
    x, weights = gs.asarray(RNG.normal(size=16)), [gs.asarray(weight) for weight in WEIGHTS]
    found = grad(lambda w: laplacian(lambda x: mlp(x, w))(x) ** 2)(weights)
    wanted = grad(lambda w: trace(lambda x: mlp(x, w), x) ** 2)(weights)
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-11)


def test_laplacians_of_each_output_in_each_other_and_of_gradients():
    def q(x):
        return gs.sin(x[0]) * gs.exp(2 * x[1])

    x = gs.asarray(X)
    assert laplacian(laplacian(q))(x).item() == pytest.approx(9 * q(x).item())
    np.testing.assert_allclose(laplacian(grad(q))(x).numpy(), 3 * grad(q)(x).numpy())
    np.testing.assert_allclose(grad(laplacian(q))(x).numpy(), 3 * grad(q)(x).numpy())
    several = laplacian(lambda s, x: {"q": s * q(x), "x": x, "outer": gs.outer(x, x)}, argnum=1)(2.0, x)
    assert several["q"].item() == pytest.approx(6 * q(x).item())
    assert several["x"].tolist() == [0, 0] and several["outer"].tolist() == [[2, 0], [0, 2]]
    assert laplacian(lambda x: (x**3).sum())(gs.ones((2, 2))).item() == 24
    assert laplacian(lambda x: x**3)(2.0).item() == 12
    assert laplacian(lambda x: x.sum())(gs.zeros(0)).item() == 0
    np.testing.assert_allclose(gs.compile(laplacian(q))(x).item(), 3 * q(x).item())


@each("function", [written, with_memory_of_their_own, lambda x: gs.linalg.inv(gs.outer(x, x) + gs.eye(2)), lambda x: gs.linalg.norm(x) * gs.softmax(x)])
def test_laplacians_as_second_derivatives_along_each_axis(function):
    wanted = sum(along(function, X, axis, 0 * axis)[1] for axis in np.eye(2))
    np.testing.assert_allclose(laplacian(function)(gs.asarray(X)).numpy(), wanted, rtol=1e-10, atol=1e-12)


@each("function", [lambda x: (x**3).sum(), lambda x: gs.tanh(gs.outer(x, x)).sum(), lambda x: (gs.sin(x[1:]) * x[:1]).sum()])
def test_a_laplacian_of_a_gradient_at_each_point(function):
    points = gs.asarray(np.random.default_rng(4).normal(size=(3, 2)))
    for transform in (grad, lambda f: grad(lambda x: (grad(f)(x) ** 2).sum())):
        found = vmap(laplacian(transform(function)))(points)
        for row, point in zip(found, points):
            np.testing.assert_allclose(row, trace(transform(function), point), rtol=1e-9)


def test_the_work_of_a_laplacian():
    """Products of matrices of n + 2 calls, and no other; functions of numbers once for each value, and not for each axis."""

    class Products(Listener):
        def __init__(self):
            self.work, self.numbers = 0, 0

        def begin(self, event):
            if event.kind == "operator" and event.name == "matmul":
                a, b = event.inputs
                self.work += a.size * b.shape[-1]
            if event.kind == "operator" and event.name in ("tanh", "_tanh_slope"):
                self.numbers += event.inputs[0].size

    with Products() as once:
        mlp(gs.ones(16))
    with Products() as found:
        laplacian(mlp)(gs.ones(16))
    assert found.work <= 18 * once.work
    assert 0 < found.numbers <= 4 * once.numbers


# What is refused.


class Doubled(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad


def filled(x):
    out = gs.zeros(2)
    out[0] = x[0]
    return out


REFUSED = {
    "item": (lambda x: x[0].item() * x, "item"),
    "numpy": (lambda x: np.sin(x.numpy()), "numpy"),
    "write": (filled, "zeros_like"),
    "function": (Doubled.apply, "Doubled.apply is not possible"),
    "backward": (lambda x: gs.autograd.backward(f(x).sum()), "use gs.grad"),
    "method": (lambda x: f(x).sum().backward(), "backward"),
    "hook": (lambda x: x.register_hook(print), "register_hook"),
}


@each("name", REFUSED)
def test_refused_by_name(name):
    function, text = REFUSED[name]
    with pytest.raises((RuntimeError, TypeError), match=text):
        jet(function, (gs.asarray(X),), ([gs.asarray(V)],))


def test_terms_of_another_form_are_refused():
    with pytest.raises(ValueError, match="jet: term 2 of series 0 has 1 arrays, and the primal 2"):
        jet(lambda xs: xs[0], ([X, X],), ([[V, V], [V]],))
    with pytest.raises(TypeError, match="laplacian: argument 0 must be an array, got list"):
        gs.func.laplacian(lambda xs: xs[0])([X])
    assert current_mapping() is None or not current_mapping().levels


def test_wrong_arguments():
    with pytest.raises(ValueError, match="inconsistent order"):
        jet(lambda x, y: x * y, (1.0, 2.0), ([1.0], [1.0, 2.0]))
    with pytest.raises(ValueError, match="2 primals and 1 series"):
        jet(lambda x, y: x * y, (1.0, 2.0), ([1.0],))
    with pytest.raises(ValueError, match="has the shape"):
        jet(f, (gs.ones(2),), ([gs.ones(3)],))
    with pytest.raises(TypeError, match="floating point"):
        jet(f, (gs.asarray([1, 2]),), ([gs.ones(2)],))
    with pytest.raises(TypeError, match="floating point"):
        laplacian(f)(gs.asarray([1, 2]))
    with pytest.raises(TypeError, match="must be a function"):
        laplacian(3.0)


def test_a_series_that_has_left():
    kept = []
    jet(lambda x: kept.append(x) or x, (gs.asarray(X),), ([gs.asarray(V)],))
    with pytest.raises(RuntimeError, match="had ended"):
        gs.sin(kept[0])
    kept.clear()
    gs.sin(gs.ones(2))
    assert current_mapping() is None


def turned(x):
    y = gs.outer(x, gs.sin(x))
    row = y[0]
    y.swapaxes_(0, 1)  # the numbers stay where they are
    y[0] *= 2
    y.expand_dims_(0).squeeze_(0)
    return (y * y).sum() + row.prod()


def filled(x):
    y = x.new_zeros(3)
    y[0] = x[1]
    y += gs.concat([gs.sin(x), x[:1]])
    return (y * y * y).sum()


def kept(x):
    return gs.func.checkpoint(lambda x: (gs.sin(x) * x).sum())(x)


@each("function", [turned, filled, kept])
def test_writes_views_in_place_and_checkpoints(function):
    x, v = RNG.normal(size=(3, 2)), RNG.normal(size=2)
    for row in x:
        np.testing.assert_allclose(along(function, row, v, 0 * v, 0 * v), nested(function, row, 3, v), rtol=1e-9)
        np.testing.assert_allclose(laplacian(function)(row), np.trace(hessian(function)(row)))
    second = [nested(function, row, 2, v)[1] for row in x]
    np.testing.assert_allclose(vmap(lambda x: jet(function, (x,), ([v, 0 * v],))[1][1])(x), second)
    found = jet(lambda x: vmap(function)(x), (x,), ([np.stack([v] * 3), np.zeros((3, 2))],))[1][1]
    np.testing.assert_allclose(found, second)


PULLED = {
    "a fixed cotangent": lambda f: lambda x: gs.vjp(f, x)[1](gs.asarray([1.0, 2.0]))[0],
    "one of the argument": lambda f: lambda x: gs.vjp(f, x)[1](gs.cos(x))[0],
    "one of the output": lambda f: lambda x: (lambda y, pull: pull(gs.cos(y))[0])(*gs.vjp(f, x)),
    "one of a vjp": lambda f: lambda x: gs.vjp(lambda y: gs.vjp(f, y)[1](x)[0], x)[1](gs.sin(x))[0],
}


@each("name", PULLED)
def test_products_with_jacobians_inside(name):
    function, x, v = PULLED[name](lambda x: gs.sin(x) * x[::-1]), gs.asarray([0.3, -0.7]), np.array([1.5, -0.5])
    np.testing.assert_allclose(along(function, x, v, 0 * v), nested(function, x, 2, v), rtol=1e-9)
    bends = [nested(function, x, 2, one)[1] for one in np.eye(2)]
    np.testing.assert_allclose(laplacian(function)(x), sum(bends))
    np.testing.assert_allclose(vmap(laplacian(function))(gs.stack([x, x])), [sum(bends)] * 2)


CUT = {
    "checkpoint": lambda x: gs.func.checkpoint(gs.stop_gradient)(x),
    "stop_gradient": gs.stop_gradient,
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
    "a row": lambda x: gs.stack([x[i].detach() for i in range(len(x))]),
    "in a nest": lambda x: gs.stop_gradient({"a": [x * 1, 3.0]})["a"][0],
    "in vmap": lambda x: gs.vmap(lambda y: gs.stop_gradient(y))(x),
    "in a gradient": lambda x: gs.grad(lambda y: (gs.stop_gradient(x) * y).sum())(x),
}


@each("name", CUT)
def test_what_is_cut_off_is_constant_along_the_path(name):
    cut, x, v = CUT[name], gs.asarray([0.3, -0.7]), gs.asarray([1.0, 2.0])
    held = np.sin(x) * 2

    def function(x):
        return (gs.cos(x) * cut(gs.sin(x) * 2)).sum()

    _, terms = jet(function, (x,), ([v, gs.zeros(2), gs.zeros(2)],))
    expected = [(-np.sin(x) * held * v).sum(), (-np.cos(x) * held * v**2).sum(), (np.sin(x) * held * v**3).sum()]
    np.testing.assert_allclose(terms, expected)
    np.testing.assert_allclose(gs.func.laplacian(function)(x), (-np.cos(x) * held).sum())
    _, terms = jet(gs.grad(function), (x,), ([v],))  # a gradient cuts its graph off, and not the path
    np.testing.assert_allclose(terms[0], -np.cos(x) * held * v)
    _, slope = gs.jvp(lambda x: jet(function, (x,), ([v],))[1][0], (x,), (v,))
    np.testing.assert_allclose(slope, expected[1])
    found = gs.vmap(lambda x: jet(function, (x,), ([v],))[1][0])(gs.stack([x, x]))
    np.testing.assert_allclose(found, [expected[0]] * 2)


def test_determinants_and_exponentials_of_matrices_along_a_path():
    """Inside of other transforms, and in a Laplacian, beside a determinant and an exponential spelled out."""
    rng = np.random.default_rng(3)
    x, v = rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3, 3))
    x[0] = np.outer(x[0, 0], x[0, 1])  # of rank one

    def third(f):
        return lambda x, v: gs.func.jet(f, (x,), ([v, 0 * v, 0 * v],))[1][2]

    def spelled(x):
        return (x[0] * gs.linalg.cross(x[1], x[2])).sum()

    def exponential(x):
        y, term = gs.eye(3) + x, x
        for i in range(2, 30):
            term = term @ x / i
            y = y + term
        return y

    for f, plain in ((gs.linalg.det, spelled), (gs.linalg.matrix_exp, exponential)):
        each = gs.vmap(third(f))(x, v)
        for i in range(2):
            np.testing.assert_allclose(each[i].tolist(), third(plain)(x[i], v[i]).tolist(), rtol=1e-9)
            for at in (x[i], gs.asarray(x[i])):
                found, wanted = (gs.grad(lambda x: third(g)(x, v[i]).sum())(at) for g in (f, plain))  # noqa: B023
                np.testing.assert_allclose(found.tolist(), wanted.tolist(), rtol=1e-9, atol=1e-12)
                found, wanted = (gs.func.laplacian(g)(at) for g in (f, plain))
                np.testing.assert_allclose(found.tolist(), wanted.tolist(), rtol=1e-9, atol=1e-12)


def test_derivatives_inside_of_a_vmap_inside_of_a_jet():
    """Beside the function spelled out row by row: along a path, in a Laplacian, with a vmap around all of it."""

    def curve(r):
        return gs.sin(r) * r**2

    def pulled(x):
        _, pull = gs.vjp(lambda q: q**3, x)
        return lambda c: pull(c)[0]

    rows = {
        "grad": lambda x: gs.grad(curve), "grad of grad": lambda x: gs.grad(gs.grad(curve)),
        "closed over": lambda x: gs.grad(lambda r: curve(r) * x[0]), "of a row": lambda x: lambda r: gs.grad(lambda q: curve(q) * r)(r),
        "jvp": lambda x: lambda r: gs.jvp(curve, (r,), (r,))[1], "jacfwd": lambda x: gs.jacfwd(lambda r: gs.stack([curve(r), r])),
        "jacrev": lambda x: gs.jacrev(lambda r: gs.stack([curve(r), r])), "hessian": lambda x: gs.hessian(curve),
        "grad of jvp": lambda x: gs.grad(lambda r: gs.jvp(curve, (r,), (r,))[1]),
        "checkpoint": lambda x: gs.grad(gs.checkpoint(curve)), "jet": lambda x: lambda r: jet(curve, (r,), ([r, r],))[1][1],
        "laplacian": lambda x: laplacian(lambda r: curve(r) * x[1]), "pullback": pulled,
    }  # fmt: skip
    x, v = gs.asarray(X), gs.asarray(V)
    for name, row in rows.items():
        def together(x):
            return vmap(row(x))(x if name != "pullback" else gs.stack([x, x * x, 2 * x]))  # noqa: B023

        def apart(x):
            return gs.stack([row(x)(r) for r in (x if name != "pullback" else gs.stack([x, x * x, 2 * x]))])  # noqa: B023

        for f in (lambda g: gs.stack(jet(g, (x,), ([v, x, v],))[1]), lambda g: laplacian(g)(x),
                  lambda g: vmap(laplacian(g))(gs.stack([x, v])), lambda g: grad(lambda x: laplacian(g)(x).sum())(x)):  # fmt: skip
            found, wanted = f(together), f(apart)
            np.testing.assert_allclose(found.tolist(), wanted.tolist(), rtol=1e-10, atol=1e-12, err_msg=name)
    found = laplacian(lambda x: vmap(grad(curve))(x).sum())(x)
    np.testing.assert_allclose(found.item(), np.trace(hessian(lambda x: grad(lambda x: curve(x).sum())(x).sum())(x).numpy()), rtol=1e-10)
