"""Functions of scipy.special with explicit derivatives: hypergeometric, error integrals, degrees, Lambert's W.

Defines the derivatives; the values are SciPy's.

References
----------
NIST Digital Library of Mathematical Functions, chapters 5 to 10, 13, 15 and 25; Owen (1956) for owens_t.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...func import custom_jvp
from ...generated.ops import abs, exp, expm1, log, real, sin, where
from ...special import digamma, erf, gammaln
from ...support.dispatch import ops
from ..values import elementwise, named, numbers, refused, smooth
from .parameters import of_reals

_2_BY_ROOT_PI = 2 / math.sqrt(math.pi)


def _simple(name: str, arguments: str, doc: str, *slopes: Any, real: bool = True, dtype: Any = None) -> Any:
    return named(name, arguments, doc, smooth(name, *slopes, dtype=dtype), real)


# Hypergeometric functions.
def _of_both(of_real: Any, of_complex: Any) -> Any:
    def function(*arguments: Any) -> Any:
        return (of_complex if arguments[-1].dtype.kind == "c" else of_real)(*arguments)

    return function


_WORDS = "; derivatives in parameters are finite differences, and refused of complex numbers."
_hyp2f1 = smooth("hyp2f1", None, None, None, lambda y, a, b, c, z: a * b / c * _hyp2f1(a + 1, b + 1, c + 1, z))
hyp2f1 = named("hyp2f1", "a b c z", f"Gauss's function{_WORDS}", _of_both(of_reals("hyp2f1", (0, 0, 0)), _hyp2f1), real=False)
_hyp1f1 = smooth("hyp1f1", None, None, lambda y, a, b, x: a / b * _hyp1f1(a + 1, b + 1, x))
hyp1f1 = named("hyp1f1", "a b x", f"Kummer's function{_WORDS}", _of_both(of_reals("hyp1f1", (0, 0)), _hyp1f1), real=False)
_hyp0f1 = smooth("hyp0f1", None, lambda y, v, z: _hyp0f1(v + 1, z) / v)
hyp0f1 = named("hyp0f1", "v z", f"Hypergeometric limit function{_WORDS}", _of_both(of_reals("hyp0f1", (0,)), _hyp0f1), real=False)

# Integrals of elementary functions.
erfi = _simple("erfi", "z", "Imaginary error function, -i erf(i z).", lambda y, z: _2_BY_ROOT_PI * exp(z * z), real=False)
_wofz = smooth("wofz", lambda y, z: 1j * _2_BY_ROOT_PI - 2 * z * y, dtype=np.complex64)
wofz = named("wofz", "z", "Faddeeva's function, exp(-z**2) erfc(-i z).", _wofz, real=False)


def _voigt(x: Any, sigma: Any, gamma: Any) -> Any:
    """At sigma = 0 Cauchy's density, with the terms of the powers of sigma that derivatives up to the ninth order ask for."""
    sharp = sigma == 0
    scale = where(sharp, 1.0, sigma) * math.sqrt(2)
    wide = real(_wofz(ops.complex(x / scale, gamma / scale))) / (scale * math.sqrt(math.pi))
    inverse, square = 1 / where(sharp, ops.complex(gamma, -x), 1.0), where(sharp, sigma, 0.0) ** 2
    ratio, narrow = square * inverse * inverse, 1.0
    for factor in (7, 5, 3, 1):
        narrow = 1 - factor * ratio * narrow
    return where(sharp, real(inverse * narrow) / math.pi, wide)


voigt_profile = named(
    "voigt_profile", "x sigma gamma", "Voigt profile: a normal density convolved with Cauchy's.", _voigt
)  # fmt: skip
owens_t = _simple(
    "owens_t", "h a", "Owen's T function.",
    lambda y, h, a: -exp(-h * h / 2) * erf(a * h / math.sqrt(2)) / math.sqrt(8 * math.pi),
    lambda y, h, a: exp(-h * h * (1 + a * a) / 2) / (2 * math.pi * (1 + a * a)),
)  # fmt: skip
ndtri_exp = _simple("ndtri_exp", "y", "Inverse of log_ndtr.", lambda x, y: exp(y + x * x / 2) * math.sqrt(2 * math.pi))


