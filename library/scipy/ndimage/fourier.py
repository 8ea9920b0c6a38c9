"""Filters of Fourier transforms of images: multiply by a function of the frequencies, which is also differentiable in its width.

Defines these functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import Signature, signature
from typing import Any

import numpy as np
import numpy.fft

from ...core.conversion import asarray
from ...special import j1, sinc
from ...support.dispatch import ops
from ..values import reals
from .edges import each_axis, floats
from .windows import no_output

__all__ = ["fourier_ellipsoid", "fourier_gaussian", "fourier_shift", "fourier_uniform"]


def _waves(x: Any, n: int, axis: int) -> list[np.ndarray]:
    """The frequency along each axis, in cycles per element, in a shape that broadcasts."""
    axis, found = axis % x.ndim, []
    for i, size in enumerate(x.shape):
        halved = i == axis and n >= 0  # the transform of real numbers, of `n` of them
        waves = np.arange(size) / n if halved else np.fft.fftfreq(size)
        found.append(waves.reshape([-1 if i == j else 1 for j in range(x.ndim)]))
    return found


def _widths(name: str, value: Any, count: int) -> list[Any]:
    if hasattr(value, "ndim") and value.ndim:
        value = [value[i] for i in range(len(value))]
    return [reals(name, width)[0] for width in each_axis(name, value, count)]


def _filter(name: str, doc: str, argument: str, factor: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    """`factor`: of the products of widths and frequencies, one for each axis."""

    def apply(input: Any, width: Any, n: int = -1, axis: int = -1, output: Any = None) -> Any:
        no_output(name, output)
        x = floats(name, input)
        widths = _widths(name, width, x.ndim)
        return x * factor([width * asarray(waves) for width, waves in zip(widths, _waves(x, n, axis))])

    def named(input: Any, *args: Any, **kwds: Any) -> Any:
        kwds = {"width" if key == argument else key: value for key, value in kwds.items()}
        return apply(input, *args, **kwds)

    named.__name__ = named.__qualname__ = name
    arguments = [p.replace(name=argument) if p.name == "width" else p for p in signature(apply).parameters.values()]
    named.__signature__ = Signature(arguments)  # type: ignore[attr-defined]
    named.__doc__ = f"""{doc}

    Parameters
    ----------
    input : array_like or Tensor
        The transform of an image.
    {argument} : float or Tensor, or one for each axis
        In elements.
    n : int
        How many elements the image has along `axis`, if `input` is a transform of real numbers; negative of complex ones.
    axis : int
        The axis of the transform of real numbers.
    output : None

    Returns
    -------
    Tensor
        Of the shape of `input`.
    """
    return named


def _product(factors: list[Any]) -> Any:
    return math.prod(factors[1:], start=factors[0])


def _ball(products: list[Any]) -> Any:
    """The transform of a ball of one to three axes."""
    if len(products) == 1:
        return sinc(products[0])
    if len(products) > 3:
        raise NotImplementedError("fourier_ellipsoid: images of 1 to 3 axes are supported, as in SciPy")
    square = math.pi**2 * sum(ops.square(p) for p in products[1:]) + math.pi**2 * ops.square(products[0])
    near = square.detach().numpy() < 1e-4
    r = ops.sqrt(ops.where(near, 1.0, square))
    if len(products) == 2:
        return ops.where(near, 1 - square / 8 + ops.square(square) / 192, 2 * j1(r) / r)
    return ops.where(near, 1 - square / 10 + ops.square(square) / 280, 3 * (ops.sin(r) - r * ops.cos(r)) / r**3)


def _turns(products: list[Any]) -> Any:
    angle = -2 * math.pi * sum(products[1:], start=products[0])
    return ops.complex(ops.cos(angle), ops.sin(angle))


fourier_gaussian = _filter("fourier_gaussian", "Multiply by the transform of a Gaussian.", "sigma",
                           lambda products: _product([ops.exp(-2 * math.pi**2 * ops.square(p)) for p in products]))  # fmt: skip
fourier_uniform = _filter("fourier_uniform", "Multiply by the transform of a box.", "size",
                          lambda products: _product([sinc(p) for p in products]))  # fmt: skip
fourier_ellipsoid = _filter("fourier_ellipsoid", "Multiply by the transform of an ellipsoid.", "size", _ball)
fourier_shift = _filter("fourier_shift", "Multiply by the transform of a shift.", "shift", _turns)
