"""One value written to every element, to those of a diagonal, or to those of a mask; comparisons in place."""

import numpy as np

__all__ = ["compare_", "fill_", "fill_diagonal_", "masked_fill_", "zero_"]


def compare_(x, other, name):
    """Write 1 where a comparison holds, else 0, into ``x``.

    Parameters
    ----------
    x : ndarray
        Overwritten.
    other : ndarray or scalar
    name : str
        The comparison, as NumPy names it.

    Returns
    -------
    ndarray
        `x`.
    """
    x[...] = getattr(np, name)(x, other)
    return x


def fill_(x, value):
    """Write one value everywhere into ``x``.

    Parameters
    ----------
    x : ndarray
        Overwritten.
    value : scalar or 0-d ndarray

    Returns
    -------
    ndarray
        `x`.
    """
    if np.ndim(value):
        raise ValueError(f"fill_: value must be a number or a 0-d array, got shape {np.shape(value)}")
    x[...] = value
    return x


def fill_diagonal_(x, value):
    """Write one value on the main diagonal of ``x``.

    Parameters
    ----------
    x : ndarray
        Overwritten; of two axes, or of more of one length.
    value : scalar or 0-d ndarray

    Returns
    -------
    ndarray
        `x`.
    """
    if np.ndim(value):
        raise ValueError(f"fill_diagonal_: value must be a number or a 0-d array, got shape {np.shape(value)}")
    if x.ndim < 2 or x.ndim > 2 and min(x.shape) != max(x.shape):
        raise ValueError(f"fill_diagonal_: a diagonal needs two axes, or more of one length, the shape is {x.shape}")
    places = np.arange(min(x.shape))
    x[(places,) * x.ndim] = value
    return x


def masked_fill_(x, mask, value):
    """Writes `value` into `x` where `mask` is true.

    Parameters
    ----------
    x : ndarray
        Changed and returned.
    mask : ndarray of bool
    value : ndarray or scalar

    Returns
    -------
    ndarray
    """
    np.copyto(x, value, where=mask)
    return x


def zero_(x):
    """Write 0 everywhere into ``x``.

    Parameters
    ----------
    x : ndarray
        Overwritten.

    Returns
    -------
    ndarray
        `x`.
    """
    x[...] = 0
    return x
