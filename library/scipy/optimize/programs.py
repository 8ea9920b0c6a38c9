"""Linear programs and assignments: scipy.optimize's `linprog` and `linear_sum_assignment`.

Defines the conditions of a linear program's solution as an equation in the solution and in the prices of its constraints.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...support.dispatch import ops
from .attached import attach, bounds_of, complementary, convert, in_box, number, numbers, vector

__all__ = ["linear_sum_assignment", "linprog"]


def linprog(
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None, bounds: Any = (0, None),
    method: str = "highs", options: Any = None,
) -> Any:  # fmt: skip
    """The smallest c.x with A_ub x <= b_ub and A_eq x = b_eq; see `scipy.optimize.linprog`.

    Parameters
    ----------
    c : array_like, shape (n,)
    A_ub, b_ub, A_eq, b_eq : array_like, optional
    bounds : pair, or sequence of n pairs
        All these arguments have derivatives.
    method : {'highs', 'highs-ds', 'highs-ipm'}
        As in SciPy: these methods find the prices of the constraints.
    options : dict, optional
        As in SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's result, whose `x` and `fun` are Tensors with derivatives.  The solution is a vertex: it moves with its active
        constraints, and not with `c`.  Derivatives are NaN if the solution is not unique, or if the vertex is degenerate.
    """
    from scipy import optimize

    if not method.startswith("highs"):
        raise NotImplementedError(f"linprog: method must be 'highs', 'highs-ds' or 'highs-ipm', got {method!r}")
    c = vector(c)
    given = [None if value is None else number(value) for value in (A_ub, b_ub, A_eq, b_eq)]
    pairs = bounds if np.ndim(bounds) == 2 or isinstance(bounds, list) else [tuple(bounds)] * c.size
    lower, upper = bounds_of(pairs, c.size)

    def run(c: Any, A_ub: Any, b_ub: Any, A_eq: Any, b_eq: Any, lower: Any, upper: Any) -> tuple:
        arrays = map(numbers, (c, A_ub, b_ub, A_eq, b_eq))
        result = optimize.linprog(*arrays, np.stack([numbers(lower), numbers(upper)], 1), method, options=options)
        if not result.success:
            return {"x": np.full(c.size, np.nan), "at_most": _nan(b_ub), "equal": _nan(b_eq)}, False, result
        return {"x": result.x, "at_most": -result.ineqlin.marginals, "equal": result.eqlin.marginals}, True, result

    def condition(found: Any, c: Any, A_ub: Any, b_ub: Any, A_eq: Any, b_eq: Any, lower: Any, upper: Any) -> list:
        x, slope, held = found["x"], c, []
        if A_ub is not None:
            slope = slope + A_ub.mT @ found["at_most"]
            held.append(complementary(b_ub - A_ub @ x, found["at_most"]))
        if A_eq is not None:
            slope = slope - A_eq.mT @ found["equal"]
            held.append(A_eq @ x - b_eq)
        return [in_box(x, slope, lower, upper), *held]

    example = {"x": ops.zeros(c.size), "at_most": ops.zeros(_size(b_ub)), "equal": ops.zeros(_size(b_eq))}
    found, result = attach("linprog", run, condition, (c, *given, lower, upper), example)
    return convert(result, x=found["x"], fun=(c * found["x"]).sum())


def _size(b: Any) -> int:
    return 0 if b is None else number(b).size


def _nan(b: Any) -> Any:
    return np.full(_size(b), np.nan)


def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> tuple[Any, Any]:
    """The assignment of rows to columns of the smallest sum; see `scipy.optimize.linear_sum_assignment`.

    Parameters
    ----------
    cost_matrix : array_like, shape (m, n)
    maximize : bool

    Returns
    -------
    rows, columns : ndarray of int
        Indices have no derivative; the sum has the derivative of `cost_matrix[rows, columns].sum()`.
    """
    from scipy import optimize

    return optimize.linear_sum_assignment(numbers(cost_matrix), maximize)
