"""Arrays that are made of numbers, with derivatives in these: ranges, one value everywhere, padding; and slopes.

Owns the names and their parameters, which are NumPy's.  Numbers make what NumPy makes of them; tensors are computed on.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.tensor import TensorBase
from ..support.dispatch import ops
from ..support.error_hints import answering

if TYPE_CHECKING:
    from ..generated.tensor import Tensor


@answering
def arange(start: Any, stop: Any = None, step: Any = 1, *, dtype: Any = None, requires_grad: bool = False) -> "Tensor":
    """Numbers from `start` up to but without `stop`; from 0 up to `start` when `stop` is None.

    Parameters
    ----------
    start : number or Tensor
        First number, or the end where it stands alone.
    stop : number or Tensor, optional
        Where to end, itself left out.  Its derivative is 0.
    step : number or Tensor
        Distance of neighbouring numbers.
    dtype : dtype, optional
    requires_grad : bool
        Whether the result is a leaf that collects a gradient.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.arange(3).tolist()
    [0, 1, 2]
    >>> gs.grad(lambda step: gs.arange(1.0, 3.0, step).sum())(0.5).item()
    6.0
    """
    if _are_numbers(start, stop, step):
        return ops.arange(start, stop, step, dtype=dtype, requires_grad=requires_grad)
    from ..methods.numpy_ranges import arange  # which no import waits for

    return _leaf(arange(start, stop, step, dtype=dtype), requires_grad)


@answering
def full(shape: int | Sequence[int], fill_value: Any, *, dtype: Any = None, requires_grad: bool = False) -> "Tensor":
    """One value everywhere.

    Parameters
    ----------
    shape : int or sequence of int
    fill_value : array_like
        An array is broadcast.
    dtype : dtype, optional
        By default that of the value.
    requires_grad : bool
        Whether the result is a leaf that collects a gradient.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.full(2, 0.5).tolist()
    [0.5, 0.5]
    """
    if _are_numbers(fill_value):
        return ops.full(shape, fill_value, dtype=dtype, requires_grad=requires_grad)
    from ..methods.numpy_ranges import full

    return _leaf(full(shape, fill_value, dtype), requires_grad)


@answering
def full_like(x: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False) -> "Tensor":
    """One value everywhere, in the shape and dtype of `x`.

    Parameters
    ----------
    x : array_like
    fill_value : array_like
        An array is broadcast.
    dtype : dtype, optional
    requires_grad : bool
        Whether the result is a leaf that collects a gradient.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> gs.full_like([1.0, 2.0], 7)
    tensor([7., 7.])
    """
    if _are_numbers(fill_value):
        return ops.full_like(x, fill_value, dtype=dtype, requires_grad=requires_grad)
    from ..methods.numpy_ranges import full_like

    return _leaf(full_like(x, fill_value, dtype), requires_grad)


@answering
def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0, *,
              requires_grad: bool = False) -> "Tensor":  # fmt: skip
    """Numbers from `start` to `stop`, each the same multiple of the one before.

    Parameters
    ----------
    start, stop : array_like
    num : int
        How many.
    endpoint : bool
        Whether `stop` is one of them.
    dtype : dtype, optional
    axis : int
        Along which they lie, where `start` or `stop` is an array.
    requires_grad : bool
        Whether the result is a leaf that collects a gradient.

    Returns
    -------
    Tensor
    """
    from ..methods.numpy_ranges import geomspace

    if _are_numbers(start, stop):
        return _leaf(ops.copy(np.geomspace(start, stop, num, endpoint, dtype)), requires_grad)
    return _leaf(geomspace(start, stop, num, endpoint, dtype, axis), requires_grad)


@answering
def gradient(x: Any, *spacing: Any, axis: int | Sequence[int] | None = None, edge_order: int = 1) -> Any:
    """Derivative of sampled values, by central differences inside and one-sided ones at the ends.

    Parameters
    ----------
    x : array_like
    *spacing : array_like
        Distance of neighbouring samples, or where they lie: one for all axes, or one for each.  1 by default.
    axis : int or sequence of int, optional
        Axis or axes along which the samples lie; all by default.
    edge_order : {1, 2}
        Order of the differences at the ends.

    Returns
    -------
    Tensor or tuple of Tensor
        One for each axis, if there are several.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.gradient([1.0, 2.0, 5.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    from ..methods.numpy_pieces import gradient

    return gradient(x, *spacing, axis=axis, edge_order=edge_order)


@answering
def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
             axis: int = 0, *, requires_grad: bool = False) -> Any:  # fmt: skip
    """Evenly spaced numbers from `start` to `stop`.

    Parameters
    ----------
    start : array_like
        First number.
    stop : array_like
        Last number, or the one after it where not `endpoint`.
    num : int
        How many.
    endpoint : bool
        Whether `stop` is one of them.
    retstep : bool
        Whether to return their distance as well.
    dtype : dtype, optional
    axis : int
        Along which they lie, where `start` or `stop` is an array.
    requires_grad : bool
        Whether the result is a leaf that collects a gradient.

    Returns
    -------
    Tensor or tuple of Tensor

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    >>> gs.grad(lambda stop: gs.linspace(0.0, stop, 3).sum())(1.0).item()
    1.5
    """
    if _are_numbers(start, stop) and not retstep:
        return ops.linspace(start, stop, num, endpoint=endpoint, dtype=dtype, requires_grad=requires_grad)
    from ..methods.numpy_ranges import linspace

    found = linspace(start, stop, num, endpoint, retstep, dtype, axis)
    return (_leaf(found[0], requires_grad), found[1]) if retstep else _leaf(found, requires_grad)


@answering
def logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0, *,
             requires_grad: bool = False) -> "Tensor":  # fmt: skip
    """Powers of `base` with exponents that lie `num` equal steps apart from `start` to `stop`.

    Parameters
    ----------
    start : array_like
        First exponent.
    stop : array_like
        Last exponent, or the one after it where not `endpoint`.
    num : int
        How many.
    endpoint : bool
        Whether `stop` is the last one.
    base : array_like
        What the powers are of.
    dtype : dtype, optional
    axis : int
        Along which they lie, where `start`, `stop` or `base` is an array.
    requires_grad : bool
        Whether the result is a leaf that collects a gradient.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> gs.logspace(0.0, 2.0, 3)
    tensor([  1.,  10., 100.])
    """
    if _are_numbers(start, stop, base):
        return ops.logspace(start, stop, num, endpoint=endpoint, base=base, dtype=dtype, requires_grad=requires_grad)
    from ..methods.numpy_ranges import logspace

    return _leaf(logspace(start, stop, num, endpoint, base, dtype, axis), requires_grad)


