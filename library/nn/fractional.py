"""Fractional max pooling: the largest element of each window, with random distances between windows.

Computes the starts of the windows by PyTorch's rule, so that equal random numbers give equal windows.  Operators take the
elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _random
from ..core.conversion import asarray
from ..generated import ops
from ..generated.tensor import Tensor
from ..support.error_hints import answering

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = [
    "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d", "fractional_max_pool3d_with_indices",
]  # fmt: skip
__dir__ = __all__.copy


def begins(sample: Tensor, length: int, size: int, window: int) -> Tensor:
    """The starts of the windows along an axis.

    The last of n windows starts at `length - window`.  Window i of the others starts at floor((i + u) a) - floor(u a), where
    a = (length - window) / (n - 1) (Graham, 2015, Fractional max-pooling, section 2).

    Parameters
    ----------
    sample : Tensor
        (batch, channels), u from 0 to 1.
    length, size, window : int
        Of the axis, of the result, of a window.

    Returns
    -------
    Tensor
        (batch, channels, size), integers.
    """
    if size == 1:
        return ops.full((*sample.shape, 1), length - window, dtype=np.int64)
    u = ops.expand_dims(sample, -1)
    rate = np.asarray((length - window) / (size - 1), sample.dtype)
    first = ops.floor((np.arange(size - 1).astype(sample.dtype) + u) * rate) - ops.floor(u * rate)
    return ops.pad(ops.astype(first, np.int64), ((0, 0), (0, 0), (0, 1)), "constant", constant_values=length - window)


def pooled(
    name: str, axes: int, x: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any, generator: Any
) -> tuple[Tensor, Tensor]:
    """The largest elements and their places."""
    x = asarray(x)
    if x.ndim not in (axes + 1, axes + 2):
        raise ValueError(f"{name}: expected {axes + 1} or {axes + 2} axes, got {x.ndim}")
    if (output_size is None) == (output_ratio is None):
        said = "requires specifying either" if output_size is None else "takes only one of"
        raise ValueError(f"{name} {said} an output_size or an output_ratio")
    lengths = x.shape[-axes:]
    kernel = tuple(kernel_size) if isinstance(kernel_size, Sequence) else (kernel_size,) * axes
    if output_size is None:
        ratios = tuple(output_ratio) if isinstance(output_ratio, Sequence) else (output_ratio,) * axes
        if not all(0 < ratio < 1 for ratio in ratios):
            raise ValueError(f"{name}: output_ratio must be between 0 and 1 (got {output_ratio})")
        sizes = tuple(int(length * ratio) for length, ratio in zip(lengths, ratios))
    else:
        sizes = tuple(output_size) if isinstance(output_size, Sequence) else (output_size,) * axes
    if len(kernel) != axes or len(sizes) != axes:
        raise ValueError(f"{name}: kernel_size and output_size are one number, or {axes}")
    if not all(0 < size and 0 < window and size + window - 1 <= length for size, window, length in zip(sizes, kernel, lengths)):
        raise ValueError(f"{name}: windows of {kernel} and a result of {sizes} do not fit into {lengths}")
    leading = (1, *x.shape)[-axes - 2 : -axes]
    if samples is None:
        samples = _random.random((*leading, axes), generator=generator)
    samples = asarray(samples).detach()
    if samples.shape != (*leading, axes):
        raise ValueError(f"{name}: _random_samples has the shape {samples.shape}, not {(*leading, axes)}")
    samples = ops.astype(samples, x.dtype if x.dtype.kind == "f" else np.float64)
    # The index of each element of each window in the flat image: (batch, channels, *sizes, *kernel).
    places: Any = 0
    for axis, (length, size, window) in enumerate(zip(lengths, sizes, kernel)):
        number = axes - 1 - axis if axes == 2 else axis  # PyTorch's first sample for images belongs to the last axis
        first = begins(samples[..., number], length, size, window)
        first = ops.reshape(first, (*leading, *(size if n == axis else 1 for n in range(axes)), *(1,) * axes))
        inside = np.arange(window).reshape([window if n == axis else 1 for n in range(axes)])
        places = places * length + first + inside
    places = ops.reshape(places, (*leading, prod(sizes), prod(kernel)))
    flat = ops.reshape(x, (*leading, prod(lengths)))
    windows = ops.take_along_axis(flat.detach(), ops.reshape(places, (*leading, -1)), 2)
    best = ops.argmax(ops.reshape(windows, places.shape), -1)
    places = ops.reshape(ops.take_along_axis(places, ops.expand_dims(best, -1), -1), (*leading, prod(sizes)))
    shape = (*x.shape[:-axes], *sizes)
    return ops.reshape(ops.take_along_axis(flat, places, 2), shape), ops.reshape(places, shape)


@answering
def fractional_max_pool2d_with_indices(
    x: Tensor | npt.ArrayLike, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = True,
    _random_samples: Tensor | npt.ArrayLike | None = None, *, generator: Any = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`fractional_max_pool2d` that always returns the indices, too.

    Parameters
    ----------
    x, kernel_size, output_size, output_ratio
        As for `fractional_max_pool2d`.
    return_indices : bool
        Without effect.
    _random_samples, generator
        As for `fractional_max_pool2d`.

    Returns
    -------
    Tensor, Tensor of int
        The maxima, and their indices through each channel of an example.
    """
    return pooled("fractional_max_pool2d", 2, x, kernel_size, output_size, output_ratio, _random_samples, generator)


