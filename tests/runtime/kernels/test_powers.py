"""The quick way of `c * a**(b - n)` for numbers b and c against the general one, where powers are lost and where they are not."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from gradspec import kernels
from gradspec.kernels.elementwise import choice
from tests.asked import each

HARD = [0, -0.0, 1, -1, 2, 3.5, 5e-324, 1e-300, 1e-160, 1e-155, -1e-107, 1e-8, 1e8, 1e155, 1.7e308, math.inf, -math.inf, math.nan]
EXPONENTS = [0, 1, 2, 3, 4, 100, -1, -2, 0.5, 1.5, 2.0, 0.1, 1 / 3, 2**25 + 1]
FACTORS = [1, 2, -3, 24, 0.5, 1e-300, 1e300, math.inf, math.nan, 0]


@each("exponent", EXPONENTS)
@each("dtype", [np.float32, np.float64])
def test_the_quick_power_is_the_general_one(dtype, exponent):
    with np.errstate(all="ignore"):
        hard = np.array(HARD).astype(dtype)
        for a in (hard, np.linspace(0.5, 3, 7, dtype=dtype), np.array(2.5, dtype), hard[::2], np.zeros((0, 3), dtype)):
            for factor in FACTORS:
                for n in range(4):
                    found = kernels.scaled_pow(factor, a, exponent, n)
                    general = choice.scaled_pow(factor, a, exponent, n)
                    assert found.dtype == general.dtype == dtype and found.shape == a.shape
                    np.testing.assert_allclose(found, general, rtol=4 * np.finfo(dtype).eps, atol=0)


def test_an_exponent_that_is_rounded_has_the_same_rules():
    """0 for a power of 0 with an infinite factor, and the operands' dtype for a number among them."""
    with np.errstate(all="ignore"):
        c, b = np.array([-np.inf, np.inf, 0], np.float32), np.array([np.inf, np.inf, 0.1], np.float32)
        found = choice.scaled_pow(c, np.full(3, 0.5, np.float32), b, 1)
        assert found.tolist() == [0, 0, 0] and np.signbit(found).tolist() == [True, False, False]
        exact = np.array([1.5, 2.5], np.float32)
        assert choice.scaled_pow(np.array([0, 1], np.float32), 2.0, exact, 1).dtype == np.float32


WHOLE = [1, 2, 3, 4, 5, 7, 8, 31, 64, 65, -1, -2, -3, -5, -64, -65, 0]


@each("dtype", [np.float32, np.float64])
@each("exponent", WHOLE)
def test_whole_powers_are_right_to_their_last_digit(dtype, exponent):
    """Against rationals, which are exact."""
    rng, limits, reach = np.random.default_rng(0), np.finfo(dtype), math.log(np.finfo(dtype).max) * 1.2 / max(abs(exponent), 2)
    a = (rng.choice([-1, 1], size=1000) * np.exp(rng.uniform(-reach, reach, size=1000))).astype(dtype)
    exact = [Fraction(float(x)) ** exponent for x in a]
    lasts = [limits.tiny * 1.01 < abs(y) < Fraction(float(limits.max)) * Fraction(99, 100) for y in exact]
    assert sum(lasts) > 300
    found = kernels.power(a[lasts], exponent)
    for y, wanted in zip(found, [y for y, last in zip(exact, lasts) if last]):
        off = abs(Fraction(float(y)) - wanted) / Fraction(float(np.spacing(abs(y))))
        assert off <= Fraction(93 if abs(exponent) > 64 else 51, 100)


@each("dtype", [np.float32, np.float64])
@each("exponent", WHOLE)
def test_whole_powers_of_hard_numbers_are_numpys(dtype, exponent):
    """Signs of zeros, infinities, NaN, what over- or underflows; and the warnings."""
    limits = np.finfo(dtype)
    hard = np.array([0, -0.0, 1, -1, math.inf, -math.inf, math.nan, limits.smallest_subnormal, -limits.tiny, limits.max, -limits.max,
                     1e-20, -1e20, 2, -3, 0.5]).astype(dtype)  # fmt: skip
    for a in [*hard.reshape(-1, 1), hard, hard[::2].copy(), np.tile(hard, 50), hard.reshape(2, -1).T, hard[3]]:
        outcomes = []
        for function in (kernels.power, np.power):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                outcomes.append((np.asarray(function(a, exponent)), sorted({str(w.message) for w in caught})))
        (found, said), (expected, warned) = outcomes
        np.testing.assert_allclose(found, expected, rtol=2 * limits.eps, atol=2 * float(limits.smallest_subnormal))
        assert found.dtype == expected.dtype and np.array_equal(np.signbit(found), np.signbit(expected))
        assert said == warned


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [0.5, -0.5])
def test_powers_of_a_half_are_roots(dtype, exponent):
    """The values and warnings of pow, which NumPy too has for an array of exponents; beside these one rounding."""
    limits = np.finfo(dtype)
    hard = np.array([0, -0.0, 1, math.inf, math.nan, limits.smallest_subnormal, limits.max, limits.tiny, 2, 4, 1e-20]).astype(dtype)
    for a in (hard, np.append(hard, dtype(-math.inf)), np.append(hard[2:], dtype(-1)), np.tile(hard, 500), hard[::2], hard[4]):
        outcomes = []
        for function in (kernels.power, lambda a, b: np.power(a, np.full(np.shape(a), b, dtype))):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                outcomes.append((np.asarray(function(a, exponent)), sorted({str(w.message) for w in caught})))
        (found, said), (expected, warned) = outcomes
        np.testing.assert_allclose(found, expected, rtol=limits.eps, atol=0)
        known = ~np.isnan(expected)
        assert np.array_equal(np.signbit(found[known]), np.signbit(expected[known])) and said == warned
    a = np.random.default_rng(0).uniform(0.1, 10, 5000).astype(dtype)
    exact = a.astype(np.longdouble) ** np.longdouble(exponent)
    off = np.abs(kernels.power(a, exponent) - exact) / np.spacing(np.abs(exact).astype(dtype))
    assert off.max() <= 0.501


@each("dtype", (np.float32, np.float64))
@each("factor, exponent", ((3, 3), (2.0, 2.5), (4, -1), (1.5, 7), (0.5, 1), (0.5, 2)))
def test_scaled_powers_are_products_of_powers(dtype, factor, exponent):
    x = np.abs(np.random.default_rng(0).standard_normal(70_000)).astype(dtype)
    assert np.array_equal(kernels.scaled_pow(factor, x, exponent, 1), kernels.power(x, exponent - 1) * dtype(factor))
    with np.errstate(all="ignore"):
        x[5:11] = 0, -0.0, 1e-30, 1e-45, np.inf, np.nan
        found, expected = kernels.scaled_pow(factor, x, exponent, 1), choice.scaled_pow(factor, x, exponent, 1)
    np.testing.assert_allclose(found, expected, 4 * np.finfo(dtype).eps, 0)
    assert np.array_equal(np.signbit(found), np.signbit(expected))
