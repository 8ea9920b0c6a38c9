"""The extension `linalg`, as the standard defines it: matrices are the last two axes, results are named tuples."""

import numpy as np

from ..core.conversion import asarray
from ..generated.ops import matmul, matrix_transpose, tensordot, vecdot
from ..generated.results import QrResult, SvdResult
from ..linalg import det, inv, matrix_power, solve, svdvals
from ..support.dispatch import ops
from .functions import as_asked, summed, values_of


def cholesky(x, /, *, upper=False):
    """The triangular factor of a positive definite matrix."""
    factor = ops.cholesky(x)
    return ops.mH(factor) if upper else factor


def cross(x1, x2, /, *, axis=-1):
    """Vector product of three components along `axis`."""
    return ops.cross(x1, x2, axis=axis)


def diagonal(x, /, *, offset=0):
    """A diagonal of each matrix."""
    return ops.diagonal(x, offset, -2, -1)


def eigh(x, /):
    """Eigenvalues in ascending order and eigenvectors of Hermitian matrices."""
    return ops.eigh(x)


def eigvalsh(x, /):
    """Eigenvalues of Hermitian matrices, in ascending order."""
    return ops.eigvalsh(x)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Norm of each matrix: "fro", "nuc", 1, -1, 2, -2, inf or -inf."""
    if ord in ("fro", None):
        return ops.vector_norm(x, 2, (-2, -1), keepdims)
    if ord in ("nuc", 2, -2):
        values = ops.svdvals(x)
        result = ops.sum(values, -1) if ord == "nuc" else (ops.max if ord == 2 else ops.min)(values, -1)
    elif ord in (1, -1, np.inf, -np.inf):
        sums = ops.sum(ops.absolute(x), -2 if abs(ord) == 1 else -1)
        result = (ops.max if ord > 0 else ops.min)(sums, -1)
    else:
        raise ValueError(f"matrix_norm: ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord!r}")
    return ops.expand_dims(result, (-2, -1)) if keepdims else result


def matrix_rank(x, /, *, rtol=None):
    """The number of singular values that are not nearly zero."""
    return asarray(np.linalg.matrix_rank(values_of(x), **({} if rtol is None else {"rtol": values_of(rtol)})))


def outer(x1, x2, /):
    """All products of two vectors."""
    return ops.outer(x1, x2)


def pinv(x, /, *, rtol=None):
    """Pseudoinverse; singular values up to `rtol` of the largest count as zero."""
    if rtol is None:
        return ops.pinv(x)
    u, s, vh = ops.svd(x)
    kept = values_of(s) > np.max(values_of(s), -1, keepdims=True, initial=0) * np.asarray(values_of(rtol))[..., None]
    inverse = ops.where(kept, ops.reciprocal(ops.where(kept, s, 1)), 0)
    return ops.matmul(ops.multiply(ops.mH(vh), ops.expand_dims(inverse, -2)), ops.mH(u))


def qr(x, /, *, mode="reduced"):
    """Orthonormal columns and an upper triangular matrix."""
    x = asarray(x)
    if mode == "complete" and x.shape[-2] > x.shape[-1]:
        return QrResult(*whole(np.linalg.qr, x, "qr", "mode='reduced'", mode="complete"))
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode must be 'reduced' or 'complete', got {mode!r}")
    return ops.qr(x)


def slogdet(x, /):
    """Sign and logarithm of the absolute value of the determinant."""
    return ops.slogdet(x)


def svd(x, /, *, full_matrices=True):
    """Singular value decomposition."""
    x = asarray(x)
    if full_matrices and x.shape[-2] != x.shape[-1]:
        return SvdResult(*whole(np.linalg.svd, x, "svd", "full_matrices=False", full_matrices=True))
    return ops.svd(x)


def whole(function, x, name, way_out, **keywords):
    """A decomposition with all vectors: those that merely complete a basis are arbitrary, and have no derivative."""
    try:
        array = x.numpy()
    except RuntimeError:
        raise ValueError(f"{name}: the vectors that complete the others have no derivative: use {way_out}") from None
    return [asarray(part) for part in function(array, **keywords)]


def trace(x, /, *, offset=0, dtype=None):
    """Sum along a diagonal of each matrix."""
    return as_asked(ops.trace(summed(x, dtype), offset, -2, -1), dtype)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Norm of vectors along `axis`."""
    return ops.vector_norm(x, ord, axis, keepdims)


__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip
__dir__ = __all__.copy
