"""The continuous adjoint: compute gradients of a solution by one equation, solved backward in time on arrays.

Solves the adjoint equation, with jumps at the times of output, and chooses its tolerances.  With l(t) the gradient by y(t) and f
the rate,

    dl/dt = -(df/dy)^H l,    dm/dt = -(df/dw)^H l,    l -> l + grad_i at t_i,

and l(t0), m(t0) are the gradients by y0 and w (Pontryagin et al., The mathematical theory of optimal processes, 1962). The
solution y(t) is SciPy's dense output of the forward solve, so that only the adjoint is integrated backward in time, its stable
direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...autograd import grad as gradients
from ...core.conversion import asarray
from ...core.grad_mode import enable_grad
from ...support.dispatch import ops
from .problem import Problem, jacobians

BACK = 1e3  # tolerated distance, in tolerances, between the end of a backward solution and the initial value


class Adjoint:
    """One gradient of a solution.

    Parameters
    ----------
    problem : Problem
        Solved.
    y0 : ndarray, shape (n,)
    closed : list of Tensor
        Values that replace the closed-over tensors of the problem.
    wanted : list of bool
        For which of them gradients are wanted.
    """

    def __init__(self, problem: Problem, y0: np.ndarray, closed: list, wanted: list) -> None:
        self.problem, self.y0 = problem, y0
        self.closed = [tensor.detach() for tensor in closed]
        self.wanted = [i for i, needed in enumerate(wanted) if needed]
        self.by = [self.closed[i].requires_grad_() for i in self.wanted]
        self.rate = problem.explicit_rate()
        kinds = [y0.dtype, *[tensor.dtype for tensor in self.by]]
        self.dtype = np.result_type(np.float64, *kinds)
        self.backward = problem.adjoint == "backward"
        self.length = None

    def pulled(self, t: float, y: np.ndarray, l: np.ndarray) -> np.ndarray:  # noqa: E741
        """The product of l with the Jacobians of the rate by y and by the wanted tensors, concatenated."""
        self.problem.nfev_adjoint += 1
        with enable_grad():
            at = asarray(y).detach().requires_grad_()
            value = self.rate(asarray(float(t)), at, *self.closed)
            found: Any = [None] * (1 + len(self.by))
            if value.requires_grad:
                given = asarray(l if value.dtype.kind == "c" else l.real)
                found = gradients(value, [at, *self.by], given, allow_unused=True)
        return np.concatenate([np.zeros(x.size, self.dtype) if part is None else part.numpy().ravel().astype(self.dtype)
                               for part, x in zip(found, [at, *self.by])])  # fmt: skip

    def rate_of(self, t: Any, y: Any, *by: Any) -> Any:
        """The rate as a function of the wanted tensors."""
        closed = list(self.closed)
        for i, tensor in zip(self.wanted, by):
            closed[i] = tensor
        return self.rate(t, y, *closed)

    def rate_at(self, t: float, y: np.ndarray) -> np.ndarray:
        return self.rate(asarray(float(t)), asarray(y), *self.closed).detach().numpy()

    def solve(self, t0: float, ts: np.ndarray, values: np.ndarray, grad: np.ndarray) -> tuple:
        """The gradients by t0, y0, ts and the wanted closed-over tensors, from the gradient by the values at ts."""
        n, sizes = len(self.y0), [tensor.size for tensor in self.by]
        by_ts, state, at, y = np.zeros(len(ts)), np.zeros(n + sum(sizes), self.dtype), None, self.y0
        if not np.isfinite(grad).all():
            state[:], by_ts[:] = np.nan, np.nan
            return self.apart(np.nan, state, by_ts, sizes)
        scale = np.abs(grad).max(initial=0.0)
        self.problem.dense(t0)  # may be a solution by LSODA, which cannot run inside another LSODA call
        for i in np.argsort(-np.abs(ts - t0), kind="stable"):
            if grad[:, i].any():
                if at is not None:
                    state = self.between(at, ts[i], y, state, scale)
                at, y = ts[i], values[:, i]
                by_ts[i] = np.vdot(grad[:, i], self.rate_at(at, y)).real
                state[:n] += grad[:, i]
        if at is not None:
            state = self.between(at, t0, y, state, scale)
        by_t0 = -np.vdot(state[:n], self.rate_at(t0, self.y0)).real
        return self.apart(by_t0, state, by_ts, sizes)

    def apart(self, by_t0: float, state: np.ndarray, by_ts: np.ndarray, sizes: list) -> tuple:
        n = len(self.y0)
        parts = np.split(state[n:], np.cumsum(sizes[:-1], dtype=int)) if sizes else []
        y0 = state[:n] if self.y0.dtype.kind == "c" else state[:n].real
        parts = [(part if x.dtype.kind == "c" else part.real).reshape(x.shape) for part, x in zip(parts, self.by)]
        return by_t0, y0, by_ts, parts

    def between(self, start: float, end: float, y: np.ndarray, state: np.ndarray, scale: float) -> np.ndarray:
        """The adjoint at an earlier time."""
        from scipy.integrate import solve_ivp

        if start == end or not np.isfinite(state).all():
            return state
        n, problem = len(self.y0), self.problem
        options = problem.options_of_other()
        rtol, atol = options.get("rtol", 1e-3), float(np.max(options.get("atol", 1e-6)))  # a vector of atol has the units of y
        weights = [np.ones(n), *[1 / np.maximum(1, np.abs(x.detach().numpy())).ravel() for x in self.by]]
        options["atol"] = atol * scale * np.concatenate(weights)
        if self.backward:
            options["atol"] = np.concatenate([np.broadcast_to(problem.options.get("atol", 1e-6), n), options["atol"]])
            state = np.concatenate([y, state])
        if self.length and problem.explicit:  # not if implicit: a jump may start a fast transient
            options["first_step"] = min(self.length, abs(end - start))
        if not problem.explicit:
            options["jac"] = self.jacobian
        rate = self.backward_rate if self.backward else self.adjoint_rate
        found = solve_ivp(rate, (start, end), state, problem.method, **options)
        if not found.success:
            return np.full(len(state) - n * self.backward, np.nan, state.dtype)
        if len(found.t) > 2:
            self.length = abs(found.t[-2] - found.t[-3])
        if not self.backward:
            return found.y[:, -1]
        expected = problem.dense(end)
        if (np.abs(found.y[:n, -1] - expected) > BACK * (atol + rtol * np.abs(expected))).any():
            raise RuntimeError(f"solve_ivp: adjoint='backward' has lost the solution on its way from t={start:g} to t={end:g}, "
                               "as happens where solutions run together; take adjoint='interpolated'")  # fmt: skip
        return found.y[n:, -1]

    def adjoint_rate(self, t: float, state: np.ndarray) -> np.ndarray:
        return -self.pulled(t, self.problem.dense(t), state[: len(self.y0)])

    def backward_rate(self, t: float, state: np.ndarray) -> np.ndarray:
        n = len(self.y0)
        y = state[:n].astype(self.y0.dtype)
        return np.concatenate([self.rate_at(t, y), -self.pulled(t, y, state[n : 2 * n])])

    def jacobian(self, t: float, state: np.ndarray) -> np.ndarray:
        """Jacobian of the adjoint equation, which is linear; with adjoint="backward" without its second derivatives, which
        Newton's iteration does not need."""
        n, size = len(self.y0), len(state)
        y = state[:n].astype(self.y0.dtype) if self.backward else self.problem.dense(t)
        self.problem.nfev_adjoint += 1
        _, *blocks = jacobians(self.rate_of, asarray(float(t)), asarray(y), self.by, recorded=False)
        found = np.zeros((size, size), self.dtype)
        first = n if self.backward else 0
        found[first:, first : first + n] = -np.concatenate([block.numpy() for block in blocks], axis=1).conj().T
        if self.backward:
            found[:n, :n] = blocks[0].numpy()
        return found


def nothing(tensors: list) -> list:
    """NaN instead of the gradients of a failed solution."""
    return [ops.full(x.shape, np.nan, dtype=x.dtype) for x in tensors]
