"""Derivatives of a function of several arrays along one direction, in all ways at once: one number holds every partial derivative.

Owns the differences that they are compared with.
"""

import numpy as np

import gradspec as gs


def along(function, given, moves, count):
    """Derivative `count` of a function of arrays along a direction, by differences."""
    step = {1: 1e-3, 2: 4e-3}[count]
    at = {k: function(*(v + k * step * d for v, d in zip(given, moves))).numpy() for k in range(-3, 4)}
    if count == 1:
        return (45 * (at[1] - at[-1]) - 9 * (at[2] - at[-2]) + at[3] - at[-3]) / (60 * step)
    return (270 * (at[1] + at[-1]) - 27 * (at[2] + at[-2]) + 2 * (at[3] + at[-3]) - 490 * at[0]) / (180 * step**2)


def in_all_ways(function, given, moves):
    """First and second derivatives along a direction: backward, forward, backward twice, forward twice."""
    tensors = [gs.tensor(v, requires_grad=bool(np.any(d))) for v, d in zip(given, moves)]
    moving = [i for i, d in enumerate(moves) if np.any(d)]

    def directional(y, create_graph):
        gradients = gs.autograd.grad(y.sum(), [tensors[i] for i in moving], create_graph=create_graph, allow_unused=True)
        return sum(g * moves[i] for i, g in zip(moving, gradients) if g is not None)

    first = directional(function(*tensors), True)
    second = directional(first, False) if isinstance(first, gs.Tensor) and first.requires_grad else 0.0
    forward = lambda *v: gs.jvp(function, v, tuple(moves))[1]  # noqa: E731
    ahead, twice = gs.jvp(forward, tuple(map(gs.asarray, given)), tuple(moves))
    return [first.detach().numpy(), ahead.detach().numpy()], [np.asarray(gs.asarray(second).detach()), twice.detach().numpy()]
