"""Slopes that would cancel or overflow by their own formula: mpmath's values to the last digits, wherever the argument stands."""

import mpmath
import numpy as np
import pytest

from gradspec.kernels.elementwise import slopes, slopes_loops
from tests.asked import each

SMALL = [0.0, 1e-300, 1e-30, 1e-8, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999999]
LARGE = [1.000001, 1.01, 1.5, 2.0, 5.0, 30.0, 1e3, 1e10, 1e100, 1e200]
EXACT = {
    "asin_slope": lambda x: 1 / mpmath.sqrt(1 - x * x),
    "asinh_slope": lambda x: 1 / mpmath.sqrt(1 + x * x),
    "atan_slope": lambda x: 1 / (1 + x * x),
    "atanh_slope": lambda x: 1 / (1 - x * x),
    "softsign": lambda x: x / (1 + abs(x)),
    "tanhshrink": lambda x: x - mpmath.tanh(x),
}
REAL = {name: SMALL if name == "asin_slope" else [*SMALL, 1.0, *LARGE] for name in EXACT}
REAL["atanh_slope"] = [*SMALL, *LARGE]
TURNS = [0.1, 0.7, 1.5, 2.5, -0.4, -2.0]  # angles of complex arguments


def exact(name, value):
    with mpmath.workdps(700):  # 1e-300 beside 1
        return complex(EXACT[name](mpmath.mpmathify(value)))


def close(name, x, ulps):
    """As mpmath says, to some steps of the dtype; below the least normal number, to that."""
    found, information = np.asarray(getattr(slopes, name)(x)), np.finfo(x.dtype)
    assert found.dtype == x.dtype and found.shape == x.shape
    for value, result in zip(x.tolist(), found.tolist()):
        expected = exact(name, value)
        bound = ulps * float(information.eps) * abs(expected) + float(information.smallest_normal)
        assert abs(result - expected) <= bound, (value, result, expected)


@each("name", EXACT)
@each("dtype", ["f4", "f8"])
def test_real_arguments(name, dtype):
    points = np.array([sign * p for p in REAL[name] for sign in (1, -1)])
    information = np.finfo(dtype)
    points = points[(np.abs(points) < np.sqrt(information.max) / 4) & ((points == 0) | (np.abs(points) > 1e-30))].astype(dtype)
    close(name, points, 6)
    close(name, points.astype("f8")[:1].astype(dtype), 6)


@each("name", ["asin_slope", "atanh_slope"])
@each("dtype", ["f4", "f8"])
def test_loops_with_poles_have_the_bits_and_warnings_of_their_expressions(name, dtype):
    x = np.array([*SMALL, *LARGE, np.inf, np.nan, 1.0], dtype)[:, None] * np.array([1, -1], dtype)
    loop, expression = getattr(slopes_loops, name), getattr(slopes, name)
    for part in (x[:12], x[:12, 0], x[-2:-1]):
        with np.errstate(all="raise", under="ignore"):
            assert loop(part).tobytes() == expression(part).tobytes()
    for pole in (1.0, -1.0):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            assert loop(np.array([0.5, pole], dtype))[1] == np.inf
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(loop(x), expression(x))


@each("name", sorted(EXACT.keys() - {"softsign"}))
@each("dtype", ["c8", "c16"])
def test_complex_arguments(name, dtype):
    sizes = [1e-8, 1e-3, 0.1, 0.5, 0.9, 0.99, 1.01, 1.4, 2.0, 7.0]
    points = np.array([size * np.exp(1j * turn) for size in sizes for turn in TURNS], dtype)
    close(name, points, 40)


@pytest.mark.parametrize("name, pole", [("asin_slope", 1), ("asinh_slope", 1j), ("atan_slope", 1j), ("atanh_slope", 1)])
@pytest.mark.parametrize("dtype, distances", [("c8", [0.1, 1e-2, 1e-4]), ("c16", [0.1, 1e-3, 1e-7, 1e-12])])
def test_near_the_poles(name, pole, dtype, distances):
    """Where the square and 1 cancel."""
    close(name, np.array([side * pole + d * np.exp(1j * turn) for side in (1, -1) for d in distances for turn in TURNS], dtype), 40)


@pytest.mark.parametrize("name, limits", [
    ("asinh_slope", [0, 0]), ("atan_slope", [0, 0]), ("softsign", [-1, 1]), ("tanhshrink", [-np.inf, np.inf]),
])  # fmt: skip
def test_far_away(name, limits):
    """Where a square overflows, and at infinity, without a warning."""
    with np.errstate(all="raise", under="ignore"):
        far = getattr(slopes, name)(np.array([-np.inf, np.inf]))
        assert far.tolist() == limits
        if name != "tanhshrink":
            np.testing.assert_allclose(getattr(slopes, name)(np.array([-1e300, 1e300])), np.array(limits), atol=1e-299)
    assert np.isnan(getattr(slopes, name)(np.array([np.nan]))).all()


def test_at_the_poles():
    with np.errstate(divide="ignore"):
        assert slopes.asin_slope(np.array([1.0, -1.0])).tolist() == [np.inf, np.inf]
        assert slopes.atanh_slope(np.array([1.0, -1.0])).tolist() == [np.inf, np.inf]
        assert slopes.atanh_slope(1) == np.inf  # a Python number too


@pytest.mark.parametrize("name, on_cut", [("asin_slope", 1), ("asinh_slope", 1j)])
def test_on_either_side_of_a_cut(name, on_cut):
    """The sign of a zero says which side, also as `0 * i` makes it."""
    for size in (2.0, -2.0, 1e8):
        for zero in (0.0, -0.0):
            x = np.array(complex(size, zero) if on_cut == 1 else complex(zero, size))
            near = np.array(complex(size, np.copysign(1e-40, zero)) if on_cut == 1 else complex(np.copysign(1e-40, zero), size))
            np.testing.assert_allclose(getattr(slopes, name)(x), exact(name, complex(near)), rtol=1e-13)
