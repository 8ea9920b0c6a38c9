"""scipy.interpolate with derivatives: values are SciPy's, derivatives those of differences, by values, knots and places."""

import warnings

import numpy as np
import pytest

import gradspec as gs
from tests.later import later

theirs = later("scipy.interpolate", "SciPy is not installed")
sparse_linalg = later("scipy.sparse.linalg")
ours = gs.scipy.interpolate
rng = np.random.default_rng(3)
X = np.array([0.0, 0.7, 1.1, 2.0, 2.6, 3.5, 4.1])
Y = np.array([0.2, 1.0, 0.7, 0.9, 2.0, 2.5, 2.4])
AT = np.array([-0.3, 0.1, 0.75, 1.6, 2.35, 3.9, 4.6])
IN = np.array([0.05, 0.75, 1.6, 2.35, 3.9])
POINTS = rng.uniform(-1, 1, (9, 2))
PLACES = np.array([[0.1, 0.2], [-0.3, 0.1], [0.2, -0.4]])
GRID = (np.array([0.0, 0.5, 1.1, 2.0, 2.3, 3.0]), np.array([0.0, 1.0, 1.7, 2.0, 3.1, 4.0]))
TABLE = rng.normal(size=(6, 6, 2))
CELLS = np.array([[0.3, 0.2], [1.7, 3.5], [2.9, 1.8]])
D = np.array([0.3, -0.7, 1.1, 0.4, -0.2, 0.9, 0.5])


def direction(array):
    """A way to go, the same for equal knots."""
    if array.ndim == 1 and (np.diff(array) >= 0).all():
        return np.resize(D, array.size)[np.unique(array, return_inverse=True)[1]] * 0.5
    return np.resize(D, array.shape) * 0.5


def grid(o, points, values, method, **how):
    """SciPy's default solver stops at an error of 1e-6."""
    if o is theirs and method in ("cubic", "quintic"):
        how["solver"] = sparse_linalg.spsolve
    return o.RegularGridInterpolator(points, values, method, **how)


def line(name, make, args, at, **call):
    """An interpolator of `args`, at places: a case of a function of all of them."""

    def f(o, *values):
        return make(o, *values[:-1])(values[-1], **call)

    return name, f, (*args, at)


