"""Filters of images by the order of a window's elements: maximum, median and other ranks.

Defines SciPy's signatures.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...support.dispatch import ops
from .edges import each_axis, floats
from .windows import along, no_output, windows


def maximum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Any:
    """The greatest element of windows along an axis.

    Parameters
    ----------
    input, size, axis, output, mode, cval, origin
        As for `uniform_filter1d`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    sizes, origins = along(input, size, 1, axis), along(input, origin, 0, axis)
    return _ordered("maximum_filter1d", input, sizes, None, output, mode, cval, origins, ops.max)


def minimum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Any:
    """The least element of windows along an axis.

    Parameters
    ----------
    input, size, axis, output, mode, cval, origin
        As for `uniform_filter1d`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    sizes, origins = along(input, size, 1, axis), along(input, origin, 0, axis)
    return _ordered("minimum_filter1d", input, sizes, None, output, mode, cval, origins, ops.min)


def maximum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """The greatest element of windows; equal ones share the gradient.

    Parameters
    ----------
    input : array_like or Tensor
    size : int or sequence of int, optional
        The window's.
    footprint : array_like, optional
        Which elements of the window count, instead of `size`.
    output, mode, cval, origin
        As for `correlate`.

    Returns
    -------
    Tensor
    """
    return _ordered("maximum_filter", input, size, footprint, output, mode, cval, origin, ops.max)


def minimum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """The least element of windows; equal ones share the gradient.

    Parameters
    ----------
    input, size, footprint, output, mode, cval, origin
        As for `maximum_filter`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    return _ordered("minimum_filter", input, size, footprint, output, mode, cval, origin, ops.min)


