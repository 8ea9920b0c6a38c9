"""Who gets a tensor as the one object of an ndarray: a method of SciPy's sparse arrays that asks for one inside of an operator."""

import numpy as np
import pytest

import gradspec as gs

ASKS = """
import numpy as np
def _matmul_dispatch(x): return np.asarray(x)
def toarray(x): return np.asarray(x)
def __matmul__(ask, x): return globals()[ask](x)
def dot(ask, x): return globals()[ask](x)
"""


def asked(module, operator, ask, x):
    names = {"__name__": module}
    exec(ASKS, names)
    return names[operator](ask, x) if operator else names[ask](x)


def test_only_a_method_that_asks_within_an_operator_gets_the_tensor():
    x = gs.asarray([1.0, 2.0])
    for module in ("scipy.sparse._base", "scipy.special._base", "mine"):
        for operator in ("__matmul__", "dot", None):
            for ask in ("_matmul_dispatch", "toarray"):
                found = asked(module, operator, ask, x)
                if (module, operator, ask) == ("scipy.sparse._base", "__matmul__", "_matmul_dispatch"):
                    assert found.shape == () and found.dtype == object and found[()] is x
                else:
                    assert found.dtype == float and found.tolist() == [1.0, 2.0], (module, operator, ask)


def rosen(x):
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


GRADIENT = ("CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "SLSQP", "trust-constr", "trust-ncg", "trust-exact", "trust-krylov")
HESSIAN = ("Newton-CG", "trust-constr", "trust-ncg", "trust-exact", "trust-krylov")


@pytest.mark.parametrize("method", GRADIENT)
def test_solvers_of_scipy_take_gradients(method):
    """SciPy's own minimize with a pair, and with a function beside: solvers in C want ndarrays."""
    optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")
    hess = {"hess": gs.hessian(rosen)} if method in HESSIAN else {}
    start = np.array([-1.0, 1.5])
    for found in (
        optimize.minimize(gs.value_and_grad(rosen), start, jac=True, method=method, **hess),
        optimize.minimize(rosen, start, jac=gs.grad(rosen), method=method, **hess),
    ):
        np.testing.assert_allclose(found.x, 1.0, atol=2e-3)
        assert isinstance(found.x, np.ndarray)


def test_other_solvers_of_scipy_take_derivatives():
    optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")
    t, start = np.arange(5.0), np.array([1.0, 1.0])
    residual = lambda p: p[1] * gs.exp(-p[0] * t) - np.exp(-0.5 * t)  # noqa: E731
    for method in ("trf", "dogbox", "lm"):
        np.testing.assert_allclose(optimize.least_squares(residual, start, jac=gs.jacobian(residual), method=method).x, [0.5, 1.0])
    np.testing.assert_allclose(optimize.leastsq(residual, start, Dfun=gs.jacobian(residual))[0], [0.5, 1.0])
    np.testing.assert_allclose(optimize.curve_fit(lambda t, a, b: b * gs.exp(-a * t), t, np.exp(-0.5 * t), p0=start)[0], [0.5, 1.0])
    cube = lambda x: x**3 - 1  # noqa: E731
    for method in ("hybr", "lm"):
        np.testing.assert_allclose(optimize.root(cube, 0.7 * start, jac=gs.jacobian(cube), method=method).x, 1.0)
    disc = {"type": "ineq", "fun": lambda x: 1 - (x**2).sum(), "jac": gs.grad(lambda x: 1 - (x**2).sum())}
    inside = optimize.minimize(rosen, np.zeros(2), jac=gs.grad(rosen), method="SLSQP", constraints=[disc]).x
    np.testing.assert_allclose(inside, [0.7864, 0.6177], atol=1e-3)


def test_nothing_is_detached_by_a_solver():
    optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")
    a = gs.tensor(2.0, requires_grad=True)
    with pytest.raises((TypeError, RuntimeError)):
        optimize.minimize(lambda x: ((x - a) ** 2).sum(), np.zeros(2), jac=lambda x: 2 * (x - a), method="L-BFGS-B")
    assert isinstance(np.atleast_1d(gs.ones(())), gs.Tensor)  # asked by anybody else
    kinds = set()
    optimize.minimize(lambda x: kinds.add(type(np.atleast_1d(gs.asarray(x)))) or rosen(x), np.zeros(2), method="L-BFGS-B")
    assert kinds == {gs.Tensor}  # by a function of the user that a solver calls
