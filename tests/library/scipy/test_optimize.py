"""scipy.optimize with derivatives: values are SciPy's, derivatives those of differences of solutions."""

import sys
import warnings
from types import ModuleType

import numpy as np
import pytest

import gradspec as gs
from tests.later import later

theirs = later("scipy.optimize", "SciPy is not installed")
ours = gs.scipy.optimize
rng = np.random.default_rng(5)
A = rng.normal(size=(7, 3)) + np.eye(7, 3)
B = rng.normal(size=7)
T = np.linspace(0.0, 2.0, 9)
TIGHT = {"ftol": 1e-13, "xtol": 1e-13, "gtol": 1e-13}


V, W = np.array([0.6, -0.8]), np.array([1.0, -0.7, 0.4, 1.3, 0.2, -0.5])


def along(f, p, h, loose=False):
    """The derivative along V, by central differences, of fourth order unless it is `loose`."""
    if loose:
        return (f(p + V * h) - f(p - V * h)) / (2 * h)
    return (8 * (f(p + V * h) - f(p - V * h)) - (f(p + 2 * V * h) - f(p - 2 * V * h))) / (12 * h)


def bowl(x, p):
    return ((x[0] - p[0]) ** 2 + 2 * (x[1] - p[1]) ** 2 + 0.3 * x[0] * x[1] + 0.1 * x[0] ** 4) + x[0] * p[0] * p[1]


def both(name, f):
    """A case that is written once: `f(optimize, p, lib)` with SciPy's module and NumPy, and with ours and tensors."""
    return name, lambda p: f(ours, p, gs), lambda p: f(theirs, p, np)


def minimized(method, tol=1e-12, box=None, **more):
    def f(o, p, lib):
        known = o is ours or method not in (
            "Newton-CG",
            "dogleg",
            "trust-ncg",
            "trust-exact",
            "trust-krylov",
        )  # without a gradient
        given = {**more, "bounds": theirs.Bounds(*box)} if box else more
        return o.minimize(lambda x: bowl(x, p), [1.0, 0.1], method=method if known else "BFGS", tol=tol, **given).x

    return both(f"minimize {method} {list(more)}{' in a box' if box else ''}", f)


def with_constraints(method, make, tol=1e-12):
    def f(o, p, lib):
        return o.minimize(lambda x: bowl(x, p), [0.2, 0.1], method=method, tol=tol, constraints=make(p, lib)).x

    return both(f"minimize {method} {make.__name__}", f)


def on_a_line(p, lib):
    return {"type": "eq", "fun": lambda x: x[0] + 2 * x[1] - p[0]}


def outside_of_a_disc(p, lib):
    return [{"type": "ineq", "fun": lambda x, r: x[0] ** 2 + x[1] ** 2 - r - p[1] ** 2, "args": (0.5,)}]


def between(p, lib):
    return [theirs.NonlinearConstraint(lambda x: lib.stack([x[0] * p[0] - x[1], x[0] + 5]), [0.5, -np.inf], [np.inf, 9.0])]


def linear_ones(p, lib):
    return [theirs.LinearConstraint([[1.0, 1.0], [1.0, -1.0]], [0.3, -np.inf], [0.3, 8.0])]


def slack_ones(p, lib):
    return [{"type": "ineq", "fun": lambda x: 9 + x[0] + p[0]}, on_a_line(p, lib)]


def scalars(name, *args, attribute=None, **more):
    def f(o, p, lib):
        found = getattr(o, name)(lambda x: lib.exp(x * p[0]) + x * p[1] - 3, *args, **more)
        return getattr(found, attribute) if attribute else found

    return both(f"{name} {list(more.values())}", f)


def curve(o, p, lib, **more):
    y = np.exp(-0.7 * T) + 0.05 * np.sin(9 * T)
    fit = o.curve_fit(lambda t, a, b: a * lib.exp(-b * t) + p[0] * t, T, y + p[1] * T**2, [1.0, 1.0], **TIGHT, **more)
    return lib.concatenate([fit[0], lib.sqrt(lib.diagonal(fit[1])) * 10])


def weighted(o, p, lib):
    sigma = 1 + p[0] * T
    return o.curve_fit(lambda t, a, b: a + b * t, T, np.sin(T), sigma=sigma)[0]


