"""Derivatives of the Hurwitz zeta function in its exponent: a sum, and the Euler-Maclaurin formula for the rest.

Both are differentiated term by term.  The rest begins at 20, where seven terms of the formula are exact to rounding.
"""

import math

import numpy as np

__all__ = ["zeta_slope"]

FIRST = 20  # terms that are added one by one
HIGHEST = 100  # largest order of a derivative
# B_2j / (2j)!, the coefficients of the formula.
COEFFICIENTS = tuple(
    float(b) / math.factorial(2 * j)
    for j, b in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6), 1)
)


def zeta_slope(n, s, q):
    """Derivative `n` in `s` of the sum of ``(q + k)**-s`` over k >= 0.

    Parameters
    ----------
    n : int
        From 0 to 100.
    s, q : ndarray or scalar
        Real.

    Returns
    -------
    ndarray
        NaN if s <= 1 or q <= 0, and 0 if one of them is infinite.
    """
    if not 0 <= n <= HIGHEST:
        raise ValueError(f"zeta: derivatives are known from order 0 to order {HIGHEST}, got {n}")
    dtype = np.result_type(s, q, 1.0)
    s, q = np.broadcast_arrays(np.asarray(s, float), np.asarray(q, float))
    known = (s > 1) & (q > 0)
    finite = known & np.isfinite(s) & np.isfinite(q)
    s_, q_ = np.where(finite, s, 2.0), np.where(finite, q, 1.0)
    places = q_[..., None] + np.arange(FIRST)
    logs = np.log(places)
    with np.errstate(over="ignore", invalid="ignore"):
        y = ((-logs) ** n * np.exp(-s_[..., None] * logs))[..., ::-1].sum(-1) + rest(n, s_, q_ + FIRST)
    return np.asarray(np.where(finite, y, np.where(known, 0.0, np.nan)), dtype)


def rest(n, s, a):
    """Derivative `n` of the sum from `a` on."""
    scale, log = np.exp(-s * np.log(a)), np.log(a)
    powers = [(-log) ** k for k in range(n + 1)]  # derivatives of a**-s, divided by it
    poles = [(-1) ** k * math.factorial(k) / (s - 1) ** (k + 1) for k in range(n + 1)]
    total = a * product(powers, poles, n) + powers[n] / 2
    rising = [np.ones_like(s), *(np.zeros_like(s) for _ in range(n))]  # the derivatives of s (s + 1) ... (s + 2j - 2)
    for j, coefficient in enumerate(COEFFICIENTS, 1):
        for i in (2 * j - 3, 2 * j - 2) if j > 1 else (0,):
            rising = [(s + i) * rising[k] + (k * rising[k - 1] if k else 0) for k in range(n + 1)]
        total = total + coefficient * a ** (1 - 2 * j) * product(powers, rising, n)
    return np.where(scale > 0, scale * total, 0.0)


def product(f, g, n):
    """Derivative `n` of a product."""
    return sum(math.comb(n, k) * f[n - k] * g[k] for k in range(n + 1))
