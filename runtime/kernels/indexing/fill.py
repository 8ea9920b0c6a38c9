"""In-place writes: one value to every element, or to a diagonal; results of comparisons."""

import numpy as np

from ..loops.copying import copy_into

__all__ = ["compare_", "fill_", "fill_diagonal_", "zero_"]


def compare_(x, other, name):
    """Write a comparison's result into ``x``: 1 for true, 0 for false.

    Parameters
    ----------
    x : ndarray
        Overwritten.
    other : ndarray or scalar
    name : str
        The comparison, by its NumPy name.

    Returns
    -------
    ndarray
        `x`.
    """
    x[...] = getattr(np, name)(x, other)
    return x


def fill_(x, value):
    """Write one value to all elements of `x`; return `x`."""
    if np.ndim(value):
        raise ValueError(f"fill_: value must be a number or a 0-d array, got shape {np.shape(value)}")
    return copy_into(x, value)


def fill_diagonal_(x, value):
    """Write one value to the main diagonal of `x`, which has two axes or more of equal length; return `x`."""
    if np.ndim(value):
        raise ValueError(f"fill_diagonal_: value must be a number or a 0-d array, got shape {np.shape(value)}")
    if x.ndim < 2 or x.ndim > 2 and min(x.shape) != max(x.shape):
        raise ValueError(f"fill_diagonal_: a diagonal needs two axes, or more of one length, the shape is {x.shape}")
    places = np.arange(min(x.shape))
    x[(places,) * x.ndim] = value
    return x


def zero_(x):
    """Write 0 to all elements of `x`; return `x`."""
    return copy_into(x, 0)