def kinds():
    two = np.stack([Y, Y[::-1] + np.sin(X)], 1)
    for bc in ("not-a-knot", "natural", "clamped", ((1, 0.5), (2, -0.3)), ((2, 0.1), "not-a-knot")):
        yield line(f"CubicSpline {bc}", lambda o, x, y, bc=bc: o.CubicSpline(x, y, bc_type=bc), (X, Y), AT)
    yield line("CubicSpline columns", lambda o, x, y: o.CubicSpline(x, y), (X, two), AT)
    yield line("CubicSpline axis", lambda o, x, y: o.CubicSpline(x, y, axis=1), (X, two.T.copy()), AT)
    yield line("CubicSpline places", lambda o, x, y: o.CubicSpline(x, y), (X, two), AT[:6].reshape(2, 3))
    for n in (2, 3, 4):
        yield line(f"CubicSpline {n}", lambda o, x, y: o.CubicSpline(x, y), (X[:n], Y[:n]), IN[:2])
    yield line("CubicSpline values at the ends", lambda o, x, y, a, b: o.CubicSpline(x, y, bc_type=((1, a), (2, b))),
               (X, Y, np.array(0.4), np.array(-0.2)), AT)  # fmt: skip
    for nu in (1, 2, 3, 4):
        yield line(f"CubicSpline nu {nu}", lambda o, x, y: o.CubicSpline(x, y), (X, Y), AT, nu=nu)
        yield line(f"CubicSpline derivative {nu}", lambda o, x, y, nu=nu: o.CubicSpline(x, y).derivative(nu), (X, Y), AT)
    for nu in (1, 2):
        yield line(f"CubicSpline antiderivative {nu}", lambda o, x, y, nu=nu: o.CubicSpline(x, y).antiderivative(nu), (X, Y), AT)
    yield line("CubicSpline inside", lambda o, x, y: o.CubicSpline(x, y, extrapolate=False), (X, Y), IN)
    for kind in ("PchipInterpolator", "Akima1DInterpolator"):
        yield line(kind, lambda o, x, y, kind=kind: getattr(o, kind)(x, y), (X, Y), IN)
        yield line(f"{kind} columns", lambda o, x, y, kind=kind: getattr(o, kind)(x, y), (X, two), IN)
        yield line(f"{kind} derivative", lambda o, x, y, kind=kind: getattr(o, kind)(x, y).derivative(), (X, Y), IN)
        yield line(f"{kind} two", lambda o, x, y, kind=kind: getattr(o, kind)(x, y), (X[:2], Y[:2]), IN[:1])
        yield line(f"{kind} outside", lambda o, x, y, kind=kind: getattr(o, kind)(x, y, extrapolate=True), (X, Y), AT)
    yield line("makima", lambda o, x, y: o.Akima1DInterpolator(x, y, method="makima"), (X, Y), IN)
    yield line("Pchip turns", lambda o, x, y: o.PchipInterpolator(x, y), (X, Y[::-1] * np.cos(2 * X)), IN)
    yield line("CubicHermiteSpline", lambda o, x, y, s: o.CubicHermiteSpline(x, y, s), (X, Y, D), AT)
    yield line("PPoly", lambda o, c, x: o.PPoly(c, x), (rng.normal(size=(3, 6)), X), AT)
    yield line("PPoly columns", lambda o, c, x: o.PPoly(c, x, extrapolate=False), (rng.normal(size=(5, 6, 2)), X), IN, nu=1)
    yield line("PPoly periodic", lambda o, c, x: o.PPoly(c, x, extrapolate="periodic"), (rng.normal(size=(3, 6)), X), AT)
    yield line("PPoly antiderivative", lambda o, c, x: o.PPoly(c, x).antiderivative(2), (rng.normal(size=(2, 6)), X), AT)
    knots = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.8, 2.2, 3.0, 3.0, 3.0, 3.0])
    for k, t in ((3, knots), (2, knots[1:-1]), (1, knots[2:-2]), (0, knots[3:-3]), (3, np.arange(11.0) - 3)):
        yield line(f"BSpline {k}", lambda o, t, c, k=k: o.BSpline(t, c, k), (t, D), AT[1:5] * 0.7)
    yield line("BSpline outside", lambda o, t, c: o.BSpline(t, c, 3), (np.arange(11.0) - 3, np.stack([D, D**2], 1)), AT)
    yield line("BSpline periodic", lambda o, t, c: o.BSpline(t, c, 3, extrapolate="periodic"), (np.arange(11.0) - 3, D), AT)
    yield line("BSpline twice", lambda o, t, c: o.BSpline(t, c, 2), (np.array([0, 0, 0, 1.0, 1.0, 2.0, 3, 3, 3, 3.0]), D), IN[:4])
    for nu in (1, 2, 3, 4):
        yield line(f"BSpline nu {nu}", lambda o, t, c: o.BSpline(t, c, 3), (knots, D), AT[1:5] * 0.7, nu=nu)
    yield line("BSpline derivative", lambda o, t, c: o.BSpline(t, c, 3).derivative(2), (np.arange(11.0) - 3, D), AT)
    yield line("BSpline antiderivative", lambda o, t, c: o.BSpline(t, c, 3).antiderivative(2), (np.arange(11.0) - 3, D), AT)
    for k in (0, 1, 2, 3, 4, 5):
        yield line(f"make_interp_spline {k}", lambda o, x, y, k=k: o.make_interp_spline(x, y, k), (X, Y), IN)
    yield line("make_interp_spline knots", lambda o, x, y, t: o.make_interp_spline(x, y, 2, t),
               (X, two, np.array([-1.0, -1, -1, 0.9, 1.5, 2.3, 3.0, 5.1, 5.1, 5.1])), IN)  # fmt: skip
    for bc in ("natural", "clamped", ([(1, 0.3)], [(2, -0.1)]), ([(1, 0.3), (2, 0.2)], [(1, 0.1), (3, -0.1)])):
        k = 5 if len(bc[0]) == 2 else 3
        yield line(f"make_interp_spline {bc}", lambda o, x, y, bc=bc, k=k: o.make_interp_spline(x, y, k, bc_type=bc), (X, Y), AT)
    yield line("make_interp_spline natural columns", lambda o, x, y: o.make_interp_spline(x, y, bc_type="natural"), (X, two), AT)
    yield line("make_interp_spline axis", lambda o, x, y: o.make_interp_spline(x, y, axis=1), (X, two.T.copy()), AT)
    yield line("make_smoothing_spline", lambda o, x, y: o.make_smoothing_spline(x, y, lam=0.3), (X, Y), AT)
    yield line(
        "make_smoothing_spline weights", lambda o, x, y, w: o.make_smoothing_spline(x, y, w=w, lam=0.1), (X, Y, 1.5 + D), AT
    )
    for kind in ("linear", "nearest", "nearest-up", "previous", "next", "zero", "slinear", "quadratic", "cubic", 4):
        yield line(f"interp1d {kind}", lambda o, x, y, kind=kind: o.interp1d(x, y, kind), (X, two.T.copy()), IN)
    yield line("interp1d outside", lambda o, x, y: o.interp1d(x, y, fill_value="extrapolate"), (X, Y), AT)
    yield line("interp1d filled", lambda o, x, y: o.interp1d(x, y, bounds_error=False, fill_value=(-1.0, 2.0)), (X, Y), AT)
    yield line("interp1d unsorted", lambda o, x, y: o.interp1d(x, y), (X[::-1].copy(), Y), IN)
    for method in ("linear", "nearest", "slinear", "cubic", "quintic", "pchip"):
        yield line(f"RegularGridInterpolator {method}", lambda o, a, b, v, m=method: grid(o, (a, b), v, m),
                   (*GRID, TABLE), CELLS)  # fmt: skip
        yield line(f"RegularGridInterpolator outside {method}", lambda o, a, b, v, m=method: grid(
            o, (a, b), v, m, bounds_error=False, fill_value=None if m != "cubic" else 7.0), (*GRID, TABLE[..., 0]), CELLS * 1.1)  # fmt: skip
    yield line("RegularGridInterpolator nu", lambda o, a, b, v: grid(o, (a, b), v, "cubic"), (*GRID, TABLE), CELLS,
               nu=(1, 0))  # fmt: skip
    yield "interpn", lambda o, a, b, v, x: o.interpn((a, b), v, x), (*GRID, TABLE, CELLS)
    yield "griddata", lambda o, p, v, x: o.griddata(p, v, x), (POINTS, np.stack([D, D**2], 1).repeat(2, 0)[:9], PLACES)
    yield "griddata rescaled", lambda o, p, v, x: o.griddata(p, v, x, rescale=True), (POINTS * [1, 3], np.resize(D, 9), PLACES)
    yield "griddata line", lambda o, p, v, x: o.griddata(p, v, x), (X, Y, IN)
    yield "griddata nearest", lambda o, p, v, x: o.griddata(p, v, x, method="nearest"), (POINTS, np.resize(D, 9), PLACES)
    yield line("LinearNDInterpolator", lambda o, p, v: o.LinearNDInterpolator(p, v), (POINTS, np.resize(D, 9)), PLACES)
    for kernel in ("linear", "thin_plate_spline", "cubic", "quintic"):
        yield line(f"RBFInterpolator {kernel}", lambda o, y, d, k=kernel: o.RBFInterpolator(y, d, kernel=k), (POINTS, np.resize(D, 9)),
                   PLACES)  # fmt: skip
    for kernel in ("multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian"):
        yield line(f"RBFInterpolator {kernel}", lambda o, y, d, k=kernel: o.RBFInterpolator(y, d, kernel=k, epsilon=1.3, smoothing=0.1),
                   (POINTS, np.resize(D, (9, 2))), PLACES)  # fmt: skip
    yield line("RBFInterpolator degree", lambda o, y, d: o.RBFInterpolator(y, d, degree=2), (POINTS, np.resize(D, 9)), PLACES)
    for kind in ("CubicSpline", "PchipInterpolator"):
        yield (f"{kind} integrate", lambda o, x, y, a, b, kind=kind: getattr(o, kind)(x, y).integrate(a, b),
               (X, Y, np.array(0.3), np.array(3.7)))  # fmt: skip
    yield ("BSpline integrate", lambda o, t, c, a, b: o.BSpline(t, c, 3).integrate(a, b),
           (np.arange(11.0) - 3, D, np.array(0.3), np.array(3.7)))  # fmt: skip
    yield ("PPoly integrate periodic", lambda o, c, x, a, b: o.PPoly(c, x, extrapolate="periodic").integrate(a, b),
           (rng.normal(size=(3, 6)), X, np.array(1.3), np.array(11.9)))  # fmt: skip


