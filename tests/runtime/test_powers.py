"""The quick way of `c * a**(b - n)` for numbers b and c against the general one, where powers are lost and where they are not."""

import math

import numpy as np
import pytest

from gradspec import kernels
from gradspec.kernels import elementwise

HARD = [0, -0.0, 1, -1, 2, 3.5, 5e-324, 1e-300, 1e-160, 1e-155, -1e-107, 1e-8, 1e8, 1e155, 1.7e308, math.inf, -math.inf, math.nan]
EXPONENTS = [0, 1, 2, 3, 4, 100, -1, -2, 0.5, 1.5, 2.0, 0.1, 1 / 3, 2**25 + 1]
FACTORS = [1, 2, -3, 24, 0.5, 1e-300, 1e300, math.inf, math.nan, 0]


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_quick_power_is_the_general_one(dtype, exponent):
    with np.errstate(all="ignore"):
        hard = np.array(HARD).astype(dtype)
        for a in (hard, np.linspace(0.5, 3, 7, dtype=dtype), np.array(2.5, dtype), hard[::2], np.zeros((0, 3), dtype)):
            for factor in FACTORS:
                for n in range(4):
                    found = kernels.scaled_pow(factor, a, exponent, n)
                    general = elementwise.scaled_pow(factor, a, exponent, n)
                    assert found.dtype == general.dtype == dtype and found.shape == a.shape
                    np.testing.assert_allclose(found, general, rtol=4 * np.finfo(dtype).eps, atol=0)
