"""Linear and quadratic equations of matrices with SciPy's arguments.

Defines the derivatives of Riccati's equations, from the equations themselves; the other functions are built from operators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import linalg
from ...core.conversion import asarray
from ...func import custom_jvp, custom_vmap, jvp, pure_callback, stop_gradient
from ...generated.ops import conj, kron, mH
from ...support.dispatch import ops
from .special_matrices import circulant, toeplitz

__all__ = [
    "det", "inv", "lstsq", "matmul_toeplitz", "norm", "solve", "solve_banded", "solve_circulant", "solve_continuous_are",
    "solve_continuous_lyapunov", "solve_discrete_are", "solve_discrete_lyapunov", "solve_lyapunov", "solve_sylvester",
    "solve_toeplitz", "solve_triangular", "solveh_banded",
]  # fmt: skip
det, inv, norm, solve_sylvester = linalg.det, linalg.inv, linalg.norm, linalg.solve_sylvester


def solve(a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False, check_finite: bool = True,
          assume_a: str | None = None, transposed: bool = False) -> Any:  # fmt: skip
    """The solution of a @ x = b.

    Parameters
    ----------
    a : array_like, shape (..., n, n)
    b : array_like, shape (n,) or (..., n, k)
    lower : bool
        Triangle to read if `assume_a` declares the matrix symmetric.
    overwrite_a, overwrite_b, check_finite : bool
        As in SciPy; nothing is overwritten.
    assume_a : str, optional
        As in SciPy. 'pos' and 'positive definite' use Cholesky's factor; 'sym', 'her' and their long forms read one triangle;
        others have no effect.
    transposed : bool
        Solve with the transpose of `a`.

    Returns
    -------
    Tensor
    """
    a = asarray(a)
    if assume_a in ("pos", "positive definite", "her", "hermitian", "sym", "symmetric"):
        part = ops.tril(a) if lower else ops.triu(a)
        rest = ops.tril(a, -1) if lower else ops.triu(a, 1)
        a = part + (ops.mT(rest) if assume_a.startswith("sym") else mH(rest))
    return linalg.solve(ops.mT(a) if transposed else a, b)


def solve_triangular(a: Any, b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False,
                     overwrite_b: bool = False, check_finite: bool = True) -> Any:  # fmt: skip
    """The solution of a @ x = b for a triangular matrix.

    Parameters
    ----------
    a : array_like, shape (..., n, n)
        Only one triangle is read.
    b : array_like, shape (n,) or (..., n, k)
    trans : {0, 1, 2, 'N', 'T', 'C'}
        Whether to solve with the matrix, its transpose (1, 'T'), or its adjoint (2, 'C').
    lower : bool
        Whether the lower triangle of `a` is read.
    unit_diagonal : bool
        Whether the diagonal counts as 1, and is not read.
    overwrite_b, check_finite : bool
        As in SciPy; nothing is overwritten.

    Returns
    -------
    Tensor
        Has the shape of `b`.
    """
    a = asarray(a)
    if trans in (1, "T", 2, "C"):
        a, lower = (ops.mT(a) if trans in (1, "T") else mH(a)), not lower
    return linalg.solve_triangular(a, b, lower=lower, unit_diagonal=unit_diagonal)


def lstsq(a: Any, b: Any, cond: float | None = None, **keywords: Any) -> tuple[Any, Any, Any, Any]:
    """The solution of least squares.

    Parameters
    ----------
    a : array_like, shape (m, n)
    b : array_like, shape (m,) or (m, k)
    cond : float, optional
        Singular values below this fraction of the greatest one count as 0.
    **keywords
        SciPy's other arguments, without effect.

    Returns
    -------
    x : Tensor, shape (n,) or (n, k)
    residues : Tensor
        Sums of squares; empty unless `a` is taller than wide and of full rank.
    rank : Tensor of int
        Has no derivative.
    s : Tensor
        The singular values of `a`.
    """
    a, b = asarray(a), asarray(b)
    x, squares, rank, values = linalg.lstsq(a, b, rcond=cond)
    known = int(rank) == a.shape[1] < a.shape[0]
    residues = squares.reshape(b.shape[1:]) if known else ops.zeros(0, dtype=values.dtype)
    return x, residues, rank, values


def solve_banded(l_and_u: tuple[int, int], ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False,
                 check_finite: bool = True) -> Any:  # fmt: skip
    """The solution of a @ x = b for a banded matrix.

    Parameters
    ----------
    l_and_u : pair of int
        Numbers of diagonals below and above the main one.
    ab : array_like, shape (l + u + 1, n)
        The diagonals: a[i, j] is at ab[u + i - j, j].
    b : array_like, shape (n,) or (n, k)
    overwrite_ab, overwrite_b, check_finite : bool
        As in SciPy; nothing is overwritten.

    Returns
    -------
    Tensor
        Has the shape of `b`.
    """
    return linalg.solve_banded(l_and_u, ab, b)


def solveh_banded(ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, lower: bool = False,
                  check_finite: bool = True) -> Any:  # fmt: skip
    """The solution of a @ x = b for a banded Hermitian matrix.

    Parameters
    ----------
    ab : array_like, shape (u + 1, n)
        The diagonals of one side, as `solve_banded` stores them.
    b : array_like, shape (n,) or (n, k)
    overwrite_ab, overwrite_b : bool
        As in SciPy; nothing is overwritten.
    lower : bool
        Whether the diagonals are the lower ones.
    check_finite : bool
        As in SciPy.

    Returns
    -------
    Tensor
        Has the shape of `b`.
    """
    ab = asarray(ab)
    count, n = ab.shape[-2] - 1, ab.shape[-1]
    others = []
    for k in range(1, count + 1):
        if lower:  # a[i, i + k] is in its own column, the mirrored element k columns before
            others.append(ops.pad(conj(ab[k, : n - k]), ((k, 0),)))
        else:
            others.append(ops.pad(conj(ab[count - k, k:]), ((0, k),)))
    rows = [*others[::-1], *(ab[k] for k in range(count + 1))] if lower else [*(ab[k] for k in range(count + 1)), *others]
    return linalg.solve_banded((count, count), ops.stack(rows), b)


def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    """The solution of toeplitz(c, r) @ x = b, by elimination on the whole matrix; r defaults to conj(c).

    Parameters
    ----------
    c_or_cr : array_like, shape (n,), or tuple of two
        The first column c, or the column and the first row.
    b : array_like, shape (n,) or (n, k)
    check_finite : bool
        As in SciPy.

    Returns
    -------
    Tensor
        Has the shape of `b`.
    """
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    return linalg.solve(toeplitz(c, r), b)


def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: bool = False, workers: Any = None) -> Any:
    """The product of toeplitz(c, r) and x.

    Parameters
    ----------
    c_or_cr : array_like, shape (m,), or tuple of two
        The first column c, or the column and the first row.
    x : array_like, shape (n,) or (n, k)
    check_finite, workers
        As in SciPy.

    Returns
    -------
    Tensor, shape (m,) or (m, k)
    """
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    return toeplitz(c, r) @ asarray(x)


def solve_circulant(c: Any, b: Any) -> Any:
    """The solution of circulant(c) @ x = b.

    Parameters
    ----------
    c : array_like, shape (n,)
        The first column.
    b : array_like, shape (n,) or (n, k)

    Returns
    -------
    Tensor
        Has the shape of `b`.
    """
    return linalg.solve(circulant(c), b)


def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """The solution of a @ x + x @ mH(a) = q.

    Parameters
    ----------
    a, q : array_like, shape (n, n)

    Returns
    -------
    Tensor, shape (n, n)
    """
    return linalg.solve_sylvester(a, mH(asarray(a)), q)


solve_lyapunov = solve_continuous_lyapunov


def solve_discrete_lyapunov(a: Any, q: Any, method: str | None = None) -> Any:
    """The solution of a @ x @ mH(a) - x + q = 0.

    Parameters
    ----------
    a, q : array_like, shape (n, n)
    method : {'direct', 'bilinear'}, optional
        A system of n * n numbers, or an equation of Lyapunov; the first for n below 10.

    Returns
    -------
    Tensor
    """
    a, q = asarray(a), asarray(q)
    n = a.shape[-1]
    if method not in (None, "direct", "bilinear"):
        raise ValueError(f"solve_discrete_lyapunov: method must be 'direct' or 'bilinear', got {method!r}")
    if method == "direct" or method is None and n < 10:
        return ops.reshape(linalg.solve(ops.eye(n * n, dtype=a.dtype) - kron(a, conj(a)), ops.reshape(q, (-1,))), (n, n))
    eye, adjoint = ops.eye(n, dtype=a.dtype), mH(a)
    inverse = linalg.inv(adjoint + eye)
    b, c = (adjoint - eye) @ inverse, 2 * linalg.inv(a + eye) @ q @ inverse
    return solve_continuous_lyapunov(mH(b), -c)


def _riccati(name: str, residual: Callable[..., Any], step: Callable[..., Any]) -> Any:
    """SciPy's solution of an equation, as a differentiable function of its coefficients.

    `step` solves the equation, linearised at the solution, for a residual.
    """

    def of_arrays(*coefficients: Any) -> Any:
        import scipy.linalg

        found = getattr(scipy.linalg, name)(*(c.numpy() for c in coefficients))
        return found.astype(coefficients[0].dtype, copy=False)  # SciPy gives double precision

    @custom_vmap
    def values(coefficients: Any) -> Any:
        coefficients = [stop_gradient(c) for c in coefficients]
        return pure_callback(of_arrays, coefficients[2], *coefficients)

    @values.def_vmap
    def of_batches(size: int, batched: Any, coefficients: Any) -> Any:
        rows = [[c[i] if flag else c for c, flag in zip(coefficients, batched[0])] for i in range(size)]
        return ops.stack([values(row) for row in rows]), True

    @custom_jvp
    def solution(coefficients: Any) -> Any:
        return values(coefficients)

    @solution.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (coefficients,), (moves,) = primals, tangents
        x = solution(coefficients)
        moved = jvp(lambda *c: residual(x, *c), tuple(coefficients), tuple(moves))[1]
        return x, step(x, moved, *coefficients)

    def solve_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
        if e is not None or s is not None:
            raise NotImplementedError(f"scipy.linalg.{name}: e and s are not offered; substitute them into a, b, q and r")
        arrays = [asarray(v) for v in (a, b, q, r)]
        single = all(v.dtype == np.float32 for v in arrays)
        dtype = np.result_type(np.float32 if single else np.float64, *(v.dtype for v in arrays))
        return solution([ops.astype(v, dtype) if v.dtype != dtype else v for v in arrays])

    solve_are.__name__ = solve_are.__qualname__ = name
    return solve_are


def _continuous(x: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    xb = x @ b
    return mH(a) @ x + x @ a - xb @ linalg.solve(r, mH(b) @ x) + q


def _continuous_step(x: Any, moved: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    closed = a - b @ linalg.solve(r, mH(b) @ x)
    return -linalg.solve_sylvester(mH(closed), closed, moved)


def _discrete(x: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    return mH(a) @ x @ a - x - mH(a) @ x @ b @ linalg.solve(r + mH(b) @ x @ b, mH(b) @ x @ a) + q


def _discrete_step(x: Any, moved: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    closed = a - b @ linalg.solve(r + mH(b) @ x @ b, mH(b) @ x @ a)
    return solve_discrete_lyapunov(mH(closed), moved)


solve_continuous_are = _riccati("solve_continuous_are", _continuous, _continuous_step)
solve_continuous_are.__doc__ = """The stabilising solution of mH(a) @ x + x @ a - x @ b @ inv(r) @ mH(b) @ x + q = 0.

Parameters
----------
a : array_like, shape (n, n)
b : array_like, shape (n, m)
q : array_like, shape (n, n)
r : array_like, shape (m, m)
e, s : None
    Others are refused.
balanced : bool
    Without effect.

Returns
-------
Tensor, shape (n, n)
"""
solve_discrete_are = _riccati("solve_discrete_are", _discrete, _discrete_step)
solve_discrete_are.__doc__ = """The stabilising solution of the discrete equation of Riccati.

It is mH(a) @ x @ a - x - mH(a) @ x @ b @ inv(r + mH(b) @ x @ b) @ mH(b) @ x @ a + q = 0.

Parameters
----------
a : array_like, shape (n, n)
b : array_like, shape (n, m)
q : array_like, shape (n, n)
r : array_like, shape (m, m)
e, s : None
    Others are refused.
balanced : bool
    Without effect.

Returns
-------
Tensor, shape (n, n)
"""
