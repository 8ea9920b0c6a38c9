"""JAX's `nn.initializers`: functions of a key, a shape and a dtype that draw the first values of weights."""

from collections.abc import Callable, Sequence
from math import prod, sqrt
from typing import Any

import numpy as np

import gradspec as gs

Axes = int | Sequence[int]
Initializer = Callable[..., Any]
_CUT = 0.87962566103423978  # standard deviation of standard normal numbers between -2 and 2


def zeros(key: Any, shape: Any, dtype: Any = None) -> Any:
    """Zeros; the key is not used."""
    return gs.zeros(shape, dtype=dtype)


def ones(key: Any, shape: Any, dtype: Any = None) -> Any:
    """Ones; the key is not used."""
    return gs.ones(shape, dtype=dtype)


def constant(value: Any, dtype: Any = None) -> Initializer:
    """Initializer of equal numbers, or of an array that broadcasts to the shape."""
    return _with(dtype, lambda key, shape, dtype: gs.full(shape, value, dtype=dtype))


def uniform(scale: Any = 0.01, dtype: Any = None) -> Initializer:
    """Initializer of uniform numbers over [0, scale)."""
    return _with(dtype, lambda key, shape, dtype: scale * gs.random.uniform(key, shape, dtype))


def normal(stddev: Any = 0.01, dtype: Any = None) -> Initializer:
    """Initializer of normal numbers."""
    return _with(dtype, lambda key, shape, dtype: stddev * gs.random.normal(key, shape, dtype))


def truncated_normal(stddev: Any = 0.01, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0) -> Initializer:
    """Initializer of standard normal numbers between two bounds, times `stddev`."""
    return _with(dtype, lambda key, shape, dtype: stddev * gs.random.truncated_normal(key, lower, upper, shape, dtype))


def variance_scaling(scale: Any, mode: str, distribution: str, in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (),
                     dtype: Any = None) -> Initializer:  # fmt: skip
    """Initializer of numbers with variance `scale` divided by a number of units.

    Parameters
    ----------
    scale : float
    mode : {"fan_in", "fan_out", "fan_avg", "fan_geo_avg"}
        The units: inputs, outputs, or one of their means.
    distribution : {"truncated_normal", "normal", "uniform"}
    in_axis, out_axis, batch_axis : int or sequence of int
        Axes of inputs, of outputs, and of independent arrays; the other axes belong to both fans.
    dtype : dtype, optional

    Returns
    -------
    callable
        Of (key, shape, dtype).
    """
    if distribution not in ("truncated_normal", "normal", "uniform"):
        raise ValueError(f"variance_scaling: unknown distribution {distribution!r}; write truncated_normal, normal or uniform")
    if mode not in ("fan_in", "fan_out", "fan_avg", "fan_geo_avg"):
        raise ValueError(f"variance_scaling: unknown mode {mode!r}; write fan_in, fan_out, fan_avg or fan_geo_avg")

    def draw(key: Any, shape: Any, dtype: Any) -> Any:
        inputs, outputs, batch = (_lengths(shape, axes) for axes in (in_axis, out_axis, batch_axis))
        field = prod(shape) / (inputs * outputs * batch)
        fans = inputs * field, outputs * field
        units = {"fan_in": fans[0], "fan_out": fans[1], "fan_avg": sum(fans) / 2, "fan_geo_avg": sqrt(prod(fans))}[mode]
        if distribution == "uniform":
            return sqrt(3 * scale / units) * gs.random.uniform(key, shape, dtype, -1.0)
        if distribution == "normal":
            return sqrt(scale / units) * gs.random.normal(key, shape, dtype)
        return sqrt(scale / units) / _CUT * gs.random.truncated_normal(key, -2.0, 2.0, shape, dtype)

    return _with(dtype, draw)


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Initializer of uniformly distributed orthogonal matrices; all axes but `column_axis` are the rows."""

    def draw(key: Any, shape: Any, dtype: Any) -> Any:
        if len(shape) < 2:
            raise ValueError(f"orthogonal: the shape needs two axes or more, got {tuple(shape)}")
        columns = shape[column_axis]
        rest = [n for i, n in enumerate(shape) if i != column_axis % len(shape)]
        matrix = gs.random.orthogonal(key, columns, (), dtype, prod(rest))
        return scale * gs.moveaxis(gs.reshape(matrix, (columns, *rest)), 0, column_axis)

    return _with(dtype, draw)


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Initializer of kernels of convolutions that are zero except for an orthogonal matrix in the middle."""

    def draw(key: Any, shape: Any, dtype: Any) -> Any:
        if not 3 <= len(shape) <= 5 or shape[-1] < shape[-2]:
            raise ValueError("delta_orthogonal: the shape needs 3 to 5 axes, the last not shorter than the one before, "
                             f"got {tuple(shape)}")  # fmt: skip
        middle = tuple((n - 1) // 2 for n in shape[:-2])
        matrix = orthogonal(scale, column_axis)(key, shape[-2:], dtype)
        return gs.zeros(shape, dtype=matrix.dtype).at[middle].set(matrix)

    return _with(dtype, draw)


def _lengths(shape: Any, axes: Axes) -> int:
    return prod(shape[i] for i in ((axes,) if isinstance(axes, int) else axes))


def _with(default: Any, draw: Callable[[Any, Any, Any], Any]) -> Initializer:
    """An initializer whose dtype may be left out."""

    def initialize(key: Any, shape: Any, dtype: Any = None) -> Any:
        return draw(key, shape, np.dtype(default or np.float64) if dtype is None else np.dtype(dtype))

    return initialize


def _scaled(name: str, scale: float, mode: str, distribution: str) -> Callable[..., Initializer]:
    def of(in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    of.__name__ = of.__qualname__ = name
    of.__doc__ = f"`variance_scaling({scale}, {mode!r}, {distribution!r})`."
    return of


glorot_uniform = xavier_uniform = _scaled("glorot_uniform", 1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = _scaled("glorot_normal", 1.0, "fan_avg", "truncated_normal")
lecun_uniform = _scaled("lecun_uniform", 1.0, "fan_in", "uniform")
lecun_normal = _scaled("lecun_normal", 1.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = _scaled("he_uniform", 2.0, "fan_in", "uniform")
he_normal = kaiming_normal = _scaled("he_normal", 2.0, "fan_in", "truncated_normal")
