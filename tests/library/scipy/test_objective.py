"""gs.scipy.objective, by the functions of scipy.optimize that take it."""

import doctest
import importlib

import numpy as np
import pytest

import gradspec as gs
from gradspec.scipy import objective
from tests.asked import each
from tests.later import later

optimize = later("scipy.optimize")
START = {"a": 0.5, "b": [np.array([[0.2, 0.1], [0.3, 0.4]]), (gs.tensor([1.5]),)]}
TARGET = np.array([1.0, -2.0, 3.0, 0.5, 2.0, -1.0])


def as_vector(p):
    return gs.concatenate([gs.reshape(part, (-1,)) for part in (p["a"], p["b"][0], p["b"][1][0] * gs.ones((1,)))])


def quartic(p):
    difference = as_vector(p) - TARGET
    return (difference**2).sum() + 0.1 * (difference**4).sum() + gs.cosh(difference[0] * difference[1])


def residuals(p, shift=0.0):
    v = as_vector(p)
    return {"linear": v - TARGET - shift, "bent": 0.1 * gs.sin(v[:2, None] * v[:2])}


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "TNC", "SLSQP"])
def test_minimize_by_value_and_gradient(method):
    o = objective(quartic, START)
    result = optimize.minimize(o, o.x0, jac=True, method=method, tol=1e-12)
    assert np.allclose(result.x, TARGET, atol=1e-3)
    found = o.unflatten(result.x)
    assert isinstance(found["a"], float) and type(found["b"][0]) is np.ndarray and isinstance(found["b"][1][0], gs.Tensor)
    assert np.allclose(o.flatten(found), result.x)


PRODUCTS = ["Newton-CG", "trust-constr", "trust-ncg", "trust-krylov"]
SECOND = [*((name, "hess") for name in (*PRODUCTS, "dogleg", "trust-exact")), *((name, "hessp") for name in PRODUCTS)]


@each(("method", "second"), SECOND)
def test_minimize_by_second_derivatives(method, second):
    o = objective(quartic, START)
    result = optimize.minimize(o.fun, o.x0, jac=o.jac, **{second: getattr(o, second)}, method=method)
    assert np.allclose(result.x, TARGET, atol=1e-3)


def test_derivatives_are_those_of_differences():
    o = objective(quartic, START)
    assert optimize.check_grad(o.fun, o.jac, o.x0) < 1e-4
    value, gradient = o(o.x0)
    assert type(value) is float and value == o.fun(o.x0) and np.allclose(gradient, o.jac(o.x0))
    p = np.arange(6.0)
    assert np.allclose(o.hessp(o.x0, p), o.hess(o.x0) @ p)
    assert np.allclose(o.hess(o.x0), optimize.approx_fprime(o.x0, o.jac), atol=1e-4)


def test_products_at_one_point_share_a_recorded_gradient_until_anything_else_is_asked():
    calls, scale = [], [1.0]

    def f(x, power):
        calls.append(1)
        return (scale[0] * x**power).sum()

    o, x = objective(f), np.array([1.0, 2.0])
    assert o.hessp(x, [1.0, 0.0], 3).tolist() == [6.0, 0.0] and o.hessp(x, [0.0, 1.0], 3).tolist() == [0.0, 12.0]
    assert len(calls) == 1
    assert o.hessp(x, [0.0, 1.0], 2).tolist() == [0.0, 2.0] and o.hessp(x + 1, [0.0, 1.0], 2).tolist() == [0.0, 2.0]
    assert len(calls) == 3
    scale[0] = 2.0
    o.fun(x, 2)
    assert o.hessp(x, [0.0, 1.0], 2).tolist() == [0.0, 4.0]


@pytest.mark.parametrize("jac", ["jac", "jac_operator"])
def test_least_squares(jac):
    o = objective(residuals, START)
    options = {"tr_solver": "lsmr"} if jac == "jac_operator" else {}
    result = optimize.least_squares(o.fun, o.x0, jac=getattr(o, jac), args=(0.25,), **options)
    plain = optimize.least_squares(o.fun, o.x0, args=(0.25,))
    assert result.success and np.isclose(result.cost, plain.cost) and np.allclose(result.x, plain.x, atol=1e-4)
    assert np.allclose(o.jac(o.x0, 0.0), optimize.approx_fprime(o.x0, o.fun, 1e-7), atol=1e-5)


@pytest.mark.parametrize("method", ["hybr", "lm"])
def test_root(method):
    def equations(p):
        x, y = p
        return [x**2 + y**2 - 4.0, gs.exp(x) + y - 1.0]

    o = objective(equations, (1.0, -1.0))
    result = optimize.root(o, o.x0, jac=True, method=method)
    x, y = o.unflatten(result.x)
    assert result.success and abs(x**2 + y**2 - 4) < 1e-9 and abs(np.exp(x) + y - 1) < 1e-9
    assert np.allclose(optimize.fsolve(o.fun, o.x0, fprime=o.jac), result.x)


def test_curve_fit():
    def model(p, t):
        return p["height"] * gs.exp(-p["rate"] * t) + p["floor"]

    t = np.linspace(0, 4, 50)
    y = 2.5 * np.exp(-1.3 * t) + 0.5
    o = objective(model, {"height": 1.0, "rate": 1.0, "floor": 0.0})
    found, covariance = optimize.curve_fit(o.curve, t, y, o.x0, jac=o.curve_jac)
    assert np.allclose(found, [2.5, 1.3, 0.5]) and covariance.shape == (3, 3)
    assert o.unflatten(found)["rate"] == found[1]


