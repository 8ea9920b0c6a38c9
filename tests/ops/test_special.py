"""Special functions agree with SciPy's under the same names, in values, signatures and where derivatives are hard."""

import functools

import mpmath
import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from gradspec.array_api import special as by_standard
from gradspec.generated.numpy_table import SPECIAL
from gradspec.generated.op_info import OPS
from tests.asked import each

special = pytest.importorskip("scipy.special")
mp = pytest.importorskip("mpmath")

# Arguments where the default ones, numbers between 0.1 and 0.9, do not do.
ARGUMENTS = {
    "iv": (0.5,), "ive": (0.5,), "jv": (0.5,), "jn": (2,), "kv": (0.5,), "kve": (0.5,), "yn": (2,), "yv": (0.5,), "polygamma": (2,), "zeta": (2.5,),
    "spherical_jn": (2,), "spherical_yn": (2,), "expn": (2,), "kn": (2,),
}  # fmt: skip
X = np.linspace(0.1, 0.9, 9)


def arrays_of(name):
    """How many arrays the operator of that name in gradspec.special takes."""
    (op,) = [op for op in OPS if op.name == SPECIAL[name]]
    return len([1 for _, kind, default, _ in op.arguments if kind.startswith("Array") and default is None])


SHARED = sorted(set(gs.special.__all__) & set(dir(special)) - {"multigammaln"})
DOORS = {
    "gradspec": lambda name: getattr(gs.special, name),
    "SciPy's function": lambda name: getattr(special, name),  # which asks the tensors
    "array API": lambda name: getattr(by_standard, name),
}


@pytest.mark.parametrize("name", SHARED)
@each("door", DOORS)
@each("dtype", [np.float32, np.float64])
def test_values(name, door, dtype):
    """By whichever door: a name that another library has for something else (kl_div) means here what it means in SciPy."""
    if door == "SciPy's function" and not isinstance(getattr(special, name), np.ufunc):
        return  # it asks nobody
    arrays = [gs.tensor(np.roll(X, shift).astype(dtype), requires_grad=True) for shift in range(arrays_of(name))]
    arguments = (*ARGUMENTS.get(name, ()), *arrays)
    result = DOORS[door](name)(*arguments)
    found = result.detach().numpy()
    assert result.requires_grad or not gs.special.__dict__[name](*arguments).requires_grad
    assert found.dtype == dtype
    # Of single precision SciPy's betainc and stdtr are off by 1e-5.
    plain = [a.detach().numpy().astype(float) if isinstance(a, gs.Tensor) else a for a in arguments]
    expected = getattr(special, name)(*plain).astype(dtype)
    np.testing.assert_allclose(found, expected, rtol=20 * np.finfo(dtype).eps, atol=np.finfo(dtype).eps)


def test_a_logarithm_of_small_probabilities_keeps_its_slope():
    x = gs.tensor([-30.0, -300.0, 0.0, 30.0], requires_grad=True)
    gs.special.log_ndtr(x).sum().backward()
    expected = [30.033259667433677, 300.00333325926337, np.sqrt(2 / np.pi), 1.4736461348785476e-196]
    # Where the argument is rounded, exp(-x * x / 2) moves by x * x as much.
    conditioned = 4e-16 * np.array([8, 8, 8, 900.0])
    assert (np.abs(x.grad.numpy() - expected) <= conditioned * expected).all()


def differences(function, a, step=1e-4):
    return (8 * (function(a + step) - function(a - step)) - function(a + 2 * step) + function(a - 2 * step)) / (12 * step)


@each("x", [1e-3, 0.4, 3.0, 30.0])
@each("a", [0.4, 2.0, 30.0, 200.0])
def test_the_parameter_of_the_incomplete_gamma_function(a, x):
    order = gs.tensor(a, requires_grad=True)
    gs.special.gammainc(order, x).backward()
    np.testing.assert_allclose(order.grad.item(), differences(lambda t: special.gammainc(t, x), a), rtol=1e-6, atol=1e-11)


