"""Associated Legendre functions and spherical harmonics of whole degree and order.

Computes them by recurrences, whose derivatives exist at the ends of the interval as well.

References
----------
NIST Digital Library of Mathematical Functions, chapter 14 and 18.9.19.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from ...func import jvp
from ...generated.ops import cos, sin, sqrt, where
from ...support.dispatch import ops
from ..values import named, reals, smooth
from .orthogonal import eval_gegenbauer, eval_legendre


def _whole(name: str, n: Any, m: Any = 0, diff_n: Any = 0) -> tuple[int, int, int]:
    n, m, diff_n = operator.index(n), operator.index(m), operator.index(diff_n)
    if n < 0 or diff_n < 0:
        raise ValueError(f"{name}: n and diff_n must not be negative, got {n} and {diff_n}")
    return n, m, diff_n


def _with_slopes(function: Callable[[Any], Any], z: Any, diff_n: int) -> Any:
    """A function of one number and its derivatives along an axis at the front, as in SciPy."""
    functions = [function]
    for _ in range(diff_n):
        functions.append(lambda z, f=functions[-1]: jvp(f, (z,), (ops.ones_like(z),))[1])  # type: ignore[misc]
    return ops.stack([f(z) for f in functions])


def legendre_p(n: int, z: Any, *, diff_n: int = 0) -> Any:
    """Legendre polynomial of whole degree, with derivatives.

    Parameters
    ----------
    n : int
    z : array_like, real
    diff_n : int
        Number of derivatives.

    Returns
    -------
    Tensor
        The polynomial and its derivatives along an axis at the front, as in SciPy.
    """
    n, _, diff_n = _whole("legendre_p", n, 0, diff_n)
    return _with_slopes(lambda z: eval_legendre(n, z), reals("legendre_p", z)[0], diff_n)


def assoc_legendre_p(n: int, m: int, z: Any, *, branch_cut: int = 2, norm: bool = False, diff_n: int = 0) -> Any:
    """Associated Legendre function of the first kind, of whole degree and order, on [-1, 1]; NaN beyond if m is not 0.

    Parameters
    ----------
    n, m : int
    z : array_like, real
    branch_cut : int
        2; the function on the other cut is refused.
    norm : bool
        Whether its square has the integral 1.
    diff_n : int
        Number of derivatives.

    Returns
    -------
    Tensor
        The function and its derivatives along an axis at the front, as in SciPy.
    """
    n, m, diff_n = _whole("assoc_legendre_p", n, m, diff_n)
    if branch_cut != 2:
        raise NotImplementedError("assoc_legendre_p: branch_cut=3, for |z| > 1, is not there; take SciPy's of z.detach()")
    order = abs(m)

    def function(z: Any) -> Any:
        if order > n:
            return ops.zeros_like(z)
        if not order:
            return eval_legendre(n, z) * (math.sqrt((2 * n + 1) / 2) if norm else 1.0)
        inside = (z >= -1) & (z <= 1)
        x = where(inside, z, 0.0)
        power = (1 - x * x) ** (order // 2) * (sqrt(1 - x * x) if order % 2 else 1.0)
        factor = (-1) ** order * math.prod(range(1, 2 * order, 2))  # 14.7.10, 18.9.19
        if m < 0:
            factor *= (-1) ** order * math.factorial(n - order) / math.factorial(n + order)
        if norm:
            factor *= math.sqrt((2 * n + 1) / 2 * math.factorial(n - m) / math.factorial(n + m))
        return where(inside, factor * power * eval_gegenbauer(n - order, order + 0.5, x), math.nan)

    return _with_slopes(function, reals("assoc_legendre_p", z)[0], diff_n)


def _sph_legendre(n: int, m: int, theta: Any) -> Any:
    """The harmonic at azimuth 0, from the order itself upward."""
    k = abs(m)
    if k > n:
        return ops.zeros_like(theta)
    s, c = sin(theta), cos(theta)
    s = where(s < 0, -s, s)  # as SciPy, below 0 and beyond pi
    y = math.sqrt(math.prod((2 * j + 1) / (2 * j) for j in range(1, k + 1)) / (4 * math.pi)) * (-s) ** k
    before: Any = 0.0
    for degree in range(k + 1, n + 1):
        a = math.sqrt((4 * degree**2 - 1) / (degree**2 - k**2))
        b = math.sqrt(((degree - 1) ** 2 - k**2) / (4 * (degree - 1) ** 2 - 1)) if degree > k + 1 else 0.0
        before, y = y, a * (c * y - b * before)
    return (-1) ** k * y if m < 0 else y


def sph_legendre_p(n: int, m: int, theta: Any, *, diff_n: int = 0) -> Any:
    """Spherical harmonic of the degree n and the order m at azimuth 0, with derivatives by the polar angle.

    Parameters
    ----------
    n, m : int
    theta : array_like, real
    diff_n : int
        Number of derivatives.

    Returns
    -------
    Tensor
        The function and its derivatives along an axis at the front, as in SciPy.
    """
    n, m, diff_n = _whole("sph_legendre_p", n, m, diff_n)
    return _with_slopes(lambda theta: _sph_legendre(n, m, theta), reals("sph_legendre_p", theta)[0], diff_n)


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
    n, m, _ = _whole("sph_harm_y", n, m)
    theta, phi = reals("sph_harm_y", theta, phi)
    y = _sph_legendre(n, m, theta)
    return ops.complex(y * cos(m * phi), y * sin(m * phi))


def _all(name: str, function: Callable[..., Any], orders: bool, axis: int, doc: str) -> Any:
    """That function for all degrees to n, and all orders to m and -m, as SciPy orders them."""

    def of_all(n: int, *arguments: Any, **keywords: Any) -> Any:
        n, m, _ = _whole(name, n, arguments[0] if orders else 0)
        if not orders:
            return ops.stack([function(i, *arguments, **keywords) for i in range(n + 1)], axis)
        columns = [*range(m + 1), *range(-m, 0)]
        rows = [ops.stack([function(i, j, *arguments[1:], **keywords) for j in columns], axis) for i in range(n + 1)]
        return ops.stack(rows, axis)

    of_all.__name__ = of_all.__qualname__ = name
    of_all.__doc__ = f"""{doc}

    Parameters
    ----------
    n : int
        The highest degree, not negative.
    *arguments, **keywords
        {"The highest order; then the" if orders else "The"} arguments of `{function.__name__}` after {"its order" if orders else "its degree"}.

    Returns
    -------
    Tensor
        {"The degrees and the orders, 0 to m and then -m to -1, are along two axes." if orders else "The degrees are along an axis."}
    """
    return of_all


legendre_p_all = _all("legendre_p_all", legendre_p, False, 1, "legendre_p of all degrees to n.")
assoc_legendre_p_all = _all("assoc_legendre_p_all", assoc_legendre_p, True, 1, "assoc_legendre_p of all degrees and orders.")
sph_legendre_p_all = _all("sph_legendre_p_all", sph_legendre_p, True, 1, "sph_legendre_p of all degrees and orders.")
sph_harm_y_all = _all("sph_harm_y_all", sph_harm_y, True, 0, "sph_harm_y of all degrees and orders.")
_lpmv = smooth("lpmv", None, None,
               lambda y, m, v, x: ((v + 1) * x * y + (m - v - 1) * _lpmv(m, v + 1, x)) / (1 - x * x))  # fmt: skip (14.10.5)
lpmv = named("lpmv", "m v x", "Associated Legendre function of whole order m and real degree v; no derivative in v.", _lpmv)
__all__ = [
    "assoc_legendre_p", "assoc_legendre_p_all", "legendre_p", "legendre_p_all", "lpmv", "sph_harm_y", "sph_harm_y_all",
    "sph_legendre_p", "sph_legendre_p_all",
]  # fmt: skip
