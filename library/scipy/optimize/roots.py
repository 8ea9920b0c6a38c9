"""Roots and fixed points: scipy.optimize's functions of several unknowns and of one.

Defines their signatures, and which of SciPy's methods receive derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...support.dispatch import ops
from .attached import Problem, attach, called, convert, number, numbers

__all__ = ["bisect", "brenth", "brentq", "fixed_point", "fsolve", "newton", "ridder", "root", "root_scalar", "toms748"]

WITH_JACOBIAN = ("hybr", "lm")


def root(
    fun: Callable[..., Any], x0: Any, args: Any = (), method: str = "hybr", jac: Any = None, tol: float | None = None,
    callback: Any = None, options: Any = None, *, progress: bool = False,
) -> Any:  # fmt: skip
    """A root of a function of several unknowns, by SciPy's algorithms with exact Jacobians; see `scipy.optimize.root`.

    Parameters
    ----------
    fun : callable
        Takes a Tensor of the shape of `x0` and `args`; returns a Tensor with as many elements, which are 0 at the root.
    x0 : array_like
        Starting point; it has no derivative.
    args : tuple
        Tensors in `args`, and tensors that `fun` closes over, are parameters of the root.
    method : str
        As in SciPy.
    jac : bool or callable, optional
        As in SciPy, only for its algorithm.
    tol, callback, options
        As in SciPy.
    progress : bool
        Show the calls of `fun` in a progress bar, if tqdm is installed.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's, whose `x` is a Tensor with derivatives, in both modes and to any order, by the implicit function theorem: NaN
        where the Jacobian is singular, and where SciPy did not converge, with a warning.  Inside a vmap it has only `x` and
        `fun`.

    Examples
    --------
    >>> import gradspec as gs
    >>> f = lambda a: gs.scipy.optimize.root(lambda x, a: x**3 + x - a, [1.0], args=(a,)).x[0]
    >>> round(f(2.0).item(), 6), round(gs.grad(f)(2.0).item(), 6)
    (1.0, 0.25)
    """
    from scipy import optimize

    start = number(x0)
    user = (lambda x, *args: fun(x, *args)[0]) if jac is True else fun
    problem = Problem("root", lambda x, *args: user(ops.reshape(x, start.shape), *args), args)
    if jac is None and method in WITH_JACOBIAN:
        slopes: Any = problem.jac
    elif jac is True:
        slopes = lambda x: numbers(fun(ops.reshape(number(x), start.shape), *problem.args)[1])  # noqa: E731
    else:
        slopes = called(jac, problem.args) if callable(jac) else jac

    def run(x0: Any) -> tuple:
        with problem.progressing(progress):
            result = optimize.root(problem.fun, numbers(x0).ravel(), method=method, jac=slopes, tol=tol, callback=callback,
                                   options=options)  # fmt: skip
        return np.reshape(result.x, start.shape), result.success, result

    x, result = attach("root", run, lambda x, x0: problem.value(x), (start,), start)
    return convert(result, x=x, fun=ops.reshape(problem.value(x), start.shape))


def fsolve(
    func: Callable[..., Any], x0: Any, args: Any = (), fprime: Any = None, full_output: bool = False, xtol: float = 1.49012e-8,
    maxfev: int = 0, factor: float = 100.0,
) -> Any:  # fmt: skip
    """A root of a function of several unknowns, as `root` by MINPACK; see `scipy.optimize.fsolve`.

    Parameters
    ----------
    func, x0, args
        As for `root`.
    fprime : callable, optional
        For the algorithm alone.
    full_output, xtol, maxfev, factor
        As in SciPy.

    Returns
    -------
    Tensor
        With derivatives as of `root`; with `full_output` what SciPy returns, with it as first element.
    """
    result = root(func, x0, args, "hybr", fprime, options={"xtol": xtol, "maxfev": maxfev, "factor": factor})
    x = ops.reshape(result.x, (-1,))
    if not full_output:
        return x
    known = {name: result[name] for name in ("nfev", "njev", "fjac", "r", "qtf") if name in result}
    return x, {"fvec": result.fun, **known}, result.status, result.message


def root_scalar(
    f: Callable[..., Any], args: Any = (), method: str | None = None, bracket: Any = None, fprime: Any = None,
    fprime2: Any = None, x0: Any = None, x1: Any = None, xtol: float | None = None, rtol: float | None = None,
    maxiter: int | None = None, options: Any = None,
) -> Any:  # fmt: skip
    """A root of a function of one number; see `scipy.optimize.root_scalar`.

    Parameters
    ----------
    f : callable
        Takes a Tensor of one element and `args`; returns one.  Tensors in `args`, and closed-over tensors, are parameters.
    args, method, bracket
        As in SciPy.  Without `method`, `bracket` and `x1` it is Newton's method.
    fprime, fprime2 : callable or bool, optional
        As in SciPy, only for its algorithm; by default, methods that need derivatives get exact ones.
    x0, x1, xtol, rtol, maxiter, options
        As in SciPy.

    Returns
    -------
    scipy.optimize.RootResults
        SciPy's, whose `root` is a Tensor with derivatives as of `root`.  Inside a vmap it has only `root`.

    Examples
    --------
    >>> import gradspec as gs
    >>> f = lambda a: gs.scipy.optimize.root_scalar(lambda x: x**3 + x - a, bracket=(0, 5)).root
    >>> round(gs.grad(f)(2.0).item(), 6), round(gs.grad(gs.grad(f))(2.0).item(), 6)
    (0.25, -0.09375)
    """
    from scipy import optimize

    problem = Problem("root_scalar", (lambda x, *args: f(x, *args)[0]) if fprime is True else f, args, ())
    if method is None and bracket is None and x1 is None:
        method = "halley" if fprime2 is not None else "newton"
    if method in ("newton", "halley"):
        fprime = called(fprime, problem.args) if callable(fprime) else problem.slope
    if method == "halley":
        fprime2 = called(fprime2, problem.args) if callable(fprime2) else problem.curvature

    def run(*given: Any) -> tuple:
        known = dict(zip(names, (numbers(value).item() for value in given)))
        ends = {"bracket": (known.pop("a"), known.pop("b"))} if bracket is not None else {}
        result = optimize.root_scalar(problem.fun, method=method, fprime=fprime, fprime2=fprime2, xtol=xtol, rtol=rtol,
                                      maxiter=maxiter, options=options, **ends, **known)  # fmt: skip
        return np.float64(result.root), result.converged, result

    places = {"a": bracket and bracket[0], "b": bracket and bracket[1], "x0": x0, "x1": x1}
    names = [name for name, value in places.items() if value is not None]
    x, result = _attached("root_scalar", problem, run, [places[name] for name in names])
    return convert(result, root=x)


def _attached(caller: str, problem: Problem, run: Callable[..., tuple], starts: list) -> tuple[Any, Any]:
    given = tuple(map(number, starts))
    if not given:
        raise ValueError(f"{caller}: give a bracket, or x0 to begin at")
    return attach(caller, run, lambda x, *starts: problem.value(x), given, given[0])


def _bracketing(caller: str, f: Any, a: Any, b: Any, args: Any, full_output: bool, options: dict) -> Any:
    from scipy import optimize

    problem = Problem(caller, f, args, ())

    def run(a: Any, b: Any) -> tuple:
        x, result = getattr(optimize, caller)(problem.fun, numbers(a).item(), numbers(b).item(), full_output=True, **options)
        return np.float64(x), result.converged, result

    x, result = _attached(caller, problem, run, [a, b])
    return (x, convert(result, root=x)) if full_output else x


def brentq(
    f: Callable[..., Any], a: Any, b: Any, args: Any = (), xtol: float = 2e-12, rtol: float = 8.881784197001252e-16,
    maxiter: int = 100, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    """A root of a function of one number between two points with different signs; see `scipy.optimize.brentq`.

    Parameters
    ----------
    f : callable
        Takes a Tensor of one element and `args`; returns one.  Tensors in `args`, and closed-over tensors, are parameters.
    a, b : float
        They have no derivative.
    args, xtol, rtol, maxiter, full_output, disp
        As in SciPy.

    Returns
    -------
    Tensor
        With derivatives as of `root`; with `full_output` a pair with SciPy's RootResults.

    Examples
    --------
    >>> import gradspec as gs
    >>> round(gs.grad(lambda a: gs.scipy.optimize.brentq(lambda x: gs.exp(x) - a, 0, 5))(4.0).item(), 6)
    0.25
    """
    return _bracketing("brentq", f, a, b, args, full_output, {"xtol": xtol, "rtol": rtol, "maxiter": maxiter, "disp": disp})


def brenth(
    f: Callable[..., Any], a: Any, b: Any, args: Any = (), xtol: float = 2e-12, rtol: float = 8.881784197001252e-16,
    maxiter: int = 100, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    """As `brentq`, by hyperbolic extrapolation; see `scipy.optimize.brenth`.

    Parameters
    ----------
    f, a, b, args, xtol, rtol, maxiter, full_output, disp
        As for `brentq`.

    Returns
    -------
    Tensor
        As of `brentq`.
    """
    return _bracketing("brenth", f, a, b, args, full_output, {"xtol": xtol, "rtol": rtol, "maxiter": maxiter, "disp": disp})


def ridder(
    f: Callable[..., Any], a: Any, b: Any, args: Any = (), xtol: float = 2e-12, rtol: float = 8.881784197001252e-16,
    maxiter: int = 100, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    """As `brentq`, by Ridder's method; see `scipy.optimize.ridder`.

    Parameters
    ----------
    f, a, b, args, xtol, rtol, maxiter, full_output, disp
        As for `brentq`.

    Returns
    -------
    Tensor
        As of `brentq`.
    """
    return _bracketing("ridder", f, a, b, args, full_output, {"xtol": xtol, "rtol": rtol, "maxiter": maxiter, "disp": disp})


def bisect(
    f: Callable[..., Any], a: Any, b: Any, args: Any = (), xtol: float = 2e-12, rtol: float = 8.881784197001252e-16,
    maxiter: int = 100, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    """As `brentq`, by bisection; see `scipy.optimize.bisect`.

    Parameters
    ----------
    f, a, b, args, xtol, rtol, maxiter, full_output, disp
        As for `brentq`.

    Returns
    -------
    Tensor
        As of `brentq`.
    """
    return _bracketing("bisect", f, a, b, args, full_output, {"xtol": xtol, "rtol": rtol, "maxiter": maxiter, "disp": disp})


def toms748(
    f: Callable[..., Any], a: Any, b: Any, args: Any = (), k: int = 1, xtol: float = 2e-12, rtol: float = 8.881784197001252e-16,
    maxiter: int = 100, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    """As `brentq`, by Algorithm 748; see `scipy.optimize.toms748`.

    Parameters
    ----------
    f, a, b, args
        As for `brentq`.
    k : int
        As in SciPy.
    xtol, rtol, maxiter, full_output, disp
        As for `brentq`.

    Returns
    -------
    Tensor
        As of `brentq`.
    """
    options = {"k": k, "xtol": xtol, "rtol": rtol, "maxiter": maxiter, "disp": disp}
    return _bracketing("toms748", f, a, b, args, full_output, options)


def newton(
    func: Callable[..., Any], x0: Any, fprime: Any = None, args: Any = (), tol: float = 1.48e-08, maxiter: int = 50,
    fprime2: Any = None, x1: Any = None, rtol: float = 0.0, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    """A root near a point, by the methods of Newton, Halley or the secant; see `scipy.optimize.newton`.

    Parameters
    ----------
    func : callable
        Takes a Tensor of the shape of `x0` and `args`, and returns one, element by element.  Tensors in `args`, and closed-over
        tensors, are parameters.
    x0 : array_like
        It has no derivative.
    fprime : callable, optional
        As in SciPy, only for its algorithm: the exact derivative by default, unless `x1` is given.
    args, tol, maxiter, fprime2, x1, rtol, full_output, disp
        As in SciPy.

    Returns
    -------
    Tensor
        With derivatives as of `root`; with `full_output` what SciPy returns, with it as root.
    """
    from scipy import optimize

    start = number(x0)
    problem = Problem("newton", func, args, start.shape)
    first = called(fprime, problem.args) if callable(fprime) else problem.slope if x1 is None else None
    second = called(fprime2, problem.args) if callable(fprime2) else None

    def run(x0: Any) -> tuple:
        at = numbers(x0)
        found = optimize.newton(problem.fun, at if at.ndim else at.item(), first, (), tol, maxiter, second, x1, rtol, True, disp)
        x, converged = found[0], found[1] if at.ndim else found[1].converged
        return np.float64(x), bool(np.all(converged)), found

    x, found = attach("newton", run, lambda x, x0: problem.value(x), (start,), start)
    if not full_output:
        return x
    return type(found)(x, *found[1:]) if start.ndim else (x, convert(found[1], root=x))


def fixed_point(
    func: Callable[..., Any], x0: Any, args: Any = (), xtol: float = 1e-8, maxiter: int = 500, method: str = "del2"
) -> Any:
    """A fixed point x = func(x), element by element; see `scipy.optimize.fixed_point`.

    Parameters
    ----------
    func : callable
        Takes a Tensor of the shape of `x0` and `args`, and returns one.  Tensors in `args`, and closed-over tensors, are
        parameters.
    x0 : array_like
        Starting point; it has no derivative.
    args, xtol, maxiter, method
        As in SciPy.

    Returns
    -------
    Tensor
        With derivatives as of `root`.
    """
    from scipy import optimize

    start = number(x0)
    problem = Problem("fixed_point", func, args, start.shape)

    def run(x0: Any) -> tuple:
        return np.float64(optimize.fixed_point(problem.fun, numbers(x0), (), xtol, maxiter, method)), True, None

    return attach("fixed_point", run, lambda x, x0: x - problem.value(x), (start,), start)[0]
