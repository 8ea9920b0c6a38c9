"""Fits: scipy.optimize's least squares, linear and not, as functions of the data.

Defines their signatures, the losses as operators, and the covariance of fitted parameters from the exact Jacobian.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...func import grad, jacobian
from ...support.dispatch import ops
from .attached import Problem, attach, bounds_of, called, convert, in_box, number, numbers, parameters, vector

__all__ = ["curve_fit", "least_squares", "lsq_linear", "nnls"]

# Loss as a function of z, the square of a residual.
LOSSES: dict[str, Callable[[Any], Any]] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2 * (ops.sqrt(1 + z) - 1),
    "huber": lambda z: ops.where(z <= 1, z, 2 * ops.sqrt(ops.where(z <= 1, 1.0, z)) - 1),
    "cauchy": lambda z: ops.log1p(z),
    "arctan": lambda z: ops.atan(z),
}


def least_squares(
    fun: Callable[..., Any], x0: Any, jac: Any = None, bounds: Any = (-np.inf, np.inf), method: str = "trf",
    ftol: float | None = 1e-8, xtol: float | None = 1e-8, gtol: float | None = 1e-8, x_scale: Any = None, loss: str = "linear",
    f_scale: float = 1.0, max_nfev: int | None = None, verbose: int = 0, args: Any = (), kwargs: Any = None, *,
    progress: bool = False, **options: Any,
) -> Any:  # fmt: skip
    """The smallest sum of squares of residuals, by SciPy's algorithms with exact Jacobians; see `scipy.optimize.least_squares`.

    Parameters
    ----------
    fun : callable
        Takes a Tensor with one axis, `args` and `kwargs`; returns a Tensor of residuals.  Tensors in `args`, and closed-over
        tensors, are parameters of the solution.
    x0 : array_like, or dict of nests of them
        Starting point; it has no derivative.  With a dictionary, `fun` gets a dictionary, and `x` of the result is a dictionary.
    jac : callable, optional
        Only for SciPy's algorithm; by default the exact Jacobian.
    bounds : pair of array_like, or scipy.optimize.Bounds
        Tensors among them are parameters, too.
    method, ftol, xtol, gtol, x_scale
        As in SciPy.
    loss : {'linear', 'soft_l1', 'huber', 'cauchy', 'arctan'}
        A loss of your own is refused.
    f_scale, max_nfev, verbose, args, kwargs
        As in SciPy.
    progress : bool
        Show the calls of `fun` in a progress bar, if tqdm is installed.
    **options
        As in SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's, whose `x`, `cost` and `fun` are Tensors with derivatives as of `minimize`.

    Examples
    --------
    >>> import gradspec as gs
    >>> t = gs.asarray([0.0, 1.0, 2.0])
    >>> f = lambda y: gs.scipy.optimize.least_squares(lambda p: gs.exp(p[0] * t) - y, [0.0], xtol=1e-12).x[0]
    >>> gs.grad(f)(gs.exp(0.5 * t)).numpy().round(3).tolist()
    [0.0, 0.051, 0.168]
    """
    from scipy import optimize

    if loss not in LOSSES:
        raise NotImplementedError(f"least_squares: loss must be one of {', '.join(map(repr, LOSSES))}, got {loss!r}: a loss of "
                                  "your own has no derivative here; give it to minimize")  # fmt: skip
    start, given = parameters(x0)
    problem = Problem("least_squares", lambda x, *args, **kwargs: fun(given(x), *args, **kwargs), args, (-1,), kwargs)
    lower, upper = _box(bounds, start.size)
    slopes = called(jac, problem.args) if callable(jac) else problem.jac
    scale = 1.0 if x_scale is None else x_scale

    def run(x0: Any, lower: Any, upper: Any) -> tuple:
        ends = (-np.inf, np.inf) if lower is None else (numbers(lower), numbers(upper))
        with problem.progressing(progress):
            result = optimize.least_squares(
                problem.fun, numbers(x0), slopes, ends, method, ftol, xtol, gtol, x_scale=scale, loss=loss, f_scale=f_scale,
                max_nfev=max_nfev, verbose=verbose, **options)  # fmt: skip
        return result.x, result.success, result

    def cost(x: Any) -> Any:
        return 0.5 * f_scale**2 * LOSSES[loss]((problem.value(x) / f_scale) ** 2).sum()

    def condition(x: Any, x0: Any, lower: Any, upper: Any) -> Any:
        return in_box(x, grad(cost)(x), lower, upper)

    x, result = attach("least_squares", run, condition, (start, lower, upper), start)
    return convert(result, x=given(x), cost=cost(x), fun=problem.value(x))


def _box(bounds: Any, count: int) -> tuple[Any, Any]:
    """Bounds as a pair of sides; None if they do not restrict."""
    if (
        bounds is None
        or not hasattr(bounds, "lb")
        and all(np.ndim(side) == 0 and np.isinf(side) for side in map(numbers, bounds))
    ):
        return None, None
    if hasattr(bounds, "lb"):
        return bounds_of(bounds, count)
    lower, upper = (ops.broadcast_to(number(side), (count,)) for side in bounds)
    return lower, upper


def curve_fit(
    f: Callable[..., Any], xdata: Any, ydata: Any, p0: Any = None, sigma: Any = None, absolute_sigma: bool = False,
    check_finite: bool = True, bounds: Any = (-np.inf, np.inf), method: str | None = None, jac: Any = None, *,
    full_output: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """Parameters of a curve through data, and their covariance, with exact Jacobians; see `scipy.optimize.curve_fit`.

    Parameters
    ----------
    f : callable
        `f(xdata, *parameters)` returns a Tensor of the shape of `ydata`, the parameters one Tensor of one element each.
    xdata, ydata : array_like
        The fit has derivatives by them, and by captured values of `f`.
    p0 : array_like, optional
        Starting point, ones by default; it has no derivative.
    sigma : array_like, shape (m,) or (m, m), optional
        Standard deviations of `ydata`, or their covariance; the fit has derivatives by it, too.
    absolute_sigma, check_finite, bounds, method
        As in SciPy.
    jac : callable, optional
        Only for SciPy's algorithm.
    full_output, **kwargs
        As in SciPy.

    Returns
    -------
    popt : Tensor, shape (n,)
        With derivatives as of `least_squares`.
    pcov : Tensor, shape (n, n)
        From the exact Jacobian at `popt`, with derivatives; infinite if SciPy's is.
    infodict, mesg, ier
        SciPy's, with `full_output`.

    Examples
    --------
    >>> import gradspec as gs
    >>> x = gs.asarray([0.0, 1.0, 2.0, 3.0])
    >>> fit = lambda y: gs.scipy.optimize.curve_fit(lambda x, a, b: a + b * x, x, y)[0]
    >>> gs.jacobian(fit)(1 + 2 * x).numpy().round(4).tolist()
    [[0.7, 0.4, 0.1, -0.2], [-0.3, -0.1, 0.1, 0.3]]
    """
    from scipy import optimize

    xdata, ydata = number(xdata) if _is_array(xdata) else xdata, number(ydata)
    count = np.size(numbers(p0)) if p0 is not None else _parameters(f)
    start = ops.ones(count) if p0 is None else vector(p0)
    lower, upper = _box(bounds, count)
    if p0 is None and lower is not None:
        start = _inside(numbers(lower), numbers(upper))
    sigma = None if sigma is None else number(sigma)

    def residuals(p: Any, xdata: Any, ydata: Any, sigma: Any) -> Any:
        found = ops.reshape(asarray(f(xdata, *[p[i] for i in range(count)])), (-1,)) - ops.reshape(ydata, (-1,))
        if sigma is None:
            return found
        return (
            found / ops.reshape(sigma, (-1,)) if sigma.ndim == 1 else ops.solve_triangular(ops.cholesky(sigma), found, lower=True)
        )

    def run(start: Any, lower: Any, upper: Any, xdata: Any, ydata: Any, sigma: Any) -> tuple:
        curve = Problem("curve_fit", lambda p: f(xdata, *[p[i] for i in range(count)]))
        given = jac if not callable(jac) else lambda x, *p: numbers(jac(xdata, *map(number, p)))
        ends = (-np.inf, np.inf) if lower is None else (numbers(lower), numbers(upper))
        found = optimize.curve_fit(
            lambda x, *p: curve.fun(p), numbers(xdata), numbers(ydata).ravel(), numbers(start), numbers(sigma), absolute_sigma,
            check_finite, ends, method, given or (lambda x, *p: curve.jac(p)), full_output=True, **kwargs)  # fmt: skip
        return found[0], found[4] in (1, 2, 3, 4), found

    def condition(p: Any, start: Any, lower: Any, upper: Any, *data: Any) -> Any:
        return in_box(p, grad(lambda p: 0.5 * (residuals(p, *data) ** 2).sum())(p), lower, upper)

    popt, found = attach("curve_fit", run, condition, (start, lower, upper, xdata, ydata, sigma), start)
    slopes = jacobian(lambda p: residuals(p, xdata, ydata, sigma))(popt)
    if found is not None and not np.isfinite(found[1]).all() or ydata.size <= count and not absolute_sigma:
        pcov = ops.full((count, count), np.inf)
    else:
        pcov = ops.inv(slopes.mT @ slopes)
        if not absolute_sigma:
            pcov = pcov * (residuals(popt, xdata, ydata, sigma) ** 2).sum() / (ydata.size - count)
    return (popt, pcov, *found[2:]) if full_output and found is not None else (popt, pcov)


def _inside(lower: Any, upper: Any) -> Any:
    """SciPy's starting point in a box: its middle, or one step from its only bound."""
    below, above = np.isfinite(lower), np.isfinite(upper)
    with np.errstate(invalid="ignore"):
        return asarray(np.select([below & above, below, above], [(lower + upper) / 2, lower + 1, upper - 1], 1.0))


