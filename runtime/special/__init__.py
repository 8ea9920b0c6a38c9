"""Special functions: gradspec.special.

Owns the names.  The functions are operators of the spec, and polynomials made of these, which are imported when they are named.
"""

from typing import TYPE_CHECKING

from .. import _special
from .._special import *  # noqa: F403
from ..support.later import later

if TYPE_CHECKING:
    from .polynomials import (
        chebyshev_polynomial_t,
        chebyshev_polynomial_u,
        chebyshev_polynomial_v,
        chebyshev_polynomial_w,
        hermite_polynomial_h,
        hermite_polynomial_he,
        laguerre_polynomial_l,
        legendre_polynomial_p,
        shifted_chebyshev_polynomial_t,
        shifted_chebyshev_polynomial_u,
        shifted_chebyshev_polynomial_v,
        shifted_chebyshev_polynomial_w,
    )

_POLYNOMIALS = (
    "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
)  # fmt: skip
__all__ = sorted([*_POLYNOMIALS, *_special.__all__])

if not TYPE_CHECKING:  # for a checker nothing is found that is not written above
    __getattr__ = later(__name__, {"polynomials": _POLYNOMIALS})


def __dir__() -> list[str]:
    return list(__all__)
