"""Structured matrices under SciPy's names: toeplitz, hankel, circulant, companion and related functions.

Computes the position of each number in the matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...generated.ops import block_diag as block_diag
from ...generated.ops import conj
from ...support.dispatch import ops

__all__ = [
    "block_diag", "circulant", "companion", "convolution_matrix", "dft", "fiedler", "hadamard", "hankel", "helmert",
    "hilbert", "invhilbert", "khatri_rao", "leslie", "pascal", "toeplitz",
]  # fmt: skip


def _vector(x: Any) -> Any:
    return ops.reshape(asarray(x), (-1,))


def toeplitz(c: Any, r: Any = None) -> Any:
    """A matrix of constant diagonals.

    Parameters
    ----------
    c : array_like, shape (m,)
        The first column.
    r : array_like, shape (n,), optional
        The first row, whose first element is not read; conj(c) by default.

    Returns
    -------
    Tensor, shape (m, n)
    """
    c = _vector(c)
    r = conj(c) if r is None else _vector(r)
    m, n = c.size, r.size
    return ops.concat([r[1:][::-1], c])[n - 1 + np.arange(m)[:, None] - np.arange(n)]


def hankel(c: Any, r: Any = None) -> Any:
    """A matrix with constant antidiagonals.

    Parameters
    ----------
    c : array_like, shape (m,)
        The first column.
    r : array_like, shape (n,), optional
        The last row, whose first element is not read; zeros by default.

    Returns
    -------
    Tensor, shape (m, n)
    """
    c = _vector(c)
    r = ops.zeros_like(c) if r is None else _vector(r)
    return ops.concat([c, r[1:]])[np.arange(c.size)[:, None] + np.arange(r.size)]


def circulant(c: Any) -> Any:
    """A matrix whose columns are cyclic shifts of the first one, by one more row each.

    Parameters
    ----------
    c : array_like, shape (n,)
        The first column.

    Returns
    -------
    Tensor, shape (n, n)
    """
    c = _vector(c)
    return c[(np.arange(c.size)[:, None] - np.arange(c.size)) % c.size]


def companion(a: Any) -> Any:
    """The companion matrix of a polynomial, whose eigenvalues are its roots.

    Parameters
    ----------
    a : array_like, shape (n + 1,)
        Coefficients, with the highest power first; fewer than two are refused.

    Returns
    -------
    Tensor, shape (n, n)
    """
    a = _vector(a)
    if a.size < 2:
        raise ValueError(f"companion: expected at least 2 coefficients, got {a.size}")
    n = a.size - 1
    return ops.concat([ops.reshape(-a[1:] / a[0], (1, n)), ops.eye(n, dtype=a.dtype)[: n - 1] + 0 * a[0]])


def leslie(f: Any, s: Any) -> Any:
    """A matrix of Leslie: fecundities in the first row, rates of survival below the diagonal.

    Parameters
    ----------
    f : array_like, shape (n,)
        The fecundities.
    s : array_like, shape (n - 1,)
        The rates of survival.

    Returns
    -------
    Tensor, shape (n, n)
    """
    f, s = _vector(f), _vector(s)
    return ops.concat([ops.reshape(f, (1, -1)), ops.concat([ops.diag(s), ops.zeros((s.size, 1), dtype=s.dtype)], axis=1)])


def khatri_rao(a: Any, b: Any) -> Any:
    """Kronecker products of the columns of two matrices, column by column.

    Parameters
    ----------
    a : array_like, shape (..., m, k)
    b : array_like, shape (..., n, k)

    Returns
    -------
    Tensor, shape (..., m * n, k)
    """
    a, b = asarray(a), asarray(b)
    return ops.reshape(a[..., :, None, :] * b[..., None, :, :], (*a.shape[:-2], -1, a.shape[-1]))


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """The matrix whose product with a vector v of n elements is `convolve(a, v, mode)`.

    Parameters
    ----------
    a : array_like, shape (m,)
    n : int
        The length of the vector.
    mode : {'full', 'valid', 'same'}
        Which part of the convolution; others are refused.

    Returns
    -------
    Tensor, 2-D
    """
    a = _vector(a)
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"convolution_matrix: mode must be 'full', 'valid' or 'same', got {mode!r}")
    whole = toeplitz(ops.pad(a, ((0, n - 1),)), ops.concat([a[:1], ops.zeros(n - 1, dtype=a.dtype)]))
    if mode == "full":
        return whole
    length = max(a.size, n) - min(a.size, n) + 1 if mode == "valid" else max(a.size, n)
    start = min(a.size, n) - 1 if mode == "valid" else (min(a.size, n) - 1) // 2
    return whole[start : start + length]


def fiedler(a: Any) -> Any:
    """The matrix of the distances of all pairs.

    Parameters
    ----------
    a : array_like, shape (n,)

    Returns
    -------
    Tensor, shape (n, n)
        abs(a[i] - a[j]) at i, j.
    """
    a = _vector(a)
    return ops.absolute(a[:, None] - a)


def _constant(name: str, doc: str) -> Any:
    def matrix(n: int, *args: Any, **keywords: Any) -> Any:
        import scipy.linalg

        return asarray(getattr(scipy.linalg, name)(n, *args, **keywords))

    matrix.__name__ = matrix.__qualname__ = name
    matrix.__doc__ = f"""{doc}: a constant.

    Parameters
    ----------
    n : int
        The size.
    *args, **keywords
        SciPy's other arguments.

    Returns
    -------
    Tensor, 2-D
    """
    return matrix


dft = _constant("dft", "The matrix of the discrete Fourier transform")
hadamard = _constant("hadamard", "A matrix of Hadamard")
helmert = _constant("helmert", "A matrix of Helmert")
hilbert = _constant("hilbert", "The matrix of Hilbert")
invhilbert = _constant("invhilbert", "The inverse of Hilbert's matrix")
pascal = _constant("pascal", "A matrix of Pascal")
