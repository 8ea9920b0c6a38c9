"""Functions of scipy.special composed of operators: transformations, distribution functions, their inverses, Bessel functions.

Defines these formulas; derivatives follow.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ...func import custom_jvp
from ...generated.ops import abs, cos, exp, expm1, floor, log, log1p, sqrt, where, xlogy
from ...special import betainc, betaln, exprel, gamma, gammainc, gammaincc, gammaincinv, gammaln, iv, jv, kv, stdtr, yv, zeta
from ...special import spherical_jn as _jn
from ...special import spherical_yn as _yn
from ...support.dispatch import ops
from ..difference_quotients import log1p_ratio
from ..values import elementwise, implicit, named, reals, refused, smooth
from .scaled import hankel1, hankel2


def _huber(delta: Any, r: Any) -> Any:
    near = abs(r) <= delta
    return where(delta < 0, math.inf, where(near, r * r / 2, delta * (abs(r) - delta / 2)))


def _pseudo_huber(delta: Any, r: Any) -> Any:
    zero = delta == 0
    ratio = r / where(zero, 1.0, delta)
    return where(delta < 0, math.inf, where(zero, 0.0, r * r / (sqrt(1 + ratio * ratio) + 1)))


huber = named("huber", "delta r", "Huber's loss; inf where delta is negative.", _huber)
pseudo_huber = named("pseudo_huber", "delta r", "A smooth form of Huber's loss.", _pseudo_huber)


def _boxcox(x: Any, p: Any) -> Any:
    """The value at 0 is -1 / lmbda: the power is 0 and its logarithm infinite."""
    ended = (x == 0) & (p > 0)
    size = log(where(ended, 1.0, x))
    return where(ended, x ** where(ended, p, 1.0) / where(ended, p, 1.0) - 1 / where(ended, p, 1.0), size * exprel(p * size))


boxcox = named(
    "boxcox", "x lmbda", "Box-Cox transformation, (x**lmbda - 1) / lmbda, and log(x) at 0.",
    _boxcox
)  # fmt: skip
boxcox1p = named(
    "boxcox1p", "x lmbda", "Box-Cox transformation of 1 + x.",
    lambda x, p: where(x == -1, _boxcox(1 + x, p), (size := log1p(where(x == -1, 0.0, x))) * exprel(p * size)),
)  # fmt: skip
inv_boxcox = named("inv_boxcox", "y lmbda", "Inverse of boxcox.", lambda y, p: exp(y * log1p_ratio(p * y)))
inv_boxcox1p = named("inv_boxcox1p", "y lmbda", "Inverse of boxcox1p.", lambda y, p: expm1(y * log1p_ratio(p * y)))


_TERMS = 30
_whole = [math.factorial(_TERMS + i - 1) * 4**i // (math.factorial(_TERMS - i) * math.factorial(2 * i))
          for i in range(_TERMS + 1)]  # fmt: skip
_SHARES = [(-1) ** k * (1 - sum(_whole[: k + 1]) / sum(_whole)) for k in range(_TERMS)]


def _zetac(x: Any) -> Any:
    """Around 0 by Borwein's sum for the alternating series, whose terms do not grow; below by the reflection."""
    above, below = x > 1, x < -1
    s = where(above | below, 0.5, x)
    logs, shares = (np.asarray(row, s.dtype) for row in (np.log(np.arange(1.0, _TERMS + 1)), _SHARES))
    terms = exp(-ops.expand_dims(s, -1) * logs) * shares
    middle = -ops.sum(terms, -1) / expm1((1 - s) * math.log(2)) - 1
    t = where(below, 1 - x, 3.0)
    reflected = 2 * (2 * math.pi) ** -t * cos(math.pi / 2 * t) * gamma(t) * zeta(t, 1.0) - 1
    return where(above, zeta(where(above, x, 2.0), 2.0), where(below, reflected, where(x == 1, math.inf, middle)))


zetac = named("zetac", "x", "Riemann's zeta function less 1.", _zetac)
factorial = named(
    "factorial", "n", "n!, of real numbers gamma(n + 1).", lambda n: where(n < 0, 0.0, gamma(where(n < 0, 1.0, n + 1)))
)  # fmt: skip


