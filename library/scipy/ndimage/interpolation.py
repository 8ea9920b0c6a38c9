"""Resample images: map_coordinates, and the transforms that are built from it.

Computes the prefilter of splines and its adjoint, the weights of splines, and the lookup beyond the edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...autograd import Function
from ...core.conversion import asarray
from ...func import stop_gradient
from ...support.dispatch import ops
from ..values import computed
from .edges import MODES, each_axis, extended, floats, inside

_PREPADDED = 12  # SciPy's padding of an image before filtering, in samples, for modes that its spline lacks


class SplineFilter(Function):
    """The coefficients of the spline through samples along an axis: the inverse of the sampling of splines.

    If the edges mirror the first sample, an edge sample has half the inward weight: the adjoint is the same filter between
    weights of the edges.  For other edges the filter is its own adjoint.
    """

    pure = True

    @staticmethod
    def forward(ctx: Any, x: Any, order: int, axis: int, mode: str) -> Any:
        from scipy.ndimage import spline_filter1d as of_array

        ctx.how = order, axis, mode
        return computed(lambda x: of_array(x, order, axis, output=x.dtype, mode=mode), x)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        order, axis, mode = ctx.how
        if mode != "mirror" or grad.shape[axis] == 1:
            return SplineFilter.apply(grad, order, axis, mode), None, None, None
        weights = np.ones(grad.shape[axis])
        weights[[0, -1]] = 0.5
        weights = asarray(weights.reshape((-1,) + (1,) * (grad.ndim - 1 - axis % grad.ndim)))
        return weights * SplineFilter.apply(grad / weights, order, axis, mode), None, None, None

    @staticmethod
    def jvp(ctx: Any, x_t: Any, *others: Any) -> Any:
        return SplineFilter.apply(x_t, *ctx.how)

    @staticmethod
    def vmap(info: Any, in_dims: tuple, x: Any, order: int, axis: int, mode: str) -> Any:
        return SplineFilter.apply(ops.moveaxis(x, in_dims[0], 0), order, axis % (x.ndim - 1) + 1, mode), 0


def spline_filter1d(input: Any, order: int = 3, axis: int = -1, output: Any = np.float64, mode: str = "mirror") -> Any:
    """The coefficients of the spline through samples along an axis.

    Parameters
    ----------
    input : array_like or Tensor
    order : int
        Order of the spline, from 0 to 5.
    axis : int
    output : dtype
    mode : {"mirror", "reflect", "grid-wrap"}
        Extension beyond the edges; of SciPy's other modes "grid-mirror" and "nearest" are filtered as "reflect", the rest as
        "mirror".

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    if not 0 <= order <= 5:
        raise RuntimeError(f"spline_filter1d: order must be from 0 to 5, got {order}")
    x = floats("spline_filter1d", input)
    x = x if x.dtype.kind == "c" else ops.astype(x, output)
    how = {"grid-mirror": "reflect", "reflect": "reflect", "nearest": "reflect", "grid-wrap": "grid-wrap"}.get(mode, "mirror")
    return x if order < 2 or x.shape[axis] == 1 else SplineFilter.apply(x, order, axis, how)


