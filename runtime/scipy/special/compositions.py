"""Functions of scipy.special that are made of operators: distributions of counts, derivatives of Bessel functions, harmonics.

Owns these formulas; derivatives follow.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from ...generated.ops import cos, floor, sin
from ...special import betainc, gammainc, gammaincc, iv, jv, kv, yv
from ...special import spherical_in as _in
from ...special import spherical_jn as _jn
from ...special import spherical_kn as _kn
from ...special import spherical_yn as _yn
from ...support.dispatch import ops
from ..values import named, reals, refused


def _of_counts(name: str, arguments: str, doc: str, function: Any) -> Any:
    """A function whose first argument is a count, in which it has no derivative."""
    words = f"scipy.special.{name} has no derivative in k, which is a whole number; pass k.detach()"
    return named(name, arguments, doc, lambda k, *rest: function(refused(floor(k), (k,), words), *rest))


pdtr = _of_counts("pdtr", "k m", "Poisson distribution function.", lambda k, m: gammaincc(k + 1, m))
pdtrc = _of_counts("pdtrc", "k m", "One less pdtr.", lambda k, m: gammainc(k + 1, m))
bdtr = _of_counts("bdtr", "k n p", "Binomial distribution function.", lambda k, n, p: betainc(n - k, k + 1, 1 - p))
bdtrc = _of_counts("bdtrc", "k n p", "One less bdtr.", lambda k, n, p: betainc(k + 1, n - k, p))
nbdtr = _of_counts("nbdtr", "k n p", "Negative binomial distribution function.", lambda k, n, p: betainc(n, k + 1, p))
nbdtrc = _of_counts("nbdtrc", "k n p", "One less nbdtr.", lambda k, n, p: betainc(k + 1, n, 1 - p))


softplus = named("softplus", "x", "log(1 + exp(x)).", lambda x: ops.logaddexp(0.0, x))


# Bessel functions: derivatives.
def _slopes(name: str, function: Any, sign: int, first: int) -> Any:
    """Derivative n of a Bessel function of real order, by its neighbours."""

    def derivative(v: float, z: Any, n: int = 1) -> Any:
        n = operator.index(n)
        if n < 0:
            raise ValueError(f"{name}: n must not be negative, got {n}")
        total: Any = 0.0
        for k in range(n + 1):
            total = total + sign**k * math.comb(n, k) * function(v - n + 2 * k, z)
        return first**n * total / 2**n

    derivative.__name__ = derivative.__qualname__ = name
    derivative.__doc__ = f"Derivative n in z of {name[:-1]}(v, z)."
    return derivative


jvp, yvp = _slopes("jvp", jv, -1, 1), _slopes("yvp", yv, -1, 1)
ivp, kvp = _slopes("ivp", iv, 1, 1), _slopes("kvp", kv, 1, -1)


def _spherical(name: str, function: Any, slope: Any) -> Any:
    def spherical(n: int, z: Any, derivative: bool = False) -> Any:
        (z,) = reals(name, z)
        return slope(n, z) if derivative else function(n, z)

    spherical.__name__ = spherical.__qualname__ = name
    spherical.__doc__ = f"Spherical Bessel function {name[-2:]} of the order n, or its derivative in z."
    return spherical


def _unmodified_slope(function: Any) -> Any:
    return lambda n, z: (n * function(n - 1, z) - (n + 1) * function(n + 1, z)) / (2 * n + 1) if n else -function(1, z)


def _modified_slope(function: Any, sign: int) -> Any:
    return lambda n, z: sign * ((n * function(n - 1, z) + (n + 1) * function(n + 1, z)) / (2 * n + 1) if n else function(1, z))


spherical_jn = _spherical("spherical_jn", _jn, _unmodified_slope(_jn))
spherical_yn = _spherical("spherical_yn", _yn, _unmodified_slope(_yn))
spherical_in = _spherical("spherical_in", _in, _modified_slope(_in, 1))
spherical_kn = _spherical("spherical_kn", _kn, _modified_slope(_kn, -1))


def sph_harm_y(n: int, m: int, theta: Any, phi: Any) -> Any:
    """Spherical harmonic of the degree n and the order m.

    Parameters
    ----------
    n, m : int
        m is from -n to n.
    theta : array_like
        Polar angle, from 0 to pi.
    phi : array_like
        Azimuth.

    Returns
    -------
    Tensor
        Complex.
    """
    n, m = operator.index(n), operator.index(m)
    if n < 0:
        raise ValueError(f"sph_harm_y: n must not be negative, got {n}")
    theta, phi = reals("sph_harm_y", theta, phi)
    k = abs_m = m if m >= 0 else -m
    if abs_m > n:
        return ops.complex(0 * theta * phi, 0 * theta * phi)
    s, c = sin(theta), cos(theta)
    # Legendre's functions with their norm, from the order itself upward.
    y = math.sqrt(math.prod((2 * j + 1) / (2 * j) for j in range(1, k + 1)) / (4 * math.pi)) * (-s) ** k
    before: Any = 0.0
    for degree in range(k + 1, n + 1):
        a = math.sqrt((4 * degree**2 - 1) / (degree**2 - k**2))
        b = math.sqrt(((degree - 1) ** 2 - k**2) / (4 * (degree - 1) ** 2 - 1)) if degree > k + 1 else 0.0
        before, y = y, a * (c * y - b * before)
    sign = (-1) ** k if m < 0 else 1
    return ops.complex(sign * y * cos(m * phi), sign * y * sin(m * phi))


__all__ = [
    "bdtr", "bdtrc", "ivp", "jvp", "kvp", "nbdtr", "nbdtrc", "pdtr", "pdtrc", "softplus", "sph_harm_y", "spherical_in",
    "spherical_jn", "spherical_kn", "spherical_yn", "yvp",
]  # fmt: skip
