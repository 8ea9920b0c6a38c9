"""Sums: which operators add numbers that lie together, so that a replay can add them where they are made.

Owns how an array is cut: `outer` times `length` rows, of `inner` numbers each, that are added.  The kernel itself says which
axes of a plain array its operator adds, and whether it divides by their length; the results are NumPy's sums, in NumPy's order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

SHORT = 8  # numbers of a row below which a sum in slices is quicker,
WORTH = 1 << 11  # in an array of so many

Axes = Callable[..., Any]
offered: dict[str, tuple[Axes, bool]] = {}


def offer_sum(name: str, axes: Axes, mean: bool = False) -> None:
    """Say that an operator is a sum.

    Parameters
    ----------
    name : str
    axes : callable
        Gives the axes that are added, of the shape of the operand and what the operator is told beside it: an int, a tuple, or
        None for all.
    mean : bool
        Whether the sums are divided by the count of what was added.
    """
    offered[name] = axes, mean


def span_of(name: str, shape: tuple[int, ...], arguments: tuple) -> tuple[int, int, int, bool] | None:
    """How an operator adds a plain array of this shape.

    Returns
    -------
    (int, int, int, bool) or None
        `outer`, `length`, `inner`, and whether they are means; None where the axes do not lie together, and of what is no sum.
    """
    if name not in offered or 0 in shape:
        return None
    axes_of, mean = offered[name]
    axes = axes_of(shape, *arguments)
    ndim = len(shape)
    axes = range(ndim) if axes is None else sorted(axis % ndim for axis in (axes if type(axes) is tuple else (axes,)))
    if not axes or axes[-1] - axes[0] + 1 != len(axes):
        return None
    outer, length, inner = (math.prod(part) for part in (shape[: axes[0]], shape[axes[0] : axes[-1] + 1], shape[axes[-1] + 1 :]))
    if inner == 1 and outer > 1 and length < SHORT and math.prod(shape) >= WORTH:
        return None
    return outer, length, inner, mean
