"""Filters of images: sums over windows with weights.

Defines SciPy's signatures, and the weights of Gaussians.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...support.dispatch import ops
from .edges import each_axis, floats
from .windows import axes_of, before, no_output, summed, windows


def correlate1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Any:
    """The correlation of an image with weights along an axis.

    Parameters
    ----------
    input : array_like or Tensor
    weights : array_like or Tensor, 1-D
    axis : int
    output : None
        A result is a new tensor.
    mode : str
        Extension beyond the edges: "reflect", "constant", "nearest", "mirror", "wrap", or SciPy's "grid-" names for them.
    cval : number or Tensor
        With mode="constant".
    origin : int
        By how much the window is shifted to the left.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    x, weights = floats("correlate1d", input), floats("correlate1d", weights)
    no_output("correlate1d", output)
    if weights.ndim != 1 or not weights.size:
        raise ValueError("correlate1d: weights must be a vector that is not empty")
    return summed("correlate1d", x, weights, axis, mode, cval, before("correlate1d", weights.size, origin))


def convolve1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Any:
    """The convolution of an image with weights along an axis.

    Parameters
    ----------
    input, weights, axis, output, mode, cval, origin
        As for `correlate1d`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    weights = ops.flip(floats("convolve1d", weights))
    return correlate1d(input, weights, axis, output, mode, cval, -origin - (weights.size % 2 == 0))


def correlate(input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0) -> Any:
    """The correlation of an image with weights of as many axes.

    Parameters
    ----------
    input : array_like or Tensor
    weights : array_like or Tensor
        Has as many axes as `input`.
    output, mode, cval
        As for `correlate1d`.
    origin : int or sequence of int
        By how much the window is shifted to the left, along all axes or along each.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    x, weights = floats("correlate", input), floats("correlate", weights)
    no_output("correlate", output)
    if weights.ndim != x.ndim:
        raise RuntimeError(f"correlate: weights must have {x.ndim} axes, got {weights.ndim}")
    found = windows("correlate", x, weights.shape, mode, cval, each_axis("correlate", origin, x.ndim))
    return ops.tensordot(ops.reshape(weights, (-1,)), ops.stack(found), 1)


def convolve(input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0) -> Any:
    """The convolution of an image with weights of as many axes.

    Parameters
    ----------
    input, weights, output, mode, cval, origin
        As for `correlate`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    weights = ops.flip(floats("convolve", weights))
    origins = each_axis("convolve", origin, weights.ndim)
    return correlate(input, weights, output, mode, cval, [-o - (size % 2 == 0) for o, size in zip(origins, weights.shape)])


def gaussian_filter1d(
    input: Any, sigma: Any, axis: int = -1, order: int = 0, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    truncate: float = 4.0, *, radius: int | None = None,
) -> Any:  # fmt: skip
    """A Gaussian filter along an axis, or one with a derivative of a Gaussian.

    Parameters
    ----------
    input : array_like or Tensor
    sigma : float or Tensor
        The standard deviation, which has a derivative; the radius of the window is a constant.
    axis : int
    order : int
        Which derivative.
    output, mode, cval
        As for `correlate1d`.
    truncate : float
        At how many standard deviations the window ends.
    radius : int, optional
        Radius of the window instead of `truncate`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    sigma = floats("gaussian_filter1d", sigma)
    reach = int(truncate * sigma.item() + 0.5) if radius is None else radius
    if order < 0 or reach < 0 or reach != int(reach):
        raise ValueError("gaussian_filter1d: order and radius must be whole and not negative")
    return correlate1d(input, _gaussian(sigma, order, int(reach)), axis, output, mode, cval)


def _gaussian(sigma: Any, order: int, reach: int) -> Any:
    """Samples of a Gaussian with sum 1, times the polynomial of its derivative, reversed for a correlation."""
    at = asarray(np.arange(-reach, reach + 1.0))
    weights = ops.exp(-0.5 * (at / sigma) ** 2)
    weights = weights / ops.sum(weights)
    variance, before, now = sigma * sigma, 0.0, 1.0  # Hermite's polynomials by their recurrence
    for i in range(order):
        before, now = now, -(at * now + i * before) / variance
    return ops.flip(weights * now)


def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, truncate: float = 4.0, *,
    radius: Any = None, axes: Any = None,
) -> Any:  # fmt: skip
    """A Gaussian filter along several axes.

    Parameters
    ----------
    input, sigma, order, output, mode, cval, truncate, radius
        As for `gaussian_filter1d`; `sigma`, `order`, `mode` and `radius` may be given for each axis.
    axes : int or sequence of int, optional
        All by default.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    x = floats("gaussian_filter", input)
    chosen = axes_of(x, axes)
    if hasattr(sigma, "ndim") and sigma.ndim:
        sigma = [sigma[i] for i in range(len(sigma))]
    several = [each_axis("gaussian_filter", value, len(chosen)) for value in (sigma, order, mode, radius)]
    for axis, width, which, how, reach in zip(chosen, *several):
        if floats("gaussian_filter", width).item() > 1e-15:
            x = gaussian_filter1d(x, width, axis, which, output, how, cval, truncate, radius=reach)
    return x


def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Any:
    """The mean over windows along an axis.

    Parameters
    ----------
    input : array_like or Tensor
    size : int
        Number of elements of a window.
    axis, output, mode, cval, origin
        As for `correlate1d`.

    Returns
    -------
    Tensor
    """
    return correlate1d(input, np.full(size, 1 / size), axis, output, mode, cval, origin)


def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
) -> Any:
    """The mean over windows.

    Parameters
    ----------
    input, size, output, mode, cval, origin
        As for `uniform_filter1d`; `size`, `mode` and `origin` may be given for each axis.
    axes : int or sequence of int, optional

    Returns
    -------
    Tensor
    """
    x = floats("uniform_filter", input)
    chosen = axes_of(x, axes)
    several = [each_axis("uniform_filter", value, len(chosen)) for value in (size, mode, origin)]
    for axis, length, how, start in zip(chosen, *several):
        x = uniform_filter1d(x, length, axis, output, how, cval, start) if length > 1 else x
    return x


def sobel(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """Sobel's filter: a difference along `axis` after smoothing along the other axes.

    Parameters
    ----------
    input, axis, output, mode, cval
        As for `correlate1d`; `mode` may be given for each axis.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    return _edges("sobel", input, axis, output, mode, cval, [1.0, 2.0, 1.0])


