"""solve_ivp and odeint: SciPy's solvers of initial value problems, with derivatives of their solutions.

Defines SciPy's signatures and results, and decides how times depend on inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)
import gradspec.func  # noqa: F401 (as well)

from ...core.conversion import asarray
from ...core.grad_mode import _set_fwd_grad_enabled
from ...core.tensor import TensorBase
from ...func.closures import Watch
from ...func.custom_batching import by_rows
from ...support.dispatch import ops
from ...transforms.batching.batched_backward import is_mapped
from .events import event_times
from .problem import Problem
from .steps import FIXED, even, walk
from .trajectory import attached, by_steps

__all__ = ["odeint", "solve_ivp"]

_ADJOINTS = ("interpolated", "backward", "discrete", "forward")


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: tuple | None = None,
    *,
    adjoint: str = "interpolated",
    **options: Any,
) -> Any:
    """Solve dy/dt = fun(t, y), y(t0) = y0, by SciPy's solvers; the solution is differentiable.

    Parameters
    ----------
    fun : callable
        Takes a Tensor t of shape () and a Tensor y of shape (n,), and `args`; returns a Tensor of shape (n,) or a list of n
        numbers.  All its tensors have derivatives: tensors in `args`, which may be pytrees, and closed-over tensors.
    t_span : pair of float or Tensor
        Start and end.
    y0 : array_like or Tensor, shape (n,)
        Real or complex; converted to double precision.
    method : str or class
        "RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA" or a class derived from `scipy.integrate.OdeSolver`.  Implicit methods
        get exact Jacobians of `fun`, unless `jac` is given.  Or a method with steps of fixed length `step`, built from operators:
        "RK4", "Heun", "Midpoint" and "Euler".
    t_eval : array_like or Tensor, shape (m,), optional
        Times of output; by default the ends of the solver's steps.
    dense_output : bool
        Whether to return `sol`, the solution at any time.
    events : callable or list of callable, optional
        Functions of t, y and `args`, with SciPy's attributes `terminal` and `direction`; their times have derivatives.
    vectorized : bool
        Accepted, without effect: `fun` always gets single vectors.
    args : tuple, optional
        Further arguments of `fun` and `events`.
    adjoint : {"interpolated", "backward", "discrete", "forward"}
        How gradients are computed; see Notes.
    **options
        SciPy's: `rtol`, `atol`, `first_step`, `max_step`, `jac`, ...; `step` only with a method of fixed step length.

    Returns
    -------
    OdeResult
        SciPy's result: t, y, t_events and y_events are tensors, and `sol` returns tensors.  `problem` counts in `nfev_adjoint`
        how often derivatives have called `fun`.  If a vmap maps an input of the problem, each row is solved separately, at
        `t_eval`, and the result has only t and y; a failed row is NaN.

    Raises
    ------
    RuntimeError
        In a backward pass: adjoint="backward" lost the solution.

    Notes
    -----
    A gradient that is not differentiated again is, by `adjoint`:

    - "interpolated": the continuous adjoint, solved backward with the same method and tolerances along SciPy's dense output of y;
    - "backward": the same, with y integrated backward, too: it needs no dense output, and the end of y is checked;
    - "discrete": the gradient of the chosen steps of an explicit method, repeated with operators;
    - "forward": forward sensitivities, the variational equations of all directions, for few parameters.

    A tangent is the solution of the variational equation.  For second derivatives, a gradient is computed through the steps of an
    explicit method, and by forward sensitivities of an implicit method.  All are accurate to the given tolerances: reduce them if
    SciPy's default, rtol=1e-3, is too coarse.  The ends of steps and the order of a method are constants.  All derivatives of a
    failed solution are NaN.

    Examples
    --------
    >>> import gradspec as gs
    >>> def end(k):
    ...     return gs.scipy.integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0], rtol=1e-8, atol=1e-8).y[0, -1]
    >>> round(gs.grad(end)(1.0).item(), 6)  # of exp(-k)
    -0.367879
    """
    if adjoint not in _ADJOINTS:
        raise ValueError(f"solve_ivp: adjoint must be one of {', '.join(map(repr, _ADJOINTS))}, got {adjoint!r}")
    t0, t1 = map(_time, t_span)
    y0, args = _vector("solve_ivp", y0), tuple(args or ())
    ts = None if t_eval is None else _times(t_eval)
    rate = (lambda t, y: fun(t, y, *args)) if args else fun
    if isinstance(method, str) and method in FIXED:
        return _by_fixed_steps(Problem(rate, method, {}, adjoint), t0, t1, y0, ts, events, dense_output, **options)
    listed = [] if events is None else [events] if callable(events) else list(events)
    if is_mapped():
        of_row = partial(_of_row, method, adjoint, options, ts is not None and not dense_output and not listed)
        watched = rate if not listed else lambda t, y: (rate(t, y), [event(t, y, *args) for event in listed])
        rows = by_rows("solve_ivp", of_row, watched, (t0, t1, y0, t1[None] if ts is None else ts), t0, y0)
        if rows is not NotImplemented:
            from scipy.optimize import OptimizeResult

            return OptimizeResult(t=ts, y=rows)
    problem = Problem(rate, method, options, adjoint)
    if adjoint == "discrete" and not problem.explicit:
        raise ValueError("solve_ivp: adjoint='discrete' takes the steps of an explicit method again; with "
                         f"method={method!r} take 'interpolated' or 'forward'")  # fmt: skip
    span, times = (t0.item(), t1.item()), None if ts is None else ts.detach().numpy()
    watched = [_Event(event, args, problem.watch) for event in listed]
    found = problem.run(span, y0.detach().numpy(), times, watched or None)
    t_events = None if events is None else [
        event_times(problem, event.value, at, t0, y0) for event, at in zip(watched, found.t_events)
    ]  # fmt: skip
    ts = _where_it_is(found, t0, t1, ts, t_events)

    def at(values: np.ndarray, ts: Any) -> Any:
        if adjoint == "discrete" and not problem.failed:
            return by_steps(problem, t0, y0, ts, problem.closed)
        return attached(problem, values, t0, y0, ts)

    if found.y_events is not None:
        found.y_events = [at(np.reshape(y, (-1, y0.size)).T, t).T for y, t in zip(found.y_events, t_events)]
    found.t, found.y, found.t_events, found.problem = ts, at(found.y, ts), t_events, problem
    found.sol = DenseSolution(problem, at) if dense_output else None
    return found


def _of_row(method: Any, adjoint: str, options: dict, fits: bool, rate: Any, t0: Any, t1: Any, y0: Any, ts: Any) -> Any:
    if not fits:
        raise NotImplementedError("solve_ivp: inside of a vmap, which maps something of the problem, each row takes steps of its "
                                  "own; give t_eval, and no events and no dense_output")  # fmt: skip
    found = solve_ivp(rate, (t0, t1), y0, method, ts, adjoint=adjoint, **options)
    return found.y if found.success else ops.full((y0.size, ts.size), np.nan, dtype=y0.dtype)


class DenseSolution:
    """The solution at any time between the ends, interpolated by SciPy, with the derivatives of the solution.

    Attributes
    ----------
    ts : ndarray
        Ends of the steps.
    t_min, t_max : float
    """

    def __init__(self, problem: Problem, at: Callable[..., Any]) -> None:
        self._dense, self._at = problem.dense, at
        self.ts, self.t_min, self.t_max = problem.dense.ts, problem.dense.t_min, problem.dense.t_max

    def __call__(self, t: Any) -> Any:
        """A tensor of shape (n,) at one time, of shape (n, m) at m times."""
        times = _times(t)
        y = self._at(self._dense(times.detach().numpy()), times)
        return y if np.ndim(t) else y[:, 0]


class _Event:
    """An event in the form of SciPy's calls."""

    def __init__(self, event: Callable[..., Any], args: tuple, watch: Watch) -> None:
        self.event, self.args, self.watch = event, args, watch
        self.terminal, self.direction = getattr(event, "terminal", False), getattr(event, "direction", 0)

    def value(self, t: Any, y: Any) -> Any:
        return self.event(t, y, *self.args)

    def __call__(self, t: float, y: np.ndarray) -> float:
        value = self.watch(self.value, asarray(float(t)), asarray(y))
        return value.item() if isinstance(value, TensorBase) else float(value)


