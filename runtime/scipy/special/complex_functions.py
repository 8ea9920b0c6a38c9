"""Functions of scipy.special of complex numbers, or with complex values of real ones: hypergeometric, Hankel, Lambert's W.

Owns the derivatives; the values are SciPy's.  Of real numbers the hypergeometric functions are operators.

References
----------
NIST Digital Library of Mathematical Functions, chapters 4, 10, 13, 15 and 16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import special
from ...func import custom_jvp
from ...generated.ops import exp
from ..values import elementwise, named, numbers, smooth

__all__ = ["hankel1", "hankel1e", "hankel2", "hankel2e", "hyp0f1", "hyp1f1", "hyp2f1", "lambertw"]

_hyp2f1 = smooth("hyp2f1", None, None, None, lambda y, a, b, c, z: a * b / c * _hyp2f1(a + 1, b + 1, c + 1, z))
_hyp1f1 = smooth("hyp1f1", None, None, lambda y, a, b, x: a / b * _hyp1f1(a + 1, b + 1, x))
_hyp0f1 = smooth("hyp0f1", None, lambda y, v, z: _hyp0f1(v + 1, z) / v)


def _of_both(operator: Callable[..., Any], of_complex: Callable[..., Any]) -> Callable[..., Any]:
    """An operator of real numbers, and what stands in for complex ones."""

    def function(*arguments: Any) -> Any:
        return (of_complex if arguments[-1].dtype.kind == "c" else operator)(*arguments)

    return function


_PARAMETERS = "; derivatives in parameters are those of differences, and refused of complex numbers."
hyp2f1 = named(
    "hyp2f1", "a b c z", f"Gauss's hypergeometric function{_PARAMETERS}", _of_both(special.hyp2f1, _hyp2f1), real=False
)
hyp1f1 = named(
    "hyp1f1", "a b x", f"Kummer's confluent hypergeometric function{_PARAMETERS}", _of_both(special.hyp1f1, _hyp1f1), real=False
)
hyp0f1 = named(
    "hyp0f1", "v z", f"Confluent hypergeometric limit function{_PARAMETERS}", _of_both(special.hyp0f1, _hyp0f1), real=False
)


def _hankel(name: str, turn: complex) -> Callable[..., Any]:
    """`turn`: the logarithmic derivative of the factor with which it is scaled."""

    def slope(y: Any, v: Any, z: Any) -> Any:
        return function(v - 1, z) + (turn - v / z) * y

    function = smooth(name, None, slope, dtype=np.complex64)
    return function


_SCALED = ", times exp({}1j z)"
_KINDS = {"hankel1": ("first", "", 0), "hankel1e": ("first", _SCALED.format("-"), -1j),
          "hankel2": ("second", "", 0), "hankel2e": ("second", _SCALED.format(""), 1j)}  # fmt: skip
hankel1, hankel1e, hankel2, hankel2e = (
    named(name, "v z", f"Hankel function of the {kind} kind and order v{scaled}; its derivative in v is refused.",
          _hankel(name, turn), real=False)
    for name, (kind, scaled, turn) in _KINDS.items()
)  # fmt: skip


def lambertw(z: Any, k: int = 0, tol: float = 1e-8) -> Any:
    """Lambert's W function: w * exp(w) = z.

    Parameters
    ----------
    z : array_like, real or complex
    k : int
        The branch.
    tol : float
        As SciPy takes it.

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
