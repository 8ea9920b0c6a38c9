"""Elliptic integrals, Legendre's and Carlson's, and Jacobi's functions, with derivatives in every argument.

Computes Carlson's integral for any powers.  All its derivatives are values of it, because its integrand's derivatives have the
same form.

References
----------
NIST Digital Library of Mathematical Functions, chapter 19.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...func import custom_jvp, stop_gradient
from ...generated.ops import cos, round, sin, sqrt, square
from ...support.dispatch import ops
from ..values import elementwise, is_zero, named, reals, smooth, with_slopes

STEP = 0.3  # of the trapezoidal rule in log(t): its error is exp(-2 pi**2 / STEP), below 1e-28


def _integral(power: int, exponents: tuple[float, ...], arrays: tuple[np.ndarray, ...]) -> np.ndarray:
    """Integral of t**power times the product of (t + x)**-exponent over all x, from 0 to infinity."""
    arrays = np.broadcast_arrays(*(np.asarray(array, np.float64) for array in arrays))
    values = np.stack(arrays)
    positive = values[np.isfinite(values) & (values > 0)]
    low, high = (math.log(positive.min()), math.log(positive.max())) if positive.size else (0.0, 0.0)
    s = np.arange(low - 90, high + 90, STEP).clip(-700, 700)
    t = np.exp(s)
    total = np.full((*values.shape[1:], s.size), (power + 1) * s)
    for exponent, array in zip(exponents, arrays):
        total = total - exponent * np.log(t + array[..., None])
    found = STEP * np.exp(total).sum(-1)
    at_zero = np.tensordot(exponents, values == 0, 1)
    found = np.where(at_zero >= power + 1, np.inf, found)
    return np.where(np.any(~(values >= 0), axis=0), np.nan, found)


@functools.cache
def carlson(power: int, exponents: tuple[float, ...]) -> Any:
    """That integral as a function of tensors; its derivative by x raises the exponent of x by one."""
    values = elementwise(lambda *arrays: _integral(power, exponents, arrays))
    return with_slopes(values, [_raised(exponents, place, 1.0, power) for place in range(len(exponents))])


def _raised(exponents: tuple[float, ...], place: int, scale: float, power: int = 0) -> Any:
    """The derivative of scale times that integral by one argument, for `with_slopes`."""
    raised = tuple(e + (i == place) for i, e in enumerate(exponents))
    return lambda value, *arguments: -exponents[place] * scale * carlson(power, raised)(*arguments)


_HALVES = (0.5, 0.5, 0.5)
_rf = smooth("elliprf", *(_raised(_HALVES, i, 0.5) for i in range(3)))
_rd = smooth("elliprd", *(_raised((0.5, 0.5, 1.5), i, 1.5) for i in range(3)))
_rc = smooth("elliprc", *(_raised((0.5, 1.0), i, 0.5) for i in range(2)))
_rj = smooth("elliprj", *(_raised((*_HALVES, 1.0), i, 1.5) for i in range(4)))


def _rg_slope(place: int) -> Any:
    """The derivative of a quarter of the sum over all x of the integral of t x / (t + x) over the roots."""

    def slope(value: Any, *arguments: Any) -> Any:
        total: Any = 0.0
        for k, x in enumerate(arguments):
            exponents = tuple(e + (k == j) for j, e in enumerate(_HALVES))
            raised = tuple(e + (place == j) for j, e in enumerate(exponents))
            total = total - exponents[place] * x * carlson(1, raised)(*arguments)
            if k == place:
                total = total + carlson(1, exponents)(*arguments)
        return total / 4

    return slope


_rg = smooth("elliprg", *(_rg_slope(i) for i in range(3)))
elliprd = named("elliprd", "x y z", "Carlson's degenerate symmetric integral RD.", _rd)


def _rc_of_both(x: Any, y: Any) -> Any:
    """For negative y, Cauchy's principal value, by an integral with a positive y."""
    below = y < 0
    factor = ops.where(below, sqrt(ops.where(below, x / ops.where(below, x - y, 1.0), 1.0)), 1.0)
    return factor * _rc(ops.where(below, x - y, x), abs(y))