CASES = list(kinds())


def test_values_are_scipys_and_derivatives_those_of_differences():
    wrong = []
    for name, f, args in CASES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ways = tuple(direction(arg) for arg in args)
                g = lambda *values, f=f: f(ours, *values)  # noqa: E731
                value, by_forward = gs.jvp(g, args, ways)
                expected_value = np.asarray(f(theirs, *args))
                np.testing.assert_allclose(value, expected_value, rtol=1e-9, atol=1e-11)
                along = lambda h, f=f, args=args, ways=ways: np.asarray(f(theirs, *[a + h * v for a, v in zip(args, ways)]))  # noqa: E731
                h = 1e-3
                expected = (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h)
                np.testing.assert_allclose(by_forward, expected, rtol=1e-7, atol=1e-8)
                weights = np.resize(D[::-1], value.shape)
                gradients = gs.grad(lambda *values: (g(*values) * weights).sum(), tuple(range(len(args))))(*args)
            total = sum((gradient.numpy() * way).sum() for gradient, way in zip(gradients, ways))
            np.testing.assert_allclose(total, (by_forward.numpy() * weights).sum(), rtol=1e-9, atol=1e-11)
        except Exception as error:  # all of them are shown
            wrong.append(f"{name}: {type(error).__name__}: {str(error)[:500]}")
    assert not wrong, "\n".join(wrong)
    assert len(CASES) >= 100