def spline_filter(input: Any, order: int = 3, output: Any = np.float64, mode: str = "mirror") -> Any:
    """The coefficients of the spline through an image.

    Parameters
    ----------
    input : array_like or Tensor
    order : int
        Order of the spline, from 2 to 5; others are refused.
    output, mode
        As for `spline_filter1d`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    if not 2 <= order <= 5:
        raise RuntimeError(f"spline_filter: order must be from 2 to 5, got {order}")
    x = floats("spline_filter", input)
    for axis in range(x.ndim):
        x = spline_filter1d(x, order, axis, output, mode)
    return x


def map_coordinates(
    input: Any,
    coordinates: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """An image at positions between its samples, by splines.

    Parameters
    ----------
    input : array_like or Tensor
    coordinates : array_like or Tensor
        For each axis of `input`, the positions along it.
    output : None
    order : int, from 0 to 5
        Order of the spline.  Order 0 has no derivative by the coordinates; the derivative of order 1 jumps at samples.
    mode : str
        Extension beyond the edges: "constant", "nearest", "mirror", "reflect" or "grid-mirror", "wrap", "grid-constant",
        "grid-wrap".
    cval : number or Tensor
        With mode="constant" and "grid-constant".
    prefilter : bool
        Whether `input` holds samples; else it holds the coefficients of the spline.

    Returns
    -------
    Tensor
        Has the shape of `coordinates` without its first axis.
    """
    x, places = floats("map_coordinates", input), floats("map_coordinates", coordinates)
    if output is not None:
        raise ValueError("map_coordinates: output must be None: a result is a new tensor")
    if order not in range(6):
        raise RuntimeError(f"map_coordinates: order must be from 0 to 5, got {order}")
    if mode not in MODES:
        raise ValueError(f"map_coordinates: mode must be one of {', '.join(map(repr, MODES))}, got {mode!r}")
    if places.shape[:1] != (x.ndim,):
        raise RuntimeError(f"map_coordinates: coordinates must have {x.ndim} along their first axis, as many as input has axes, "
                           f"got the shape {places.shape}")  # fmt: skip
    if prefilter and order > 1:
        x, shifted = _coefficients(x, order, mode, cval)
    else:
        shifted = 0
    lookup = {"constant": "mirror", "wrap": "mirror"}.get(mode, mode)
    indices, weights, outside, strange = [], [], [], []
    for axis in range(x.ndim):
        at, beyond = _moved_inside(places[axis] + shifted, x.shape[axis], mode)
        outside.append(beyond)
        near, parts = _spline(at, order)
        taps = [near + i for i in range(len(parts))]
        strange.append([(tap < 0) | (tap >= x.shape[axis]) for tap in taps])
        indices.append([inside(tap, x.shape[axis], lookup) for tap in taps])
        weights.append(parts)
    terms = []
    for chosen in np.ndindex(*[len(parts) for parts in weights]):
        term = x[tuple(indices[axis][i] for axis, i in enumerate(chosen))]
        if mode == "grid-constant":  # each sample beyond the edges is cval
            term = ops.where(ops.any(ops.stack([strange[axis][i] for axis, i in enumerate(chosen)]), axis=0), cval, term)
        for axis, i in enumerate(chosen):
            term = term if weights[axis][i] is None else term * weights[axis][i]
        terms.append(term)
    found = sum(terms[1:], terms[0])
    return ops.where(ops.any(ops.stack(outside), axis=0), cval, found) if mode == "constant" else found


def _coefficients(x: Any, order: int, mode: str, cval: Any) -> tuple:
    """The spline's coefficients, and by how many the image was extended on each side."""
    padded = _PREPADDED if mode in ("nearest", "grid-constant") else 0
    for axis in range(x.ndim):
        x = extended("map_coordinates", x, axis, padded, padded, mode, cval)
    return spline_filter(x, order, x.dtype, mode), padded


def _moved_inside(places: Any, size: int, mode: str) -> tuple:
    """Positions beyond the edges as positions inside with the same value; with mode="constant" also where the value is `cval`."""
    at = stop_gradient(places)
    if mode == "constant":
        beyond = (at < 0) | (at > size - 1)
        return ops.where(beyond, 0.0, places), beyond
    if mode in ("nearest", "grid-constant"):  # the samples around a position are looked up beyond the edges
        return places, None
    if mode == "grid-wrap":
        return places - ops.floor(at / size) * size, None
    if mode == "wrap":  # the last sample coincides with the first, and replaces it below
        period = max(size - 1, 1)
        turns = ops.where(at < 0, ops.ceil(at / period) - 1, ops.where(at > size - 1, ops.floor(at / period), 0.0))
        return (places - turns * period) * (size > 1), None
    period = 2.0 * (size - 1 if mode == "mirror" else size)
    if size == 1:
        return places * 0.0, None
    offset = 0.0 if mode == "mirror" else 0.5
    turns = ops.floor((at + offset) / period)
    back = at + offset - turns * period > period / 2
    return (places + offset - turns * period) * ops.where(back, -1.0, 1.0) + ops.where(back, period, 0.0) - offset, None


def _spline(at: Any, order: int) -> tuple:
    """The first sample that contributes to a position, and the weights of this and the following samples; None for weight 1."""
    values = stop_gradient(at)
    if order == 0:
        return ops.astype(ops.floor(values + 0.5), np.int64), [None]
    first = ops.floor(values - (order - 1) / 2)
    t = at - (first + (order - 1) / 2)  # from the knot below
    parts = [1 - t, t]
    for degree in range(2, order + 1):  # the recursion of Cox and de Boor, for knots that are 1 apart
        shares = [part / degree for part in parts]
        below, above = zip(*[((k + 1 - t) * share, (t + (degree - 1 - k)) * share) for k, share in enumerate(shares)])
        parts = [below[0], *(one + other for one, other in zip(below[1:], above)), above[-1]]
    return ops.astype(first, np.int64), parts


