"""Measurements of labelled regions: sums, means, spreads, extremes and centres, with derivatives in the image.

Selects regions by labels and an index.  Labels are integers and have no derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...support.dispatch import ops
from ..values import must_be_constant
from .edges import floats

__all__ = ["center_of_mass", "extrema", "maximum", "mean", "minimum", "standard_deviation", "sum", "sum_labels", "variance"]


class _Regions:
    """The regions of an image that labels and an index select; without an index, all positive labels form one region."""

    def __init__(self, name: str, input: Any, labels: Any, index: Any) -> None:
        must_be_constant(f"ndimage.{name}: labels and index", [asarray(v) for v in (labels, index) if v is not None])
        self.image = floats(name, input)
        if labels is None:
            numbers, index = np.zeros(self.image.shape, int), None
        else:
            numbers = np.broadcast_to(asarray(labels).numpy(), self.image.shape)
            numbers = numbers if index is not None else np.where(numbers > 0, 0, -1)
        self.chosen = np.asarray(0 if index is None else asarray(index).numpy())
        known, self.places = np.unique(self.chosen, return_inverse=True)
        found = np.searchsorted(known, numbers.ravel()).clip(0, known.size - 1)
        self.ids = np.where(known[found] == numbers.ravel(), found, known.size)  # an extra one for elements outside all regions
        self.count = known.size + 1

    def reduced(self, how: str, image: Any) -> Any:
        """Reductions over the elements of each region, before the index selects regions; 0 for a region without elements."""
        start = ops.zeros(self.count, dtype=image.dtype)
        return ops.index_reduce(start, 0, self.ids, ops.reshape(image, (-1,)), how, include_self=False)

    def total(self, image: Any) -> Any:
        """The sum of the elements of each region."""
        return ops.index_add(ops.zeros(self.count, dtype=image.dtype), 0, self.ids, ops.reshape(image, (-1,)))

    def mean(self, image: Any) -> Any:
        """The mean of each region; NaN for a region without elements."""
        sizes = np.bincount(self.ids, minlength=self.count).astype(image.dtype)
        with np.errstate(all="ignore"):
            return self.total(image) / sizes

    def taken(self, values: Any) -> Any:
        """A number for each element of the index."""
        return ops.reshape(ops.take(values, self.places.ravel(), 0), self.chosen.shape)


def _measure(name: str, doc: str, of_regions: Callable[[_Regions], Any]) -> Callable[..., Any]:
    def measure(input: Any, labels: Any = None, index: Any = None) -> Any:
        regions = _Regions(name, input, labels, index)
        return regions.taken(of_regions(regions))

    measure.__name__ = measure.__qualname__ = name
    measure.__doc__ = f"""{doc}

    Parameters
    ----------
    input : array_like or Tensor, real
    labels : array_like of int, optional
        Broadcasts to the shape of `input`; without it all is one region.
    index : int or array_like of int, optional
        The labels of the regions to measure; without it what is labelled above 0 is one region.

    Returns
    -------
    Tensor
        Of the shape of `index`.

    Raises
    ------
    RuntimeError
        Labels or index need a derivative.
    """
    return measure


def _variance(regions: _Regions) -> Any:
    means = ops.reshape(ops.take(regions.mean(regions.image), regions.ids, 0), regions.image.shape)
    return regions.mean(ops.square(regions.image - means))


sum_labels = _measure("sum_labels", "The sum of each region, 0 of an empty one.",
                      lambda r: r.total(r.image))  # fmt: skip
sum = sum_labels
mean = _measure("mean", "The mean of each region, NaN of an empty one.", lambda r: r.mean(r.image))
variance = _measure("variance", "The variance of each region, NaN of an empty one.", _variance)
standard_deviation = _measure(
    "standard_deviation", "The standard deviation of each region, NaN of an empty one.", lambda r: ops.sqrt(_variance(r))
)
maximum = _measure("maximum", "The largest number of each region, 0 of an empty one; equal ones share the gradient.",
                   lambda r: r.reduced("amax", r.image))  # fmt: skip
minimum = _measure("minimum", "The smallest number of each region, 0 of an empty one; equal ones share the gradient.",
                   lambda r: r.reduced("amin", r.image))  # fmt: skip


def extrema(input: Any, labels: Any = None, index: Any = None) -> tuple:
    """The smallest and the largest number of each region, and their positions.

    Parameters
    ----------
    input, labels, index
        As for `maximum`.

    Returns
    -------
    minimums, maximums : Tensor
    min_positions, max_positions : tuple of int, or list of them
        SciPy's.
    """
    import scipy.ndimage

    places = scipy.ndimage.extrema(floats("extrema", input).detach().numpy(), labels, index)[2:]
    return minimum(input, labels, index), maximum(input, labels, index), *places


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The centre of each region, weighted by the numbers in it.

    Parameters
    ----------
    input, labels, index
        As for `mean`.

    Returns
    -------
    tuple of Tensor, or list of them
        A coordinate for each axis; a list of such tuples if `index` has an axis.
    """
    regions = _Regions("center_of_mass", input, labels, index)
    grids = np.indices(regions.image.shape).astype(regions.image.dtype)
    mass = regions.taken(regions.total(regions.image))
    centres = [regions.taken(regions.total(regions.image * grid)) / mass for grid in grids]
    if not regions.chosen.ndim:
        return tuple(centres)
    return [tuple(centre[i] for centre in centres) for i in range(regions.chosen.size)]
