"""Implicit differentiation: differentiate the solution of a solver by the parameters of the condition that it satisfies.

Defines `implicit`, which applies the implicit function theorem to any solver, and functions built from it: roots, fixed points
and linear solves under JAX's and HIPS autograd's names.  Users' solvers can also solve the linear equations of derivatives.
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
    """Differentiate a solver by the implicit function theorem: the derivatives follow from the equation that it solves.

    Parameters
    ----------
    solver : callable
        Takes the parameters, pytrees whose arrays and floats are converted to tensors (an int is unchanged); returns a solution
        x, a pytree of real or complex arrays.  It may use NumPy or other languages: nothing in it is differentiated.
        Inside of vmap it is called for each row.
    condition : callable
        Takes the solution and the parameters; returns a pytree of tensors with as many elements as the solution.  They are 0 at
        the solution.  It consists of operators, and may close over tensors: they are parameters, too.
    solve : callable, optional
        Solves linear equations, as `solve` of `custom_linear_solve`: takes a linear function of pytrees with the structure of
        the solution, and a right-hand side of that structure.  Without it the Jacobian of the condition is computed and solved as
        a matrix; its memory grows with the square of the number of unknowns.
    has_aux : bool
        `solver` returns a pair (x, aux) of pytrees of arrays, and aux is returned beside the solution, as a constant.

    Returns
    -------
    callable
        Takes the parameters of `solver`; returns the solution.  With F the condition, its derivative is
        -(dF/dx)^-1 dF/dp (implicit function theorem), in both modes and to any order.

    Notes
    -----
    The derivative is valid at a solution only.  If the solver does not converge, the derivative is wrong; such a solver should
    return NaN.  If dF/dx is singular to working precision, the derivative is NaN.  If the solver reads a value as numbers, and a
    vmap maps this value, the value must be a parameter.

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
    """A root of a function, differentiable by all tensors that the function closes over; JAX's `lax.custom_root`.

    Parameters
    ----------
    f : callable
        Takes a pytree of arrays; returns a pytree of the same structure and shapes.
    initial_guess : nest
        Start of `solve`; a constant for derivatives.
    solve : callable
        Takes `f` and `initial_guess`; returns the root, and with `has_aux` a pair (root, aux).
    tangent_solve : callable
        `tangent_solve(g, y)` solves g(x) = y for the linear function g, with operators: `lambda g, y: y / g(1.0)` for a single
        unknown.
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
    """The solution x of matvec(x) = b, differentiable by `b` and the closure of `matvec`; JAX's `lax.custom_linear_solve`.

    Parameters
    ----------
    matvec : callable
        A linear function of pytrees with the structure of `b`.
    b : nest
        The right-hand side.
    solve : callable
        `solve(matvec, b)` returns the solution; it need not be differentiable.
    transpose_solve : callable, optional
        `transpose_solve(vecmat, b)` solves with the transposed function; reverse mode needs it, unless `symmetric`.
    symmetric : bool
        `matvec` is its own transpose, so `solve` also solves the transposed equation.
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
        Takes `a`; returns the function that is iterated.  Tensors that either function closes over are differentiable, too.
    a : nest
    x0 : nest
        Start of the iteration; a constant for derivatives.
    distance : callable
        Takes two pytrees with the structure of `x0`; returns a number.
    tol : float
        The iteration ends when the distance of two iterates is not greater than `tol`.

    Returns
    -------
    nest
        The fixed point, with the structure of `x0`.

    Notes
    -----
    An iteration that diverges ends with infinities or NaN; an iteration that enters a cycle does not end.

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


# Linear equations of derivatives, J y = b, or J^T y = b if `transposed`, solved by products with vectors.


def by_solve(solve: Linear, transpose_solve: Linear, residual: Any, xs: list, b: list, transposed: bool, form: Any) -> list:
    """Solve by a user's functions for a linear map and for its transpose: a `linear` for `solved`."""

    def matvec(vector: Any) -> Any:
        return rebuild(form, jvp(residual, tuple(xs), tuple(flatten(vector)[0]))[1])

    def vecmat(vector: Any) -> Any:
        return rebuild(form, pulled(residual, xs, _like(flatten(vector)[0], xs)))

    if transposed:
        matvec, solve, transpose_solve = vecmat, transpose_solve, solve
    return flatten(custom_linear_solve(matvec, rebuild(form, b), solve, transpose_solve))[0]


def _by_tangents(tangent_solve: Linear, residual: Any, xs: list, b: list, transposed: bool, form: Any) -> list:
    """Solve by a function of operators: it is linear in its right-hand side, so it can be transposed."""

    def derivative(vector: Any) -> Any:
        return rebuild(form, jvp(residual, tuple(xs), tuple(flatten(vector)[0]))[1])

    def solve(*b: Any) -> list:
        return flatten(tangent_solve(derivative, rebuild(form, list(b))))[0]

    return pulled(solve, list(map(ops.zeros_like, xs)), b) if transposed else solve(*b)


def linear_residual(matvec: Any, x: Any, b: Any) -> Any:
    """matvec(x) - b for pytrees: a condition for `solved`."""
    product, form = flatten(matvec(x))
    right, right_form = flatten(b)
    product, right = [asarray(leaf) for leaf in product], [asarray(leaf) for leaf in right]
    if not alike(form, right_form) or [leaf.shape for leaf in product] != [leaf.shape for leaf in right]:
        raise CallTypeError("custom_linear_solve: matvec() output shapes must match b: a linear function of pytrees of the form "
                            f"and the shapes of b is needed, and it gives {[leaf.shape for leaf in product]} for "
                            f"{[leaf.shape for leaf in right]}")  # fmt: skip
    return [value - leaf for value, leaf in zip(product, right)]


def _not_given(vecmat: Any, b: Any) -> Any:
    raise CallTypeError("custom_linear_solve: transpose_solve is required for backwards mode automatic differentiation of "
                        "custom_linear_solve; give it, or say symmetric=True")  # fmt: skip


def _first(solve: Linear) -> Linear:
    return lambda matvec, b: solve(matvec, b)[0]


def _like(values: list, leaves: list) -> list:
    """The arguments of a linear function that a solver calls, as tensors with the dtypes of some leaves."""
    return [ops.astype(asarray(value), leaf.dtype) for value, leaf in zip(values, leaves, strict=True)]
