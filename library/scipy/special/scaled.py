"""Hankel functions, and Airy functions scaled by their exponential.

Defines their derivatives, by DLMF 9.2 and 10.6.2; no derivative in the order of a Hankel function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...func import custom_jvp
from ...generated.ops import sqrt, where
from ..values import elementwise, named, smooth

__all__ = ["airye", "hankel1", "hankel1e", "hankel2", "hankel2e"]


def _hankel(name: str, turn: complex) -> Callable[..., Any]:
    """`turn`: the logarithmic derivative of the scale factor."""

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


def _root(z: Any) -> Any:
    """The slope of the exponent of Bi; Bi is not scaled below 0."""
    return where(z > 0, sqrt(where(z > 0, z, 1.0)), 0.0)


def _airye_part(place: int) -> Callable[..., Any]:
    def of_arrays(z: Any) -> Any:
        import scipy.special

        return scipy.special.airye(z)[place]

    values, growth = elementwise(of_arrays), sqrt if place < 2 else lambda z: -_root(z)
    function = custom_jvp(lambda z: values(z))

    @function.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (z,), (z_t,) = primals, tangents
        other = _AIRYE[place + 1](z) if place % 2 == 0 else z * _AIRYE[place - 1](z)
        y = function(z)
        return y, (other + growth(z) * y) * z_t

    return function


_AIRYE = [_airye_part(place) for place in range(4)]
airye = named(
    "airye", "z", "Airy's functions and their derivatives, Ai and Ai' times exp(2/3 z**1.5), Bi and Bi' times its inverse; the "
    "first two are NaN below 0, where the others are not scaled.", lambda z: tuple(f(z) for f in _AIRYE)
)  # fmt: skip