def comb(N: Any, k: Any) -> Any:
    """Binomial coefficient; 0 where k is above N or below 0.

    Parameters
    ----------
    N, k : array_like, real

    Returns
    -------
    Tensor
    """
    N, k = reals("comb", N, k)
    inside = (k >= 0) & (k <= N)
    n, j = where(inside, N, 1.0), where(inside, k, 0.0)
    return where(inside, exp(-betaln(1 + n - j, 1 + j) - log1p(n)), 0.0)


def perm(N: Any, k: Any) -> Any:
    """N! / (N - k)!; 0 where k is above N or below 0.

    Parameters
    ----------
    N, k : array_like, real
        How many things there are, and how many of them are chosen.

    Returns
    -------
    Tensor
    """
    N, k = reals("perm", N, k)
    inside = (k >= 0) & (k <= N)
    n, j = where(inside, N, 1.0), where(inside, k, 0.0)
    return where(inside, exp(gammaln(n + 1) - gammaln(n - j + 1)), 0.0)


# Incomplete beta and gamma functions: complements and inverses.
betaincc = named("betaincc", "a b x", "One less the regularised incomplete beta function.", lambda a, b, x: betainc(b, a, 1 - x))


def _inverse(name: str, condition: Any, slope: Any) -> Any:
    """The inverse of a distribution function in its last argument, whose value is SciPy's."""
    values = smooth(name)
    solution = implicit(lambda target, *parameters: values(*parameters, target), condition, slope)
    return lambda *arguments: solution(arguments[-1], *arguments[:-1])


def _beta_density(x: Any, a: Any, b: Any) -> Any:
    return exp(xlogy(a - 1, x) + (b - 1) * log1p(-x) - betaln(a, b))


def _gamma_density(x: Any, a: Any) -> Any:
    return exp(xlogy(a - 1, x) - x - gammaln(a))


def _student_density(t: Any, df: Any) -> Any:
    return exp(-betaln(0.5 + 0 * df, df / 2) - log(df) / 2 - (df + 1) / 2 * log1p(t * t / df))


_gammainccinv = _inverse("gammainccinv", lambda x, a: gammaincc(a, x), lambda x, a: -_gamma_density(x, a))
_beta_inverse = _inverse("betainccinv", lambda x, a, b: betainc(b, a, 1 - x), lambda x, a, b: -_beta_density(x, a, b))
betaincinv = named("betaincinv", "a b y", "Inverse of betainc in its last argument.",
                   _inverse("betaincinv", lambda x, a, b: betainc(a, b, x), _beta_density))  # fmt: skip
betainccinv = named("betainccinv", "a b y", "Inverse of betaincc in its last argument.",
                    _beta_inverse)  # fmt: skip
gammainccinv = named("gammainccinv", "a y", "Inverse of gammaincc in its last argument.", _gammainccinv)
stdtrit = named(
    "stdtrit", "df p", "Inverse of stdtr in its last argument.", _inverse("stdtrit", lambda t, df: stdtr(df, t), _student_density)
)  # fmt: skip

# Distribution functions under the names of Cephes.
chdtr = named("chdtr", "v x", "Chi-squared distribution function.", lambda v, x: gammainc(v / 2, x / 2))
chdtrc = named("chdtrc", "v x", "One less chdtr.", lambda v, x: gammaincc(v / 2, x / 2))
chdtri = named("chdtri", "v p", "Inverse of chdtrc in its last argument.", lambda v, p: 2 * _gammainccinv(v / 2, p))
gdtr = named("gdtr", "a b x", "Gamma distribution function of the rate a and the shape b.", lambda a, b, x: gammainc(b, a * x))
gdtrc = named("gdtrc", "a b x", "One less gdtr.", lambda a, b, x: gammaincc(b, a * x))
gdtrix = named("gdtrix", "a b p", "Inverse of gdtr in its last argument.", lambda a, b, p: gammaincinv(b, p) / a)
fdtr = named("fdtr", "dfn dfd x", "F distribution function.", lambda m, n, x: betainc(m / 2, n / 2, m * x / (n + m * x)))
fdtrc = named("fdtrc", "dfn dfd x", "One less fdtr.", lambda m, n, x: betainc(n / 2, m / 2, n / (n + m * x)))