@answering
def pad(x: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0, stat_length: Any = None,
        end_values: Any = 0) -> "Tensor":  # fmt: skip
    """Axes made longer at both ends.

    Parameters
    ----------
    x : array_like
    pad_width : int, pair of int, one pair for each axis, or dict of axis and pair
        How much before and after each axis.
    mode : {'constant', 'edge', 'reflect', 'symmetric', 'wrap', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum'}
        What the new elements are.
    constant_values : array_like
        Their value where `mode` is 'constant': one, a pair, or one pair for each axis.
    stat_length : int, pair of int, or one pair for each axis, optional
        How many elements at each end a statistic is of; all by default.
    end_values : array_like
        Where a 'linear_ramp' ends: one, a pair, or one pair for each axis.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.pad([1.0, 2.0], 1).tolist()
    [0.0, 1.0, 2.0, 0.0]
    >>> gs.pad([1.0, 2.0], (0, 1), "mean").tolist()
    [1.0, 2.0, 1.5]
    """
    from ..methods.numpy_pieces import STATISTICS, pad

    made = ("linear_ramp", *STATISTICS)
    found = pad(x, pad_width, mode, stat_length=stat_length, constant_values=constant_values, end_values=end_values)
    if found is not NotImplemented:
        return found
    if callable(mode):
        raise TypeError("pad: mode is a word, not a function; write concat of x and what the function makes")
    if mode in made:
        raise TypeError(f"pad: mode {mode!r} takes floating point and complex numbers, and x has others; write x.astype(float)")
    raise TypeError(f"pad: stat_length belongs to the modes {', '.join(STATISTICS)}, and mode is {mode!r}")


def _are_numbers(*values: Any) -> bool:
    return not any(isinstance(value, (TensorBase, np.ndarray, list, tuple)) for value in values)


def _leaf(y: "Tensor", requires_grad: bool) -> "Tensor":
    return y.requires_grad_() if requires_grad else y
