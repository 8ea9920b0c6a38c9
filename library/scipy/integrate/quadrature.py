"""Integrals of functions: quad and related functions, differentiable in their ends and in all captured values of the function.

Defines the rule: the derivative by an end is the integrand's value there; the derivative by a parameter is an integral, itself
differentiable.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ...autograd import Function
from ...autograd import grad as gradients
from ...autograd.flat_derivatives import without_history
from ...core.conversion import asarray
from ...core.grad_mode import enable_grad, is_grad_enabled
from ...func import jvp
from ...func.closures import Watch, has_tangent, with_closed
from ...func.custom_batching import by_rows
from ...support.dispatch import ops
from ...transforms.batching.batched_backward import is_mapped

__all__ = ["dblquad", "fixed_quad", "nquad", "quad", "quad_vec", "tplquad"]


class Integrand:
    """A function of one number, and the computation of its integrals, during which the values it closes over are recorded."""

    def __init__(self, function: Callable[..., Any], options: dict) -> None:
        self.function, self.options, self.watch = function, options, Watch()

    def value(self, x: Any) -> Any:
        return asarray(self.function(x))

    def array(self, x: float) -> Any:
        value = self.watch(self.value, asarray(float(x))).detach().numpy()
        return value if value.ndim else value[()]

    def explicit(self) -> Callable[..., Any]:
        """`value` with the closed-over values as further arguments."""
        return with_closed(self.value, self.watch.closed)

    def integrated(self, a: Any, b: Any, integrate: Callable[..., Any]) -> tuple:
        """The result of SciPy; the integral has its history."""
        found = integrate(self.array, a.item(), b.item())
        return (Integral.apply(self, found[0], a, b, *self.watch.closed), *found[1:])


def _vector_integral(integrand: Integrand, a: Any, b: Any) -> Any:
    """The integral of a vector, for a derivative; NaN if it does not converge."""
    from scipy.integrate import quad_vec as of_array

    def integrate(function: Callable[..., Any], a: float, b: float) -> tuple:
        value, _, info = of_array(function, a, b, full_output=True, **integrand.options)
        return (value if info.success else np.full(np.shape(value), np.nan),)

    return integrand.integrated(a, b, integrate)[0]


class Integral(Function):
    """The integral of a function from a to b."""

    @staticmethod
    def forward(ctx: Any, integrand: Integrand, value: Any, a: Any, b: Any, *closed: Any) -> Any:
        ctx.integrand = integrand
        ctx.save_for_backward(a, b, *closed)
        ctx.save_for_forward(a, b, *closed)
        return asarray(np.array(value))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (a, b, *closed), wanted, rate = ctx.saved_tensors, ctx.needs_input_grad[2:], ctx.integrand.explicit()
        recorded = is_grad_enabled() or any(map(has_tangent, (grad, a, b, *closed)))
        if not recorded:
            a, b, grad, closed = a.detach(), b.detach(), grad.detach(), [tensor.detach() for tensor in closed]
        dtypes, closed = [tensor.dtype for tensor in closed], list(map(_in_double, closed))
        by = [i for i, needed in enumerate(wanted[2:]) if needed]

        def pulled(x: Any) -> Any:
            with enable_grad():
                now = [tensor[...] for tensor in closed]
                constant = not any(tensor.requires_grad for tensor in (x, grad, *now))
                own, chosen = [now[i].requires_grad_() for i in by if not now[i].requires_grad], [now[i] for i in by]
                value = rate(x, *now)
                found: Any = [None] * len(by)
                if value.requires_grad:
                    found = gradients(value, chosen, grad, create_graph=recorded, allow_unused=True)
                parts = [ops.zeros_like(y) if part is None else part for part, y in zip(found, chosen)]
                whole = ops.concat([ops.reshape(part, (-1,)) for part in parts])
                for x in own:  # only used here
                    x.requires_grad_(False)
            return without_history(whole) if constant else whole

        ends = [_product(grad, rate(end, *closed)) * sign if needed else None
                for end, sign, needed in zip((a, b), (-1, 1), wanted)]  # fmt: skip
        found: list = [None] * len(closed)
        if by:
            options = {**ctx.integrand.options, "epsabs": ctx.integrand.options["epsabs"] * _largest(grad)}
            whole = _vector_integral(Integrand(pulled, options), a, b)
            cuts = np.cumsum([closed[i].size for i in by], dtype=int)[:-1].tolist()
            for i, part in zip(by, ops.split(whole, cuts)):
                found[i] = ops.astype(ops.reshape(part, closed[i].shape), dtypes[i])
        return None, None, *ends, *found

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        (a, b, *closed), rate = ctx.saved_tensors, ctx.integrand.explicit()
        a_t, b_t, *closed_t = [ops.zeros_like(x) if t is None else t for x, t in zip(ctx.saved_tensors, tangents[2:])]
        terms = [rate(end, *closed) * end_t for end, end_t in ((b, b_t), (a, -a_t)) if _moves(end_t)]
        closed, closed_t = list(map(_in_double, closed)), list(map(_in_double, closed_t))
        if closed:

            def pushed(x: Any) -> Any:
                now, now_t = [tensor[...] for tensor in closed], [tensor[...] for tensor in closed_t]
                return jvp(lambda *closed: rate(x, *closed), tuple(now), tuple(now_t))[1]

            terms.append(_vector_integral(Integrand(pushed, ctx.integrand.options), a, b))
        return sum(terms[1:], terms[0]) if terms else None


def _in_double(tensor: Any) -> Any:
    """The tensor in double precision: an integral of derivatives of single precision would not converge to more digits."""
    dtype = np.result_type(tensor.dtype, np.float64)
    return tensor if tensor.dtype == dtype else ops.astype(tensor, dtype)


def _moves(tangent: Any) -> bool:
    """Whether an end has a tangent: at infinity the function may have no value."""
    return bool(tangent.detach().numpy().any()) or tangent.requires_grad or has_tangent(tangent)


def _product(grad: Any, value: Any) -> Any:
    product = ops.sum(ops.conj(grad) * value)
    return ops.real(product) if product.dtype.kind == "c" else product


def _largest(grad: Any) -> float:
    return float(np.abs(grad.detach().numpy()).max(initial=0.0)) or 1.0


def _end(value: Any) -> Any:
    return ops.reshape(ops.astype(asarray(value), np.float64), ())


def _between_ends(a: Any, b: Any) -> Any:
    """A point where the function has a value."""
    with np.errstate(all="ignore"):
        beside = ops.where(ops.isfinite(a), a + 1, ops.where(ops.isfinite(b), b - 1, 0.0))
        return ops.where(ops.isfinite(a) & ops.isfinite(b), (a + b) / 2, beside)


def quad(
    func: Callable[..., Any], a: Any, b: Any, args: Any = (), full_output: int = 0, epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8, limit: int = 50, points: Any = None, weight: str | None = None, wvar: Any = None,
    wopts: Any = None, maxp1: int = 50, limlst: int = 50, complex_func: bool = False,
) -> tuple:  # fmt: skip
    """The integral of a function from a to b, by `scipy.integrate.quad`.

    Parameters
    ----------
    func : callable
        Takes a Tensor of shape () and `args`, and returns a number: a Tensor if it has derivatives.  Closed-over tensors have
        derivatives as well.
    a, b : float or Tensor
        The ends; may be infinite.
    args : tuple
        Further arguments of `func`: arbitrary pytrees.
    full_output, epsabs, epsrel, limit, points, weight, wvar, wopts, maxp1, limlst, complex_func
        SciPy's.  With `weight` there are no derivatives: multiply `func` by it instead.  Inside a vmap each row is an integral of
        its own, and there is no `infodict`.

    Returns
    -------
    y : Tensor, shape ()
    abserr : float
    infodict : dict
        SciPy's, only with `full_output`.

    Notes
    -----
    The derivative by a parameter of `func` is an integral of a vector, by `quad_vec` with the same tolerances.  The derivative by
    a finite end is the value of the function there.  A derivative that does not converge is NaN.

    Examples
    --------
    >>> import gradspec as gs
    >>> area = lambda k, b: gs.scipy.integrate.quad(lambda x: gs.exp(-k * x), 0.0, b)[0]
    >>> [round(slope.item(), 6) for slope in gs.grad(area, (0, 1))(2.0, gs.inf)]
    [-0.25, 0.0]
    """
    from scipy.integrate import quad as of_array

    args = args if isinstance(args, tuple) else (args,)
    options = {"epsabs": epsabs, "epsrel": epsrel, "limit": max(limit, 1000)}
    if points is not None:
        options["points"] = [float(point) for point in points]
    a, b = _end(a), _end(b)
    if is_mapped():
        of_row = lambda f, a, b: quad(f, a, b, (), 0, epsabs, epsrel, limit, points, weight, wvar, wopts, maxp1, limlst,  # noqa: E731
                                      complex_func)  # fmt: skip
        rows = by_rows("quad", of_row, lambda x: func(x, *args), (a, b), _between_ends(a, b))
        if rows is not NotImplemented:
            return rows
    integrand = Integrand(lambda x: func(x, *args), options)

    def integrate(function: Callable[..., Any], a: float, b: float) -> tuple:
        return of_array(function, a, b, (), full_output, epsabs, epsrel, limit, options.get("points"), weight, wvar, wopts, maxp1,
                        limlst, complex_func)  # fmt: skip

    found = integrand.integrated(a, b, integrate)
    if weight is not None and (integrand.watch.closed or a.requires_grad or b.requires_grad or has_tangent(a) or has_tangent(b)):
        raise NotImplementedError("quad: an integral with weight= has no derivatives; multiply the function by its weight")
    return found


def quad_vec(
    f: Callable[..., Any], a: Any, b: Any, epsabs: float = 1e-200, epsrel: float = 1e-8, norm: str = "2", cache_size: float = 1e8,
    limit: float = 10000, workers: int = 1, points: Any = None, quadrature: str | None = None, full_output: bool = False, *,
    args: tuple = (),
) -> tuple:  # fmt: skip
    """The integral of a function whose values are arrays, by `scipy.integrate.quad_vec`.

    Parameters
    ----------
    f : callable
        Takes a Tensor of shape () and `args`, and returns a Tensor.
    a, b
        As for `quad`.
    epsabs, epsrel, norm, cache_size, limit
        SciPy's.
    workers : 1
        Tensors stay in one process.
    points, quadrature, full_output
        SciPy's.
    args : tuple
        As for `quad`.

    Returns
    -------
    res : Tensor
    err : float
    info : object
        SciPy's, only with `full_output`.
    """
    from scipy.integrate import quad_vec as of_array

    if workers != 1:
        raise ValueError(f"quad_vec: workers must be 1, got {workers}: the graph stays in one process")
    places = None if points is None else [float(point) for point in points]
    options = {"epsabs": epsabs, "epsrel": epsrel, "norm": norm, "cache_size": cache_size, "limit": limit, "points": places,
               "quadrature": quadrature}  # fmt: skip
    a, b = _end(a), _end(b)
    if is_mapped():
        of_row = lambda f, a, b: quad_vec(f, a, b, **options)  # noqa: E731
        rows = by_rows("quad_vec", of_row, lambda x: f(x, *args), (a, b), _between_ends(a, b))
        if rows is not NotImplemented:
            return rows
    integrand = Integrand(lambda x: f(x, *args), options)
    return integrand.integrated(a, b, lambda *call: of_array(*call, full_output=full_output, **options))


def fixed_quad(func: Callable[..., Any], a: Any, b: Any, args: tuple = (), n: int = 5) -> tuple:
    """The integral by Gauss's rule of order n, built from operators.

    Parameters
    ----------
    func : callable
        Takes a Tensor of n points, and `args`; returns the values along the last axis.
    a, b : float or Tensor
        The ends, finite.
    args : tuple
    n : int

    Returns
    -------
    val : Tensor
    none : None
        As in SciPy.
    """
    a, b = _end(a), _end(b)
    if not np.isfinite([a.item(), b.item()]).all():
        raise ValueError("fixed_quad: the ends must be finite; take quad")
    import numpy.polynomial  # noqa: F401 (a tenth of a second)

    places, weights = np.polynomial.legendre.leggauss(n)
    values = asarray(func((b - a) * (asarray(places) + 1) / 2 + a, *args))
    return (b - a) / 2 * ops.sum(values * asarray(weights), axis=-1), None


def nquad(func: Callable[..., Any], ranges: Any, args: tuple = (), opts: Any = None, full_output: bool = False) -> tuple:
    """The integral over several variables, the first innermost, by nested calls of `quad`.

    Parameters
    ----------
    func : callable
        Takes the variables, Tensors of shape (), and `args`; returns a number.
    ranges : sequence
        For each variable the pair of its ends, or a function of the outer variables and `args` that returns it.
    args : tuple
    opts : dict or sequence, optional
        Options of `quad`, for all variables or for each.
    full_output : bool
        Add a dictionary with the number of calls of `func`, `neval`.

    Returns
    -------
    result : Tensor, shape ()
    abserr : float
        The greatest error estimate of a `quad`.
    out_dict : dict
        Only with `full_output`.
    """
    args = args if isinstance(args, tuple) else (args,)
    several = opts if isinstance(opts, (list, tuple)) else [opts or {}] * len(ranges)
    errors, calls = [0.0], [0]

    def integral(level: int, outer: tuple) -> Any:
        """Integrate over the variables up to a level, for given outer variables."""

        def inner(x: Any) -> Any:
            if level == 0:
                calls[0] += 1
                return func(x, *outer, *args)
            return integral(level - 1, (x, *outer))

        ends = ranges[level](*outer, *args) if callable(ranges[level]) else ranges[level]
        how = several[level](*outer, *args) if callable(several[level]) else several[level]
        value, error = quad(inner, *ends, **how)[:2]
        errors.append(error)
        return value

    result = integral(len(ranges) - 1, ())
    greatest = max(errors) if not is_mapped() else reduce(ops.maximum, map(asarray, errors))
    return (result, greatest, {"neval": calls[0]}) if full_output else (result, greatest)


def dblquad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    args: tuple = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> tuple:
    """The integral of func(y, x) over x from a to b and y from gfun(x) to hfun(x).

    Parameters
    ----------
    func : callable
    a, b : float or Tensor
    gfun, hfun : callable, float or Tensor
    args : tuple
    epsabs, epsrel : float

    Returns
    -------
    y : Tensor, shape ()
    abserr : float
    """
    return nquad(func, [_between(gfun, hfun, len(args)), (a, b)], args, {"epsabs": epsabs, "epsrel": epsrel})


def tplquad(
    func: Callable[..., Any], a: Any, b: Any, gfun: Any, hfun: Any, qfun: Any, rfun: Any, args: tuple = (),
    epsabs: float = 1.49e-8, epsrel: float = 1.49e-8,
) -> tuple:  # fmt: skip
    """The integral of func(z, y, x) over x from a to b, y from gfun(x) to hfun(x) and z from qfun(x, y) to rfun(x, y).

    Parameters
    ----------
    func : callable
        Takes z, y, x and `args`.
    a, b, gfun, hfun
        As for `dblquad`.
    qfun, rfun : callable, float or Tensor
        Functions of x and y, or constants.
    args, epsabs, epsrel
        As for `dblquad`.

    Returns
    -------
    y : Tensor, shape ()
    abserr : float
    """
    ranges = [_between(qfun, rfun, len(args)), _between(gfun, hfun, len(args)), (a, b)]
    return nquad(func, ranges, args, {"epsabs": epsabs, "epsrel": epsrel})


def _between(low: Any, high: Any, extra: int) -> Callable[..., Any]:
    """The ends of a variable, as functions of the outer variables, the outermost first."""

    def ends(*values: Any) -> tuple:
        outer = values[: len(values) - extra][::-1]
        return tuple(end(*outer) if callable(end) else end for end in (low, high))

    return ends