def _is_array(data: Any) -> bool:
    try:
        return asarray(data).dtype.kind in "fiub"
    except (TypeError, ValueError):
        return False


def _parameters(f: Callable[..., Any]) -> int:
    """Number of parameters of a curve."""
    kinds = [parameter.kind for parameter in inspect.signature(f).parameters.values()]
    if any(kind == inspect.Parameter.VAR_POSITIONAL for kind in kinds) or len(kinds) < 2:
        raise ValueError("curve_fit: Unable to determine number of fit parameters; give p0")
    return len(kinds) - 1


def nnls(A: Any, b: Any, *, maxiter: int | None = None) -> tuple[Any, Any]:
    """The least squares solution of A x = b with no element less than 0; see `scipy.optimize.nnls`.

    Parameters
    ----------
    A : array_like, shape (m, n)
    b : array_like, shape (m,)
        Both are differentiated by.
    maxiter : int, optional
        As in SciPy.

    Returns
    -------
    x : Tensor, shape (n,)
        Elements that are 0 have the derivative 0.
    rnorm : Tensor
        The norm of the residual.
    """
    from scipy import optimize

    def run(A: Any, b: Any) -> tuple:
        return optimize.nnls(numbers(A), numbers(b), maxiter=maxiter)[0], True, None

    A, b = number(A), number(b)
    x, _ = attach("nnls", run, lambda x, A, b: in_box(x, A.mT @ (A @ x - b), 0.0, None), (A, b), ops.ones(A.shape[1]))
    return x, ops.vector_norm(A @ x - b)


