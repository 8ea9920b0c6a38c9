"""Hankel functions, also scaled by their exponential.

Defines their derivatives, by DLMF 10.6.2; no derivative in the order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..values import named, smooth

__all__ = ["hankel1", "hankel1e", "hankel2", "hankel2e"]


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
