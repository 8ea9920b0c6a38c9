"""Attach the result of a SciPy solver to the tensors it depends on.

Handles solutions that did not converge, SciPy's results with tensors in them, and the progress bar.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...core.tensor import TensorBase
from ...func import custom_jvp, elementwise_grad, grad, hessian, jacobian, value_and_grad
from ...func.solutions import by_matrix, solved
from ...support.dispatch import ops
from ...support.pytree import flatten, rebuild
from ..objective import Objective

__all__ = [
    "Problem", "attach", "bounds_of", "called", "complementary", "convert", "gated", "in_box", "number", "numbers",
    "parameters", "refuse", "vector",
]  # fmt: skip


def attach(
    caller: str, run: Callable[..., tuple], condition: Callable[..., Any], args: tuple, example: Any, linear: Any = by_matrix
) -> tuple[Any, Any]:
    """The solution as a pytree of tensors, and SciPy's result; None inside a vmap, which has many results.

    Parameters
    ----------
    caller : str
    run : callable
        Takes `args` with detached tensors; returns the solution, whether it is one, and SciPy's result.
    condition : callable
        Takes the solution and `args`; returns 0 at the solution.
    args : tuple
    example : nest
        Something of the form of the solution.
    linear : callable
        As for `solved`: solves the linear equation of a derivative.
    """
    results: list[Any] = []

    def solver(*args: Any) -> Any:
        x, converged, result = run(*args)
        results.append((converged, result))
        return x, np.array(1.0 if converged else np.nan)

    x, factor = solved(caller, solver, condition, args, linear, True, example)
    if not all(converged for converged, _ in results):
        reason = next(getattr(result, "message", getattr(result, "flag", "")) for converged, result in results if not converged)
        refuse(f"{caller}: did not converge ({reason})")
        leaves, form = flatten(x)
        x = rebuild(form, [gated(leaf, factor) for leaf in leaves])
    return x, results[0][1] if len(results) == 1 else None


def refuse(what: str) -> None:
    """Warn, at the user's call, that a result is not a solution."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("gradspec."):
        level, frame = level + 1, frame.f_back
    warnings.warn(f"{what}; its result is not a solution, so its derivatives are NaN", RuntimeWarning, stacklevel=level)


@custom_jvp
def gated(x: Any, factor: Any) -> Any:
    """x, with a derivative that is multiplied by a factor."""
    return ops.copy(x)


@gated.defjvp
def gated_jvp(primals: tuple, tangents: tuple) -> tuple:
    (x, factor), (x_t, _) = primals, tangents
    return gated(x, factor), x_t * factor


def convert(result: Any, **values: Any) -> Any:
    """SciPy's result with some values replaced by tensors; inside a vmap it has only these values."""
    from scipy.optimize import OptimizeResult

    found = OptimizeResult() if result is None else result
    found.update(values)
    return found


class Problem:
    """A function in two forms: for SciPy's calls, and for the condition of the solution.

    Parameters
    ----------
    caller : str
    fun : callable
        Takes a tensor of floats and `args`; returns a tensor.
    args : tuple
    shape : tuple
        Shape of its result: (-1,) for a vector of any length, () for a number.
    """

    def __init__(self, caller: str, fun: Callable[..., Any], args: Any = (), shape: tuple = (-1,), kwargs: Any = None) -> None:
        self.caller, self.user, self.shape, self.kwargs = caller, fun, shape, kwargs or {}
        self.args = args if isinstance(args, tuple) else (args,)
        self.bar: Any = None
        self.gradient, self.second = grad(self.value), hessian(self.value)
        self.jacobian, self.both = jacobian(self.value), value_and_grad(self.value)

    def value(self, x: Any) -> Any:
        """The result of the function, as a tensor."""
        found = self.user(x, *self.args, **self.kwargs)
        if not isinstance(found, TensorBase):
            raise TypeError(f"{self.caller}: the function must return a Tensor, got {type(found).__name__}: what is not computed "
                            "with tensors has no derivative; scipy.optimize takes functions of arrays")  # fmt: skip
        if self.shape == () and found.size != 1:
            raise ValueError(f"{self.caller}: the function must return a single number, and it returned {found.size}")
        return ops.reshape(found, self.shape)

    # Calls by SciPy.

    def fun(self, x: Any) -> Any:
        value = numbers(self.value(number(x)))
        if self.bar is not None:
            self.bar.update()
        return value if value.ndim else value.item()

    def grad(self, x: Any) -> Any:
        return numbers(self.gradient(number(x)))

    def fun_and_grad(self, x: Any) -> Any:
        if self.bar is not None:
            self.bar.update()
        value, gradient = self.both(number(x))
        return value.item(), numbers(gradient)

    def jac(self, x: Any) -> Any:
        return numbers(self.jacobian(number(x)))

    def hess(self, x: Any) -> Any:
        return numbers(self.second(number(x)))

    def slope(self, x: Any) -> Any:
        """The derivative of a function of each element for itself."""
        return numbers(elementwise_grad(self.value)(number(x)))

    def curvature(self, x: Any) -> Any:
        return numbers(elementwise_grad(elementwise_grad(self.value))(number(x)))

    @contextlib.contextmanager
    def progressing(self, progress: bool) -> Iterator[None]:
        """Show how often SciPy calls the function, in a bar."""
        if not progress:
            yield
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise ImportError(
                f"{self.caller}: progress=True shows a bar of tqdm, which is not installed: pip install tqdm"
            ) from None
        with tqdm(desc=self.caller, unit=" calls") as self.bar:
            try:
                yield
            finally:
                self.bar = None


