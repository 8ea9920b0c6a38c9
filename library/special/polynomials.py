"""Orthogonal polynomials under PyTorch's names: `legendre_polynomial_p(x, n)` is the polynomial of degree `n` at `x`.

Computes them by recurrences of operators, so that every mode differentiates them in `x`; the degree is one integer.
"""

import operator
from collections.abc import Callable
from typing import Any

from ..core.conversion import asarray
from ..support.dispatch import ops

__all__ = [
    "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
]  # fmt: skip


def _polynomial(x: Any, n: Any, first: Callable[[Any], Any], following: Callable[[Any, int, Any, Any], Any]) -> Any:
    """The polynomial of degree `n` from the polynomials of degrees 0, which is 1, and 1; 0 for a negative degree."""
    x, n = asarray(x) * 1.0, _degree(n)
    if n < 1:
        return ops.where(True, 1.0 if n == 0 else 0.0, x)  # a constant that is connected to x in the graph
    before, y = 1.0, first(x)
    for k in range(1, n):
        before, y = y, following(x, k, y, before)
    return y


def _degree(n: Any) -> int:
    """A degree as an int."""
    try:
        return operator.index(n)
    except TypeError:
        raise TypeError(f"the degree of a polynomial is one whole number, got {n!r}; call it once for each degree") from None


def _chebyshev(x: Any, k: int, y: Any, before: Any) -> Any:
    return 2 * x * y - before


def chebyshev_polynomial_t(x: Any, n: int) -> Any:
    """Chebyshev polynomial of the first kind: cos(n * t) at cos(t).

    Parameters
    ----------
    x : array_like
    n : int
        The degree; a negative one gives 0, and several degrees are refused.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return _polynomial(x, n, lambda x: x, _chebyshev)


def chebyshev_polynomial_u(x: Any, n: int) -> Any:
    """Chebyshev polynomial of the second kind: sin((n + 1) * t) / sin(t) at cos(t).

    Parameters
    ----------
    x, n
        As for `chebyshev_polynomial_t`.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return _polynomial(x, n, lambda x: 2 * x, _chebyshev)


def chebyshev_polynomial_v(x: Any, n: int) -> Any:
    """Chebyshev polynomial of the third kind: cos((n + 1/2) * t) / cos(t / 2) at cos(t).

    Parameters
    ----------
    x, n
        As for `chebyshev_polynomial_t`.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return _polynomial(x, n, lambda x: 2 * x - 1, _chebyshev)


def chebyshev_polynomial_w(x: Any, n: int) -> Any:
    """Chebyshev polynomial of the fourth kind: sin((n + 1/2) * t) / sin(t / 2) at cos(t).

    Parameters
    ----------
    x, n
        As for `chebyshev_polynomial_t`.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return _polynomial(x, n, lambda x: 2 * x + 1, _chebyshev)


def shifted_chebyshev_polynomial_t(x: Any, n: int) -> Any:
    """`chebyshev_polynomial_t` at 2 * x - 1.

    Parameters
    ----------
    x, n
        As for `chebyshev_polynomial_t`.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return chebyshev_polynomial_t(2.0 * asarray(x) - 1, n)


def shifted_chebyshev_polynomial_u(x: Any, n: int) -> Any:
    """`chebyshev_polynomial_u` at 2 * x - 1.

    Parameters
    ----------
    x, n
        As for `chebyshev_polynomial_t`.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return chebyshev_polynomial_u(2.0 * asarray(x) - 1, n)


def shifted_chebyshev_polynomial_v(x: Any, n: int) -> Any:
    """`chebyshev_polynomial_v` at 2 * x - 1.

    Parameters
    ----------
    x, n
        As for `chebyshev_polynomial_t`.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return chebyshev_polynomial_v(2.0 * asarray(x) - 1, n)


def shifted_chebyshev_polynomial_w(x: Any, n: int) -> Any:
    """`chebyshev_polynomial_w` at 2 * x - 1.

    Parameters
    ----------
    x, n
        As for `chebyshev_polynomial_t`.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return chebyshev_polynomial_w(2.0 * asarray(x) - 1, n)


def hermite_polynomial_h(x: Any, n: int) -> Any:
    """Hermite polynomial of physics, orthogonal under exp(-x**2).

    Parameters
    ----------
    x, n
        As for `chebyshev_polynomial_t`.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return _polynomial(x, n, lambda x: 2 * x, lambda x, k, y, before: 2 * x * y - 2 * k * before)


def hermite_polynomial_he(x: Any, n: int) -> Any:
    """Hermite polynomial of probability, orthogonal under exp(-x**2 / 2).

    Parameters
    ----------
    x, n
        As for `chebyshev_polynomial_t`.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return _polynomial(x, n, lambda x: x, lambda x, k, y, before: x * y - k * before)


def laguerre_polynomial_l(x: Any, n: int) -> Any:
    """Laguerre polynomial, orthogonal under exp(-x) from 0 to infinity.

    Parameters
    ----------
    x, n
        As for `chebyshev_polynomial_t`.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return _polynomial(x, n, lambda x: 1 - x, lambda x, k, y, before: ((2 * k + 1 - x) * y - k * before) / (k + 1))


def legendre_polynomial_p(x: Any, n: int) -> Any:
    """Legendre polynomial, orthogonal from -1 to 1.

    Parameters
    ----------
    x, n
        As for `chebyshev_polynomial_t`.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return _polynomial(x, n, lambda x: x, lambda x, k, y, before: ((2 * k + 1) * x * y - k * before) / (k + 1))
