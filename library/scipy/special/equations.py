"""Functions of scipy.special by their differential equations, and integrals by their integrands.

Defines the derivatives in the last argument; those in orders and parameters are refused, but in `q` of Mathieu's characteristic
values.  The values are SciPy's.

References
----------
NIST Digital Library of Mathematical Functions, chapters 6, 7, 9 to 12, 14, 28 and 30; 10.46 for Wright's function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...generated.ops import abs, cos, cosh, exp, sin, sinh, sqrt, where
from ...linalg import eigh
from ...special import i0, j0, jv, k0, y0, yv
from ...support.dispatch import ops
from ..values import named, smooth
from .parameters import modstruve, struve

_PER_DEGREE = math.pi / 180


def several(name: str, arguments: str, doc: str, *slopes: Callable[..., Any], real: bool = True, dtype: Any = None) -> Any:
    """A function with several results, and the derivative of each in the last argument, a function of the value and the arguments."""
    constants = (None,) * (len(arguments.split()) - 1)
    parts = [smooth(name, *constants, slope, dtype=dtype, part=place) for place, slope in enumerate(slopes)]
    _PARTS[name] = parts
    return named(name, arguments, doc, lambda *given: tuple(part(*given) for part in parts), real)


_PARTS: dict[str, list[Any]] = {}


def _one(name: str, arguments: str, doc: str, slope: Any, real: bool = True) -> Any:
    constants = (None,) * (len(arguments.split()) - 1)
    return named(name, arguments, doc, smooth(name, *constants, slope), real)


# Airy's functions and integrals.
def _airy(place: int) -> Callable[..., Any]:
    return lambda y, z: _PARTS["airy"][place + 1](z) if place % 2 == 0 else z * _PARTS["airy"][place - 1](z)


airy = several("airy", "z", "Airy's functions and their derivatives: Ai, Ai', Bi, Bi'.", *map(_airy, range(4)), real=False)


def _root(z: Any) -> Any:
    """The slope of the exponent of Bi; Bi is not scaled below 0."""
    return where(z > 0, sqrt(where(z > 0, z, 1.0)), 0.0)


def _airye(place: int) -> Callable[..., Any]:
    growth = sqrt if place < 2 else lambda z: -_root(z)
    parts = lambda z: _PARTS["airye"][place + 1](z) if place % 2 == 0 else z * _PARTS["airye"][place - 1](z)  # noqa: E731
    return lambda y, z: parts(z) + growth(z) * y


airye = several(
    "airye", "z", "Airy's functions and their derivatives, Ai and Ai' times exp(2/3 z**1.5), Bi and Bi' times its inverse; the "
    "first two are NaN below 0, where the others are not scaled.", *map(_airye, range(4))
)  # fmt: skip


def _near(x: Any, reach: float, inside: Any, outside: Any) -> Any:
    """A formula around 0, and elsewhere a formula that is singular at 0."""
    near = abs(x) < reach
    return where(near, inside(where(near, x, 0.0)), outside(where(near, 1.0, x)))


def _series(x: Any, coefficients: list[float]) -> Any:
    total: Any = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total


def _less_one(sign: int, function: Any) -> Callable[..., Any]:
    """(I0(x) - 1) / x, or that of J0 with the sign -1 as (1 - J0(x)) / x."""
    coefficients = [sign**k / (4 * math.factorial(k + 1) ** 2) for k in range(14)]
    return lambda y, x: _near(x, 2.0, lambda x: x * _series(x * x / 4, coefficients), lambda x: sign * (function(x) - 1) / x)


def _sinhc(x: Any, sign: int = 1) -> Any:
    """sinh(x) / x, 1 at 0; sin(x) / x with the sign -1."""
    coefficients = [sign**k / math.factorial(2 * k + 1) for k in range(12)]
    return _near(x, 0.5, lambda x: _series(x * x, coefficients), lambda x: (sinh if sign > 0 else sin)(x) / x)


sici = several("sici", "x", "Sine and cosine integral.", lambda y, x: _sinhc(x, -1), lambda y, x: cos(x) / x, real=False)
shichi = several("shichi", "x", "Hyperbolic sine and cosine integral.", lambda y, x: _sinhc(x), lambda y, x: cosh(x) / x, real=False)
fresnel = several("fresnel", "x", "Fresnel's integrals S and C.", lambda y, x: sin(math.pi / 2 * x * x),
                  lambda y, x: cos(math.pi / 2 * x * x), real=False)  # fmt: skip
itairy = several("itairy", "x", "Integrals from 0 to x of Ai(t), Bi(t), Ai(-t) and Bi(-t).", lambda y, x: _PARTS["airy"][0](x),
                 lambda y, x: _PARTS["airy"][2](x), lambda y, x: _PARTS["airy"][0](-x), lambda y, x: _PARTS["airy"][2](-x))  # fmt: skip
iti0k0 = several("iti0k0", "x", "Integrals from 0 to x of i0 and k0.", lambda y, x: i0(x), lambda y, x: k0(x))
itj0y0 = several("itj0y0", "x", "Integrals from 0 to x of j0 and y0.", lambda y, x: j0(x), lambda y, x: y0(x))
it2i0k0 = several("it2i0k0", "x", "Integral from 0 to x of (i0(t) - 1) / t, and from x to infinity of k0(t) / t.",
                  _less_one(1, i0), lambda y, x: -k0(x) / x)  # fmt: skip
it2j0y0 = several("it2j0y0", "x", "Integral from 0 to x of (1 - j0(t)) / t, and from x to infinity of y0(t) / t.",
                  _less_one(-1, j0), lambda y, x: -y0(x) / x)  # fmt: skip
itstruve0 = _one("itstruve0", "x", "Integral from 0 to x of struve(0, t).", lambda y, x: struve(0.0, x))
itmodstruve0 = _one("itmodstruve0", "x", "Integral from 0 to x of modstruve(0, t).", lambda y, x: modstruve(0.0, x))
it2struve0 = _one("it2struve0", "x", "Integral from x to infinity of struve(0, t) / t.", lambda y, x: -struve(0.0, x) / x)


def _modified_fresnel(name: str, sign: int) -> Any:
    """SciPy's values below 0 are wrong; there the function is a constant less itself (7.2.6)."""
    kind, turn, whole = "-+"[sign > 0], sign * 1j, complex(np.exp(sign * 0.25j * math.pi)) * math.sqrt(math.pi)
    integral = smooth(name, lambda y, x: -exp(turn * x * x), dtype=np.complex64, part=0)
    scaled = smooth(name, lambda y, x: -2 * turn * x * y - 1 / whole, dtype=np.complex64, part=1)

    def function(x: Any) -> Any:
        below, size = x < 0, where(x < 0, -x, x)
        f, k = integral(size), scaled(size)
        return where(below, whole - f, f), where(below, exp(-turn * x * x) - k, k)

    return named(name, "x", f"Modified Fresnel integrals F{kind} and K{kind}.", function)