def prewitt(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """Prewitt's filter: `sobel` with means.

    Parameters
    ----------
    input, axis, output, mode, cval
        As for `sobel`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    return _edges("prewitt", input, axis, output, mode, cval, [1.0, 1.0, 1.0])


def _edges(name: str, input: Any, axis: int, output: Any, mode: Any, cval: Any, smooth: list) -> Any:
    x = floats(name, input)
    modes = each_axis(name, mode, x.ndim)
    along = axis % x.ndim
    y = correlate1d(x, [-1.0, 0.0, 1.0], along, output, modes[along], cval)
    for other in range(x.ndim):
        y = y if other == along else correlate1d(y, smooth, other, output, modes[other], cval)
    return y


def generic_laplace(
    input: Any, derivative2: Callable[..., Any], output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    extra_arguments: tuple = (), extra_keywords: dict | None = None, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The sum of second derivatives along all axes, by a function that computes each.

    Parameters
    ----------
    input : array_like or Tensor
    derivative2 : callable
        Takes an image, an axis, `output`, a mode and `cval`.
    output, mode, cval
        As for `sobel`.
    extra_arguments, extra_keywords
        Passed on to it.
    axes : int or sequence of int, optional

    Returns
    -------
    Tensor
    """
    x = floats("generic_laplace", input)
    chosen = axes_of(x, axes)
    modes = each_axis("generic_laplace", mode, len(chosen))
    parts = [
        derivative2(x, axis, output, how, cval, *extra_arguments, **extra_keywords or {}) for axis, how in zip(chosen, modes)
    ]
    return sum(parts[1:], parts[0])


def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Any:
    """Laplace's filter: second differences along all axes.

    Parameters
    ----------
    input, output, mode, cval, axes
        As for `generic_laplace`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    return generic_laplace(
        input, lambda x, axis, *rest: correlate1d(x, [1.0, -2.0, 1.0], axis, *rest), output, mode, cval, axes=axes
    )


def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None, **kwargs: Any
) -> Any:
    """Laplace's filter by second derivatives of Gaussians.

    Parameters
    ----------
    input : array_like or Tensor
    sigma : float or Tensor, or one for each axis
        The standard deviation.
    output, mode, cval, axes
        As for `generic_laplace`.
    **kwargs
        `truncate` and `radius` of `gaussian_filter`.

    Returns
    -------
    Tensor
    """
    return generic_laplace(input, _derivative(sigma, 2, axes, input, kwargs), output, mode, cval, axes=axes)


def generic_gradient_magnitude(
    input: Any, derivative: Callable[..., Any], output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    extra_arguments: tuple = (), extra_keywords: dict | None = None, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The length of the gradient, by a function that computes the derivative along an axis.

    Parameters
    ----------
    input : array_like or Tensor
    derivative : callable
        Takes an image, an axis, `output`, a mode and `cval`, and returns the derivative along the axis.
    output, mode, cval, extra_arguments, extra_keywords, axes
        As for `generic_laplace`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    x = floats("generic_gradient_magnitude", input)

    def squared(x: Any, axis: int, *rest: Any, **keywords: Any) -> Any:
        found = derivative(x, axis, *rest, **keywords)
        return found * found

    return ops.sqrt(generic_laplace(x, squared, output, mode, cval, extra_arguments, extra_keywords, axes=axes))


def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None, **kwargs: Any
) -> Any:
    """The length of the gradient by derivatives of Gaussians.

    Parameters
    ----------
    input, sigma, output, mode, cval, axes, **kwargs
        As for `gaussian_laplace`.

    Returns
    -------
    Tensor
        Has the shape of `input`.
    """
    return generic_gradient_magnitude(input, _derivative(sigma, 1, axes, input, kwargs), output, mode, cval, axes=axes)


def _derivative(sigma: Any, order: int, axes: Any, input: Any, kwargs: dict) -> Callable[..., Any]:
    chosen = axes_of(asarray(input), axes)

    def derivative(x: Any, axis: int, output: Any, mode: str, cval: Any) -> Any:
        orders = [order if other == axis else 0 for other in chosen]
        return gaussian_filter(x, sigma, orders, output, mode, cval, axes=chosen, **kwargs)

    return derivative