def test_second_derivatives_are_those_of_differences_of_first_ones():
    chosen = {name: (f, args) for name, f, args in CASES}
    for name in ("CubicSpline not-a-knot", "CubicSpline values at the ends", "PchipInterpolator", "Akima1DInterpolator", "BSpline 3",
                 "make_interp_spline 4", "make_smoothing_spline weights", "RegularGridInterpolator cubic", "griddata",
                 "RBFInterpolator gaussian", "RBFInterpolator thin_plate_spline"):  # fmt: skip
        f, args = chosen[name]
        slope = lambda *values, f=f: (f(ours, *values) ** 2).sum()  # noqa: E731
        numbers = tuple(range(len(args)))
        ways = tuple(direction(arg) for arg in args)
        second = gs.jvp(gs.grad(slope, numbers), args, ways)[1]
        h = 1e-4
        up, down = (gs.grad(slope, numbers)(*[a + sign * h * v for a, v in zip(args, ways)]) for sign in (1, -1))
        for found, more, less in zip(second, up, down):
            np.testing.assert_allclose(found, (more.numpy() - less.numpy()) / (2 * h), rtol=2e-5, atol=2e-5, err_msg=name)


def test_periodic_splines():
    y = np.append(Y[:-1], Y[0])
    f = lambda o, x, y, at: o.CubicSpline(x, y, bc_type="periodic")(at)  # noqa: E731
    np.testing.assert_allclose(f(ours, X, y, AT), f(theirs, X, y, AT), rtol=1e-12)
    h = 1e-5
    for i in (0, 2):  # the first and the last value are one
        e = np.zeros(7)
        e[i] = 1.0
        e[-1] = e[0]
        expected = (f(theirs, X, y + h * e, AT) - f(theirs, X, y - h * e, AT)) / (2 * h)
        np.testing.assert_allclose(gs.jvp(lambda y: f(ours, X, y, AT), (y,), (e,))[1], expected, rtol=1e-7, atol=1e-9)


