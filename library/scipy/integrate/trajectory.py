"""The solution of an initial value problem at some times, as a differentiable function of all its inputs.

Decides the derivative rule.  A gradient without further derivatives is a continuous adjoint on arrays (`adjoint.py`).  A gradient
with further derivatives, and a tangent, use differentiable solutions: the steps of an explicit method, repeated with operators,
or the variational equations, whose solution is again a trajectory.  So derivatives of any order exist.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...autograd import Function
from ...autograd import grad as gradients
from ...core.conversion import asarray
from ...core.grad_mode import enable_grad, is_grad_enabled
from ...func import jvp
from ...func.closures import has_tangent
from ...support.dispatch import ops
from .adjoint import Adjoint, nothing
from .problem import Problem, jacobians
from .steps import walk


def solved(problem: Problem, t0: Any, y0: Any, ts: Any) -> Any:
    """The solution at times ts, the last one being the end: a tensor of shape (n, m)."""
    times = ts.detach().numpy()
    start = t0.item()
    if not len(times) or (times == start).all():
        problem.run((start, start + 1e-3), y0.detach().numpy(), dense=False)  # finds the tensors it closes over
        problem.dense = lambda t: y0.detach().numpy()
        values = np.repeat(y0.detach().numpy()[:, None], len(times), axis=1)
    else:
        result = problem.run((start, times[-1]), y0.detach().numpy(), times)
        values = np.full((y0.size, len(times)), np.nan, result.y.dtype) if problem.failed else result.y
    return attached(problem, values, t0, y0, ts)


def attached(problem: Problem, values: np.ndarray, t0: Any, y0: Any, ts: Any) -> Any:
    """Values of a solved problem, with their history."""
    return Trajectory.apply(problem, values, t0, y0, ts, *problem.closed)


class Trajectory(Function):
    """y at the times ts."""

    @staticmethod
    def forward(ctx: Any, problem: Problem, values: np.ndarray, t0: Any, y0: Any, ts: Any, *closed: Any) -> Any:
        ctx.problem, ctx.values = problem, values
        ctx.save_for_backward(t0, y0, ts, *closed)
        ctx.save_for_forward(t0, y0, ts, *closed)
        return asarray(values.copy())

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        problem, wanted = ctx.problem, ctx.needs_input_grad[2:]
        inputs = ctx.saved_tensors
        if problem.failed:
            found = nothing(inputs)
        elif problem.adjoint == "forward":
            found = sensitive(problem, inputs, grad, wanted)
        elif not is_grad_enabled() and not any(map(has_tangent, (grad, *inputs))):
            found = Trajectory.on_arrays(ctx, inputs, grad, wanted)
        elif problem.explicit:
            found = retraced(problem, inputs, grad, wanted)
        else:
            found = sensitive(problem, inputs, grad, wanted)
        return None, None, *[value if needed else None for value, needed in zip(found, wanted)]

    @staticmethod
    def on_arrays(ctx: Any, inputs: tuple, grad: Any, wanted: tuple) -> list:
        t0, y0, ts, *closed = inputs
        adjoint = Adjoint(ctx.problem, y0.detach().numpy(), list(closed), wanted[3:])
        *first, by_closed = adjoint.solve(t0.item(), ts.detach().numpy(), ctx.values, grad.numpy())
        others = iter(by_closed)
        return [*map(asarray, first), *[asarray(next(others)) if needed else None for needed in wanted[3:]]]

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        inputs = ctx.saved_tensors
        if ctx.problem.failed:
            return ops.full(ctx.values.shape, np.nan, dtype=ctx.values.dtype)
        return varied(ctx.problem, inputs, [ops.zeros_like(x) if t is None else t for x, t in zip(inputs, tangents[2:])])


def apart(inputs: Any) -> list:
    """Tensors with the same values and history that can be the ends of a gradient."""
    return [tensor[...] for tensor in inputs]


def retraced(problem: Problem, inputs: Any, grad: Any, wanted: tuple) -> list:
    """The gradients through the steps that the solver has chosen, recorded."""
    with enable_grad():
        aliases = apart(inputs)
        y = by_steps(problem, *aliases[:3], aliases[3:])
        by = [x for x, needed in zip(aliases, wanted) if needed]
        found = iter(gradients(y, by, grad, create_graph=True, allow_unused=True))
    return [next(found) if needed else None for needed in wanted]


def by_steps(problem: Problem, t0: Any, y0: Any, ts: Any, closed: list) -> Any:
    """The solution by the chosen steps of an explicit solver, repeated with operators."""
    from scipy.integrate import DOP853, RK23, RK45

    known = {"RK45": RK45, "RK23": RK23, "DOP853": DOP853}
    solver = known[problem.method] if isinstance(problem.method, str) else problem.method
    rate = problem.explicit_rate()
    tableau = solver.A.tolist(), solver.B.tolist(), solver.C.tolist()
    order = np.argsort(np.abs(ts.detach().numpy() - t0.item()), kind="stable")
    grid = getattr(problem.dense, "ts", ())
    y = walk(lambda t, y: rate(t, y, *closed), tableau, t0, y0, ts[order], grid)
    return y[:, np.argsort(order)]


def another(problem: Problem, rate: Any, copies: int) -> Problem:
    """The problem of an equation for `copies` states together, with the given problem's method."""
    return Problem(rate, problem.method, problem.options_of_other(copies), "interpolated")


