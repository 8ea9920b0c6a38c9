"""Integrals of what falls as an exponential does, or faster, each element with a reach of its own: Gauss and Legendre's rule."""

import functools

import numpy as np

FALL = 46.0  # e-folds: what is beyond does not show


def integral(fall, factor, parts, end):
    """Of exp(-fall) * factor from 0 to the end, part by part; NaN where two rules do not agree."""
    found, sizes = [], []
    ends = np.sort(np.concatenate([0 * end, np.minimum(end, 40), *parts, end], axis=-1), axis=-1)
    for count in (32, 44):
        nodes, weights = rule(count)
        y = size = 0 * ends[..., :1]
        for piece in range(ends.shape[-1] - 1):
            start, length = ends[..., piece, None], ends[..., piece + 1, None] - ends[..., piece, None]
            if not np.any(length > 0):
                continue
            d = start + length * nodes
            values = np.where(length > 0, length * weights * np.exp(-fall(d)) * factor(d), 0)
            y, size = y + values.sum(-1, keepdims=True), size + np.abs(values).sum(-1, keepdims=True)
        found.append(y)
        sizes.append(size)
    return np.where(np.abs(found[0] - found[1]) <= 1e-11 * sizes[1], found[1], np.nan)


def newton(function, rate, start):
    """Where a convex function that grows reaches FALL, from beyond, to a millionth: each element stops by itself."""
    x, moves = start, True
    for _ in range(60):
        step = np.where(moves, np.maximum((function(x) - FALL) / rate(x), 0), 0)
        x, moves = x - step, step > 1e-6 * x
        if not np.any(moves):
            break
    return x


@functools.cache
def rule(count):
    """Nodes and weights of Gauss and Legendre, from 0 to 1."""
    from numpy.polynomial.legendre import leggauss  # NumPy's polynomials are many modules, which most programs never use

    return tuple((part + shift) / 2 for part, shift in zip(leggauss(count), (1, 0)))
