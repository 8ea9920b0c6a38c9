"""Boundary value problems: SciPy's solver, with derivatives of its solution.

Defines the discrete equations of a solution: boundary conditions, and collocation in each interval.  The implicit function
theorem gives the derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)
import gradspec.scipy.optimize  # noqa: F401 (as well)

from ...core.conversion import asarray
from ...func import stop_gradient
from ...support.dispatch import ops
from ..interpolate import CubicHermiteSpline
from ..optimize.attached import attach, convert, number, numbers
from ..values import must_be_constant
from .collocation import by_collocation


def solve_bvp(
    fun: Callable[..., Any], bc: Callable[..., Any], x: Any, y: Any, p: Any = None, S: Any = None, fun_jac: Any = None,
    bc_jac: Any = None, tol: float = 1e-3, max_nodes: int = 1000, verbose: int = 0, bc_tol: float | None = None, *,
    args: tuple = (),
) -> Any:  # fmt: skip
    """Solve dy/dx = fun(x, y, p) with bc(y(a), y(b), p) == 0, by `scipy.integrate.solve_bvp`; the solution is differentiable.

    Parameters
    ----------
    fun : callable
        Takes a Tensor x of shape (m,), a Tensor y of shape (n, m), unknown parameters p of shape (k,) if there are any, and
        `args`.  Returns a Tensor of shape (n, m), or a list of n of shape (m,).  Tensors in `args` and closed-over tensors are
        parameters of the solution.
    bc : callable
        Takes y at both ends, of shape (n,), p if there are unknown parameters, and `args`; returns n + k numbers, which are 0.
    x : array_like, shape (m,)
        The initial mesh; it has no derivative.
    y : array_like, shape (n, m)
        A guess on the initial mesh, without a derivative.
    p : array_like, shape (k,), optional
        A guess of unknown parameters.
    S : None
        SciPy's singular term is not supported.
    fun_jac, bc_jac : callable, optional
        As in SciPy, only for its algorithm.
    tol, max_nodes, verbose, bc_tol
        As in SciPy.
    args : tuple
        Further arguments of `fun` and `bc`: arbitrary pytrees.

    Returns
    -------
    object
        SciPy's result.  `y`, `yp`, `p` and the results of `sol(x)` are Tensors with derivatives in both modes and to any order.
        They are NaN, with a warning, if SciPy did not converge.  Inside a vmap the result has no other attributes, and the meshes
        of all rows must have the same length.

    Raises
    ------
    NotImplementedError
        `S` is given.
    RuntimeError
        If a derivative is requested, and `fun` reads y at other points of the mesh than its own.

    Notes
    -----
    The derivatives are derivatives of the collocation equations on the last mesh, which is a constant.  Their accuracy is the
    accuracy of the solution in these equations: use a small `tol`.  The sparse matrix of the equations is computed by 3 n + k
    products with vectors, and SciPy's LU solves with it.

    References
    ----------
    J. Kierzenka, L. F. Shampine, "A BVP Solver Based on Residual Control and the Maltab PSE", ACM Trans. Math. Softw. 27 (2001).

    Examples
    --------
    >>> import gradspec as gs, numpy as np
    >>> x = np.linspace(0, 1, 5)
    >>> def middle(k):  # of y'' = -k y, from 0 to 1
    ...     found = gs.scipy.integrate.solve_bvp(lambda x, y: [y[1], -k * y[0]], lambda a, b: [a[0], b[0] - 1], x,
    ...                                          np.zeros((2, 5)), tol=1e-6)
    ...     return found.sol(0.5)[0]
    >>> round(gs.grad(middle)(1.0).item(), 4)
    0.0778
    """
    from scipy.integrate import solve_bvp as of_arrays

    if S is not None:
        raise NotImplementedError("solve_bvp: the singular term S has no derivative here; write it into fun, on a mesh that "
                                  "begins beside the pole")  # fmt: skip
    x, y = number(x), number(y)
    must_be_constant("solve_bvp: x is a mesh, and y and p are guesses", [x, y, *([] if p is None else [number(p)])])
    given = () if p is None else (number(p),)

    def of(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the user, on tensors and on arrays."""

        def call(*values: Any) -> Any:
            found = function(*map(asarray, values), *args)
            if isinstance(found, (list, tuple)):
                parts = list(map(asarray, found))
                shape = np.broadcast_shapes(values[0].shape if name == "fun" else (), *(part.shape for part in parts))
                found = ops.stack([ops.broadcast_to(number(part), shape) for part in parts])
            return number(found)

        return call

    rate, ends = of("fun", fun), of("bc", bc)

    def run(*_: Any) -> tuple:
        found = of_arrays(
            lambda *values: numbers(rate(*values)), lambda *values: numbers(ends(*values)), numbers(x), numbers(y),
            None if p is None else numbers(given[0]), None, fun_jac, bc_jac, tol, max_nodes, verbose, bc_tol,
        )  # fmt: skip
        return (found.x, found.y, *(() if p is None else (found.p,))), found.status == 0, found

    def condition(solution: Any, *_: Any) -> Any:
        mesh, y, *unknown = solution
        at = stop_gradient(mesh)  # the mesh is constant
        step = at[1:] - at[:-1]
        slope = rate(at, y, *unknown)
        middle = (y[:, 1:] + y[:, :-1]) / 2 - step / 8 * (slope[:, 1:] - slope[:, :-1])
        inner = rate(at[:-1] + step / 2, middle, *unknown)
        left = y[:, 1:] - y[:, :-1] - step / 6 * (slope[:, :-1] + slope[:, 1:] + 4 * inner)
        at_ends = ops.reshape(ends(y[:, 0], y[:, -1], *unknown), (-1,))
        return ops.concat([mesh - at, ops.reshape(left, (-1,)), at_ends])

    solution, result = attach("solve_bvp", run, condition, (), (x, y, *given), by_collocation)
    mesh, y, *unknown = solution
    mesh = stop_gradient(mesh)
    slope = rate(mesh, y, *unknown)
    return convert(result, x=mesh, y=y, yp=slope, p=unknown[0] if unknown else None,
                   sol=CubicHermiteSpline(mesh, y, slope, axis=1))  # fmt: skip