@answering
def fractional_max_pool2d(
    x: Tensor | npt.ArrayLike, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
    _random_samples: Tensor | npt.ArrayLike | None = None, *, generator: Any = None,
) -> Any:  # fmt: skip
    """The largest element of each window of images, with random distances between windows for a result of given size.

    Parameters
    ----------
    x : array_like
        (batch, channels, height, width), or without the batch.
    kernel_size : int or sequence of int
        Size of the windows.
    output_size : int or sequence of int, optional
        Size of the result; either this or `output_ratio` is given.
    output_ratio : float or sequence of float, optional
        Ratio of the result's lengths to the lengths of `x`, from 0 to 1.
    return_indices : bool
        Whether to return the indices of the elements, too, counted through each channel of an example.
    _random_samples : array_like, optional
        (batch, channels, 2), numbers from 0 to 1 that replace the random ones; PyTorch computes the same windows from them.
    generator : numpy.random.Generator or int, optional
        Source of the random numbers, or a seed.

    Returns
    -------
    Tensor, or (Tensor, Tensor of int)
    """
    found = pooled("fractional_max_pool2d", 2, x, kernel_size, output_size, output_ratio, _random_samples, generator)
    return found if return_indices else found[0]


@answering
def fractional_max_pool3d_with_indices(
    x: Tensor | npt.ArrayLike, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = True,
    _random_samples: Tensor | npt.ArrayLike | None = None, *, generator: Any = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`fractional_max_pool3d` that always returns the indices, too.

    Parameters
    ----------
    x, kernel_size, output_size, output_ratio
        As for `fractional_max_pool3d`.
    return_indices : bool
        Without effect.
    _random_samples, generator
        As for `fractional_max_pool3d`.

    Returns
    -------
    Tensor, Tensor of int
        The maxima, and their indices through each channel of an example.
    """
    return pooled("fractional_max_pool3d", 3, x, kernel_size, output_size, output_ratio, _random_samples, generator)


@answering
def fractional_max_pool3d(
    x: Tensor | npt.ArrayLike, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
    _random_samples: Tensor | npt.ArrayLike | None = None, *, generator: Any = None,
) -> Any:  # fmt: skip
    """The largest element of each window of volumes, with random distances between windows for a result of given size.

    Parameters
    ----------
    x : array_like
        (batch, channels, depth, height, width), or without the batch.
    kernel_size, output_size, output_ratio, return_indices
        As for `fractional_max_pool2d`.
    _random_samples : array_like, optional
        (batch, channels, 3), numbers from 0 to 1 that replace the random ones.
    generator : numpy.random.Generator or int, optional
        Source of the random numbers, or a seed.

    Returns
    -------
    Tensor, or (Tensor, Tensor of int)
    """
    found = pooled("fractional_max_pool3d", 3, x, kernel_size, output_size, output_ratio, _random_samples, generator)
    return found if return_indices else found[0]