def correlated(o, p, lib):
    covariance = np.exp(-abs(T[:, None] - T)) * p[0] ** 2 + np.eye(9) * p[1]
    return o.curve_fit(lambda t, a, b: a + b * t * t, T, np.sin(T), sigma=covariance, absolute_sigma=True)[1].reshape(-1)


def residuals(p, lib):
    return lambda x: lib.exp(-x[0] * T) * x[1] + x[2] - p[0] * np.exp(-2 * T) - p[1] * np.sin(3 * T) / 9


def squares(method, loss="linear", **more):
    def f(o, p, lib):
        return o.least_squares(residuals(p, lib), [1.0, 0.5, 0.2], method=method, loss=loss, f_scale=0.2, **TIGHT, **more).x

    return both(f"least_squares {method} {loss} {list(more)}", f)


def program(**more):
    def f(o, p, lib):
        A_ub = lib.stack([lib.stack([p[0], 1.0 + 0 * p[0], 0 * p[0]]), lib.stack([0 * p[0], p[1], 1 + p[0] ** 2])])
        found = o.linprog([-1.0, -2.0, -0.5], A_ub, lib.stack([p[0] + 3, p[1] + 4]), **more)
        return lib.concatenate([found.x, lib.reshape(lib.asarray(found.fun), (1,))])

    return both(f"linprog {list(more)}", f)


def system(o, p, lib, **more):
    return o.root(
        lambda x, p: lib.stack([x[0] ** 2 + x[1] * p[0] - 2, lib.exp(x[1]) - x[0] * p[1]]), [1.0, 0.5], args=(p,), **more
    ).x