modfresnelp, modfresnelm = _modified_fresnel("modfresnelp", 1), _modified_fresnel("modfresnelm", -1)

# Bessel functions.
jve = named("jve", "v z", "Bessel function of the first kind; its scaling is 1 for real numbers, others are refused.", jv)
yve = named("yve", "v z", "Bessel function of the second kind; its scaling is 1 for real numbers, others are refused.", yv)


def _by_width(y: Any, a: Any, lmb: Any, nu: Any) -> Any:
    zero = nu == 0
    below = _besselpoly(a, lmb + 1, where(zero, 1.0, nu - 1))
    return where(zero, -1.0, 1.0) * below - _besselpoly(a, lmb + 1, nu + 1)


_besselpoly = smooth("besselpoly", _by_width, None, None)
besselpoly = named("besselpoly", "a lmb nu", "Integral from 0 to 1 of x**lmb * jv(nu, 2 a x).", _besselpoly)
_wright = smooth("wright_bessel", None, None, lambda y, a, b, x: _wright(a, a + b, x))
_log_wright = smooth("log_wright_bessel", None, None, lambda y, a, b, x: exp(_log_wright(a, a + b, x) - y))
wright_bessel = named("wright_bessel", "a b x", "Wright's generalised Bessel function; NaN for a or b that SciPy does not offer.", _wright)
log_wright_bessel = named("log_wright_bessel", "a b x", "Logarithm of wright_bessel.", _log_wright)

