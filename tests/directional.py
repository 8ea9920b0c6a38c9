"""Derivatives of a function of several arrays along one direction, in all ways at once: one number holds every partial derivative.

Owns the differences that they are compared with.
"""

import numpy as np

import gradspec as gs

STEPS = np.arange(-3, 4) * 2e-3
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * 2e-3)
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / (180 * 2e-3**2)


def along(function, given, moves, elementwise=True):
    """First and second derivative of a function of arrays along a direction, by differences; an elementwise one is called once."""
    if elementwise:
        lift = (slice(None),) + (None,) * max(np.ndim(v) for v in given)
        values = function(*(v + STEPS[lift] * d for v, d in zip(given, moves))).numpy()
    else:
        values = np.array([function(*(v + step * d for v, d in zip(given, moves))).numpy() for step in STEPS])
    return np.tensordot(FIRST, values, 1), np.tensordot(SECOND, values, 1)


def in_all_ways(function, given, moves, elementwise=True):
    """First and second derivatives along a direction: backward, forward, backward twice, forward twice.

    The function is elementwise, or gives a single number.
    """
    tensors = [gs.tensor(v, requires_grad=bool(np.any(d))) for v, d in zip(given, moves)]
    moving = [i for i, d in enumerate(moves) if np.any(d)]

    def directional(y, create_graph):
        gradients = gs.autograd.grad(y.sum(), [tensors[i] for i in moving], create_graph=create_graph, allow_unused=True)
        terms = [g * moves[i] if elementwise else gs.sum(gs.real(gs.conj(g) * moves[i])) for i, g in zip(moving, gradients) if g is not None]
        return sum(terms)

    first = directional(function(*tensors), True)
    second = directional(first, False) if isinstance(first, gs.Tensor) and first.requires_grad else 0.0
    forward = lambda *v: gs.jvp(function, v, tuple(moves))[1]  # noqa: E731
    ahead, twice = gs.jvp(forward, tuple(map(gs.asarray, given)), tuple(moves))
    first = first.detach() if isinstance(first, gs.Tensor) else first
    return [np.asarray(first), ahead.detach().numpy()], [np.asarray(gs.asarray(second).detach()), twice.detach().numpy()]


def assert_derivatives(function, given, moves, rtol=1e-7, atol=1e-9):
    """Hold the derivatives of a sum of all results, each with a weight, to differences: backward, forward, and twice each.

    Parameters
    ----------
    function : callable
        Of tensors: a tensor, or a nest of tuples of them; parts that are no floating-point numbers are left out.
    given, moves : list of ndarray
        The arguments, and how far each moves.
    """
    generator = np.random.default_rng(11)
    weights = []

    def total(*values):
        found = function(*values)
        parts = [gs.asarray(part) for part in (found if isinstance(found, tuple) else (found,))]
        parts = [gs.concat([gs.reshape(f(p), (-1,)) for f in (gs.real, gs.imag)]) if p.dtype.kind == "c" else gs.reshape(p, (-1,))
                 for p in parts if p.dtype.kind in "fc"]  # fmt: skip
        row = gs.concat(parts)
        if not weights:
            weights.append(generator.uniform(0.5, 1.5, row.shape) * generator.choice([-1, 1], row.shape))
        return gs.sum(row * weights[0])

    first, second = in_all_ways(total, given, moves, elementwise=False)
    expected = along(total, given, moves, elementwise=False)
    size = [np.abs(e) + atol / rtol for e in expected]
    for way, found in zip(("backward", "forward"), first):
        assert np.abs(found.sum() - expected[0]) <= rtol * size[0], f"{way}: expected {expected[0]}, got {found.sum()}"
    for way, found in zip(("backward", "forward"), second):
        error = np.abs(found.sum() - expected[1])
        assert error <= 300 * rtol * size[1], f"{way}, twice: expected {expected[1]}, got {found.sum()}"
