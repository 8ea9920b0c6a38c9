"""An initial value problem: the user's function, and its calls by SciPy's solvers.

Calls the function on arrays, computes its Jacobians, and calls `scipy.integrate`.  Gradients of solutions are elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)
import gradspec.func  # noqa: F401 (as well)

from ...autograd import grad
from ...autograd.flat_derivatives import without_history
from ...core.conversion import asarray
from ...core.grad_mode import _set_fwd_grad_enabled, enable_grad
from ...core.tensor import TensorBase
from ...func.closures import Watch, with_closed
from ...support.dispatch import ops

_FORWARD_ONLY = ("jac", "jac_sparsity", "lband", "uband", "first_step", "min_step")  # not for other equations


class Problem:
    """dy/dt = fun(t, y), with the method of its solution.

    Parameters
    ----------
    fun : callable
        Takes a time and a vector.
    method : str or class
        As in `scipy.integrate.solve_ivp`.
    options : dict
        Options of the solver.
    adjoint : str
        How gradients are computed.

    Attributes
    ----------
    closed : list of Tensor
        Differentiable tensors that `fun` and the events close over; known when the problem has been solved.
    dense : OdeSolution or None
        The solution between its steps.
    nfev_adjoint : int
        Number of calls of `fun` by derivatives, each with a backward pass.
    """

    def __init__(self, fun: Callable[..., Any], method: Any, options: dict, adjoint: str) -> None:
        self.fun, self.method, self.options, self.adjoint = fun, method, options, adjoint
        self.watch, self.dense, self.failed, self.nfev_adjoint = Watch(), None, "", 0

    @property
    def closed(self) -> list:
        return self.watch.closed

    @property
    def explicit(self) -> bool:
        """Whether the solver is an explicit Runge-Kutta method with a tableau, which needs no Jacobians."""
        from scipy.integrate import DOP853, RK23, RK45
        from scipy.integrate._ivp.rk import RungeKutta

        known = {"RK45": RK45, "RK23": RK23, "DOP853": DOP853}
        return issubclass(known.get(self.method, object) if isinstance(self.method, str) else self.method, RungeKutta)

    def rate(self, t: Any, y: Any) -> Any:
        """The result of the function, as a tensor of the shape of y."""
        value = self.fun(t, y)
        if isinstance(value, (list, tuple)):
            value = ops.stack([ops.reshape(asarray(item), ()) for item in value])
        elif not isinstance(value, TensorBase):
            if y.requires_grad:
                raise TypeError("solve_ivp: fun must return a Tensor, or a list of them, where derivatives are wanted; it gave "
                                f"{type(value).__name__}: what is not computed with tensors has no derivative")  # fmt: skip
            value = asarray(np.asarray(value))
        if value.ndim > y.ndim or value.ndim and value.shape != y.shape:
            raise ValueError(
                f"solve_ivp: fun must return {y.size} numbers, as many as y has, and it gave the shape {value.shape}"
            )
        return ops.broadcast_to(value, y.shape)

    def explicit_rate(self) -> Callable[..., Any]:
        """`rate` with the values of `closed` as further arguments."""
        return with_closed(self.rate, self.closed)

    # On arrays.

    def rate_array(self, t: float, y: np.ndarray) -> np.ndarray:
        return self.watch(self.rate, asarray(float(t)), asarray(y)).detach().numpy()

    def jacobian_array(self, t: float, y: np.ndarray) -> np.ndarray:
        return jacobians(self.rate, asarray(float(t)), asarray(y), [], recorded=False)[1].numpy()

    def run(self, t_span: tuple, y0: np.ndarray, t_eval: Any = None, events: Any = None, dense: bool = True) -> Any:
        """SciPy's solution; then the problem has its closed-over tensors, its dense solution, and a message if it failed."""
        from scipy.integrate import solve_ivp

        options = dict(self.options)
        if not self.explicit:
            options.setdefault("jac", self.jacobian_array)
        if not np.isfinite(y0).all():
            raise ValueError("solve_ivp: y0 must be finite")
        with _set_fwd_grad_enabled(False):
            result = solve_ivp(self.rate_array, t_span, y0, self.method, t_eval, dense, events, **options)
        self.dense, result.sol = result.sol, None
        self.failed = "" if result.success else result.message
        return result

    def options_of_other(self, copies: int = 1) -> dict:
        """The options for a related equation whose state consists of `copies` states, at the scale of this one."""
        found = {name: value for name, value in self.options.items() if name not in _FORWARD_ONLY}
        if np.ndim(found.get("atol", 0)):
            found["atol"] = np.tile(found["atol"], copies)
        return found


def jacobians(rate: Callable[..., Any], t: Any, y: Any, others: list, recorded: bool) -> list:
    """A rate, and its Jacobians by y and by its further arguments: the rate's axis first, the others flattened."""
    with enable_grad():
        given = [x[...] if recorded else x.detach() for x in (y, *others)]
        constant = not any(x.requires_grad for x in given)
        own = [x.requires_grad_() for x in given if not x.requires_grad]
        value = rate(t, *given)
        found: Any = [None] * len(given)
        if value.requires_grad:
            units = asarray(np.eye(y.size, dtype=value.dtype))
            found = grad(value, given, units, create_graph=recorded, allow_unused=True, is_grads_batched=True)
        blocks = [ops.zeros((y.size, x.size), dtype=y.dtype) if part is None else ops.conj(ops.reshape(part, (y.size, x.size)))
                  for part, x in zip(found, given)]  # fmt: skip
        for x in own:  # only used here
            x.requires_grad_(False)
    return [without_history(block) if constant else block for block in (value, *blocks)]