# Kelvin's functions, by x**2 w'' + x w' = i x**2 w (10.61.3) for w = ber + i bei and ker + i kei.
def _kelvin(kind: str) -> dict[str, Any]:
    real, imag, real_slope, imag_slope = (smooth(f"{kind}{part}", lambda y, x, place=place: slopes[place](x))
                                          for place, part in enumerate(("er", "ei", "erp", "eip")))  # fmt: skip
    by_x = lambda slope: lambda x: slope(x) / x  # noqa: E731
    real_by_x, imag_by_x = by_x(real_slope), by_x(imag_slope)
    if kind == "b":  # 10.65.1 around 0
        at_zero = ([(-1) ** k * k / math.factorial(2 * k) ** 2 for k in range(1, 8)],
                   [(-1) ** k * (2 * k + 1) / 2 / math.factorial(2 * k + 1) ** 2 for k in range(8)])  # fmt: skip
        real_by_x = lambda x: _near(x, 1.0, lambda x: x * x / 4 * _series((x / 2) ** 4, at_zero[0]), by_x(real_slope))  # noqa: E731
        imag_by_x = lambda x: _near(x, 1.0, lambda x: _series((x / 2) ** 4, at_zero[1]), by_x(imag_slope))  # noqa: E731
    slopes = (real_slope, imag_slope, lambda x: -real_by_x(x) - imag(x), lambda x: real(x) - imag_by_x(x))
    return {f"{kind}er": real, f"{kind}ei": imag, f"{kind}erp": real_slope, f"{kind}eip": imag_slope}


_KELVIN = {**_kelvin("b"), **_kelvin("k")}
ber, bei, berp, beip, ker, kei, kerp, keip = (
    named(name, "x", f"Kelvin's function {name[:3]}{', its derivative' if name[3:] else ''}.", function)
    for name, function in _KELVIN.items()
)
kelvin = named("kelvin", "x", "ber + i bei, ker + i kei and their derivatives.", lambda x: tuple(
    ops.complex(_KELVIN[f"{kind}er{p}"](x), _KELVIN[f"{kind}ei{p}"](x)) for p in ("", "p") for kind in "bk"))  # fmt: skip


# Solutions of equations of second order: the function and its derivative.
def _solution(name: str, arguments: str, doc: str, curve: Callable[..., Any], unit: float = 1.0, least: float = -math.inf) -> Any:
    """`curve` gives the second derivative by the function, its slope and the arguments; `unit` is the unit of the last argument.

    Below `least` SciPy's values contradict each other, and slopes are NaN.
    """

    def held(slope: Any, x: Any) -> Any:
        return unit * (slope if least == -math.inf else where(x < least, math.nan, slope))

    return several(name, arguments, doc, lambda y, *given: held(_PARTS[name][1](*given), given[-1]),
                   lambda y, *given: held(curve(_PARTS[name][0](*given), y, *given), given[-1]))  # fmt: skip


pbdv = _solution("pbdv", "v x", "Parabolic cylinder function D and its derivative.", lambda w, s, v, x: (x * x / 4 - v - 0.5) * w)
pbvv = _solution("pbvv", "v x", "Parabolic cylinder function V and its derivative.", lambda w, s, v, x: (x * x / 4 - v - 0.5) * w)
pbwa = _solution("pbwa", "a x", "Parabolic cylinder function W and its derivative.", lambda w, s, a, x: (a - x * x / 4) * w)


def _characteristic(name: str) -> Any:
    """Mathieu's characteristic value, whose derivative is the quadratic form of its eigenvector (28.4.5 to 28.4.8)."""
    odd_function = name == "mathieu_b"

    def slope(y: Any, m: Any, q: Any) -> Any:
        odd = m % 2
        first = where(odd == 1, 1.0, 2.0 if odd_function else 0.0)
        size = 40 + int(np.max(m.detach().numpy(), initial=0)) // 2
        steps = np.arange(0, 2 * size, 2.0)
        diagonal = (first[..., None] + steps)[..., None] ** 2 * np.eye(size)
        beside = np.eye(size, k=1) + np.eye(size, k=-1)
        corner = np.zeros((size, size))
        corner[0, 0] = -1.0 if odd_function else 1.0
        edge = np.zeros((size, size))
        edge[0, 1] = edge[1, 0] = 0.0 if odd_function else math.sqrt(2) - 1
        by_q = where((odd == 1)[..., None, None], beside + corner, beside + edge)
        values, vectors = eigh(diagonal + q[..., None, None] * by_q)
        place = ops.astype(where(odd == 1, (m - 1) / 2, m / 2 - odd_function), np.int64)
        chosen = (np.arange(size) == place[..., None]) * 1.0
        vector = ops.sum(vectors * chosen[..., None, :], -1)
        found = ops.sum(vector[..., None, :] * by_q * vector[..., :, None], (-2, -1))
        right = abs(ops.sum(values * chosen, -1) - y) < 1e-6 * (1 + abs(y))
        return where(right, found, math.nan)

    return smooth(name, None, slope)