def in_box(x: Any, gradient: Any, lower: Any, upper: Any) -> Any:
    """0 if x is a minimum in a box: the projected step against the gradient is 0.

    An element on a bound with gradient 0 counts as free: its derivative is the gradient's.
    """
    if lower is None and upper is None:
        return gradient
    moved = x - gradient
    if lower is not None:
        moved = ops.where(moved < lower, lower, moved)
    if upper is not None:
        moved = ops.where(moved > upper, upper, moved)
    return x - moved


def complementary(value: Any, factor: Any) -> Any:
    """0 if a constraint's value and its multiplier are not negative and one of them is 0.  If both are 0, the constraint counts
    as inactive."""
    return ops.where(value < factor, value, factor)


def bounds_of(bounds: Any, count: int) -> tuple[Any, Any]:
    """Bounds of `count` unknowns as two vectors, tensors if given as tensors; None if there are no bounds.

    Parameters
    ----------
    bounds : scipy.optimize.Bounds, pair of array_like or sequence of pairs
        As one of SciPy's functions takes it: a sequence of pairs if it has `count` of them.
    """
    if bounds is None:
        return None, None
    if hasattr(bounds, "lb"):
        lower, upper = bounds.lb, bounds.ub
    elif isinstance(bounds, TensorBase) and bounds.ndim == 2:
        lower, upper = bounds[:, 0], bounds[:, 1]
    else:
        pairs = [tuple(pair) for pair in bounds]
        lower, upper = (_vector([pair[i] for pair in pairs], empty) for i, empty in enumerate((-np.inf, np.inf)))
    return tuple(ops.broadcast_to(asarray(side, dtype=float), (count,)) for side in (lower, upper))  # type: ignore[return-value]


def _vector(values: list, empty: float) -> Any:
    values = [empty if value is None else value for value in values]
    if any(isinstance(value, TensorBase) for value in values):
        return ops.stack([asarray(value, dtype=float) for value in values])
    return np.array(values, float)


def number(x: Any) -> Any:
    """A tensor, an array or a number as a tensor of double precision, which SciPy uses."""
    return ops.astype(asarray(x), np.float64)


def vector(x: Any) -> Any:
    """The starting point in SciPy's form."""
    return ops.reshape(number(x), (-1,))


def parameters(x0: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A starting point as a vector, and a function from vectors to the user's argument: the vector, or a dictionary like `x0`."""
    if not isinstance(x0, dict):
        return vector(x0), lambda x: x
    form = Objective(lambda nest: nest, x0)
    return asarray(form.x0), form.nest


def numbers(value: Any) -> Any:
    """The array of a tensor, for SciPy."""
    return value.detach().numpy() if isinstance(value, TensorBase) else value


def called(function: Any, args: tuple) -> Any:
    """A derivative of the user's, as SciPy calls it."""
    return lambda x: numbers(function(number(x), *args))