def varied(problem: Problem, inputs: Any, tangents: list) -> Any:
    """The tangent of the solution, by the variational equation ds/dt = (df/dy) s + (df/dw) w_t, solved together with y."""
    (t0, y0, ts, *closed), (t0_t, y0_t, ts_t, *closed_t) = inputs, tangents
    rate, n = problem.explicit_rate(), y0.size
    moved = [i for i, tensor in enumerate(closed) if tensor.dtype.kind in "fc"]

    def both(t: Any, state: Any) -> Any:
        y, s = state[:n], state[n:]
        now = [tensor[...] for tensor in closed]  # an operator's result: its replacement is found

        def at(y: Any, *values: Any) -> Any:
            given = list(now)
            for i, value in zip(moved, values):
                given[i] = value
            return rate(t, y, *given)

        value, value_t = jvp(at, (y, *[now[i] for i in moved]), (s, *[closed_t[i][...] for i in moved]))
        return ops.concat([value, value_t])

    start = ops.concat([y0, y0_t - rate(t0, y0, *closed) * t0_t])
    state = at_times(another(problem, both, 2), t0, start, ts)
    slopes = [rate(ts[i], state[:n, i], *closed) * ts_t[i] for i in range(ts.size)]
    return state[n:] + ops.stack(slopes, axis=1) if slopes else state[n:]


def sensitive(problem: Problem, inputs: Any, grad: Any, wanted: tuple) -> list:
    """The gradients by forward sensitivities: the variational equations of all directions, dS/dt = (df/dy) S + df/dw."""
    t0, y0, ts, *closed = inputs
    if y0.dtype.kind == "c":
        raise NotImplementedError("solve_ivp: forward sensitivities, which this derivative needs, are of real y alone; take an "
                                  "explicit method")  # fmt: skip
    rate, n = problem.explicit_rate(), y0.size
    by = [i for i, needed in enumerate(wanted[3:]) if needed]
    sizes = [closed[i].size for i in by]
    width = n + sum(sizes)

    def all_of_them(t: Any, state: Any) -> Any:
        problem.nfev_adjoint += 1
        y, s, now = state[:n], ops.reshape(state[n:], (n, width)), list(closed)

        def at(t: Any, y: Any, *values: Any) -> Any:
            given = list(now)
            for i, value in zip(by, values):
                given[i] = value
            return rate(t, y, *given)

        value, by_y, *by_closed = jacobians(at, t, y, [closed[i] for i in by], recorded=True)
        forced = ops.concat([ops.zeros((n, n)), *by_closed], axis=1)
        return ops.concat([value, ops.reshape(by_y @ s + forced, (-1,))])

    first = ops.reshape(asarray(np.eye(n, width)), (-1,))
    state = at_times(another(problem, all_of_them, 1 + width), t0, ops.concat([y0, first]), ts)
    s = ops.reshape(state[n:], (n, width, ts.size))
    slopes = [rate(ts[i], state[:n, i], *closed) for i in range(ts.size)]
    by_ts = ops.stack([ops.sum(grad[:, i] * slope) for i, slope in enumerate(slopes)])
    ends = np.cumsum([n, *sizes], dtype=int)[:-1].tolist()
    by_y0, *parts = ops.split(ops.einsum("im,ijm->j", grad, s), ends)
    found: list = [-ops.sum(by_y0 * rate(t0, y0, *closed)), by_y0, by_ts, *[None] * len(closed)]
    for i, part in zip(by, parts):
        found[3 + i] = ops.astype(ops.reshape(part, closed[i].shape), closed[i].dtype)
    return found


def at_times(problem: Problem, t0: Any, y0: Any, ts: Any) -> Any:
    """`solved` at times in any order, possibly with repetitions."""
    values = ts.detach().numpy()
    places, first, back = np.unique(np.abs(values - t0.item()), return_index=True, return_inverse=True)
    if len(places) == len(values) and (first == np.arange(len(values))).all():
        return solved(problem, t0, y0, ts)
    return solved(problem, t0, y0, ts[first])[:, back]