# Degrees.
_PER_DEGREE = math.pi / 180
_cosdg = smooth("cosdg", lambda y, x: -_PER_DEGREE * _sindg(x))
_sindg = smooth("sindg", lambda y, x: _PER_DEGREE * _cosdg(x))
cosdg = named("cosdg", "x", "Cosine of an angle in degrees.", _cosdg)
sindg = named("sindg", "x", "Sine of an angle in degrees.", _sindg)
tandg = _simple("tandg", "x", "Tangent of an angle in degrees.", lambda y, x: _PER_DEGREE * (1 + y * y))
cotdg = _simple("cotdg", "x", "Cotangent of an angle in degrees.", lambda y, x: -_PER_DEGREE * (1 + y * y))
cosm1 = _simple("cosm1", "x", "cos(x) - 1 without cancellation.", lambda y, x: -sin(x))


def _powm1(x: Any, y: Any) -> Any:
    """SciPy's value is 0 or NaN if the power overflows."""
    exponent = y * log(where(x > 0, x, 1.0))
    near = (x > 0) & (abs(exponent) < 0.5)
    return where(near, expm1(where(near, exponent, 0.0)), where(near, 1.0, x) ** y - 1)


powm1 = named("powm1", "x y", "x**y - 1 without cancellation.", _powm1)

# Products of gamma functions; a derivative is NaN at a pole of digamma.
binom = _simple("binom", "n k", "Binomial coefficient of real numbers.",
                lambda y, n, k: y * (digamma(n + 1) - digamma(n - k + 1)),
                lambda y, n, k: y * (digamma(n - k + 1) - digamma(k + 1)))  # fmt: skip
def _psi(y: Any, z: Any) -> Any:
    def of_arrays(z: Any) -> Any:
        import scipy.special

        return scipy.special.psi(z)

    return refused(elementwise(of_arrays)(z), (z,), "scipy.special.loggamma of complex numbers has no second derivative here")


_loggamma = smooth("loggamma", _psi)
loggamma = named("loggamma", "z", "Logarithm of the gamma function; NaN for negative numbers, as SciPy has it.",
                 _of_both(lambda z: where(z < 0, math.nan, gammaln(where(z < 0, 1.0, z))), _loggamma), real=False)  # fmt: skip
softplus = named("softplus", "x", "log(1 + exp(x)).", lambda x: ops.logaddexp(0.0, x))


wrightomega = _simple("wrightomega", "z", "Wright's omega function: w + log(w) = z.", lambda w, z: w / (1 + w), real=False)


def lambertw(z: Any, k: int = 0, tol: float = 1e-8) -> Any:
    """Lambert's W function: w * exp(w) = z.

    Parameters
    ----------
    z : array_like, real or complex
    k : int
        The branch.
    tol : float
        As in SciPy.

    Returns
    -------
    Tensor
        Complex, as SciPy's.  At the branch point -1 / e the derivative is infinite.
    """

    def of_arrays(z: Any) -> Any:
        import scipy.special

        return scipy.special.lambertw(z, k, tol)

    values = elementwise(of_arrays, np.complex64)
    function = custom_jvp(lambda z: values(z))

    def rule(primals: Any, tangents: Any) -> Any:
        w = function(*primals)
        return w, exp(-w) / (1 + w) * tangents[0]

    function.defjvp(rule)
    return function(*numbers("lambertw", z))


__all__ = [
    "binom", "cosdg", "cosm1", "cotdg", "erfi", "hyp0f1", "hyp1f1", "hyp2f1", "lambertw", "loggamma",
    "ndtri_exp", "owens_t", "powm1", "sindg", "softplus", "tandg", "voigt_profile", "wofz", "wrightomega",
]  # fmt: skip