CASES = [
    *(minimized(m) for m in (None, "CG", "Newton-CG", "L-BFGS-B", "TNC", "SLSQP", "dogleg", "trust-ncg", "trust-exact",
                                "trust-krylov")),
    minimized("Nelder-Mead", 1e-10), minimized("Powell", 1e-12),
    minimized("COBYQA", 1e-7),
    *(minimized(m, bounds=[(0.9, 2.0), (None, None)]) for m in ("L-BFGS-B", "TNC", "SLSQP")),
    minimized("trust-constr", 1e-11, bounds=[(0.9, 2.0), (None, None)]),
    minimized("L-BFGS-B", box=([-1, -1], [5, 0.4])),
    *(with_constraints("SLSQP", c) for c in (on_a_line, outside_of_a_disc, between, linear_ones, slack_ones)),
    *(with_constraints("trust-constr", c, 1e-10) for c in (on_a_line, between)),
    *(scalars(m, 0.0, 3.0) for m in ("brentq", "brenth", "ridder", "bisect", "toms748")),
    *(scalars("root_scalar", bracket=(0, 3), method=m, attribute="root") for m in (None, "brentq", "bisect", "ridder", "toms748")),
    scalars("root_scalar", x0=1.0, x1=1.2, attribute="root", method="secant"), scalars("newton", 1.0, tol=1e-13),
    scalars("newton", 1.0, x1=1.1, tol=1e-13), scalars("newton", np.array([1.0, 1.5]), tol=1e-13),
    both("fsolve", lambda o, p, lib: o.fsolve(lambda x: lib.stack([x[0] * p[0] - x[1], lib.exp(x[0]) + x[1] - 3 * p[1]]), [0.5, 0.5],
                                              xtol=1e-14)),
    both("fixed_point", lambda o, p, lib: o.fixed_point(lambda x: lib.cos(x * p[0]) + p[1], [0.5, 0.6], xtol=1e-14)),
    both("fixed_point iteration", lambda o, p, lib: o.fixed_point(lambda x: 0.3 * lib.cos(x * p[0]) + p[1], 0.5, method="iteration",
                                                                  xtol=1e-14)),
    *(both(f"root {m}", lambda o, p, lib, m=m: system(o, p, lib, method=m, tol=1e-13)) for m in (
        "hybr", "lm", "broyden1", "krylov", "df-sane")),
    *(both(f"minimize_scalar {m}", lambda o, p, lib, m=m, b=b: o.minimize_scalar(
        lambda x: lib.cosh(x - p[0]) + x * x * p[1], bounds=b, method=m, tol=1e-13).x) for m, b in (
        ("brent", None), ("golden", None), ("bounded", (-3.0, 3.0)))),
    squares("trf"), squares("dogbox"), squares("lm"), squares("trf", bounds=([-1, 0.3, -9], [9, 0.6, 9])),
    *(squares("trf", loss) for loss in ("soft_l1", "huber", "cauchy", "arctan")),
    both("curve_fit", curve), both("curve_fit absolute", lambda o, p, lib: curve(o, p, lib, sigma=1 + T, absolute_sigma=True)),
    both("curve_fit bounds", lambda o, p, lib: curve(o, p, lib, bounds=([0, 0], [3, 3]))),
    both("curve_fit start", lambda o, p, lib: o.curve_fit(lambda t, a, b: a * lib.exp(-b * t), T, 2 * np.exp(-T) + p[0] * 0.1 * T, bounds=(
        [0, -np.inf], [np.inf, 4]), ftol=1e-14, xtol=1e-14)[0]),
    both("curve_fit sigma", weighted), both("curve_fit covariance", correlated),
    both("nnls", lambda o, p, lib: lib.stack([*o.nnls(A * p[0], B + p[1] * A[:, 1])[0], o.nnls(A + p[0], B + p[1])[1]])),
    both("lsq_linear", lambda o, p, lib: o.lsq_linear(A + p[0] * A**2, B * p[1]).x),
    both("lsq_linear bounds", lambda o, p, lib: o.lsq_linear(A + p[0] * A**2, B * p[1], (-0.1, 0.1), method="bvls").x),
    program(), program(method="highs-ds"), program(bounds=[(0, 1.5), (0.5, None), (None, None)]),
    both("linprog equal", lambda o, p, lib: o.linprog([1.0, 2.0, 3.0], None, None, lib.stack([lib.stack([p[0], p[1], 1 + 0 * p[0]])]),
                                                      lib.reshape(p[0] * p[1], (1,))).x),
    *(both(name, lambda o, p, lib, name=name, more=more: getattr(o, name)(lambda x: bowl(x, p), [(-3, 3), (-2, 2)], **more).x) for
      name, more in (("differential_evolution", {"rng": 1, "tol": 1e-9, "popsize": 4}), ("shgo", {}),
                     ("dual_annealing", {"rng": 1, "maxiter": 2}))),
    both("basinhopping", lambda o, p, lib: o.basinhopping(lambda x: bowl(x, p), [0.2, 0.1], niter=2, rng=1).x),
]  # fmt: skip
LOOSE = (
    "trust-constr",
    "Powell",
    "shgo",
    "dual",
    "basin",
    "diff",
    "COBY",
    "COBYQA",
    "Nelder",
    "minimize_scalar",
    "None",
    "CG",
    "TNC",
    "BFGS",
)
P = np.array([0.8, 0.6])


@pytest.mark.slow
def test_values_are_scipys_and_gradients_those_of_differences():
    wrong = []
    for name, f, plain in CASES:
        loose = any(word in name for word in LOOSE)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value, by_forward = gs.jvp(f, (P,), (V,))
                np.testing.assert_allclose(value, plain(P), rtol=1e-5 if loose else 1e-6, atol=1e-5 if loose else 1e-7)
                weights = np.resize(W, value.shape)
                by_reverse = gs.grad(lambda p, f=f, weights=weights: (f(p) * weights).sum())(P)
                expected = along(lambda p, f=f: np.asarray(f(gs.asarray(p))), P, 1e-2 if loose else 3e-3, loose)
            np.testing.assert_allclose((by_reverse * V).sum(), (by_forward * weights).sum(), rtol=1e-7)
            np.testing.assert_allclose(by_forward, expected, rtol=1e-3 if loose else 1e-5, atol=1e-3 if loose else 1e-6)
        except Exception as error:  # all of them are shown
            wrong.append(f"{name}: {type(error).__name__}: {str(error)[:700]}")
    assert not wrong, "\n".join(wrong)
    assert len(CASES) >= 60


