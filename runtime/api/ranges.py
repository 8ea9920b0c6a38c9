"""Ranges, constant arrays, padding and finite differences, with derivatives with respect to their numbers.

The parameters are NumPy's.  For plain numbers NumPy computes the values; for tensors operators do.
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
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, requires_grad: bool = False) -> "Tensor":
    """Numbers from `start` up to but excluding `stop`; from 0 up to `start` if `stop` is None.

    Parameters
    ----------
    start : number or Tensor
        First number, or the end if it is the only argument.
    stop : number or Tensor, optional
        End of the range, excluded.  Its derivative is 0.
    step : number or Tensor
        Difference between neighbouring numbers.
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
    from ..methods.numpy_ranges import arange  # not imported with gradspec

    return _leaf(arange(start, stop, step, dtype=dtype), requires_grad)


@answering
def full(shape: int | Sequence[int], fill_value: Any, dtype: Any = None, *, requires_grad: bool = False) -> "Tensor":
    """An array filled with one value.

    Parameters
    ----------
    shape : int or sequence of int
    fill_value : array_like
        An array is broadcast.
    dtype : dtype, optional
        Dtype of the value by default.
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
def full_like(x: Any, fill_value: Any, dtype: Any = None, *, requires_grad: bool = False) -> "Tensor":
    """An array filled with one value, in the shape and dtype of `x`.

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
    """Numbers from `start` to `stop`, each a constant multiple of the previous one.

    Parameters
    ----------
    start, stop : array_like
    num : int
        Number of values.
    endpoint : bool
        Whether `stop` is included.
    dtype : dtype, optional
    axis : int
        New axis of the result, if `start` or `stop` is an array.
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
    """Derivative of sampled values, by central differences inside and one-sided differences at the ends.

    Parameters
    ----------
    x : array_like
    *spacing : array_like
        Distance between neighbouring samples, or their positions: one for all axes, or one for each.  1 by default.
    axis : int or sequence of int, optional
        Axis or axes of the samples; all by default.
    edge_order : {1, 2}
        Order of the differences at the ends.

    Returns
    -------
    Tensor or tuple of Tensor
        One tensor for each axis, if there are several.

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
        Last number, or the next one after it if `endpoint` is False.
    num : int
        Number of values.
    endpoint : bool
        Whether `stop` is included.
    retstep : bool
        Whether to return the step as well.
    dtype : dtype, optional
    axis : int
        New axis of the result, if `start` or `stop` is an array.
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
    """Powers of `base` with `num` evenly spaced exponents from `start` to `stop`.

    Parameters
    ----------
    start : array_like
        First exponent.
    stop : array_like
        Last exponent, or the next one after it if `endpoint` is False.
    num : int
        Number of values.
    endpoint : bool
        Whether `stop` is included.
    base : array_like
        Base of the powers.
    dtype : dtype, optional
    axis : int
        New axis of the result, if `start`, `stop` or `base` is an array.
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
    """Extend axes at both ends.

    Parameters
    ----------
    x : array_like
    pad_width : int, pair of int, one pair for each axis, or dict of axis and pair
        Number of new elements before and after each axis.
    mode : {'constant', 'edge', 'reflect', 'symmetric', 'wrap', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum'}
        Kind of the new elements.
    constant_values : array_like
        Their value for the mode 'constant': one, a pair, or one pair for each axis.
    stat_length : int, pair of int, or one pair for each axis, optional
        Number of elements at each end for a statistic; all by default.
    end_values : array_like
        End value of a 'linear_ramp': one, a pair, or one pair for each axis.

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
        raise TypeError("pad: mode must be a string, not a function; join x and your own padding with concat")
    if mode in made:
        raise TypeError(f"pad: mode {mode!r} takes floating point and complex numbers, and x has others; write x.astype(float)")
    raise TypeError(f"pad: stat_length belongs to the modes {', '.join(STATISTICS)}, and mode is {mode!r}")


def _are_numbers(*values: Any) -> bool:
    return not any(isinstance(value, (TensorBase, np.ndarray, list, tuple)) for value in values)


def _leaf(y: "Tensor", requires_grad: bool) -> "Tensor":
    return y.requires_grad_() if requires_grad else y