def test_smoothing_without_a_weight_is_that_of_cross_validation():
    x = np.linspace(0, 3, 25)
    y = np.sin(2 * x) + 0.2 * np.cos(19 * x)
    fit = lambda o, y: o.make_smoothing_spline(x, y)(IN)  # noqa: E731
    np.testing.assert_allclose(fit(ours, y), fit(theirs, y), rtol=1e-4)
    v, h = np.cos(5 * x), 1e-2
    expected = (fit(ours, gs.asarray(y + h * v)).numpy() - fit(ours, gs.asarray(y - h * v)).numpy()) / (2 * h)
    np.testing.assert_allclose(gs.jvp(lambda y: fit(ours, y), (y,), (v,))[1], expected, rtol=2e-2, atol=1e-3)


def test_rows_of_a_vmap_have_values_knots_and_places_of_their_own():
    x, y, at = np.stack([X, X * 1.1 + 0.1 * np.sin(X)]), np.stack([Y, Y[::-1]]), np.stack([IN, IN + 0.1])
    for make in (ours.CubicSpline, ours.PchipInterpolator, ours.Akima1DInterpolator, ours.make_interp_spline, ours.interp1d):
        f = lambda x, y, at, make=make: make(x, y)(at)  # noqa: E731
        rows = np.stack([f(*row).numpy() for row in zip(x, y, at)])
        np.testing.assert_allclose(gs.vmap(f)(x, y, at), rows, rtol=1e-11)
        g = gs.grad(lambda x, y, at, f=f: (f(x, y, at) ** 2).sum(), (0, 1, 2))
        for found, wanted in zip(gs.vmap(g)(x, y, at), zip(*[g(*row) for row in zip(x, y, at)])):
            np.testing.assert_allclose(found, np.stack([row.numpy() for row in wanted]), rtol=1e-9, atol=1e-11)


def test_places_where_a_spline_has_a_value():
    for make in ("CubicSpline", "PchipInterpolator"):
        f = lambda o, x, y, level, make=make: getattr(o, make)(x, y).solve(level, extrapolate=False)  # noqa: E731
        args = (X, Y, np.array(0.85))
        ways = tuple(direction(arg) for arg in args)
        value, moved = gs.jvp(lambda *args, f=f: f(ours, *args), args, ways)
        np.testing.assert_allclose(value, f(theirs, *args), rtol=1e-12)
        h = 1e-4
        ends = [f(theirs, *[a + sign * h * v for a, v in zip(args, ways)]) for sign in (1, -1)]
        np.testing.assert_allclose(moved, (ends[0] - ends[1]) / (2 * h), rtol=1e-6)
    c = np.array([[1.0, -1.0, 2.0], [-0.5, 0.5, 0.25]])
    steps = lambda o, x: o.PPoly(c, x).roots()  # noqa: E731
    np.testing.assert_allclose(steps(ours, X[:4]), steps(theirs, X[:4]), rtol=1e-12)
    h, v = 1e-5, np.array([1.0, 2.0, -0.5, 0.3])
    expected = (steps(theirs, X[:4] + h * v) - steps(theirs, X[:4] - h * v)) / (2 * h)
    np.testing.assert_allclose(gs.jvp(lambda x: steps(ours, x), (X[:4],), (v,))[1], expected, rtol=1e-6)