_MATHIEU = {name: _characteristic(name) for name in ("mathieu_a", "mathieu_b")}
mathieu_a = named("mathieu_a", "m q", "Characteristic value of Mathieu's even functions.", _MATHIEU["mathieu_a"])
mathieu_b = named("mathieu_b", "m q", "Characteristic value of Mathieu's odd functions.", _MATHIEU["mathieu_b"])


def _mathieu(name: str, doc: str, modified: bool) -> Any:
    value = _MATHIEU["mathieu_b" if "se" in name else "mathieu_a"]
    if modified:
        curve = lambda w, s, m, q, x: (value(m, q) - 2 * q * cosh(2 * x)) * w  # noqa: E731
        return _solution(name, "m q x", doc, curve, least=0.0 if name.endswith("2") else -math.inf)
    curve = lambda w, s, m, q, x: (2 * q * cos(2 * _PER_DEGREE * x) - value(m, q)) * w  # noqa: E731
    return _solution(name, "m q x", doc, curve, _PER_DEGREE)


mathieu_cem, mathieu_sem = (
    _mathieu(name, f"Mathieu's {kind} function of x degrees, and its derivative by the angle in radians.", False)
    for name, kind in (("mathieu_cem", "even"), ("mathieu_sem", "odd"))
)
mathieu_modcem1, mathieu_modcem2, mathieu_modsem1, mathieu_modsem2 = (
    _mathieu(f"mathieu_mod{kind}m{i}", f"Mathieu's modified {word} function {i} and its derivative.", True)
    for kind, word in (("ce", "even"), ("se", "odd")) for i in (1, 2)
)  # fmt: skip


# Spheroidal wave functions (30.2.1 in SciPy's convention for the characteristic value).
def _spheroidal(kind: str, which: str, given: bool) -> Any:
    prolate, angular = kind == "pro", which == "ang1"
    value = smooth(f"{kind}_cv", None, None, None)

    def curve(w: Any, s: Any, m: Any, n: Any, c: Any, *rest: Any) -> Any:
        x, cv = rest[-1], value(m, n, c)
        if given:  # the function solves the equation only if cv is its own
            cv = where(abs(rest[0] - cv) <= 1e-6 * (1 + abs(cv)), rest[0], math.nan)
        c2 = c * c if prolate else -c * c
        if angular:
            return (2 * x * s - (cv - c2 * x * x - m * m / (1 - x * x)) * w) / (1 - x * x)
        sign = -1.0 if prolate else 1.0
        return ((cv - c * c * x * x - sign * m * m / (x * x + sign)) * w - 2 * x * s) / (x * x + sign)

    name = f"{kind}_{which}{'_cv' if given else ''}"
    words = f"{'Prolate' if prolate else 'Oblate'} spheroidal {'angular' if angular else 'radial'} function and its derivative"
    return _solution(name, "m n c cv x" if given else "m n c x", f"{words}{', with its characteristic value' if given else ''}.", curve)


(pro_ang1, pro_ang1_cv, pro_rad1, pro_rad1_cv, obl_ang1, obl_ang1_cv, obl_rad1, obl_rad1_cv) = (
    _spheroidal(kind, which, given) for kind in ("pro", "obl") for which in ("ang1", "rad1") for given in (False, True)
)

__all__ = [
    "airy", "airye", "bei", "beip", "ber", "berp", "besselpoly", "fresnel", "it2i0k0", "it2j0y0", "it2struve0", "itairy", "iti0k0",
    "itj0y0", "itmodstruve0", "itstruve0", "jve", "kei", "keip", "kelvin", "ker", "kerp", "log_wright_bessel", "mathieu_a",
    "mathieu_b", "mathieu_cem", "mathieu_modcem1", "mathieu_modcem2", "mathieu_modsem1", "mathieu_modsem2", "mathieu_sem",
    "modfresnelm", "modfresnelp", "obl_ang1", "obl_ang1_cv", "obl_rad1", "obl_rad1_cv", "pbdv", "pbvv", "pbwa", "pro_ang1",
    "pro_ang1_cv", "pro_rad1", "pro_rad1_cv", "shichi", "sici", "wright_bessel", "yve",
]  # fmt: skip
