"""Derivatives of the zeta function by its exponent, held to mpmath."""

import mpmath
import numpy as np
import pytest

from gradspec.kernels.special_functions.zeta import COEFFICIENTS, rest, zeta_slope

# mpmath's own zeta keeps eleven digits only where both are large.
POINTS = [(s, q) for s in (1.0001, 1.3, 2.0, 5.5, 17.0, 60.0) for q in (1e-3, 0.4, 1.0, 1.75, 12.5, 300.0, 1e6) if s < 60 or q < 300]


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_as_mpmath(n):
    with mpmath.workdps(50):
        wanted = [float(mpmath.zeta(mpmath.mpf(s), mpmath.mpf(q), n)) for s, q in POINTS]
    np.testing.assert_allclose(zeta_slope(n, *np.transpose(POINTS)), wanted, rtol=1e-13)


@pytest.mark.parametrize("a", [2, 3.5, 6])
def test_the_rest_is_off_by_less_than_the_first_term_that_is_left_out(a):
    """As Euler and Maclaurin's formula is, which so shows every coefficient."""
    j = len(COEFFICIENTS) + 1
    for s in (1.5, 2.0, 4.5):
        left_out = abs(mpmath.bernoulli(2 * j)) / mpmath.factorial(2 * j) * mpmath.rf(s, 2 * j - 1) * mpmath.mpf(a) ** (1 - 2 * j - s)
        off = abs(rest(0, np.array(s), np.array(float(a))) - mpmath.zeta(s, a))
        assert off < left_out + 1e-15


def test_where_nothing_is_known_and_at_infinity():
    with np.errstate(all="raise", under="ignore"):
        found = zeta_slope(1, np.array([1.0, 0.5, 2.0, np.nan, 2.0, 2.0]), np.array([1.0, 1.0, -0.5, 1.0, 0.0, np.inf]))
    np.testing.assert_array_equal(found, [np.nan] * 5 + [0])
    assert zeta_slope(1, np.inf, 2.0) == 0 and zeta_slope(1, np.float32(2), np.float32(1)).dtype == np.float32
