"""Orthogonal polynomials: values of SciPy's and closed forms, every mode, whole numbers and degrees that are none."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import grad, gradcheck, gradgradcheck
from tests.asked import each
from tests.later import later

scipy_special = later("scipy.special", "SciPy is not installed")

SCIPY = {
    "chebyshev_polynomial_t": "eval_chebyt", "chebyshev_polynomial_u": "eval_chebyu", "hermite_polynomial_h": "eval_hermite",
    "hermite_polynomial_he": "eval_hermitenorm", "laguerre_polynomial_l": "eval_laguerre", "legendre_polynomial_p": "eval_legendre",
    "shifted_chebyshev_polynomial_t": "eval_sh_chebyt", "shifted_chebyshev_polynomial_u": "eval_sh_chebyu",
}  # fmt: skip
ANGLES = {  # at cos(t)
    "chebyshev_polynomial_v": lambda t, n: np.cos((n + 0.5) * t) / np.cos(t / 2),
    "chebyshev_polynomial_w": lambda t, n: np.sin((n + 0.5) * t) / np.sin(t / 2),
}
NAMES = [name for name in gs.special.__all__ if "_polynomial_" in name]


@each("n", [0, 1, 2, 5, 12])
@each("name", SCIPY)
def test_values_of_scipy(name, n):
    x = np.linspace(-1.5, 2.5, 17)
    expected = getattr(scipy_special, SCIPY[name])(n, x)
    np.testing.assert_allclose(getattr(gs.special, name)(x, n).numpy(), expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@each("n", [0, 1, 2, 5, 12])
@each("name", ANGLES)
def test_closed_forms(name, n):
    t = np.linspace(0.1, 3.0, 13)
    expected = ANGLES[name](t, n)
    np.testing.assert_allclose(getattr(gs.special, name)(np.cos(t), n).numpy(), expected, atol=1e-12)
    shifted = getattr(gs.special, f"shifted_{name}")((np.cos(t) + 1) / 2, n)
    np.testing.assert_allclose(shifted.numpy(), expected, atol=1e-12)


@each("n", [-1, 0, 1, 2])
@each("name", NAMES)
def test_every_degree_depends_on_x(name, n):
    """By a constant, where the degree is 0 or less: the gradient is zero, and NaN and infinities do not count."""
    x = gs.tensor([0.3, np.nan, np.inf], requires_grad=True)
    y = getattr(gs.special, name)(x, n)
    (slope,) = grad(y.sum(), x)
    if n < 1:
        assert y.tolist() == [float(n == 0)] * 3 and slope.tolist() == [0, 0, 0]


def test_every_polynomial_is_compared():
    assert {*SCIPY, *ANGLES, *(f"shifted_{name}" for name in ANGLES)} == {*NAMES} and len(NAMES) == 12


@each("n", [0, 1, 4])
@each("name", NAMES)
def test_derivatives_in_every_mode(name, n):
    x = gs.tensor([-0.7, 0.2, 1.3], requires_grad=True)
    assert gradcheck(lambda x: getattr(gs.special, name)(x, n) + 0 * x, x, check_forward_ad=True)
    assert gradgradcheck(lambda x: getattr(gs.special, name)(x, n) + 0 * x * x, x, check_fwd_over_rev=True)


@each("name", NAMES)
def test_dtypes_and_degrees(name):
    function = getattr(gs.special, name)
    for n in (0, 1, 3):
        assert function(np.float32([0.5, 2]), n).dtype == np.float32
        assert function(np.array([1, 2], np.uint8), np.int64(n)).dtype == np.float64
    assert function(2.0, 0).item() == 1 and function(2.0, -1).item() == 0
    with pytest.raises(TypeError):
        function(2.0, 1.5)
