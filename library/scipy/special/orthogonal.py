"""Orthogonal polynomials under SciPy's names: `eval_legendre(n, x)` is the polynomial of integer degree n at x.

Computes the recurrences that gradspec.special lacks.
"""

from __future__ import annotations

import math
from typing import Any

import gradspec  # noqa: F401 (waits for it)
import gradspec.special  # noqa: F401 (as well)

from ...special import polynomials
from ...special.polynomials import _degree, _polynomial
from ..values import reals


def _named(name: str, doc: str, function: Any) -> Any:
    def evaluate(n: int, x: Any) -> Any:
        (x,) = reals(name, x)
        return function(x, n)

    evaluate.__name__ = evaluate.__qualname__ = name
    evaluate.__doc__ = f"""{doc} of whole degree n at x.

    Parameters
    ----------
    n : int
        The degree; a negative one gives 0, and several degrees are refused.
    x : array_like, real

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    return evaluate


eval_legendre = _named("eval_legendre", "Legendre polynomial", polynomials.legendre_polynomial_p)
eval_chebyt = _named("eval_chebyt", "Chebyshev polynomial of the first kind", polynomials.chebyshev_polynomial_t)
eval_chebyu = _named("eval_chebyu", "Chebyshev polynomial of the second kind", polynomials.chebyshev_polynomial_u)
eval_chebyc = _named(
    "eval_chebyc", "Chebyshev polynomial of the first kind on [-2, 2]",
    lambda x, n: 2 * polynomials.chebyshev_polynomial_t(x / 2, n)
)  # fmt: skip
eval_chebys = _named(
    "eval_chebys", "Chebyshev polynomial of the second kind on [-2, 2]", lambda x, n: polynomials.chebyshev_polynomial_u(x / 2, n)
)  # fmt: skip
eval_sh_legendre = _named(
    "eval_sh_legendre", "Legendre polynomial on [0, 1]", lambda x, n: polynomials.legendre_polynomial_p(2 * x - 1, n)
)  # fmt: skip
eval_sh_chebyt = _named(
    "eval_sh_chebyt", "Chebyshev polynomial of the first kind on [0, 1]", polynomials.shifted_chebyshev_polynomial_t
)  # fmt: skip
eval_sh_chebyu = _named(
    "eval_sh_chebyu", "Chebyshev polynomial of the second kind on [0, 1]", polynomials.shifted_chebyshev_polynomial_u
)  # fmt: skip
eval_hermite = _named("eval_hermite", "Hermite polynomial of physics", polynomials.hermite_polynomial_h)
eval_hermitenorm = _named("eval_hermitenorm", "Hermite polynomial of probability", polynomials.hermite_polynomial_he)
eval_laguerre = _named("eval_laguerre", "Laguerre polynomial", polynomials.laguerre_polynomial_l)


def eval_genlaguerre(n: int, alpha: Any, x: Any) -> Any:
    """Generalised Laguerre polynomial of whole degree n at x.

    Parameters
    ----------
    n : int
        The degree; a negative one gives 0, and several degrees are refused.
    alpha, x : array_like, real

    Returns
    -------
    Tensor
    """
    alpha, x = reals("eval_genlaguerre", alpha, x)
    return _polynomial(x + 0 * alpha, n, lambda x: 1 + alpha - x,
                       lambda x, k, y, before: ((2 * k + 1 + alpha - x) * y - (k + alpha) * before) / (k + 1))  # fmt: skip


def eval_gegenbauer(n: int, alpha: Any, x: Any) -> Any:
    """Gegenbauer polynomial of whole degree n at x.

    Parameters
    ----------
    n : int
        The degree; a negative one gives 0, and several degrees are refused.
    alpha, x : array_like, real

    Returns
    -------
    Tensor
    """
    alpha, x = reals("eval_gegenbauer", alpha, x)
    return _polynomial(x + 0 * alpha, n, lambda x: 2 * alpha * x,
                       lambda x, k, y, before: (2 * (k + alpha) * x * y - (k + 2 * alpha - 1) * before) / (k + 1))  # fmt: skip


def eval_jacobi(n: int, alpha: Any, beta: Any, x: Any) -> Any:
    """Jacobi polynomial of whole degree n at x.

    Parameters
    ----------
    n : int
    alpha, beta, x : array_like, real

    Returns
    -------
    Tensor
    """
    a, b, x = reals("eval_jacobi", alpha, beta, x)

    def following(x: Any, k: int, y: Any, before: Any) -> Any:
        n, c = k + 1, 2 * (k + 1) + a + b
        first = (c - 1) * (c * (c - 2) * x + a * a - b * b) * y
        return (first - 2 * (n + a - 1) * (n + b - 1) * c * before) / (2 * n * (n + a + b) * (c - 2))

    return _polynomial(x + 0 * (a + b), _degree(n), lambda x: (a + 1) + (a + b + 2) * (x - 1) / 2, following)


def eval_sh_jacobi(n: int, p: Any, q: Any, x: Any) -> Any:
    """Shifted Jacobi polynomial of whole degree n at x, with the leading coefficient 1.

    Parameters
    ----------
    n : int
    p, q, x : array_like, real

    Returns
    -------
    Tensor
    """
    p, q, x = reals("eval_sh_jacobi", p, q, x)
    n = _degree(n)
    scale = math.factorial(n) / math.prod((2 * n + p - 1 - k for k in range(n)), start=1.0)
    return scale * eval_jacobi(n, p - q, q - 1, 2 * x - 1)


def assoc_laguerre(x: Any, n: int, k: Any = 0.0) -> Any:
    """Generalised Laguerre polynomial: eval_genlaguerre(n, k, x).

    Parameters
    ----------
    x : array_like, real
    n : int
        The degree; a negative one gives 0, and several degrees are refused.
    k : array_like, real
        The parameter alpha.

    Returns
    -------
    Tensor
    """
    return eval_genlaguerre(n, k, x)


__all__ = [
    "assoc_laguerre", "eval_chebyc", "eval_chebys", "eval_chebyt", "eval_chebyu", "eval_gegenbauer", "eval_genlaguerre", "eval_hermite",
    "eval_hermitenorm", "eval_jacobi", "eval_laguerre", "eval_legendre", "eval_sh_chebyt", "eval_sh_chebyu",
    "eval_sh_jacobi", "eval_sh_legendre",
]  # fmt: skip
