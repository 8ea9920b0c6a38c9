"""Registry of sums: operators that add contiguous numbers, so that a replay can add the numbers where they are computed.

Divides an array into `outer` times `length` rows of `inner` numbers each; `length` rows are added.  A kernel registers the axes
that its operator adds, and whether it divides by their length.  Results are NumPy's sums, in NumPy's order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

SHORT = 8  # numbers of a row; below it a sum of slices is faster,
WORTH = 1 << 11  # in an array of at least so many numbers

Axes = Callable[..., Any]
offered: dict[str, tuple[Axes, bool]] = {}


def offer_sum(name: str, axes: Axes, mean: bool = False) -> None:
    """Register an operator as a sum.

    Parameters
    ----------
    name : str
    axes : callable
        Returns the axes that are added, from the shape of the operand and the operator's other arguments: an int, a tuple, or
        None for all.
    mean : bool
        Whether the sums are divided by the number of addends.
    """
    offered[name] = axes, mean


def span_of(name: str, shape: tuple[int, ...], arguments: tuple) -> tuple[int, int, int, bool] | None:
    """How an operator adds a plain array of the given shape.

    Returns
    -------
    (int, int, int, bool) or None
        `outer`, `length`, `inner`, and whether it is a mean; None for other operators, and for axes that are not adjacent.
    """
    if name not in offered or 0 in shape:
        return None
    axes_of, mean = offered[name]
    axes = axes_of(shape, *arguments)
    ndim = len(shape)
    axes = range(ndim) if axes is None else sorted(axis % max(ndim, 1) for axis in (axes if type(axes) is tuple else (axes,)))
    if not axes or axes[-1] - axes[0] + 1 != len(axes):
        return None
    outer, length, inner = (math.prod(part) for part in (shape[: axes[0]], shape[axes[0] : axes[-1] + 1], shape[axes[-1] + 1 :]))
    if inner == 1 and outer > 1 and length < SHORT and math.prod(shape) >= WORTH:
        return None
    return outer, length, inner, mean
