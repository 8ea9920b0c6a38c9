"""Constraints of scipy.optimize as functions of tensors, and their multipliers at a minimum.

Converts all of SciPy's constraints to one form: a vector whose elements are 0, or at least 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...support.dispatch import ops
from .attached import Problem, number, numbers

__all__ = ["Constraint", "constraints_of", "multipliers"]

NEAR = 1e-4  # a constraint this close to its limit may be active; its multiplier decides


class Constraint:
    """A constraint, as a condition calls it and as SciPy is given it.

    Attributes
    ----------
    equal : ndarray of bool
        Which elements of `value` are to be 0; known when it has been called.
    """

    def __init__(self, caller: str, given: Any, nest: Any) -> None:
        self.given, self.equal = given, np.zeros(0, bool)
        self.linear = self.lower = None
        if isinstance(given, dict):
            if str(given.get("type")).lower() not in ("eq", "ineq"):
                raise ValueError(f"{caller}: a constraint has the type 'eq' or 'ineq', got {given.get('type')!r}")
            self.problem = Problem(caller, lambda x, *args: given["fun"](nest(x), *args), tuple(given.get("args", ())))
        elif hasattr(given, "A"):
            self.linear = given.A.toarray() if hasattr(given.A, "toarray") else np.atleast_2d(given.A)
            self.lower, self.upper = given.lb, given.ub
            self.problem = Problem(caller, lambda x: asarray(self.linear, dtype=float) @ x)
        elif hasattr(given, "fun") and hasattr(given, "lb"):
            self.lower, self.upper = given.lb, given.ub
            self.problem = Problem(caller, lambda x: given.fun(nest(x)))
        else:
            raise TypeError(f"{caller}: a constraint is a dictionary, a NonlinearConstraint or a LinearConstraint, got "
                            f"{type(given).__name__}")  # fmt: skip

    def value(self, x: Any) -> Any:
        """A vector whose elements must be 0 where `equal`, and at least 0 elsewhere."""
        found = self.problem.value(x)
        if self.lower is None:
            self.equal = np.full(found.size, self.given["type"].lower() == "eq")
            return found
        lower, upper = (np.broadcast_to(np.asarray(side, float), (found.size,)) for side in (self.lower, self.upper))
        same = lower == upper
        below, above = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper) & ~same)
        self.equal = np.concatenate([same[below], np.zeros(above.size, bool)])
        return ops.concat([found[below] - lower[below], upper[above] - found[above]])

    def for_scipy(self, method: str) -> Any:
        if isinstance(self.given, dict):
            return {"type": self.given["type"], "fun": self.problem.fun, "jac": self.problem.jac}
        if self.linear is not None:
            return self.given
        from scipy.optimize import NonlinearConstraint

        def hess(x: Any, v: Any) -> Any:
            return Problem(self.problem.caller, lambda x: (self.problem.value(x) * v).sum(), (), ()).hess(x)

        curved = {"hess": hess} if method == "trust-constr" else {}
        return NonlinearConstraint(self.problem.fun, self.lower, self.upper, self.problem.jac,
                                   keep_feasible=self.given.keep_feasible, **curved)  # fmt: skip


def constraints_of(caller: str, given: Any, nest: Any) -> list[Constraint]:
    """Constraints in the form of SciPy's arguments; `nest` converts a vector to the argument of their functions."""
    if isinstance(given, dict) or hasattr(given, "lb"):
        given = (given,)
    return [Constraint(caller, one, nest) for one in given]


def multipliers(gradient: Any, limits: list[Constraint], x: Any, lower: Any, upper: Any) -> list:
    """The multipliers of constraints at a minimum; 0 for inactive constraints.

    Parameters
    ----------
    gradient, x : ndarray, shape (n,)
    limits : list of Constraint
    lower, upper : ndarray or None
        Bounds of the box; elements at a bound are not free.
    """
    if not limits:
        return []
    values = [numbers(limit.value(number(x))) for limit in limits]
    equal = np.concatenate([limit.equal for limit in limits])
    slopes = np.concatenate([Problem(limit.problem.caller, limit.value).jac(x) for limit in limits])
    slack = np.concatenate(values)
    free = np.ones(x.size, bool)
    for side in (lower, upper):
        if side is not None:
            free &= ~(np.abs(x - side) <= NEAR * 1e-2 * (1 + np.abs(x)))
    active = equal | (slack <= NEAR)
    factors = np.zeros(slack.size)
    while active.any():
        factors[:] = 0
        factors[active] = np.linalg.lstsq(slopes[active][:, free].T, gradient[free], rcond=None)[0]
        wrong = active & ~equal & (factors < np.maximum(slack, 0))
        if not wrong.any():
            break
        active[np.flatnonzero(wrong)[np.argmin(factors[wrong])]] = False
    factors[~active] = 0
    return np.split(factors, np.cumsum([value.size for value in values])[:-1])
