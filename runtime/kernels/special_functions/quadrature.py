"""Gauss-Legendre quadrature of integrands that decay at least exponentially, over a separate range for each element."""

import functools

import numpy as np

FALL = 46.0  # e-folds; the rest of the integral is negligible
COUNTS = (32, 44)  # nodes of the two rules
BLOCK = 2**16  # numbers computed together: a call of NumPy takes as long as a thousand numbers


def integral(fall, factor, parts, end):
    """The integral of exp(-fall) * factor from 0 to the end, piece by piece; NaN if two rules disagree.

    Parameters
    ----------
    fall, factor : callable
        Elementwise functions of the distance; the last axis is for the nodes.
    parts : list of ndarray
        Points that divide the ranges into pieces.
    end : ndarray
        The end of each range, with a last axis of length 1.

    Returns
    -------
    ndarray
        Of the shape of `end`.
    """
    ends = np.sort(np.concatenate([0 * end, np.minimum(end, 40), *parts, end], axis=-1), axis=-1)
    starts, lengths = ends[..., :-1, None], np.diff(ends)[..., None]
    filled = np.flatnonzero((lengths > 0).any(axis=(*range(end.ndim - 1), -1)))
    nodes, weights = (np.concatenate(column) for column in zip(*map(rule, COUNTS)))
    together = max(BLOCK // max(end.size * nodes.size, 1), 1)
    found = [[0 * end, 0 * end] for _ in COUNTS]
    for first in range(0, filled.size, together):
        pieces = filled[first : first + together]
        start, length = starts[..., pieces, :], lengths[..., pieces, :]
        d = start + length * nodes
        flat = d.reshape(*end.shape[:-1], -1)
        density, factors = (np.broadcast_to(of, flat.shape).reshape(d.shape) for of in (np.exp(-fall(flat)), factor(flat)))
        values = np.where(length > 0, length * weights * density * factors, 0)
        for sums, rule_values in zip(found, np.split(values, COUNTS[:1], axis=-1)):
            for place in range(pieces.size):
                piece = rule_values[..., place, :]
                sums[0], sums[1] = sums[0] + piece.sum(-1, keepdims=True), sums[1] + np.abs(piece).sum(-1, keepdims=True)
    (coarse, _), (fine, size) = found
    return np.where(np.abs(coarse - fine) <= 1e-11 * size, fine, np.nan)


def newton(function, rate, start):
    """The point where an increasing convex function reaches FALL, from above, to a relative 1e-6; elements stop independently."""
    x, moves = start, True
    for _ in range(60):
        step = np.where(moves, np.maximum((function(x) - FALL) / rate(x), 0), 0)
        x, moves = x - step, step > 1e-6 * x
        if not np.any(moves):
            break
    return x


@functools.cache
def rule(count):
    """Nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
    from numpy.polynomial.legendre import leggauss  # NumPy's polynomials are many modules, which most programs never use

    return tuple((part + shift) / 2 for part, shift in zip(leggauss(count), (1, 0)))
