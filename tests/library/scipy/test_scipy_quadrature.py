"""Integrals under SciPy's names: its values, derivatives against exact ones and differences."""

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each
from tests.later import later

scipy_integrate = later("scipy.integrate", "SciPy is not installed")
integrate = gs.scipy.integrate


@pytest.mark.slow
@each("f, exact, args", [
    (lambda k, a, b: integrate.quad(lambda x: gs.exp(-k * x), a, b)[0], lambda k, a, b: (gs.exp(-k * a) - gs.exp(-k * b)) / k, (0.7, 0.2, 1.5)),
    (lambda k, s: integrate.quad(lambda x, k, s: gs.exp(-k * (x - s) ** 2), -np.inf, np.inf, (k, s))[0], lambda k, s: gs.sqrt(gs.pi / k) + 0 * s, (0.7, 0.3)),
    (lambda k, a: integrate.quad(lambda x: k["w"] * gs.exp(-k["k"][0] * x), a, np.inf)[0], lambda k, a: k["w"] / k["k"][0] * gs.exp(-k["k"][0] * a), ({"w": 2.0, "k": [0.7]}, 0.4)),
    (lambda c: integrate.quad(lambda x: gs.abs(x - c) * x, 0.0, 1.0, points=[0.3])[0], lambda c: c**3 / 3 - c / 2 + 1 / 3, (0.3,)),
    (lambda k, b: integrate.quad_vec(lambda x: gs.stack([gs.cos(k * x), k * x**2]), 0.0, b)[0].sum(), lambda k, b: gs.sin(k * b) / k + k * b**3 / 3, (0.7, 1.2)),
    (lambda k, b: integrate.fixed_quad(lambda x, k: gs.exp(k * x), 0.0, b, (k,), n=8)[0], lambda k, b: (gs.exp(k * b) - 1) / k, (0.7, 1.2)),
    (lambda k, b: integrate.dblquad(lambda y, x: k * x * y, 0.0, b, 0.0, lambda x: b - x, epsabs=1e-4, epsrel=1e-4)[0], lambda k, b: k * b**4 / 24, (0.7, 1.2)),
    (lambda k, b: integrate.nquad(lambda y, x, k: gs.exp(-k * y) * x, [lambda x, k: (0.0, x), (0.0, b)], (k,), {"epsabs": 1e-4, "epsrel": 1e-4})[0],
     lambda k, b: (b**2 / 2 - (1 - (1 + k * b) * gs.exp(-k * b)) / k**2) / k, (0.7, 1.2)),
])  # fmt: skip
def test_integrals_with_exact_derivatives(f, exact, args):
    """Values, gradients, tangents, and second derivatives of two pairs of modes."""
    numbers = tuple(range(len(args)))
    leaves = lambda nest: [float(leaf) for leaf in gs.tree_util.tree_leaves(nest)]  # noqa: E731
    np.testing.assert_allclose(f(*args).item(), exact(*args).item() if hasattr(exact(*args), "item") else exact(*args), rtol=1e-7)
    np.testing.assert_allclose(leaves(gs.grad(f, numbers)(*args)), leaves(gs.grad(exact, numbers)(*args)), rtol=1e-6, atol=1e-9)
    ones = gs.tree_util.tree_map(lambda x: 1.0, args)
    np.testing.assert_allclose(gs.jvp(f, args, ones)[1].item(), gs.jvp(exact, args, ones)[1].item(), rtol=1e-6)
    if "abs" in f.__code__.co_names or any("abs" in getattr(part, "co_names", ()) for part in f.__code__.co_consts):
        return  # the slope of a kink is no function
    if "dblquad" not in f.__code__.co_names and "nquad" not in f.__code__.co_names:
        twice, expected = (gs.jvp(gs.grad(h, numbers), args, ones)[1] for h in (f, exact))
        np.testing.assert_allclose(leaves(twice), leaves(expected), rtol=1e-5, atol=1e-8)
        total = lambda h: lambda *a: sum(gs.tree_util.tree_leaves(gs.grad(h, numbers)(*a)))  # noqa: E731
        twice, expected = (gs.grad(total(h), numbers)(*args) for h in (f, exact))
        np.testing.assert_allclose(leaves(twice), leaves(expected), rtol=1e-5, atol=1e-7)


def test_inside_of_vmap_each_row_is_an_integral():
    ks, ends = np.array([0.5, 0.9]), np.array([1.0, np.inf])
    exact = lambda k, b: (1 - gs.exp(-k * b)) / k  # noqa: E731
    for f in (lambda k, b: integrate.quad(lambda x: gs.exp(-k * x), 0.0, b)[0],
              lambda k, b: integrate.quad_vec(lambda x: gs.exp(-k * x)[None], 0.0, b)[0][0],
              lambda k, b: integrate.nquad(lambda x: gs.exp(-k * x), [(0.0, b)])[0]):  # fmt: skip
        np.testing.assert_allclose(gs.vmap(f)(ks, ends), exact(ks, ends), rtol=1e-7)
        np.testing.assert_allclose(gs.vmap(gs.grad(f))(ks, ends), gs.vmap(gs.grad(exact))(ks, np.array([1.0, 1e9])), rtol=1e-6)
    value, error = gs.vmap(lambda k: integrate.dblquad(lambda y, x: k * x * y, 0.0, 1.0, 0.0, lambda x: x))(ks)
    np.testing.assert_allclose(value, ks / 8, rtol=1e-7)
    assert error.shape == (2,)