def test_constraints_and_differential_evolution():
    o, inside = objective(lambda x: ((x - 2.0) ** 2).sum()), objective(lambda x: (x * x).sum())
    limit = optimize.NonlinearConstraint(inside.fun, -np.inf, 2.0, jac=inside.jac, hess=lambda x, v: v[0] * inside.hess(x))
    result = optimize.minimize(o, np.zeros(2), jac=True, hess=o.hess, constraints=limit, method="trust-constr")
    assert np.allclose(result.x, [1.0, 1.0], atol=1e-3)
    assert np.allclose(optimize.differential_evolution(o.fun, [(-5, 5)] * 2, seed=0).x, 2.0)


def test_complex_parameters_are_pairs_of_reals():
    target = np.array([1 + 2j, -0.5j])
    o = objective(lambda z: (gs.abs(z - target) ** 2).sum() + gs.real(z[0]) ** 4, np.zeros(2, complex))
    assert o.x0.shape == (4,) and optimize.check_grad(o.fun, o.jac, o.x0 + 0.5) < 1e-5
    result = optimize.minimize(o, o.x0, jac=True)
    assert np.allclose(o.unflatten(result.x)[1], target[1], atol=1e-5) and o.unflatten(result.x).dtype == complex


def test_dtypes_and_integers():
    seen = []

    def f(p):
        seen.append({name: value.dtype for name, value in p.items()})
        return (p["single"] ** 2).sum() + p["whole"] ** 2

    o = objective(f, {"single": np.ones(2, np.float32), "whole": 3})
    value, gradient = o(o.x0)
    assert value == 11.0 and gradient.dtype == np.float64 and gradient.tolist() == [2.0, 2.0, 6.0]
    assert all(dtypes == {"single": np.float32, "whole": np.float64} for dtypes in seen)


REFUSED = {
    "no tensor": (lambda: objective(lambda p: {"loss": 3.0}).fun([1.0]), TypeError, r"its result\['loss'\] is of type float"),
    "complex": (lambda: objective(lambda p: p * 1j).fun([1.0]), TypeError, "complex; return its real and imaginary parts"),
    "another length": (lambda: objective(quartic, START).fun(np.ones(5)), ValueError, "a vector of 6 numbers, .* got 5"),
    "a Hessian of many": (lambda: objective(lambda p: p).hess(np.ones(3)), ValueError, "a single number, and it returned 3"),
    "strings": (lambda: objective(quartic, {"a": "b"}), TypeError, r"x0\['a'\] must hold numbers, got str"),
    "another form": (lambda: objective(quartic, START).flatten({"a": 1.0}), ValueError, r"expected parameters at \['a'\], .*\['b'\]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()


def test_examples_of_docstrings_run():
    found = doctest.testmod(importlib.import_module("gradspec.scipy.objective"))
    assert found.attempted and not found.failed


def chain(x, t=1.0):
    return gs.concat([10 * (x[1:] - x[:-1] ** 2), t - x[:-1]])


def test_sparse_least_squares():
    o, dense = objective(chain, np.full(30, 1.5), sparse=True), objective(chain, np.full(30, 1.5))
    assert o.jac(o.x0).nnz == 87 and np.allclose(o.jac(o.x0).toarray(), dense.jac(o.x0))
    result = optimize.least_squares(o.fun, o.x0, jac=o.jac, method="trf", tr_solver="lsmr")
    assert np.allclose(result.x, 1, atol=1e-6)
    assert o.jac(o.x0, 2.0).nnz == 87  # a further argument


def test_sparse_trust_constr():
    o = objective(lambda x: (chain(x) ** 2).sum(), np.full(10, 1.2), sparse=True)
    assert o.jac(o.x0).shape == (10,) and o.hess(o.x0).nnz == 28
    result = optimize.minimize(o.fun, o.x0, jac=o.jac, hess=o.hess, method="trust-constr")
    assert np.allclose(result.x, 1, atol=1e-4)


@pytest.mark.parametrize("sparse", [False, True])
def test_solve_ivp(sparse):
    """A stiff line of springs against its matrix exponential."""
    integrate, linalg = importlib.import_module("scipy.integrate"), importlib.import_module("scipy.linalg")
    matrix = 300 * (np.eye(20, k=1) + np.eye(20, k=-1) - 2 * np.eye(20))
    o = objective(lambda y, t: 300 * (gs.pad(y, (1, 1))[2:] + gs.pad(y, (1, 1))[:-2] - 2 * y) + 0 * t, np.linspace(0, 1, 20) ** 2, sparse=sparse)
    result = integrate.solve_ivp(o.rate, (0, 0.1), o.x0, "BDF", jac=o.rate_jac, rtol=1e-8, atol=1e-10)
    assert result.success and np.allclose(result.y[:, -1], linalg.expm(0.1 * matrix) @ o.x0, atol=1e-6)
    assert np.allclose(o.rate_jac(0.0, o.x0) @ np.ones(20), matrix.sum(axis=1))