def _fdtri(m: Any, n: Any, p: Any) -> Any:
    """By the inverse for 1 / (1 + m x / n), which keeps its digits for large x."""
    w = _beta_inverse(n / 2, m / 2, p)
    return n * (1 - w) / (m * w)


fdtri = named("fdtri", "dfn dfd p", "Inverse of fdtr in its last argument.", _fdtri)


def _of_counts(name: str, arguments: str, doc: str, function: Any) -> Any:
    """A function whose first argument is a count, without a derivative in it."""
    words = f"scipy.special.{name} has no derivative in k, which is a whole number; pass k.detach()"
    return named(name, arguments, doc, lambda k, *rest: function(refused(floor(k), (k,), words), *rest))


pdtr = _of_counts("pdtr", "k m", "Poisson distribution function.", lambda k, m: gammaincc(k + 1, m))
pdtrc = _of_counts("pdtrc", "k m", "One less pdtr.", lambda k, m: gammainc(k + 1, m))
bdtr = _of_counts("bdtr", "k n p", "Binomial distribution function.", lambda k, n, p: betainc(n - k, k + 1, 1 - p))
bdtrc = _of_counts("bdtrc", "k n p", "One less bdtr.", lambda k, n, p: betainc(k + 1, n - k, p))
nbdtr = _of_counts("nbdtr", "k n p", "Negative binomial distribution function.", lambda k, n, p: betainc(n, k + 1, p))
nbdtrc = _of_counts("nbdtrc", "k n p", "One less nbdtr.", lambda k, n, p: betainc(k + 1, n, 1 - p))
bdtri = _of_counts("bdtri", "k n y", "Inverse of bdtr in p.", lambda k, n, y: betainccinv(k + 1, n - k, y))
nbdtri = _of_counts("nbdtri", "k n y", "Inverse of nbdtr in p.", lambda k, n, y: betaincinv(n, k + 1, y))
pdtri = _of_counts("pdtri", "k y", "Inverse of pdtr in m.", lambda k, y: _gammainccinv(k + 1, y))


def _kolmogorov(y: Any, upper: bool = True) -> Any:
    """Either of two series that Jacobi's identity relates, in the range where it converges fast; `upper` for the complement."""
    far = y > 0.8
    high, low = where(far, y, 1.0), where(far | (y <= 0.02), 0.5, y)
    right: Any = 0.0
    left: Any = 0.0
    for k in range(1, 8):
        right = right + 2 * (-1) ** (k - 1) * exp(-2 * k * k * high * high)
        left = left + exp(-((2 * k - 1) ** 2) * math.pi**2 / (8 * low * low))
    lower = where(y <= 0.02, 0.0, math.sqrt(2 * math.pi) / low * left)
    return where(far, right, 1 - lower) if upper else where(far, 1 - right, lower)


kolmogorov = named("kolmogorov", "y", "Complement of Kolmogorov's distribution function.", _kolmogorov)
kolmogorov_lower = named("kolmogorov_lower", "y", "Kolmogorov's distribution function.", lambda y: _kolmogorov(y, False))


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
    derivative.__doc__ = f"""Derivative n in z of {function.__name__}(v, z).

    Parameters
    ----------
    v : float
        Order of the function.
    z : array_like
    n : int
        Order of the derivative; a negative one is refused.

    Returns
    -------
    Tensor
    """
    return derivative


jvp, yvp = _slopes("jvp", jv, -1, 1), _slopes("yvp", yv, -1, 1)
h1vp, h2vp = _slopes("h1vp", hankel1, -1, 1), _slopes("h2vp", hankel2, -1, 1)
ivp, kvp = _slopes("ivp", iv, 1, 1), _slopes("kvp", kv, 1, -1)


