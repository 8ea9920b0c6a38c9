"""Means of exp(x t) and of 1 / (1 + x t) over t from 0 to 1, and their derivatives.

Each derivative is a mean as well, of the integrand times a power of t.  Near 0 Gauss-Legendre quadrature adds positive terms.
Far from 0, where no digits are lost, a recurrence computes each derivative from the previous one.
"""

import math

import numpy as np

from .quadrature import rule

__all__ = ["exprel_derivative", "log1p_ratio_derivative"]

NODES = 36
HIGHEST = 20  # higher derivatives of the mean of 1 / (1 + x t) have less than eleven digits


def exprel_derivative(x, n):
    """Derivative `n` of (exp(x) - 1) / x, 1 at 0."""
    x, dtype = _in_double(x, n, "exprel")
    near = np.abs(x) < 20 + n
    with np.errstate(all="ignore"):
        return np.where(near, _mean(lambda t, s: t**n * np.exp(s * t), np.where(near, x, 0)), _far_exprel(x, n)).astype(dtype)


def log1p_ratio_derivative(x, n):
    """Derivative `n` of log(1 + x) / x, 1 at 0."""
    x, dtype = _in_double(x, n, "log(1 + x) / x")
    near = (x > -0.6) & (x < 1.5 + n)
    with np.errstate(all="ignore"):
        factor = (-1) ** n * math.factorial(n)
        y = factor * _mean(lambda t, s: t**n / (1 + s * t) ** (n + 1), np.where(near, x, 0))
        far = np.log1p(x) / x
        for k in range(1, n + 1):
            far = ((-1) ** (k - 1) * math.factorial(k - 1) / (1 + x) ** k - k * far) / x
        return np.where(near, y, np.where(x == np.inf, 0, far)).astype(dtype)


def _in_double(x, n, name):
    if not 0 <= n <= HIGHEST:
        raise ValueError(f"the derivative {n} of {name} is not offered; those up to the {HIGHEST}th are")
    dtype = np.result_type(np.result_type(x), np.float16)
    return np.asarray(x, np.float64), dtype


def _mean(function, x):
    """The mean over t of a function of t and x."""
    nodes, weights = rule(NODES)
    total = 0 * x
    for t, weight in zip(nodes, weights):
        total += weight * function(t, x)
    return total


def _far_exprel(x, n):
    """The derivative for n < abs(x)."""
    half = np.exp(x / 2)  # the square may overflow
    growing, rest = 1 / x, -1 / x  # the factors of exp(x) and of 1
    for k in range(1, n + 1):
        growing, rest = (1 - k * growing) / x, -k * rest / x
    return np.where(x == np.inf, np.inf, np.where(x == -np.inf, 0.0, half * growing * half + rest))