@each("x", [1e-3, 0.3, 0.5, 0.8, 0.999])
@each("b", [0.4, 3.0, 40.0])
@each("a", [0.4, 3.0, 40.0])
def test_the_parameters_of_the_incomplete_beta_function(a, b, x):
    one, other = gs.tensor(a, requires_grad=True), gs.tensor(b, requires_grad=True)
    gs.special.betainc(one, other, x).backward()
    np.testing.assert_allclose(one.grad.item(), differences(lambda t: special.betainc(t, b, x), a), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.grad.item(), differences(lambda t: special.betainc(a, t, x), b), rtol=1e-6, atol=1e-9)


def test_large_orders():
    """At its own order the slope is that of the normal distribution which is approached."""
    order = gs.tensor(1e9, requires_grad=True)
    gs.special.gammainc(order, 1e9).backward()
    np.testing.assert_allclose(order.grad.item(), -1 / np.sqrt(2 * np.pi * 1e9), rtol=1e-8)


def test_where_digits_are_lost_there_is_no_number():
    df = gs.tensor(1e9, requires_grad=True)
    (slope,) = gs.autograd.grad(gs.special.stdtr(df, 1.5), df, create_graph=True)
    assert np.isnan(gs.autograd.grad(slope, df)[0].item())


@pytest.mark.parametrize("pole", [-1, -2, -7, -1000])
def test_digamma_beside_its_poles(pole):
    apart = 10.0 ** -np.arange(1, 14)
    x = np.concatenate([pole + apart, pole - apart])
    for dtype, rtol in ((np.float64, 1e-14), (np.float32, 2e-7)):
        narrow = x.astype(dtype)
        narrow = gs.tensor(narrow[narrow != pole], requires_grad=True)
        exact = [float(mp.digamma(mp.mpf(float(v)))) for v in narrow.detach()]
        np.testing.assert_allclose(gs.digamma(narrow).detach().numpy(), exact, rtol)
        np.testing.assert_allclose(gs.autograd.grad(gs.lgamma(narrow).sum(), narrow)[0].numpy(), exact, rtol)
    edges = gs.digamma(np.array([-1.0, -2.0, 0.0, -0.0, -np.inf, np.inf, np.nan]))
    np.testing.assert_array_equal(edges.numpy(), [np.nan, np.nan, -np.inf, np.inf, np.nan, np.inf, np.nan])


@pytest.mark.parametrize("name, sign", [("ive", -1), ("kve", 1)])
@pytest.mark.parametrize("order", [1, 2])
def test_slopes_of_scaled_bessel_functions_where_orders_cancel(name, sign, order):
    rng = np.random.default_rng(order)
    for v, x in [(2.0, 11.05), (1.0, 13.36), (0.0, 6.5), (3.0, 28.9), *zip(rng.uniform(0, 5, 12), rng.uniform(6, 30, 12))]:
        with mp.workdps(40):
            bessel = mp.besseli if name == "ive" else mp.besselk
            exact = float(mp.diff(lambda t: mp.exp(sign * t) * bessel(v, t), mp.mpf(float(x)), order))
        slope = functools.partial(getattr(gs.special, name), float(v))
        for _ in range(order):
            slope = gs.grad(slope)
        np.testing.assert_allclose(slope(float(x)), exact, 2e-14)
    assert np.isnan(gs.grad(lambda x: gs.special.ive(0.5, x))(-13.0))


def test_digamma_around_its_root_below_0():
    x = np.concatenate([np.random.default_rng(0).uniform(-1, -0.2, 300), [-0.5040830082644554, -0.504083, -0.65408, -0.35408, -0.804083]])
    with mp.workdps(30):
        exact = [float(mp.digamma(mp.mpf(float(v)))) for v in x]
    np.testing.assert_allclose(gs.digamma(x), exact, 1e-15, 0)