def test_second_derivatives_are_those_of_differences_of_first_ones():
    chosen = dict((name, f) for name, f, _ in CASES)
    names = ("minimize SLSQP outside_of_a_disc", "minimize SLSQP between", "least_squares trf huber []", "curve_fit",
             "curve_fit covariance", "linprog []", "root hybr", "brentq []", "nnls")  # fmt: skip
    for name in names:
        f = chosen[name]
        slope = lambda p, f=f: (f(p) * np.resize(W, f(p).shape)).sum()  # noqa: E731
        second = gs.jvp(gs.grad(slope), (P,), (V,))[1]
        expected = along(lambda p, slope=slope: gs.grad(slope)(p).numpy(), P, 2e-3)
        np.testing.assert_allclose(second, expected, rtol=2e-4, atol=2e-5, err_msg=name)
        np.testing.assert_allclose(
            gs.grad(lambda p, slope=slope: (gs.grad(slope)(p) * V).sum())(P), second, rtol=1e-8, atol=1e-10
        )


def test_all_that_a_fit_depends_on_gets_a_gradient_in_one_pass():
    t, y, scale = (gs.tensor(value, requires_grad=True) for value in (T, np.exp(-T), 1.0))
    popt, pcov = ours.curve_fit(lambda t, a, b: scale * a * gs.exp(-b * t), t, y + 0.1 * gs.sin(9 * t), [1.0, 1.0])
    (popt.sum() + pcov.sum()).backward()
    assert all(np.abs(x.grad.numpy()).max() > 1e-3 for x in (t, y, scale))
    np.testing.assert_allclose(scale.grad.item(), -popt[0].item() - 2 * pcov[0, 0].item() - 2 * pcov[0, 1].item(), rtol=1e-5)


def test_rows_of_a_vmap():
    a = np.array([[0.3, 0.2], [0.5, 0.9], [0.7, 0.1]])
    minimum = lambda a: ours.minimize(lambda x: bowl(x, a), [0.1, 0.1], bounds=[(0.4, 2), (-1, 1)], tol=1e-12).x  # noqa: E731
    root = lambda a: ours.brentq(lambda x: gs.exp(x) - 1 - a[0], -1, 2)  # noqa: E731
    for f in (minimum, root):
        for g in (f, gs.jacrev(f), gs.jacfwd(f)):
            np.testing.assert_allclose(gs.vmap(g)(a), np.stack([g(row).numpy() for row in gs.asarray(a)]), rtol=1e-7, atol=1e-9)


def test_dictionaries_of_parameters():
    def solutions(p):
        loss = lambda q: (q["w"] ** 2).sum() + (q["b"][0] - p[0] * q["w"].sum()) ** 2 + (q["b"][0] - p[1]) ** 2  # noqa: E731
        x0 = {"w": np.ones((2, 1)), "b": [1.0]}
        most = {"type": "ineq", "fun": lambda q: p[0] / 9 - q["w"].sum()}
        yield ours.minimize(loss, x0, tol=1e-12).x
        yield ours.minimize(loss, x0, tol=1e-12, constraints=most).x
        parts = lambda q: gs.concat([q["w"][:, 0], q["b"][0][None] - p[0] * q["w"].sum(), q["b"][0][None] - p[1]])  # noqa: E731
        yield ours.least_squares(parts, x0, **TIGHT).x

    joined = lambda x: gs.concat([x["w"][:, 0], gs.stack(x["b"])])  # noqa: E731
    for i in range(3):
        f = lambda p, i=i: joined(list(solutions(p))[i])  # noqa: E731
        np.testing.assert_allclose(gs.jvp(f, (P,), (V,))[1], along(lambda p, f=f: f(p).numpy(), P, 1e-2), rtol=1e-5, atol=1e-6)


def test_results_are_scipys():
    found = ours.minimize(lambda x: (x**2).sum(), [1.0, 2.0])
    plain = theirs.minimize(lambda x: (x**2).sum(), [1.0, 2.0], jac=lambda x: 2 * x)
    assert type(found) is theirs.OptimizeResult and found.keys() == plain.keys()
    assert found.nit == plain.nit and found.nfev == plain.nfev and isinstance(found.x, gs.Tensor)
    x, result = ours.brentq(lambda x: x - 1, 0, 3, full_output=True)
    assert result.converged and result.root is x and x.item() == 1.0
    rows, columns = ours.linear_sum_assignment(gs.tensor([[4.0, 1.0], [2.0, 3.0]], requires_grad=True))
    assert rows.tolist() == [0, 1] and columns.tolist() == [1, 0]


