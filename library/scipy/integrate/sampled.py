"""Integrals of samples: trapezoid, simpson, romb and the cumulative variants, built from operators.

Computes Simpson's rule: over each interval, the integral of the parabola through its ends and a neighbour.  Intervals 0 and 1
share a parabola, then 2 and 3, ...; a single last interval uses its left neighbour's parabola (Cartwright, Journal of
Mathematical Sciences and Mathematics Education 12, 2017).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...support.dispatch import ops
from ..values import in_given_precision

__all__ = ["cumulative_simpson", "cumulative_trapezoid", "romb", "simpson", "trapezoid"]


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral of samples by the trapezoidal rule: SciPy's name for `gs.trapezoid`.

    Parameters
    ----------
    y : array_like or Tensor
    x : array_like or Tensor, optional
        Positions of the samples; by default at distance `dx`.
    dx : float or Tensor
    axis : int

    Returns
    -------
    Tensor
        Has the shape of `y` without `axis`.
    """
    return ops.trapezoid(y, x, 1.0, axis) * (1.0 if x is not None else dx)


def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    """The integral of samples up to each sample, by the trapezoidal rule.

    Parameters
    ----------
    y, x, dx, axis
        As for `trapezoid`.
    initial : 0, optional
        Value that is prepended to the others.

    Returns
    -------
    Tensor
        Has the shape of `y`, without the first element along `axis` unless `initial` is given.
    """
    if initial not in (None, 0):
        raise ValueError("cumulative_trapezoid: initial must be None or 0")
    return _after(initial, ops.cumulative_trapezoid(y, x, 1.0, axis) * (1.0 if x is not None else dx), axis)


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral of samples by Simpson's rule.

    Parameters
    ----------
    y, x, dx, axis
        As for `trapezoid`.

    Returns
    -------
    Tensor
        Has the shape of `y` without `axis`.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.scipy.integrate.simpson([1.0, 0.0, 1.0], x=[-1.0, 0.0, 1.0]).item()
    0.6666666666666666
    """
    return ops.sum(_pieces("simpson", y, x, dx, axis), axis)


def cumulative_simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    """The integral of samples up to each sample, by Simpson's rule.

    Parameters
    ----------
    y, x, dx, axis
        As for `trapezoid`.
    initial : array_like or Tensor, optional
        Value that is prepended to the others and added to them.

    Returns
    -------
    Tensor
        Has the shape of `y`, without the first element along `axis` unless `initial` is given.
    """
    found = ops.cumsum(_pieces("cumulative_simpson", y, x, dx, axis), axis)
    return _after(initial, found if initial is None else found + initial, axis)


def romb(y: Any, dx: Any = 1.0, axis: int = -1, show: bool = False) -> Any:
    """The integral of 2**k + 1 equidistant samples by Romberg's method.

    Parameters
    ----------
    y, dx, axis
        As for `trapezoid`.
    show : bool
        Print SciPy's table; only for a vector.

    Returns
    -------
    Tensor
        Has the shape of `y` without `axis`.
    """
    from scipy.integrate import romb as of_array

    y = _samples("romb", y)
    if show:
        of_array(y.detach().numpy(), axis=axis, show=True)
    weights = of_array(np.eye(y.shape[axis]), axis=0)
    return ops.tensordot(y, asarray(weights), axes=([axis], [0])) * dx


def _samples(name: str, y: Any) -> Any:
    y = asarray(y)
    if not y.ndim:
        raise ValueError(f"{name}: samples along an axis are needed, got a number")
    return y if y.dtype.kind in "fc" else ops.astype(y, np.float64)


def _after(initial: Any, found: Any, axis: int) -> Any:
    if initial is None:
        return found
    first = ops.broadcast_to(ops.astype(asarray(initial), found.dtype), _cut(found, slice(0, 1), axis).shape)
    return ops.concat([first, found], axis=axis)


def _cut(x: Any, part: slice, axis: int) -> Any:
    return x[(slice(None),) * (axis % x.ndim) + (part,)]


def _pieces(name: str, y: Any, x: Any, dx: Any, axis: int) -> Any:
    """The integrals over the intervals."""
    y = _samples(name, y)
    along = axis % y.ndim
    count = y.shape[along] - 1
    widths = ops.diff(asarray(x), axis=-1 if np.ndim(x) == 1 else axis) if x is not None else ops.ones(count) * dx
    if widths.ndim == 1:
        widths = ops.reshape(widths, (-1,) + (1,) * (y.ndim - 1 - along))
    widths = ops.broadcast_to(widths, (*y.shape[:along], count, *y.shape[along + 1 :]))
    if count < 2:
        return widths * (_cut(y, slice(0, count), along) + _cut(y, slice(1, None), along)) / 2
    pairs = count // 2
    first = [_cut(z, slice(i, i + 2 * pairs - 1, 2), along) for z, i in ((y, 0), (y, 1), (y, 2), (widths, 0), (widths, 1))]
    left, middle, right, h, k = first
    both = ops.stack([_parabola(left, middle, right, h, k), _parabola(right, middle, left, k, h)], axis=along + 1)
    shape = list(widths.shape)
    shape[along] = 2 * pairs
    found = ops.reshape(both, tuple(shape))
    if count % 2:
        left, middle, right = (_cut(y, slice(count - 2 + i, count - 1 + i), along) for i in range(3))
        h, k = (_cut(widths, slice(count - 2 + i, count - 1 + i), along) for i in range(2))
        found = ops.concat([found, _parabola(right, middle, left, k, h)], axis=along)
    return found


def _parabola(near: Any, middle: Any, far: Any, h: Any, k: Any) -> Any:
    """The integral of the parabola through three points, from the first to the second; their distances are h and k."""
    ratio = h * h / (k * (h + k))
    return h / 6 * ((3 - h / (h + k)) * near + (3 + h / k) * middle - ratio * far)


in_given_precision(globals(), __all__)