def _where_it_is(found: Any, t0: Any, t1: Any, ts: Any, t_events: Any) -> Any:
    """The times of the result: its ends move with the ends of the span, or with the event that ended it."""
    if ts is not None:
        return ts[: len(found.t)]
    if not found.success or len(found.t) < 2:
        return asarray(found.t)
    end = t1
    if found.status == 1:
        end = next(times[-1] for times in t_events if times.size and times[-1].item() == found.t[-1])
    return ops.concat([t0[None], asarray(found.t[1:-1]), end[None]])


def _by_fixed_steps(problem, t0, t1, y0, ts, events, dense_output, step=None):
    from scipy.optimize import OptimizeResult

    if step is None or not step > 0:
        raise ValueError(f"solve_ivp: method={problem.method!r} needs step=, the greatest length of a step, got {step}")
    if events is not None or dense_output:
        raise ValueError(f"solve_ivp: method={problem.method!r} has no events and no dense output; take RK45")
    if ts is None:
        inner = asarray(even(t0.item(), [t1.item()], step))
        ts = ops.concat([t0[None], inner, t1[None]])
    grid = even(t0.item(), ts.detach().numpy(), step)
    y = walk(problem.rate, FIXED[problem.method], t0, y0, ts, grid)
    calls = len(FIXED[problem.method][1]) * (len(grid) + ts.size)
    message = "The solver successfully reached the end of the integration interval."
    return OptimizeResult(t=ts, y=y, sol=None, t_events=None, y_events=None, nfev=calls, njev=0, nlu=0, status=0, message=message,
                          success=True, problem=problem)  # fmt: skip


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    args: tuple = (),
    Dfun: Callable[..., Any] | None = None,
    col_deriv: bool = False,
    full_output: bool = False,
    *,
    tfirst: bool = False,
    adjoint: str = "interpolated",
    **options: Any,
) -> Any:
    """Solve dy/dt = func(y, t), y(t[0]) = y0, by `scipy.integrate.odeint`; the solution is differentiable.

    Parameters
    ----------
    func : callable
        Takes a Tensor y of shape (n,), a Tensor t of shape () and `args`, with `tfirst` t first; returns a Tensor of shape (n,)
        or a list of n numbers.
    y0 : array_like or Tensor, shape (n,)
        Real.
    t : array_like or Tensor, shape (m,)
        Times of output; the first is the start.
    args : tuple
        Further arguments of `func`: arbitrary pytrees.
    Dfun, col_deriv, full_output
        SciPy's.
    tfirst : bool
        Whether `func` takes t first.
    adjoint : {"interpolated", "backward", "forward"}
        As in `solve_ivp`, whose notes also apply here, with LSODA.
    **options
        SciPy's.

    Returns
    -------
    y : Tensor, shape (m, n)
    infodict : dict
        SciPy's, only with `full_output`.

    Examples
    --------
    >>> import gradspec as gs
    >>> y = gs.tensor([1.0], requires_grad=True)
    >>> gs.scipy.integrate.odeint(lambda y, t: -y, y, [0.0, 1.0])[-1, 0].backward()
    >>> round(y.grad.item(), 6)
    0.367879
    """
    from scipy.integrate import ODEintWarning
    from scipy.integrate import odeint as solve

    if adjoint not in _ADJOINTS or adjoint == "discrete":
        raise ValueError(f"odeint: adjoint must be 'interpolated', 'backward' or 'forward', got {adjoint!r}")
    y0, ts, args = _vector("odeint", y0), _times(t), tuple(args) if isinstance(args, (tuple, list)) else (args,)
    if y0.dtype.kind == "c":
        raise TypeError("odeint: y0 must be real; take solve_ivp with an explicit method")
    rate = (lambda t, y: func(t, y, *args)) if tfirst else (lambda t, y: func(y, t, *args))
    if is_mapped():
        of_row = partial(_of_row_of_odeint, adjoint, options, Dfun is None and not full_output)
        rows = by_rows("odeint", of_row, rate, (y0, ts), ts[0], y0)
        if rows is not NotImplemented:
            return rows
    tolerances = {name: options[name] if options.get(name) is not None else 1.49012e-8 for name in ("rtol", "atol")}
    problem = Problem(rate, "LSODA", tolerances, adjoint)
    slope = None
    if Dfun is not None:
        slope = lambda t, y: np.asarray(Dfun(*((t, y) if tfirst else (y, t)), *args))  # noqa: E731
    with _set_fwd_grad_enabled(False):
        values, info = solve(problem.rate_array, y0.detach().numpy(), ts.detach().numpy(), Dfun=slope, col_deriv=col_deriv,
                             full_output=True, tfirst=True, **options)  # fmt: skip
    if info["message"] != "Integration successful.":
        problem.failed = info["message"]
        if not full_output:
            import warnings

            warnings.warn(f"odeint: {info['message']}; its derivatives are NaN", ODEintWarning, stacklevel=2)
    problem.dense = _WhenAsked(problem, ts.detach().numpy(), y0.detach().numpy())
    found = attached(problem, np.ascontiguousarray(values.T), ts[0], y0, ts).T
    return (found, info) if full_output else found