def rank_filter(
    input: Any, rank: int, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    """The element of a rank in windows.

    Parameters
    ----------
    input : array_like or Tensor
    rank : int
        Counted from the least, or negative from the greatest.
    size, footprint, output, mode, cval, origin
        As for `maximum_filter`.

    Returns
    -------
    Tensor
    """

    def pick(windows: Any, axis: int) -> Any:
        count = windows.shape[0]
        if not -count <= rank < count:
            raise RuntimeError(f"rank_filter: rank must lie within the {count} elements of a window, got {rank}")
        return ops.sort(windows, axis)[rank]

    return _ordered("rank_filter", input, size, footprint, output, mode, cval, origin, pick)


def median_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """The median of windows; for an even number of elements, the greater one of the two in the middle.

    Parameters
    ----------
    input, size, footprint, output, mode, cval, origin
        As for `maximum_filter`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    pick = lambda windows, axis: ops.sort(windows, axis)[windows.shape[0] // 2]  # noqa: E731
    return _ordered("median_filter", input, size, footprint, output, mode, cval, origin, pick)


def percentile_filter(
    input: Any, percentile: float, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0,
) -> Any:  # fmt: skip
    """The element at a percentile of windows.

    Parameters
    ----------
    input : array_like or Tensor
    percentile : float
        From 0 to 100, or negative from 0 to -100.
    size, footprint, output, mode, cval, origin
        As for `maximum_filter`.

    Returns
    -------
    Tensor
    """
    share = (percentile + 100 if percentile < 0 else percentile) / 100
    if not 0 <= share <= 1:
        raise RuntimeError(f"percentile_filter: percentile must lie within 100 of 0, got {percentile}")
    rank = lambda count: count - 1 if share == 1 else int(count * share)  # noqa: E731
    pick = lambda windows, axis: ops.sort(windows, axis)[rank(windows.shape[0])]  # noqa: E731
    return _ordered("percentile_filter", input, size, footprint, output, mode, cval, origin, pick)


def grey_erosion(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0,
) -> Any:  # fmt: skip
    """The least element of windows, less a structure; equal ones share the gradient.

    Parameters
    ----------
    input, size, footprint
        As for `maximum_filter`.
    structure : array_like or Tensor, optional
        Heights over the window.
    output, mode, cval, origin
        As for `maximum_filter`.

    Returns
    -------
    Tensor
    """
    return _ordered("grey_erosion", input, size, _shape(footprint, structure), output, mode, cval, origin, _lowered(structure, footprint))


def grey_dilation(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0,
) -> Any:  # fmt: skip
    """The greatest element of mirrored windows, plus a structure.

    Parameters
    ----------
    input, size, footprint, structure, output, mode, cval, origin
        As for `grey_erosion`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    x = floats("grey_dilation", input)
    mirrored = None if structure is None else ops.flip(floats("grey_dilation", structure))
    counted = _shape(footprint, structure)
    counted = None if counted is None else np.flip(counted)
    sizes = counted.shape if counted is not None else each_axis("grey_dilation", 1 if size is None else size, x.ndim)
    origins = [-at - (length % 2 == 0) for at, length in zip(each_axis("grey_dilation", origin, x.ndim), sizes)]
    flat = None if footprint is None else np.flip(np.asarray(footprint, bool))
    less = _lowered(None if mirrored is None else -mirrored, flat, ops.max)
    return _ordered("grey_dilation", x, size, counted, output, mode, cval, origins, less)


def _shape(footprint: Any, structure: Any) -> Any:
    """Which elements of a window count: the footprint, else all of the structure."""
    if footprint is not None:
        return np.asarray(footprint, bool)
    return None if structure is None else np.ones(np.shape(structure), bool)


def _lowered(structure: Any, footprint: Any, pick: Any = ops.min) -> Any:
    if structure is None:
        return pick
    heights = floats("grey_erosion", structure)
    heights = heights[np.ones(heights.shape, bool) if footprint is None else np.asarray(footprint, bool)]
    return lambda windows, axis: pick(windows - ops.reshape(heights, (-1,) + (1,) * (windows.ndim - 1)), axis)


def grey_opening(input: Any, *args: Any, **how: Any) -> Any:
    """Dilation of the erosion.

    Parameters
    ----------
    input, *args, **how
        As for `grey_erosion`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    return grey_dilation(grey_erosion(input, *args, **how), *args, **how)


def grey_closing(input: Any, *args: Any, **how: Any) -> Any:
    """Erosion of the dilation.

    Parameters
    ----------
    input, *args, **how
        As for `grey_erosion`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    return grey_erosion(grey_dilation(input, *args, **how), *args, **how)


def white_tophat(input: Any, *args: Any, **how: Any) -> Any:
    """An image less its opening.

    Parameters
    ----------
    input, *args, **how
        As for `grey_erosion`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    return floats("white_tophat", input) - grey_opening(input, *args, **how)


def black_tophat(input: Any, *args: Any, **how: Any) -> Any:
    """The closing of an image less the image.

    Parameters
    ----------
    input, *args, **how
        As for `grey_erosion`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    return grey_closing(input, *args, **how) - floats("black_tophat", input)


def morphological_gradient(input: Any, *args: Any, **how: Any) -> Any:
    """Dilation less erosion.

    Parameters
    ----------
    input, *args, **how
        As for `grey_erosion`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    return grey_dilation(input, *args, **how) - grey_erosion(input, *args, **how)


def morphological_laplace(input: Any, *args: Any, **how: Any) -> Any:
    """Dilation plus erosion, less the image twice.

    Parameters
    ----------
    input, *args, **how
        As for `grey_erosion`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    return grey_dilation(input, *args, **how) + grey_erosion(input, *args, **how) - 2 * floats("morphological_laplace", input)


def _ordered(name, input, size, footprint, output, mode, cval, origin, pick):
    x = floats(name, input)
    no_output(name, output)
    if footprint is None and size is None:
        raise RuntimeError(f"{name}: give size or footprint")
    counted = np.ones(each_axis(name, size, x.ndim), bool) if footprint is None else np.asarray(footprint, bool)
    found = windows(name, x, counted.shape, mode, cval, each_axis(name, origin, x.ndim), counted)
    return pick(ops.stack(found), 0)
