"""Events: the times of zeros of a function of the solution, as differentiable functions.

Computes the derivative of an event's time: with g(t, y(t; w), w) = 0, dt/dw = -(dg/dw at fixed t) / (dg/dt along the solution).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...autograd import Function
from ...autograd import grad as gradients
from ...core.conversion import asarray
from ...core.grad_mode import enable_grad, is_grad_enabled
from ...func import jvp
from ...func.closures import with_closed
from ...support.dispatch import ops
from .problem import Problem
from .trajectory import Trajectory, apart


def event_times(problem: Problem, event: Any, times: np.ndarray, t0: Any, y0: Any) -> Any:
    """The times that SciPy has found, with their history: a tensor of shape (k,)."""
    return EventTimes.apply(problem, event, times, t0, y0, *problem.closed)


class EventTimes(Function):
    """The times of one event."""

    @staticmethod
    def forward(ctx: Any, problem: Problem, event: Any, times: np.ndarray, t0: Any, y0: Any, *closed: Any) -> Any:
        ctx.problem, ctx.event = problem, event
        found = asarray(np.array(times, dtype=np.float64))
        ctx.save_for_backward(found, t0, y0, *closed)
        ctx.save_for_forward(found, t0, y0, *closed)
        return found

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        recorded, wanted = is_grad_enabled(), ctx.needs_input_grad[3:]
        times, *inputs = ctx.saved_tensors
        with enable_grad():
            aliases = apart(inputs)
            values, slopes = values_and_slopes(ctx, times, *aliases)
            by = [x for x, needed in zip(aliases, wanted) if needed]
            found = iter(gradients(values, by, -grad / slopes, create_graph=recorded, allow_unused=True))
        return None, None, None, *[next(found) if needed else None for needed in wanted]

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        times, *inputs = ctx.saved_tensors
        given = [ops.zeros_like(x) if t is None else t for x, t in zip(inputs, tangents[3:])]
        _, slopes = values_and_slopes(ctx, times, *inputs)
        _, values_t = jvp(lambda *inputs: values_and_slopes(ctx, times, *inputs, slopes=False)[0], tuple(inputs), tuple(given))
        return -values_t / slopes


def values_and_slopes(ctx: Any, times: Any, t0: Any, y0: Any, *closed: Any, slopes: bool = True) -> tuple:
    """The event's function at its times, held constant, and its slopes along the solution there."""
    problem = ctx.problem
    values = np.stack([problem.dense(t) for t in times.detach().numpy()], axis=1)
    y = Trajectory.apply(problem, values, t0, y0, times, *closed)
    rate, event = problem.explicit_rate(), with_closed(ctx.event, problem.closed)
    found, along = [], []
    for i in range(times.size):
        t, at = times[i], y[:, i]
        found.append(ops.reshape(asarray(event(t, at, *closed)), ()))
        if slopes:
            slope = rate(t, at, *closed)
            now = [tensor[...] for tensor in closed]
            _, value_t = jvp(lambda t, y: asarray(event(t, y, *now)), (t, at), (ops.ones_like(t), slope))  # noqa: B023
            along.append(ops.reshape(value_t, ()))
    return ops.stack(found), ops.stack(along) if slopes else None