def affine_transform(
    input: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None, output: Any = None, order: int = 3,
    mode: str = "constant", cval: Any = 0.0, prefilter: bool = True,
) -> Any:  # fmt: skip
    """An image at matrix @ position + offset for each position of the result.

    Parameters
    ----------
    input : array_like or Tensor
    matrix : array_like or Tensor
        Has shape (ndim, ndim); (ndim,) for a diagonal; with a further column the offset, and a further row of SciPy's.
    offset : float, array_like or Tensor
    output_shape : tuple of int, optional
        That of `input` by default.
    output, order, mode, cval, prefilter
        As for `map_coordinates`.

    Returns
    -------
    Tensor
        Has shape `output_shape`.
    """
    x, matrix = floats("affine_transform", input), floats("affine_transform", matrix)
    shape = x.shape if output_shape is None else tuple(output_shape)
    if matrix.ndim == 2 and matrix.shape[1] == x.ndim + 1:
        matrix, offset = matrix[: x.ndim, : x.ndim], matrix[: x.ndim, x.ndim]
    elif matrix.ndim == 1:
        matrix = ops.diag(matrix)
    grid = asarray(np.indices(shape, dtype=np.float64))
    offset = ops.reshape(ops.zeros(x.ndim) + floats("affine_transform", offset), (x.ndim,) + (1,) * len(shape))
    return map_coordinates(x, ops.tensordot(matrix, grid, 1) + offset, output, order, mode, cval, prefilter)


def shift(
    input: Any, shift: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0, prefilter: bool = True
) -> Any:
    """A shifted image.

    Parameters
    ----------
    input : array_like or Tensor
    shift : float, array_like or Tensor
        By how much, along all axes or along each.
    output, order, mode, cval, prefilter
        As for `map_coordinates`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    x = floats("shift", input)
    return affine_transform(x, np.ones(x.ndim), -floats("shift", shift), None, output, order, mode, cval, prefilter)


def zoom(
    input: Any, zoom: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0, prefilter: bool = True, *,
    grid_mode: bool = False,
) -> Any:  # fmt: skip
    """An image of another size.

    Parameters
    ----------
    input : array_like or Tensor
    zoom : float or sequence of float
        Constant: the shape of the result follows from it.
    output, order, mode, cval, prefilter
        As for `map_coordinates`.
    grid_mode : bool
        Whether samples are centres of pixels, and `zoom` is the ratio of the images' widths in pixels; otherwise `zoom` is the
        ratio of the distances between first and last samples.

    Returns
    -------
    Tensor
    """
    x = floats("zoom", input)
    factors = [float(factor) for factor in each_axis("zoom", zoom, x.ndim)]
    shape = tuple(int(round(size * factor)) for size, factor in zip(x.shape, factors))
    if grid_mode:
        grid = [(np.arange(new) + 0.5) * (size / max(new, 1)) - 0.5 for new, size in zip(shape, x.shape)]
    else:
        ratios = [(size - 1) / (new - 1) if new > 1 else 1.0 for size, new in zip(x.shape, shape)]
        # A position beyond the last sample only by rounding is moved to it.
        grid = [np.minimum(np.arange(new) * ratio, size - 1) for new, ratio, size in zip(shape, ratios, x.shape)]
    return map_coordinates(x, np.stack(np.meshgrid(*grid, indexing="ij")), output, order, mode, cval, prefilter)


def rotate(
    input: Any, angle: Any, axes: tuple = (1, 0), reshape: bool = True, output: Any = None, order: int = 3,
    mode: str = "constant", cval: Any = 0.0, prefilter: bool = True,
) -> Any:  # fmt: skip
    """An image rotated in the plane of two axes.

    Parameters
    ----------
    input : array_like or Tensor
    angle : float or Tensor
        In degrees.
    axes : pair of int
        Two different axes.
    reshape : bool
        Whether the result is large enough for all of the image; its shape is a constant.
    output, order, mode, cval, prefilter
        As for `map_coordinates`.

    Returns
    -------
    Tensor
    """
    x, angle = floats("rotate", input), floats("rotate", angle)
    first, second = sorted(axis % x.ndim for axis in axes)
    if first == second:
        raise ValueError("rotate: axes must be two different ones")
    turn = angle * (np.pi / 180)
    c, s = ops.cos(turn), ops.sin(turn)
    plane = ops.stack([ops.stack([c, s]), ops.stack([-s, c])])
    sizes = np.array([x.shape[first], x.shape[second]])
    new = sizes
    if reshape:
        corners = plane.detach().numpy() @ np.array([[0, 0, sizes[0], sizes[0]], [0, sizes[1], 0, sizes[1]]])
        new = (np.ptp(corners, axis=1) + 0.5).astype(int)
    shape = list(x.shape)
    shape[first], shape[second] = new.tolist()
    start = asarray((sizes - 1) / 2) - plane @ asarray((new - 1) / 2)
    grid = np.indices(shape, dtype=np.float64)
    places = [asarray(part) for part in grid]
    for row, axis in enumerate((first, second)):
        places[axis] = plane[row, 0] * asarray(grid[first]) + plane[row, 1] * asarray(grid[second]) + start[row]
    return map_coordinates(x, ops.stack(places), output, order, mode, cval, prefilter)