elliprc = named("elliprc", "x y", "Carlson's degenerate integral RC.", _rc_of_both)
elliprj = named("elliprj", "x y z p", "Carlson's symmetric integral RJ.", _rj)
elliprg = named("elliprg", "x y z", "Carlson's completely symmetric integral RG.", _rg)


def _d(x: Any, y: Any, z: Any) -> Any:
    """RD of tensors and numbers."""
    zero = stop_gradient(0.0 * (x + y + z))
    return _rd(x + zero, y + zero, z + zero)


_ellipk_slope = lambda m: _d(0.0, 1.0, 1 - m) / 6  # noqa: E731
_ellipe_slope = lambda m: -_d(0.0, 1 - m, 1.0) / 6  # noqa: E731


def _within(phi: Any) -> tuple[Any, Any]:
    """Number of half-periods in an amplitude, and its sine after them."""
    turns = round(phi / math.pi)
    return turns, sin(phi - turns * math.pi)


def _ellipkinc_by_m(value: Any, phi: Any, m: Any) -> Any:
    turns, s = _within(phi)
    return s**3 * _d(square(cos(phi)), 1.0, 1 - m * s * s) / 6 + 2 * turns * _ellipk_slope(ops.where(turns == 0, 0.0, m))


def _ellipeinc_by_m(value: Any, phi: Any, m: Any) -> Any:
    turns, s = _within(phi)
    return -(s**3) * _d(square(cos(phi)), 1 - m * s * s, 1.0) / 6 + 2 * turns * _ellipe_slope(ops.where(turns == 0, 0.0, m))


ellipkinc = named("ellipkinc", "phi m", "Incomplete elliptic integral of the first kind.",
                  smooth("ellipkinc", lambda y, phi, m: 1 / sqrt(1 - m * square(sin(phi))), _ellipkinc_by_m))  # fmt: skip
ellipeinc = named("ellipeinc", "phi m", "Incomplete elliptic integral of the second kind.",
                  smooth("ellipeinc", lambda y, phi, m: sqrt(1 - m * square(sin(phi))), _ellipeinc_by_m))  # fmt: skip


def _dn(ph: Any, m: Any) -> Any:
    return sqrt(1 - m * square(sin(ph)))


@custom_jvp
def _amplitude(arguments: Any) -> Any:
    return _amplitudes(*arguments)


@_amplitude.defjvp
def _amplitude_jvp(primals: Any, tangents: Any) -> Any:
    """The amplitude is the inverse of ellipkinc."""
    ((u, m),), ((u_t, m_t),) = primals, tangents
    ph = _amplitude([u, m])
    moved = u_t if is_zero(m_t) else u_t - _ellipkinc_by_m(None, ph, m) * m_t
    return ph, _dn(ph, m) * moved


def _scipys_amplitude(u: np.ndarray, m: np.ndarray) -> np.ndarray:
    import scipy.special

    return scipy.special.ellipj(u, m)[3]


_amplitudes = elementwise(_scipys_amplitude)


def ellipj(u: Any, m: Any) -> Any:
    """Jacobi's elliptic functions sn, cn, dn and the amplitude ph.

    Parameters
    ----------
    u : array_like
    m : array_like
        The parameter, from 0 to 1.

    Returns
    -------
    tuple of Tensor
    """
    u, m = reals("ellipj", u, m)
    ph = _amplitude([u, m])
    return sin(ph), cos(ph), _dn(ph, m), ph


agm = named(
    "agm", "a b", "Arithmetic-geometric mean of positive numbers.",
    lambda a, b: math.pi / 2 / _rf(stop_gradient(0.0 * a * b), a * a, b * b)
)  # fmt: skip

__all__ = [
    "agm", "ellipeinc", "ellipj", "ellipkinc", "elliprc", "elliprd", "elliprg", "elliprj",
]  # fmt: skip
