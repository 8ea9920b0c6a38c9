"""References: what is told apart in mpmath by large exponents and by terms that do not show."""

from __future__ import annotations

import itertools

import pytest

mpmath = pytest.importorskip("mpmath")

from mpmath import mp, mpf  # noqa: E402

from codegen.verify.reference import FUNCTIONS, derivatives, power_of_ten  # noqa: E402

BASES = ("0.3", "2.5", "-2.5", "-1", "1", "1e-300", "1e155", "1.0000000000000000000000000001")
EXPONENTS = (10**8, -(10**8), 10**19 + 1, 10**155, 10**7 + 1, 1e7 + 0.5)


@pytest.mark.parametrize("digits", [60, 900])
def test_powers_of_large_exponents(digits):
    """Squared once a bit of the exponent, as mpmath does it."""
    with mp.workdps(digits):
        for base, exponent in itertools.product(map(mpf, BASES), map(mpf, EXPONENTS)):
            found, wanted = FUNCTIONS["power"](base, exponent), base**exponent
            assert abs(found - wanted) <= abs(wanted) * mpf(2) ** (3 - mp.prec), (base, exponent)


@pytest.mark.parametrize("name, base", [("logaddexp", mp.e), ("logaddexp2", mpf(2))])
def test_sums_of_exponentials_where_one_of_them_hardly_shows(name, base):
    """More digits show what so few are asked for."""
    places = [0, -3, 2.5, 200, 230, 1e4, -1e155, 1e-300]
    for a, b in itertools.product(places, places):
        with mp.workdps(100):
            found = FUNCTIONS[name](mpf(a), mpf(b))
        with mp.workdps(400):
            high, low = max(mpf(a), mpf(b)), min(mpf(a), mpf(b))
            wanted = high + mp.log1p(mp.power(base, low - high)) / mp.log(base)
            assert abs(found - wanted) <= abs(wanted) * mpf(10) ** -99 + mpf(10) ** -400, (a, b)


def test_powers_of_two_beside_powers_of_ten():
    for exponent in (-3000, -400, -8, 0, 30):
        assert mpf(1) / 2 < power_of_ten(exponent) / mpf(10) ** exponent < 2
        assert power_of_ten(exponent).man == 1


def test_derivatives_of_what_is_known():
    for x in (-40.0, 1e-300, 0.3, 7.25):
        value, first, second, kink = derivatives(lambda v: v**3 + mp.exp(v), x, lambda v: True)
        grown = float(mp.exp(x))
        assert (value, first, second) == pytest.approx((x**3 + grown, 3 * x * x + grown, 6 * x + grown), rel=1e-15)
        assert kink == ()
    assert derivatives(abs, 0.0, lambda v: True)[3] == (-1.0, 1.0)