def _of_row_of_odeint(adjoint: str, options: dict, fits: bool, rate: Any, y0: Any, ts: Any) -> Any:
    if not fits:
        raise NotImplementedError("odeint: inside of a vmap, which maps something of the problem, there is no Dfun and no "
                                  "full_output")  # fmt: skip
    return odeint(rate, y0, ts, tfirst=True, adjoint=adjoint, **options)


class _WhenAsked:
    """The dense output of a problem that SciPy has solved without one: it is solved again when a derivative needs it."""

    def __init__(self, problem: Problem, ts: np.ndarray, y0: np.ndarray) -> None:
        self.again = Problem(problem.fun, problem.method, problem.options, problem.adjoint)
        self.ends, self.y0, self.dense = (ts[0], ts[-1]), y0, None

    def __call__(self, t: Any) -> Any:
        if self.dense is None:
            self.again.run(self.ends, self.y0)
            self.dense = self.again.dense
        return self.dense(t)


def _time(value: Any) -> Any:
    return ops.reshape(ops.astype(asarray(value), np.float64), ())


def _times(values: Any) -> Any:
    if isinstance(values, (list, tuple)) and any(isinstance(value, TensorBase) for value in values):
        values = ops.stack(list(map(_time, values)))
    return ops.reshape(ops.astype(asarray(values), np.float64), (-1,))


def _vector(name: str, y0: Any) -> Any:
    """The initial state as a vector in double precision."""
    if isinstance(y0, (list, tuple)) and any(isinstance(value, TensorBase) for value in y0):
        y0 = ops.stack([ops.reshape(asarray(value), ()) for value in y0])
    y0 = asarray(y0)
    if y0.ndim > 1 or y0.dtype.kind not in "iufc":
        raise ValueError(f"{name}: y0 must be a vector of numbers, got the shape {y0.shape} and dtype {y0.dtype}")
    return ops.astype(ops.reshape(y0, (-1,)), np.complex128 if y0.dtype.kind == "c" else np.float64)
