"""Implicit derivatives: what a solver finds as a function of what its condition depends on.

Owns the implicit function theorem for any solver, `implicit`, functions that are made of it, roots, fixed points and linear
solves under JAX's and HIPS autograd's names, and linear equations that are solved without a matrix.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from ..core.conversion import asarray
from ..support.dispatch import ops
from ..support.errors import CallTypeError
from ..support.pytree import alike, flatten, rebuild
from .custom import stop_gradient
from .products import jvp
from .pytree_arguments import as_tensors
from .solutions import Linear, by_matrix, pulled, solved


def implicit(
    solver: Callable[..., Any], condition: Callable[..., Any], *, solve: Linear | None = None, has_aux: bool = False
) -> Callable[..., Any]:
    """What a solver finds, with the derivatives that the equation has which it solves.

    Parameters
    ----------
    solver : callable
        Takes parameters, nests whose arrays and numbers it gets as tensors (an int as it is); returns a solution x, a nest of
        real or complex arrays.  It may compute as it likes, with NumPy or in other languages: nothing in it is differentiated.
        Inside of vmap it is called for each row.
    condition : callable
        Takes the solution and the parameters; returns a nest of tensors with as many elements as the solution, which are 0
        there.  It is made of operators, and may close over tensors: they are parameters, too.
    solve : callable, optional
        Solves linear equations: takes a linear function of nests of the form of the solution, and a right-hand side of that form,
        as `solve` of `custom_linear_solve`.  Without it the Jacobian of the condition is made and solved as a matrix, in memory
        that grows with the square of the number of unknowns.
    has_aux : bool
        `solver` returns a pair (x, aux) of nests of arrays, and aux is returned beside the solution, as a constant.

    Returns
    -------
    callable
        Takes the parameters of `solver`, and gives the solution.  With F the condition, its derivative is
        -(dF/dx)^-1 dF/dp (implicit function theorem), in both modes and to any order.

    Notes
    -----
    The derivative is that of a solution: what has not converged has none, and gets a wrong one; let the solver return NaN then.
    Where dF/dx is singular to working precision, the derivative is NaN.  What a vmap maps has to be a parameter, where the solver
    reads it as numbers.

    Examples
    --------
    >>> import gradspec as gs, numpy as np
    >>> root = gs.implicit(lambda a: np.sqrt(a.numpy()), lambda x, a: x * x - a)
    >>> root(4.0).item(), gs.grad(root)(4.0).item(), gs.grad(gs.grad(root))(4.0).item()
    (2.0, 0.25, -0.03125)
    """
    linear = by_matrix if solve is None else partial(by_solve, solve, solve)

    @wraps(solver)
    def solution(*args: Any, **kwargs: Any) -> Any:
        found, aux = solved("implicit", partial(solver, **kwargs), partial(condition, **kwargs), args, linear, has_aux)
        return (found, aux) if has_aux else found

    return solution


def custom_root(
    f: Callable[..., Any], initial_guess: Any, solve: Callable[..., Any], tangent_solve: Linear, has_aux: bool = False
) -> Any:
    """A root of a function, with the derivatives of the root by all that the function closes over; JAX's `lax.custom_root`.

    Parameters
    ----------
    f : callable
        Of a nest of arrays; gives a nest of the same form and shapes.
    initial_guess : nest
        Has no derivative.
    solve : callable
        Takes `f` and `initial_guess`; returns the root, and with `has_aux` a pair (root, aux).
    tangent_solve : callable
        `tangent_solve(g, y)` solves g(x) = y for the linear function g, with operators: `lambda g, y: y / g(1.0)` where there is
        one unknown.
    has_aux : bool

    Returns
    -------
    nest, or a pair of nests with `has_aux`

    Examples
    --------
    >>> import gradspec as gs
    >>> def newton(f, x):
    ...     for _ in range(20):
    ...         x = x - f(x) / gs.grad(f)(x)
    ...     return x
    >>> root = lambda a: gs.func.custom_root(lambda x: x**3 - a, 1.0, newton, lambda g, y: y / g(gs.ones_like(y)))
    >>> root(8.0).item(), round(gs.grad(root)(8.0).item(), 6)
    (2.0, 0.083333)
    """
    found, aux = solved("custom_root", partial(solve, f), lambda x, guess: f(x), (stop_gradient(initial_guess),),
                        partial(_by_tangents, tangent_solve), has_aux, example=initial_guess)  # fmt: skip
    return (found, aux) if has_aux else found


def custom_linear_solve(
    matvec: Callable[..., Any], b: Any, solve: Linear, transpose_solve: Linear | None = None, symmetric: bool = False,
    has_aux: bool = False,
) -> Any:  # fmt: skip
    """The solution x of matvec(x) = b, with derivatives by `b` and by what `matvec` closes over; JAX's `lax.custom_linear_solve`.

    Parameters
    ----------
    matvec : callable
        A linear function of nests of the form of `b`.
    b : nest
        The right-hand side.
    solve : callable
        `solve(matvec, b)` gives the solution; it need not be differentiable.
    transpose_solve : callable, optional
        `transpose_solve(vecmat, b)` the same for the transposed function; reverse mode needs it, unless `symmetric`.
    symmetric : bool
        `matvec` is its own transpose, so `solve` serves for it.
    has_aux : bool
        `solve` and `transpose_solve` return pairs (x, aux).

    Returns
    -------
    nest, or a pair of nests with `has_aux`

    Examples
    --------
    >>> import gradspec as gs, numpy as np
    >>> solve = lambda matvec, b: b.numpy() / matvec(gs.ones(())).numpy()
    >>> x = lambda a: gs.func.custom_linear_solve(lambda x: a * x, 6.0, solve, symmetric=True)
    >>> x(2.0).item(), gs.grad(x)(2.0).item()
    (3.0, -1.5)
    """
    plain = _first(solve) if has_aux else solve
    if symmetric:
        transposed = plain
    elif transpose_solve is None:
        transposed = _not_given
    else:
        transposed = _first(transpose_solve) if has_aux else transpose_solve
    found, aux = solved("custom_linear_solve", partial(solve, matvec), partial(linear_residual, matvec), (b,),
                        partial(by_solve, plain, transposed), has_aux, example=b)  # fmt: skip
    return (found, aux) if has_aux else found


def fixed_point(
    f: Callable[[Any], Callable[[Any], Any]], a: Any, x0: Any, distance: Callable[[Any, Any], Any], tol: float
) -> Any:
    """A fixed point x = f(a)(x), found by iteration, with its derivatives by `a`; HIPS autograd's function.

    Parameters
    ----------
    f : callable
        Takes `a`; returns the function that is iterated.  What either closes over is differentiated by, too.
    a : nest
    x0 : nest
        Where the iteration begins; it has no derivative.
    distance : callable
        Of two nests of the form of `x0`; gives a number.
    tol : float
        The iteration ends when the distance of two iterates is not greater.

    Returns
    -------
    nest
        Of the form of `x0`.

    Notes
    -----
    An iteration that goes to infinity ends with infinities or NaN, one that goes in circles never does.

    Examples
    --------
    >>> import gradspec as gs
    >>> heron = lambda a: lambda x: (x + a / x) / 2
    >>> root = lambda a: gs.func.fixed_point(heron, a, 1.0, lambda x, y: abs(x - y), 1e-12)
    >>> round(root(4.0).item(), 6), round(gs.grad(root)(4.0).item(), 6)
    (2.0, 0.25)
    """

    def iterate(a: Any, x0: Any) -> Any:
        step, before = f(a), as_tensors(x0, "fixed_point", "x0")
        x = step(before)
        while distance(x, before) > tol:
            x, before = step(x), x
        return x

    def residual(x: Any, a: Any, x0: Any) -> list:
        return [old - new for old, new in zip(flatten(x)[0], flatten(f(a)(x))[0], strict=True)]

    return solved("fixed_point", iterate, residual, (a, stop_gradient(x0)), by_matrix, example=x0)[0]


# Linear equations of derivatives, J y = b, or J^T y = b where `transposed`, by products with vectors.


def by_solve(solve: Linear, transpose_solve: Linear, residual: Any, xs: list, b: list, transposed: bool, form: Any) -> list:
    """By a function that solves for a linear function, and one for its transpose: a `linear` of `solved`."""

    def matvec(vector: Any) -> Any:
        return rebuild(form, jvp(residual, tuple(xs), tuple(flatten(vector)[0]))[1])

    def vecmat(vector: Any) -> Any:
        return rebuild(form, pulled(residual, xs, _like(flatten(vector)[0], xs)))

    if transposed:
        matvec, solve, transpose_solve = vecmat, transpose_solve, solve
    return flatten(custom_linear_solve(matvec, rebuild(form, b), solve, transpose_solve))[0]


def _by_tangents(tangent_solve: Linear, residual: Any, xs: list, b: list, transposed: bool, form: Any) -> list:
    """By a function that is made of operators, which is linear in its right-hand side and so can be transposed."""

    def derivative(vector: Any) -> Any:
        return rebuild(form, jvp(residual, tuple(xs), tuple(flatten(vector)[0]))[1])

    def solve(*b: Any) -> list:
        return flatten(tangent_solve(derivative, rebuild(form, list(b))))[0]

    return pulled(solve, list(map(ops.zeros_like, xs)), b) if transposed else solve(*b)


def linear_residual(matvec: Any, x: Any, b: Any) -> Any:
    """matvec(x) - b, of nests: a condition of `solved`."""
    product, form = flatten(matvec(x))
    right, right_form = flatten(b)
    product, right = [asarray(leaf) for leaf in product], [asarray(leaf) for leaf in right]
    if not alike(form, right_form) or [leaf.shape for leaf in product] != [leaf.shape for leaf in right]:
        raise CallTypeError("custom_linear_solve: matvec() output shapes must match b: a linear function of nests of the form "
                            f"and the shapes of b is needed, and it gives {[leaf.shape for leaf in product]} for "
                            f"{[leaf.shape for leaf in right]}")  # fmt: skip
    return [value - leaf for value, leaf in zip(product, right)]


def _not_given(vecmat: Any, b: Any) -> Any:
    raise CallTypeError("custom_linear_solve: transpose_solve is required for backwards mode automatic differentiation of "
                        "custom_linear_solve; give it, or say symmetric=True")  # fmt: skip


def _first(solve: Linear) -> Linear:
    return lambda matvec, b: solve(matvec, b)[0]


def _like(values: list, leaves: list) -> list:
    """What a solver calls a linear function with, as tensors of the dtypes of some leaves."""
    return [ops.astype(asarray(value), leaf.dtype) for value, leaf in zip(values, leaves, strict=True)]