def test_values_are_scipys():
    for name, call in {
        "quad": lambda s, np: s.quad(lambda x: np.exp(-x) * x, 0, 2),
        "quad_vec": lambda s, np: s.quad_vec(lambda x: np.stack([np.exp(-x), x]), 0, 2),
        "fixed_quad": lambda s, np: s.fixed_quad(lambda x: np.exp(-x), 0, 2, n=4),
        "dblquad": lambda s, np: s.dblquad(lambda y, x: x * y, 0, 1, lambda x: x, lambda x: 2.0),
        "tplquad": lambda s, np: s.tplquad(lambda z, y, x: x * y * z, 0, 1, 0, lambda x: x, 1.0, lambda x, y: 2.0),
        "quad complex": lambda s, np: s.quad(lambda x: np.exp(1j * x), 0, 2, complex_func=True),
        "quad weight": lambda s, np: s.quad(lambda x: np.exp(-x), 0, 2, weight="cos", wvar=3.0),
    }.items():
        found, expected = call(integrate, gs), call(scipy_integrate, np)
        np.testing.assert_allclose(found[0].numpy(), expected[0], rtol=1e-13, err_msg=name)
        assert len(found) == len(expected)
    assert integrate.nquad(lambda x, y: x * y, [(0, 1), (0, 2)], full_output=True)[2]["neval"] == 441


def test_what_has_no_derivative_says_so():
    with pytest.raises(NotImplementedError, match="weight="):
        gs.grad(lambda k: integrate.quad(lambda x: k * x, 0, 1, weight="cos", wvar=3.0)[0])(1.0)
    with pytest.raises(ValueError, match="workers must be 1"):
        integrate.quad_vec(gs.sin, 0, 1, workers=2)
    with pytest.raises(ValueError, match="must be finite"):
        integrate.fixed_quad(gs.sin, 0, np.inf)


CALLS = {
    "trapezoid": lambda s, y, x: s.trapezoid(y, x),
    "trapezoid dx": lambda s, y, x: s.trapezoid(y, dx=x[1] * x[1], axis=0),
    "simpson": lambda s, y, x: s.simpson(y, x),
    "simpson dx": lambda s, y, x: s.simpson(y[..., :-1], dx=0.3),
    "simpson axis": lambda s, y, x: s.simpson(y, x=x[: y.shape[0]], axis=0),
    "simpson even": lambda s, y, x: s.simpson(y[..., :-1], x=x[:-1]),
    "simpson two": lambda s, y, x: s.simpson(y[..., :2], x=x[:2]),
    "simpson three": lambda s, y, x: s.simpson(y[..., :3], x=x[:3]),
    "romb": lambda s, y, x: s.romb(y[..., :5], dx=x[3] - x[1]),
    "romb axis": lambda s, y, x: s.romb(y, axis=0),
    "cumulative_trapezoid": lambda s, y, x: s.cumulative_trapezoid(y, x),
    "cumulative_trapezoid initial": lambda s, y, x: s.cumulative_trapezoid(y, x=x[:3], axis=0, initial=0),
    "cumulative_simpson": lambda s, y, x: s.cumulative_simpson(y, x=x),
    "cumulative_simpson even": lambda s, y, x: s.cumulative_simpson(y[..., :-1], x=x[:-1]),
    "cumulative_simpson initial": lambda s, y, x: s.cumulative_simpson(y, dx=0.5, axis=0, initial=0),
}


@each("name", CALLS)
def test_integrals_of_samples(name):
    random = np.random.default_rng(0)
    y, x = random.normal(size=(3, 7)), np.cumsum(random.uniform(0.5, 1.5, size=7))
    call = CALLS[name]
    found = call(integrate, gs.asarray(y), gs.asarray(x))
    np.testing.assert_allclose(found.numpy(), call(scipy_integrate, y, x), rtol=1e-12, atol=1e-14)
    single = call(integrate, gs.asarray(y, dtype="f"), gs.asarray(x, dtype="f"))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single.numpy(), found.numpy(), rtol=1e-4, atol=1e-4)
    tensors = [gs.tensor(value, requires_grad=True) for value in (y, x)]
    assert gs.autograd.gradcheck(lambda y, x: call(integrate, y, x), tensors)
    assert gs.autograd.gradcheck(lambda y, x: call(integrate, y, x), tensors, check_forward_ad=True)
    assert gs.autograd.gradgradcheck(lambda y, x: call(integrate, y, x), tensors)


def test_what_is_closed_over_may_be_of_single_precision():
    """Derivatives that are rounded to it would not converge to the tolerances of double precision."""
    values = np.array([0.3, 0.7, 1.2])

    def area(t, vector=False):
        if vector:
            return integrate.quad_vec(lambda x: np.sin(x * t), 0.0, t[2])[0].sum()
        return integrate.quad(lambda x: 1 / np.sqrt(t[0] * (1 + x) ** 3 + t[1]), 0.0, t[2])[0]

    for vector in (False, True):
        double = gs.grad(area)(values, vector)
        single = gs.grad(area)(values.astype("f"), vector)
        assert single.dtype == np.float32
        np.testing.assert_allclose(single.numpy(), double.numpy(), rtol=1e-6)
        pushed = gs.jvp(lambda t: area(t, vector), (values.astype("f"),), (np.ones(3, "f"),))[1]  # noqa: B023
        np.testing.assert_allclose(pushed.numpy(), double.sum().numpy(), rtol=1e-6)
        hessian = gs.hessian(lambda t: area(t, vector))  # noqa: B023
        np.testing.assert_allclose(hessian(values.astype("f")).numpy(), hessian(values).numpy(), rtol=1e-5, atol=1e-6)