def _spherical(name: str, function: Any, slope: Any) -> Any:
    def spherical(n: int, z: Any, derivative: bool = False) -> Any:
        (z,) = reals(name, z)
        return slope(n, z) if derivative else function(n, z)

    spherical.__name__ = spherical.__qualname__ = name
    spherical.__doc__ = f"""Spherical Bessel function {name[-2:]} of the order n, or its derivative in z.

    Parameters
    ----------
    n : int
        Order of the function.
    z : array_like, real
    derivative : bool
        Whether the result is the derivative.

    Returns
    -------
    Tensor
    """
    return spherical



def _modified(name: str, sign: int) -> Any:
    """A modified spherical Bessel function of one whole order."""

    def function(n: int, z: Any) -> Any:
        def of_arrays(z: Any) -> Any:
            import scipy.special

            return getattr(scipy.special, name)(n, z)

        values = elementwise(of_arrays)
        of_order = custom_jvp(lambda z: values(z))
        of_order.defjvp(lambda primals, tangents: (of_order(*primals), slope(n, *primals) * tangents[0]))
        return of_order(z)

    def slope(n: int, z: Any) -> Any:
        if n == 0:
            return sign * function(1, z)
        return sign * (n * function(n - 1, z) + (n + 1) * function(n + 1, z)) / (2 * n + 1)

    return _spherical(name, function, slope)


def _unmodified_slope(function: Any) -> Any:
    return lambda n, z: (n * function(n - 1, z) - (n + 1) * function(n + 1, z)) / (2 * n + 1) if n else -function(1, z)


spherical_jn = _spherical("spherical_jn", _jn, _unmodified_slope(_jn))
spherical_yn = _spherical("spherical_yn", _yn, _unmodified_slope(_yn))
spherical_in, spherical_kn = _modified("spherical_in", 1), _modified("spherical_kn", -1)


# Others.
radian = named("radian", "d m s", "Degrees, minutes and seconds in radians.", lambda d, m, s: (d + m / 60 + s / 3600) * (math.pi / 180))


def diric(x: Any, n: int) -> Any:
    """Dirichlet's kernel, sin(n x / 2) / (n sin(x / 2)), by its sum of cosines.

    Parameters
    ----------
    x : array_like, real
    n : int

    Returns
    -------
    Tensor
    """
    (x,), n = reals("diric", x), operator.index(n)
    if n < 1:
        return ops.full_like(x, math.nan)
    total = sum((cos(k * x) for k in (np.arange(n % 2 + 1, n, 2) / 2).tolist()), 0 * x) * 2
    return (total + n % 2) / n


def _tklmbda(x: Any, lmbda: Any) -> Any:
    """The slopes are 0 beyond the ends of the support; the equation is x = boxcox(p, lmbda) - boxcox(1 - p, lmbda)."""
    ended = (lmbda > 0) & (abs(x) * lmbda >= 1)
    found = _tukey(where(ended, 0.0, x), lmbda)
    return where(ended & (x > 0), 1.0, where(ended, 0.0, found))


_tukey = implicit(smooth("tklmbda"), lambda p, lmbda: _boxcox(p, lmbda) - _boxcox(1 - p, lmbda),
                  lambda p, lmbda: p ** (lmbda - 1) + (1 - p) ** (lmbda - 1))  # fmt: skip
tklmbda = named("tklmbda", "x lmbda", "Tukey's lambda distribution function.", _tklmbda)


__all__ = [
    "bdtr", "bdtrc", "bdtri", "betaincc", "betainccinv", "betaincinv", "boxcox", "boxcox1p", "chdtr", "chdtrc", "chdtri", "comb", "diric",
    "factorial", "fdtr", "fdtrc", "fdtri", "gammainccinv", "gdtr", "gdtrc", "gdtrix", "h1vp", "h2vp", "huber", "inv_boxcox",
    "inv_boxcox1p", "ivp", "jvp", "kolmogorov", "kvp", "nbdtr", "nbdtrc", "nbdtri", "pdtr", "pdtrc", "pdtri", "perm", "pseudo_huber",
    "spherical_in", "spherical_jn", "spherical_kn", "spherical_yn", "radian", "stdtrit", "tklmbda", "yvp", "zetac",
]  # fmt: skip
