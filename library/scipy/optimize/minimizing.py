"""Minima: scipy.optimize's minimizers, local and global, with bounds and constraints.

Defines their signatures, and decides which methods receive which derivatives.  The Karush-Kuhn-Tucker conditions form an
equation: the projected step against the gradient is 0, and each constraint or its multiplier is 0.  So active constraints are
held, and the solution has derivatives by bounds and constraints, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...func import grad
from ...support.dispatch import ops
from .attached import Problem, attach, bounds_of, called, complementary, convert, in_box, number, numbers, parameters, vector
from .constraints import Constraint, constraints_of, multipliers

__all__ = ["basinhopping", "differential_evolution", "dual_annealing", "minimize", "minimize_scalar", "rosen", "shgo"]

WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
WITH_HESSIAN = ("newton-cg", "dogleg", "trust-ncg", "trust-exact", "trust-krylov", "trust-constr")
FLAT = 1e-5  # a gradient smaller than this, relative to the value, indicates a minimum, whatever status SciPy reports


def minimize(
    fun: Callable[..., Any], x0: Any, args: Any = (), method: str | None = None, jac: Any = None, hess: Any = None,
    hessp: Any = None, bounds: Any = None, constraints: Any = (), tol: float | None = None, callback: Any = None,
    options: Any = None, *, progress: bool = False,
) -> Any:  # fmt: skip
    """A minimum of a function of several unknowns, by SciPy's algorithms with exact derivatives; see `scipy.optimize.minimize`.

    Parameters
    ----------
    fun : callable
        Takes a Tensor with one axis and `args`; returns a Tensor of one element.  Tensors in `args`, and closed-over tensors, are
        parameters of the minimum.
    x0 : array_like, or dict of nests of them
        Starting point; it has no derivative.  If it is a dictionary, `fun` and constraints get a dictionary, and
        `x` of the result is a dictionary.
    args, method
        As in SciPy.
    jac, hess, hessp : optional
        As in SciPy, only for its algorithm; by default, methods that need derivatives get exact ones.
    bounds : sequence of pairs, Tensor of shape (n, 2), or scipy.optimize.Bounds, optional
        Tensors in them are parameters, too.
    constraints : dict, NonlinearConstraint, LinearConstraint, or a list of them
        As in SciPy, with functions of tensors.
    tol, callback, options
        As in SciPy.
    progress : bool
        Show the calls of `fun` in a progress bar, if tqdm is installed.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's result.  Its `x` and `fun` are Tensors with derivatives, in both modes and to any order, by the implicit function
        theorem for the Karush-Kuhn-Tucker conditions.  Derivatives are NaN if these conditions have no isolated solution (a
        singular Hessian, dependent constraints).  They are NaN, with a warning, if SciPy did not converge and the gradient is not
        small. Inside a vmap the result has only `x` and `fun`.

    Notes
    -----
    The error of a derivative is of the size of the error of `x`: use a small `tol`.  Derivatives assume that the set of
    active bounds and constraints does not change; where it changes, they are one-sided.

    Examples
    --------
    >>> import gradspec as gs
    >>> minimum = lambda x, a: ((x - a) ** 2).sum() + x[0] * x[1]
    >>> f = lambda a: gs.scipy.optimize.minimize(minimum, [0.0, 0.0], args=(a,), tol=1e-9).x
    >>> gs.jacobian(f)(gs.asarray([1.0, 2.0])).numpy().round(4).tolist()
    [[1.3333, -0.6667], [-0.6667, 1.3333]]
    """
    from scipy import optimize

    start, given = parameters(x0)
    user = (lambda x, *args: fun(x, *args)[0]) if jac is True else fun
    problem = Problem("minimize", lambda x, *args: user(given(x), *args), args, ())
    limits = constraints_of("minimize", constraints, given)
    lower, upper = bounds_of(bounds, start.size)
    name = (method or ("slsqp" if limits else "")).lower()
    options_of_method = {"hess": called(hess, problem.args) if callable(hess) else hess, "hessp": hessp}
    if hessp is not None:
        options_of_method["hessp"] = lambda x, p: numbers(hessp(number(x), number(p), *problem.args))
    elif hess is None and name in WITH_HESSIAN:
        options_of_method["hess"] = problem.hess
    if name in WITHOUT_GRADIENT:
        function, slopes = problem.fun, None
    elif jac is None or jac is True:
        function, slopes = problem.fun_and_grad, True
    else:
        function, slopes = problem.fun, called(jac, problem.args) if callable(jac) else jac

    def run(x0: Any, lower: Any, upper: Any) -> tuple:
        box = None if lower is None else optimize.Bounds(numbers(lower), numbers(upper))
        with problem.progressing(progress):
            result = optimize.minimize(function, numbers(x0), method=method, jac=slopes, bounds=box, tol=tol, callback=callback,
                                       constraints=[limit.for_scipy(name) for limit in limits], options=options,
                                       **options_of_method)  # fmt: skip
        return _solution(problem, limits, result, numbers(lower), numbers(upper))

    result = _attached("minimize", problem, limits, run, start, lower, upper)
    return convert(result, x=given(result.x))


def _solution(problem: Problem, limits: list[Constraint], result: Any, lower: Any, upper: Any) -> tuple:
    """The unknowns of the conditions, and whether they hold."""
    x = np.atleast_1d(np.asarray(result.x, float))
    found = {"x": x, "factors": multipliers(problem.grad(x), limits, x, lower, upper)}
    converged = bool(result.success)
    if not converged and not limits:
        gradient = numbers(in_box(number(x), number(problem.grad(x)), lower, upper))
        converged = bool(np.max(np.abs(gradient), initial=0) <= FLAT * (1 + abs(float(np.asarray(result.fun).item()))))
    return found, converged, result


def _attached(caller: str, problem: Problem, limits: list[Constraint], run: Any, start: Any, lower: Any, upper: Any) -> Any:
    def condition(found: dict, x0: Any, lower: Any, upper: Any) -> list:
        x, factors = found["x"], found["factors"]

        def lagrangian(x: Any) -> Any:
            return problem.value(x) - sum([(factor * limit.value(x)).sum() for factor, limit in zip(factors, limits)])

        conditions = [in_box(x, grad(lagrangian)(x), lower, upper)]
        for factor, limit in zip(factors, limits):
            value = limit.value(x)
            conditions.append(ops.where(limit.equal, value, complementary(value, factor)))
        return conditions

    example = {"x": start, "factors": [ops.zeros_like(limit.value(start)) for limit in limits]}
    found, result = attach(caller, run, condition, (start, lower, upper), example)
    return convert(result, x=found["x"], fun=problem.value(found["x"]))


def minimize_scalar(
    fun: Callable[..., Any], bracket: Any = None, bounds: Any = None, args: Any = (), method: str | None = None,
    tol: float | None = None, options: Any = None,
) -> Any:  # fmt: skip
    """A minimum of a function of one number; see `scipy.optimize.minimize_scalar`.

    Parameters
    ----------
    fun : callable
        Takes a Tensor of one element and `args`; returns one.  Tensors in `args`, and closed-over tensors, are parameters.
    bracket : sequence of float, optional
        It has no derivative.
    bounds : pair of float or Tensor, optional
        If the minimum is at a bound, it moves with the bound.
    args, method, tol, options
        As in SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As for `minimize`.

    Examples
    --------
    >>> import gradspec as gs
    >>> f = lambda a: gs.scipy.optimize.minimize_scalar(lambda x: gs.cosh(x - a) + x**2, tol=1e-12).x
    >>> round(gs.grad(f)(0.0).item(), 4)
    0.3333
    """
    from scipy import optimize

    problem = Problem("minimize_scalar", fun, args, ())
    lower, upper = (None, None) if bounds is None else map(number, bounds)

    def run(lower: Any, upper: Any) -> tuple:
        ends = None if lower is None else (numbers(lower).item(), numbers(upper).item())
        result = optimize.minimize_scalar(problem.fun, bracket, ends, (), method, tol, options)
        return np.float64(result.x), result.success, result

    def condition(x: Any, lower: Any, upper: Any) -> Any:
        return in_box(x, grad(problem.value)(x), lower, upper)

    x, result = attach("minimize_scalar", run, condition, (lower, upper), number(0.0) if lower is None else (lower + upper) / 2)
    return convert(result, x=x, fun=problem.value(x))


# Global ones.


def _globally(caller: str, func: Any, args: Any, bounds: Any, size: int | None, solve: Callable[..., Any], progress: bool) -> Any:
    problem = Problem(caller, func, args, ())
    count = size if size is not None else len(bounds.lb) if hasattr(bounds, "lb") else len(bounds)
    lower, upper = bounds_of(bounds, count)

    def run(x0: Any, lower: Any, upper: Any) -> tuple:
        pairs = None if lower is None else np.stack([numbers(lower), numbers(upper)], 1)
        with problem.progressing(progress):
            result = solve(problem, pairs)
        return _solution(problem, [], result, numbers(lower), numbers(upper))

    start = ops.zeros((count,)) if lower is None else (lower + upper) / 2
    return _attached(caller, problem, [], run, start.detach(), lower, upper)


def differential_evolution(
    func: Callable[..., Any], bounds: Any, args: Any = (), *, progress: bool = False, **options: Any
) -> Any:
    """A global minimum in a box, by differential evolution; see `scipy.optimize.differential_evolution`.

    Parameters
    ----------
    func, bounds, args, progress
        As for `minimize`.
    **options
        As in SciPy, but for `constraints`, `integrality` and `vectorized`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As for `minimize`; the derivative belongs to the minimum that was found.
    """
    from scipy import optimize

    _without("differential_evolution", options, "constraints", "integrality", "vectorized")
    return _globally(
        "differential_evolution",
        func,
        args,
        bounds,
        None,
        lambda problem, pairs: optimize.differential_evolution(problem.fun, pairs, **options),
        progress,
    )


def dual_annealing(func: Callable[..., Any], bounds: Any, args: Any = (), *, progress: bool = False, **options: Any) -> Any:
    """A global minimum in a box, by simulated annealing; see `scipy.optimize.dual_annealing`.

    Parameters
    ----------
    func, bounds, args, progress
        As for `minimize`.
    **options
        As in SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As for `minimize`; the derivative belongs to the minimum that was found.
    """
    from scipy import optimize

    return _globally(
        "dual_annealing",
        func,
        args,
        bounds,
        None,
        lambda problem, pairs: optimize.dual_annealing(problem.fun, pairs, **options),
        progress,
    )


def shgo(func: Callable[..., Any], bounds: Any, args: Any = (), *, progress: bool = False, **options: Any) -> Any:
    """A global minimum in a box, by homology; see `scipy.optimize.shgo`.

    Parameters
    ----------
    func, bounds, args, progress
        As for `minimize`.
    **options
        As in SciPy, but for `constraints`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As for `minimize`; the derivative belongs to the minimum that was found.
    """
    from scipy import optimize

    _without("shgo", options, "constraints")
    return _globally(
        "shgo", func, args, bounds, None, lambda problem, pairs: optimize.shgo(problem.fun, pairs, **options), progress
    )


def basinhopping(func: Callable[..., Any], x0: Any, *, args: Any = (), progress: bool = False, **options: Any) -> Any:
    """A global minimum, by hops between basins; see `scipy.optimize.basinhopping`.

    Parameters
    ----------
    func, x0, args, progress
        As for `minimize`.
    **options
        As in SciPy; the local minimizer gets exact gradients.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As for `minimize`; the derivative belongs to the minimum that was found.
    """
    from scipy import optimize

    start = vector(x0)
    local = {"jac": True, **(options.pop("minimizer_kwargs", None) or {})}

    def solve(problem: Problem, pairs: Any) -> Any:
        function = problem.fun_and_grad if local["jac"] is True else problem.fun
        return optimize.basinhopping(function, numbers(start), minimizer_kwargs=local, **options)

    return _globally("basinhopping", func, args, None, start.size, solve, progress)


def _without(caller: str, options: dict, *names: str) -> None:
    for name in names:
        if options.get(name) is not None:
            raise NotImplementedError(f"{caller}: {name} is not there; minimize takes constraints, scipy.optimize.{caller} all "
                                      "of them without derivatives")  # fmt: skip


def rosen(x: Any) -> Any:
    """Rosenbrock's function of the numbers along the first axis.

    Parameters
    ----------
    x : array_like, shape (n, ...)

    Returns
    -------
    Tensor, shape (...)
    """
    x = number(x)
    return ops.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2, axis=0)
