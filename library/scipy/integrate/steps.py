"""Runge-Kutta steps of given lengths, built from operators: differentiable in all modes and to any order.

Defines the tableaus of fixed-step methods, and how the steps meet the times of output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...support.dispatch import ops

# Stages (rows of a lower triangle), weights and nodes.
FIXED = {
    "Euler": ([[0]], [1], [0]),
    "Midpoint": ([[0, 0], [1 / 2, 0]], [0, 1], [0, 1 / 2]),
    "Heun": ([[0, 0], [1, 0]], [1 / 2, 1 / 2], [0, 1]),
    "RK4": ([[0] * 4, [1 / 2, 0, 0, 0], [0, 1 / 2, 0, 0], [0, 0, 1, 0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], [0, 1 / 2, 1 / 2, 1]),
}


def step(rate: Callable[..., Any], tableau: tuple, t: Any, y: Any, h: Any) -> Any:
    """y after a step of length h."""
    stages, weights, nodes = tableau
    slopes: list = []
    for row, node in zip(stages, nodes):
        slopes.append(rate(t + h * float(node), _plus(y, h, row, slopes)))
    return _plus(y, h, weights, slopes)


def _plus(y: Any, h: Any, weights: Any, slopes: list) -> Any:
    terms = [slope * float(weight) for weight, slope in zip(weights, slopes) if weight]
    return y + h * sum(terms[1:], terms[0]) if terms else y


def walk(rate: Callable[..., Any], tableau: tuple, t0: Any, y0: Any, ts: Any, grid: Any) -> Any:
    """The solution at some times, by a step to each time and to each point of the grid in between.

    Parameters
    ----------
    rate : callable
        Takes a time and y, both tensors.
    tableau : tuple
    t0 : Tensor, shape ()
    y0 : Tensor, shape (n,)
    ts : Tensor, shape (m,)
        Monotone, starting from t0.
    grid : ndarray
        Ends of further steps; constants.

    Returns
    -------
    Tensor, shape (n, m)
    """
    start, times = t0.item(), ts.detach().numpy()
    sign = -1 if len(times) and times[-1] < start else 1
    inner = [place for place in grid if sign * (place - start) > 0 and (not len(times) or sign * (times[-1] - place) > 0)]
    between = [(sign * place, -1) for place in set(inner) - set(times.tolist())]
    stops = sorted(between + [(sign * at, i) for i, at in enumerate(times)])
    t, y, found = t0, y0, []
    for place, i in stops:
        to = ts[i] if i >= 0 else sign * place
        y = step(rate, tableau, t, y, to - t)
        t = to
        if i >= 0:
            found.append(y)
    return ops.stack(found, axis=1) if found else ops.zeros((y0.size, 0), dtype=y0.dtype)


def even(t0: float, ts: Any, length: float) -> np.ndarray:
    """Evenly spaced times between neighbours of t0 and ts, at most `length` apart."""
    parts, before = [np.zeros(0)], t0
    for at in ts:
        count = max(1, int(np.ceil(abs(at - before) / length * (1 - 1e-12))))
        parts.append(np.linspace(before, at, count, endpoint=False)[1:])
        before = at
    return np.concatenate(parts)