def lsq_linear(A: Any, b: Any, bounds: Any = (-np.inf, np.inf), method: str = "trf", tol: float = 1e-10, **options: Any) -> Any:
    """The least squares solution of A x = b in a box; see `scipy.optimize.lsq_linear`.

    Parameters
    ----------
    A : array_like, shape (m, n)
    b : array_like, shape (m,)
    bounds : pair of array_like, or scipy.optimize.Bounds
        All are differentiated by.
    method, tol, **options
        As in SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's, whose `x`, `cost` and `fun` are Tensors with derivatives as of `minimize`.
    """
    from scipy import optimize

    A, b = number(A), number(b)
    lower, upper = _box(bounds, A.shape[1])

    def run(A: Any, b: Any, lower: Any, upper: Any) -> tuple:
        ends = (-np.inf, np.inf) if lower is None else (numbers(lower), numbers(upper))
        result = optimize.lsq_linear(numbers(A), numbers(b), ends, method, tol, **options)
        return result.x, result.success, result

    def condition(x: Any, A: Any, b: Any, lower: Any, upper: Any) -> Any:
        return in_box(x, A.mT @ (A @ x - b), lower, upper)

    x, result = attach("lsq_linear", run, condition, (A, b, lower, upper), ops.zeros(A.shape[1]))
    residual = A @ x - b
    return convert(result, x=x, fun=residual, cost=0.5 * (residual**2).sum())