@pytest.mark.parametrize("name, exact, ends", [
    ("rgamma", mp.rgamma, {np.float64: (165, 181), np.float32: (33, 44)}),
    ("i0", lambda x: mp.besseli(0, x), {np.float64: (700, 720), np.float32: (85, 95)}),
    ("i1", lambda x: mp.besseli(1, x), {np.float64: (700, 720), np.float32: (85, 95)}),
])  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_functions_reach_the_ends_of_the_range(name, exact, ends, dtype):
    """Where SciPy's are 0, or infinite, before they have to be; with derivatives that are no more than twice out of range."""
    x = gs.tensor(np.linspace(*ends[dtype], 81).astype(dtype), requires_grad=True)
    y = getattr(gs.special, name)(x)
    (slope,) = gs.autograd.grad(y.sum(), x)
    limits, points = np.finfo(dtype), [mp.mpf(float(v)) for v in x.detach().numpy()]
    rtol = 2 * ends[dtype][1] * limits.eps  # what an ulp of the argument moves
    with np.errstate(over="ignore"):
        for found, order in ((y.detach().numpy(), 0), (slope.numpy(), 1)):
            wanted = np.array([float(mp.diff(exact, p, order)) for p in points])
            near = np.abs(wanted) > limits.max / 2
            np.testing.assert_allclose(found[~near], wanted[~near].astype(dtype), rtol=rtol, atol=8 * order * float(limits.smallest_subnormal))
            assert (np.isinf(found[near]) | np.isclose(found[near], wanted[near].astype(dtype), rtol=rtol)).all()


@each("name", ["i0e", "i1e", "k0e", "k1e"])
def test_scaled_bessel_functions_near_0(name):
    """The factor exp(-abs(x)) counts in the slope long before it counts in the value."""
    mpmath = pytest.importorskip("mpmath")
    order, kind = int(name[1]), mpmath.besseli if name[0] == "i" else mpmath.besselk
    scaled = lambda x: mpmath.exp(-x if name[0] == "i" else x) * kind(order, x)  # noqa: E731
    points = 10.0 ** np.linspace(-15, -5, 21)
    x = gs.tensor(points, requires_grad=True)
    value = getattr(gs.special, name)(x)
    (slope,) = gs.autograd.grad(value.sum(), x)
    with mpmath.workdps(60):
        exact = [(scaled(mpmath.mpf(p)), mpmath.diff(scaled, mpmath.mpf(p), h=mpmath.mpf(p) * mpmath.mpf(10) ** -20)) for p in points.tolist()]
    np.testing.assert_allclose(value.detach(), [float(v) for v, _ in exact], rtol=1e-14)
    np.testing.assert_allclose(slope, [float(s) for _, s in exact], rtol=3e-16 if name == "i1e" else 1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_polygamma_far_below_0_is_that_of_the_fractional_part(n, dtype):
    """SciPy adds the terms below 0 one by one, and never comes back from -1e15."""
    x = np.array([-63.75, -64.25, -200.125, -4096.875, -1e5 - 0.25], dtype)
    np.testing.assert_allclose(gs.special.polygamma(n, x), [float(mpmath.polygamma(n, float(v))) for v in x], rtol=20 * np.finfo(dtype).eps)
    assert gs.special.zeta(2.0, gs.tensor(-1e15 - 0.5)).item() == pytest.approx(np.pi**2, rel=1e-15)


BESSEL = {"jv": mp.besselj, "yv": mp.bessely, "iv": mp.besseli, "kv": mp.besselk, "kve": lambda v, x: mp.besselk(v, x) * mp.exp(x)}


@each("name", BESSEL)
@each("v", [0.0, 1e-9, 1e-4, 2e-3, 0.01, 0.1, 0.25, 0.5, 0.74, 0.76, 0.99, 1.0, 1.3, 2.0, -0.01, -0.3, -1.3])
def test_bessel_functions_of_any_order_near_0(name, v):
    """The first term of the series alone is wrong by 150 per cent for kv(0.01, 1e-11)."""
    x = 1.3 * 10.0 ** np.arange(-300, -3, 11)
    with mpmath.workdps(60):
        exact = np.array([float(BESSEL[name](v, mpmath.mpf(point))) for point in x])
    np.testing.assert_allclose(getattr(gs.special, name)(v, gs.tensor(x)), exact, rtol=3e-13, atol=1e-307)


@each("n", [1, 2, 3, 4, 6, 8])
def test_derivatives_of_erfcx_where_neither_recurrence_nor_series_is_exact(n):
    x = np.linspace(-2, 14, 97)
    with mpmath.workdps(60):
        exact = [(-2) ** n * 2 / mp.sqrt(mp.pi) * mp.quad(lambda t, p=p: t**n * mp.exp(-t * t - 2 * mp.mpf(p) * t), [0, 1, 3, 8]) for p in x.tolist()]
    np.testing.assert_allclose(kernels.erfcx(x, n), np.array(exact, float), rtol=1e-13)
