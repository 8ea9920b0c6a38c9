"""Higher-order derivatives: Taylor coefficients of functions along paths, and Laplacians.

Defines the signatures, which are JAX's for `jet`, and the scale of derivatives.  The rules of operators for Taylor coefficients
are in `gradspec.transforms.taylor`.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from math import factorial
from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..generated.tensor import Tensor
from ..support.dispatch import ops
from ..support.error_hints import answering
from ..support.errors import CallTypeError, CallValueError
from ..support.pytree import flatten, rebuild
from ..transforms.batching.batched import batched
from ..transforms.taylor.order import Order, opened
from ..transforms.taylor.series import is_series
from ..transforms.taylor.series import series as as_series
from .call_context import positions


def jet(func: Callable[..., Any], primals: Sequence[Any], series: Sequence[Sequence[Any]]) -> tuple[Any, Any]:
    """The Taylor coefficients of a function along a path, to any order.

    Parameters
    ----------
    func : callable
        Takes tensors, or pytrees of tuples, lists and dictionaries of them, and returns a Tensor or a pytree of them.
    primals : sequence
        Its arguments, at the start of the path: floating point or complex numbers, arrays, tensors, or pytrees of them.
    series : sequence of sequences
        For each argument the derivatives of the path, with its structure and shapes: the first, the second, and so on, without
        division by factorials.  All have one length, the order.

    Returns
    -------
    primals_out : Tensor or nest
        The result of `func`.
    series_out : list of Tensor, or nest of lists
        The derivatives of the result along the path, up to the order of `series`.

    Raises
    ------
    ValueError
        Series of different lengths, or with shapes that differ from the primals'.
    TypeError
        A primal contains integers.
    RuntimeError
        The function reads a number (`x.item()`), writes a series into a tensor without coefficients, or calls `backward()` or a
        custom Function.

    Notes
    -----
    Linear operators act on each coefficient, products on pairs of coefficients.  Quotients and solutions of linear equations
    are computed coefficient by coefficient.  Any other operator y = f(x) has y' = jvp(x, y; x').  This gives coefficient n of y
    from the preceding coefficients of x and y (Griewank and Walther, Evaluating Derivatives, 2008, chapter 13).

    At order K a product costs (K + 1)(K + 2)/2 products, the elementary functions a multiple of that.  Operators whose jvp leads
    to ever new functions (the incomplete gamma and beta functions by all of their arguments) cost up to K**4.  `det` takes about
    K**2 / 2 determinants for each row, `matrix_exp` one exponential with K + 1 times as many rows.

    Comparisons, rounding and indices follow the value at the start of the path, as in every derivative.  In-place writes and
    views are supported; they change the function's own tensors, never the arguments.  `jet` nests, and works inside `grad`,
    `jvp`, `vmap` and `compile`; `grad`, `jvp`, `vmap` and `laplacian` work inside it.

    The third derivative along v is `jet(func, (x,), ([v, 0 * v, 0 * v],))[1][2]`.

    Examples
    --------
    >>> import gradspec as gs
    >>> value, derivatives = gs.func.jet(gs.sin, (0.0,), ([1.0, 0.0, 0.0],))
    >>> value.item(), [d.item() for d in derivatives]
    (0.0, [1.0, 0.0, -1.0])
    >>> x, v, zero = gs.asarray([1.0, 2.0]), gs.asarray([1.0, 0.5]), gs.zeros(2)
    >>> gs.func.jet(lambda x: (x**3).sum(), (x,), ([v, zero, zero],))[1][2].item()
    6.75
    """
    primals, series = tuple(primals), tuple(series)
    if len(primals) != len(series):
        raise CallValueError(f"jet: {len(primals)} primals and {len(series)} series; there is one series for each of them")
    orders = {len(terms) for terms in series}
    if len(orders) != 1:
        raise CallValueError(f"jet: jet terms have inconsistent order: the series have "
                             f"{', '.join(map(str, sorted(orders)))} terms; fill the shorter ones up with zeros")  # fmt: skip
    with opened(orders.pop()) as level:
        args = [_path(level, i, primal, terms) for i, (primal, terms) in enumerate(zip(primals, series))]
        leaves, form = flatten(func(*args))
        found = [_derivatives(level, leaf) for leaf in leaves]
    return rebuild(form, [value for value, _ in found]), rebuild(form, [terms for _, terms in found])


@answering
def laplacian(func: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """The sum of the second derivatives by each element of an argument, by a forward Laplacian.

    Parameters
    ----------
    func : callable
        Returns a Tensor of any shape, or a pytree of them.
    argnum : int
        The positional argument: a number, an ndarray or a Tensor of any shape, of floating point or complex numbers.  All other
        arguments are passed on unchanged.

    Returns
    -------
    callable
        Takes the arguments of `func`, and returns the Laplacian of each element of its result, with the same structure.

    Raises
    ------
    TypeError
        The argument is not an array of floating point or complex numbers.
    RuntimeError
        As for `jet`.

    Notes
    -----
    The value, the derivatives along all axes as one batch, and their Laplacian are propagated together (Li et al., A
    computational framework for neural network-based variational Monte Carlo with Forward Laplacian, Nature Machine Intelligence
    2024).  This is a `jet` of second order along all axes at once.  The second coefficients are summed as soon as they arise,
    because everything that follows is linear in them (Dangel et al., Collapsing Taylor mode automatic differentiation, 2025).
    With n elements the work is about that of n + 2 calls, and the memory about n + 2 values; no Hessian is computed.

    For each point of a batch write `vmap(laplacian(f))(points)`.  The result is differentiable, as needed in the losses of
    physics-informed networks.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.func.laplacian(lambda x: (x**3).sum())(gs.asarray([1.0, 2.0])).item()
    18.0
    >>> gs.func.grad(gs.func.laplacian(lambda x: (x**3).sum()))(gs.asarray([1.0, 2.0])).tolist()
    [6.0, 6.0]
    """
    both = value_and_laplacian(func, argnum)

    @wraps(func)
    def second(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return second


@answering
def value_and_laplacian(func: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """The value of a function and its Laplacian, at the cost of the Laplacian.

    Parameters
    ----------
    func : callable
        Returns a Tensor of any shape, or a pytree of them.
    argnum : int
        The positional argument, as for `laplacian`.

    Returns
    -------
    callable
        Returns (value, Laplacian).

    Examples
    --------
    >>> import gradspec as gs
    >>> value, second = gs.func.value_and_laplacian(lambda x: (x * x).sum())(gs.asarray([1.0, 2.0]))
    >>> value.item(), second.item()
    (5.0, 4.0)
    """
    if not callable(func):
        raise CallTypeError(f"laplacian: the first argument must be a function, got {type(func).__name__}")

    @wraps(func)
    def both(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        (place,), _ = positions("laplacian", argnum, len(args))
        if not isinstance(args[place], (Tensor, np.ndarray, np.generic, float, complex)):
            raise CallTypeError(f"laplacian: argument {place} must be an array, got {type(args[place]).__name__}")
        x = ops.copy(asarray(args[place]))
        if x.dtype.kind not in "fc":
            raise CallTypeError(f"laplacian: argument {place} must hold floating point or complex numbers, got {x.dtype}")
        with opened(2, x.size) as level:
            terms = [x, None, None]
            if level.summed is not None:
                terms[1] = batched(ops.reshape(ops.eye(x.size, dtype=x.dtype), (x.size, *x.shape)), level.summed)
            leaves, form = flatten(func(*args[:place], as_series(terms, level, x), *args[place + 1 :], **kwargs))
            found = [_derivatives(level, leaf, 2) for leaf in leaves]
        return rebuild(form, [value for value, _ in found]), rebuild(form, [terms[-1] for _, terms in found])

    return both


def _path(level: Order, place: int, primal: Any, terms: Sequence[Any]) -> Any:
    """An argument as series, leaf by leaf."""
    leaves, form = flatten(primal)
    values = [ops.copy(asarray(leaf)) for leaf in leaves]
    found: list[list[Any]] = [[value] for value in values]
    for number, term in enumerate(terms, 1):
        given, _ = flatten(term)
        if len(given) != len(values):
            raise CallValueError(f"jet: term {number} of series {place} has {len(given)} arrays, and the primal {len(values)}")
        for value, coefficients, leaf in zip(values, found, given):
            if value.dtype.kind not in "fc":
                raise CallTypeError(f"jet: argument {place} must hold floating point or complex numbers, got {value.dtype}")
            coefficient = asarray(leaf, dtype=value.dtype)
            if coefficient.shape != value.shape:
                raise CallValueError(f"jet: term {number} of series {place} has the shape {coefficient.shape}, and the primal "
                                     f"{value.shape}")  # fmt: skip
            coefficients.append(ops.multiply(coefficient, 1 / factorial(number)))
    return rebuild(form, [as_series(coefficients, level, value) for value, coefficients in zip(values, found)])


def _derivatives(level: Order, value: Any, first: int = 1) -> tuple[Any, list]:
    """The value of a result, and its derivatives from order `first` on."""
    if not is_series(value, level):
        value = asarray(value)
        return value, [ops.zeros_like(value) for _ in range(first, level.order + 1)]
    value.complete()
    found = [value.known(number) for number in range(first, level.order + 1)]
    return value.known(0), [ops.multiply(term, float(factorial(number))) for number, term in enumerate(found, first)]