def test_what_did_not_converge_has_no_derivative():
    f = lambda a: ours.minimize(lambda x: ((x - a) ** 4).sum() + x.sum(), [9.0, 2.0], options={"maxiter": 2}).x.sum()  # noqa: E731
    with pytest.warns(RuntimeWarning, match="minimize: did not converge .*derivatives are NaN") as warned:
        assert np.isnan(gs.grad(f)(1.0).item())
    assert [warning.filename for warning in warned if "minimize" in str(warning.message)] == [__file__]
    flat = lambda a: ours.minimize(lambda x: (x[0] - a) ** 2, [9.0, 2.0]).x[1]  # noqa: E731
    assert np.isnan(gs.grad(flat)(1.0).item())  # the second unknown may be anything
    with pytest.warns(RuntimeWarning, match="linprog"):
        assert np.isnan(gs.grad(lambda b: ours.linprog([-1.0], [[-1.0]], b[None]).fun)(1.0).item())


def test_where_more_is_active_than_holds_the_solution_the_derivative_is_that_of_one_side():
    A = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    corner = lambda b: ours.linprog([-1.0, -1.0], A, b).x  # noqa: E731
    jacobian = gs.jacobian(corner)(np.array([1.0, 1.0, 2.0])).numpy()
    sides = [[[1, 0, 0], [0, 1, 0]], [[0, -1, 1], [0, 1, 0]], [[1, 0, 0], [-1, 0, 1]]]
    assert np.isnan(jacobian).any() or any(np.allclose(jacobian, side) for side in sides)
    at_zero = gs.jacobian(lambda b: ours.nnls(np.eye(2), b)[0])(np.array([0.0, 1.0])).numpy()
    assert np.array_equal(at_zero, np.eye(2)) or np.array_equal(at_zero, [[0, 0], [0, 1]])
    bound = gs.grad(lambda a: ours.minimize(lambda x: (x[0] - a) ** 2, [1.0], bounds=[(0, 2)], tol=1e-12).x[0])(-1.0)
    assert bound.item() == 0.0


def test_progress(monkeypatch):
    bars = []

    class Bar:
        def __init__(self, desc, unit):
            self.desc, self.count = desc, 0
            bars.append(self)

        def update(self):
            self.count += 1

        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda *error: None  # noqa: E731

    monkeypatch.setitem(sys.modules, "tqdm", ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", ModuleType("tqdm.auto"))
    sys.modules["tqdm.auto"].tqdm = Bar
    found = ours.minimize(lambda x: (x**2).sum(), [1.0], progress=True)
    ours.least_squares(lambda x: x, [1.0], progress=True)
    assert [bar.desc for bar in bars] == ["minimize", "least_squares"] and bars[0].count == found.nfev and bars[1].count > 0
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="minimize: progress=True .* pip install tqdm"):
        ours.minimize(lambda x: (x**2).sum(), [1.0], progress=True)


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: ours.minimize(lambda x: x.sum().item(), [1.0]), TypeError, "must return a Tensor, got float"),
    (lambda: ours.minimize(lambda x: x, [1.0, 2.0]), ValueError, "a single number, and it returned 2"),
    (lambda: ours.minimize(lambda x: x.sum(), [1.0], constraints={"type": "no"}), ValueError, "'eq' or 'ineq'"),
    (lambda: ours.minimize(lambda x: x.sum(), [1.0], constraints=[3]), TypeError, "a constraint is a dictionary"),
    (lambda: ours.least_squares(lambda x: x, [1.0], loss=abs), NotImplementedError, "a loss of your own"),
    (lambda: ours.linprog([1.0], method="simplex"), NotImplementedError, "highs"),
    (lambda: ours.root_scalar(lambda x: x), ValueError, "give a bracket"),
    (lambda: ours.brentq(lambda x: x + 5, 0, 1), ValueError, "must have different signs"),
    (lambda: ours.curve_fit(lambda x, *p: x, T, T), ValueError, "give p0"),
    (lambda: ours.shgo(lambda x: x.sum(), [(0, 1)], constraints=[1]), NotImplementedError, "constraints is not there"),
])  # fmt: skip
def test_what_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