def test_what_is_outside_is_nan_or_refused():
    for o in (ours, theirs):
        assert np.isnan(np.asarray(o.Akima1DInterpolator(X, Y)(AT)))[[0, -1]].all()
        assert np.isnan(np.asarray(o.BSpline(np.arange(11.0) - 3, D, 3, extrapolate=False)(AT)))[[0, -1]].all()
        assert np.isnan(np.asarray(o.griddata(POINTS, np.resize(D, 9), [[5.0, 5.0]]))).all()
    assert gs.grad(lambda x: ours.CubicSpline(X, Y, extrapolate=False)(x))(9.0).item() == 0.0


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: ours.CubicSpline([0, 2, 1], [1, 2, 3]), ValueError, "strictly increasing"),
    (lambda: ours.CubicSpline(X, Y[:3]), ValueError, "as many elements as x"),
    (lambda: ours.CubicSpline(X, Y, bc_type="free"), ValueError, "got 'free'"),
    (lambda: ours.CubicSpline(X, Y, bc_type=("periodic", "natural")), ValueError, "both ends"),
    (lambda: ours.CubicSpline(X, Y, bc_type=((3, 0.0), "natural")), ValueError, "must be 1 or 2"),
    (lambda: ours.CubicHermiteSpline(X, Y, D[:3]), ValueError, "one shape"),
    (lambda: ours.Akima1DInterpolator(X, Y, method="x"), NotImplementedError, "makima"),
    (lambda: ours.PPoly(np.ones((3, 2)), X), ValueError, "breakpoints"),
    (lambda: ours.BSpline([1, 0, 2, 3], [1, 2], 1), ValueError, "non-decreasing"),
    (lambda: ours.BSpline([0, 1], [1.0], 1), ValueError, "at least 4 knots"),
    (lambda: ours.BSpline(X, D[:2], 2), ValueError, "inconsistent"),
    (lambda: ours.make_interp_spline(X, Y, bc_type="periodic"), NotImplementedError, "CubicSpline has it"),
    (lambda: ours.make_interp_spline(X, Y, 3, np.arange(9.0)), ValueError, "5 coefficients for 7 values"),
    (lambda: ours.make_interp_spline(X, Y * np.nan), ValueError, "infs or NaNs"),
    (lambda: ours.make_smoothing_spline(X[:4], Y[:4]), ValueError, "at least 5"),
    (lambda: ours.interp1d(X, Y)(9.0), ValueError, "outside the interpolation range"),
    (lambda: ours.interp1d(X, Y, "krogh"), NotImplementedError, "kind must be one of"),
    (lambda: ours.RegularGridInterpolator(GRID, TABLE)([[9.0, 0.0]]), ValueError, "out of bounds"),
    (lambda: ours.RegularGridInterpolator(GRID, TABLE, "splinef2d"), NotImplementedError, "got 'splinef2d'"),
    (lambda: ours.RegularGridInterpolator(GRID, TABLE, "pchip")([[1.0, 1.0]], nu=(1, 0)), ValueError, "only splines have derivatives"),
    (lambda: ours.RegularGridInterpolator(GRID, TABLE)([1.0, 2.0, 3.0]), ValueError, "2 coordinates"),
    (lambda: ours.griddata(POINTS, np.ones(9), PLACES, "cubic"), NotImplementedError, "got 'cubic'; .*take RBFInterpolator"),
    (lambda: ours.RBFInterpolator(POINTS, np.ones(9), neighbors=3), NotImplementedError, "all points count"),
    (lambda: ours.RBFInterpolator(POINTS, np.ones(9), kernel="gaussian"), ValueError, "epsilon must be specified"),
    (lambda: gs.vmap(lambda p: ours.griddata(p, np.ones(9), PLACES))(POINTS[None]), NotImplementedError, "neighbours of their own"),
])  # fmt: skip
def test_what_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
