"""Distributions of matrices: wishart, invwishart, matrix_normal.

Defines their formulas.  Several matrices are stacked along the last axis of x for `wishart` and `invwishart`, as in SciPy; for
`matrix_normal` a matrix is the last two axes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...generated.ops import log, mT
from ...linalg import cholesky, solve_triangular
from ...special import digamma, multigammaln
from ...support.dispatch import ops
from ..values import reals
from .multivariate import LOG_2PI, Multivariate, _size

log2 = math.log(2)


def _log_det(factor: Any) -> Any:
    """The logarithm of the determinant of a matrix with this factor of Cholesky."""
    return 2 * ops.sum(log(ops.diagonal(factor, axis1=-2, axis2=-1)), axis=-1)


def _trace_of_quotient(factor: Any, matrix: Any) -> Any:
    """The trace of inverse(factor @ factor.T) @ matrix."""
    half = solve_triangular(factor, cholesky(matrix), lower=True)
    return ops.sum(half * half, axis=(-2, -1))


class _OfCovariances(Multivariate):
    """Common methods of wishart and invwishart."""

    def _read(self, df: Any, scale: Any, x: Any = None) -> tuple[Any, Any, Any]:
        given = reals(self.name, df, scale, *(() if x is None else (x,)))
        df, scale = given[0], given[1]
        if scale.ndim < 2:
            scale = ops.diag(ops.reshape(scale, (-1,)))
        if x is None:
            return df, scale, None
        x = given[2]
        if x.ndim < 2:
            x = ops.reshape(x, (1, 1, -1)) if scale.shape == (1, 1) and x.ndim == 1 else ops.diag(ops.reshape(x, (-1,)))
        return df, scale, ops.moveaxis(x, 2, 0) if x.ndim == 3 else x

    def _entropy_of_log_det(self, df: Any, size: int) -> Any:
        """The sum of digamma over the degrees of freedom of the rows."""
        return ops.sum(digamma((df - ops.arange(size, dtype=df.dtype)) / 2))


class Wishart(_OfCovariances):
    """Wishart distribution.

    Parameters
    ----------
    *args, **kwds : array_like
        df and scale, by position or by name, as for `logpdf`.

    Returns
    -------
    Frozen
        The distribution with these parameters, whose methods take no others.
    """

    def logpdf(self, x: Any, df: Any, scale: Any) -> Any:
        """The logarithm of the density.

        Parameters
        ----------
        x : array_like, shape (n, n) or (n, n, k)
            Positive definite matrices.
        df : float
            Degrees of freedom, above n - 1.
        scale : array_like, shape (n, n)
            Positive definite.

        Returns
        -------
        Tensor
        """
        df, scale, x = self._read(df, scale, x)
        size, factor = scale.shape[-1], cholesky(scale)
        value = (df - size - 1) / 2 * _log_det(cholesky(x)) - _trace_of_quotient(factor, x) / 2
        return value - df * size * log2 / 2 - df / 2 * _log_det(factor) - multigammaln(df / 2, size)

    def mean(self, df: Any, scale: Any) -> Any:
        """The mean."""
        df, scale, _ = self._read(df, scale)
        return df * scale

    def var(self, df: Any, scale: Any) -> Any:
        """The variance of each element."""
        df, scale, _ = self._read(df, scale)
        diagonal = ops.diagonal(scale)
        return df * (scale * scale + ops.outer(diagonal, diagonal))

    def entropy(self, df: Any, scale: Any) -> Any:
        """The differential entropy in nats."""
        df, scale, _ = self._read(df, scale)
        size = scale.shape[-1]
        log_det = _log_det(cholesky(scale))
        expected = self._entropy_of_log_det(df, size) + size * log2 + log_det
        constant = df * size * log2 / 2 + df / 2 * log_det + multigammaln(df / 2, size)
        return constant - (df - size - 1) / 2 * expected + df * size / 2

    def rvs(self, df: Any, scale: Any, size: Any = None, random_state: Any = None) -> Any:
        """Random matrices that move with `df` and `scale`, by Bartlett's decomposition; their numbers are not SciPy's."""
        from .gamma_kind import chi

        df, scale, _ = self._read(df, scale)
        n, shape, generator = scale.shape[-1], _size(size), self.generator(random_state)
        diagonal = chi.rvs(df - ops.arange(n, dtype=df.dtype), size=(*shape, n), random_state=generator)
        below = np.tril(generator.standard_normal((*shape, n, n)), -1)
        half = cholesky(scale) @ (asarray(below, dtype=df.dtype) + ops.diag_embed(diagonal))
        return half @ mT(half)


class InverseWishart(_OfCovariances):
    """Inverse Wishart distribution.

    Parameters
    ----------
    *args, **kwds : array_like
        df and scale, by position or by name, as for `logpdf`.

    Returns
    -------
    Frozen
        The distribution with these parameters, whose methods take no others.
    """

    def logpdf(self, x: Any, df: Any, scale: Any) -> Any:
        """The logarithm of the density; for the arguments see `wishart.logpdf`."""
        df, scale, x = self._read(df, scale, x)
        size, factor = scale.shape[-1], cholesky(x)
        value = df / 2 * _log_det(cholesky(scale)) - (df + size + 1) / 2 * _log_det(factor)
        return value - _trace_of_quotient(factor, scale) / 2 - df * size * log2 / 2 - multigammaln(df / 2, size)

    def mean(self, df: Any, scale: Any) -> Any:
        """The mean, for df above n + 1."""
        df, scale, _ = self._read(df, scale)
        return scale / (df - scale.shape[-1] - 1)

    def mode(self, df: Any, scale: Any) -> Any:
        """The maximiser of the density."""
        df, scale, _ = self._read(df, scale)
        return scale / (df + scale.shape[-1] + 1)

    def entropy(self, df: Any, scale: Any) -> Any:
        """The differential entropy in nats."""
        df, scale, _ = self._read(df, scale)
        size = scale.shape[-1]
        constant = (size + 1) / 2 * (_log_det(cholesky(scale)) - log2 * size) + multigammaln(df / 2, size)
        return constant - (df + size + 1) / 2 * self._entropy_of_log_det(df, size) + size * df / 2


class MatrixNormal(Multivariate):
    """Matrix normal distribution.

    Parameters
    ----------
    *args, **kwds : array_like
        mean, rowcov and colcov, by position or by name, as for `logpdf`.

    Returns
    -------
    Frozen
        The distribution with these parameters, whose methods take no others.
    """

    def _read(self, mean: Any, rowcov: Any, colcov: Any, X: Any = None) -> tuple[Any, ...]:
        given = reals(self.name, *(v for v in (X, mean, rowcov, colcov) if v is not None))
        X = given.pop(0) if X is not None else None
        mean = given.pop(0) if mean is not None else None
        if mean is not None or X is not None:
            shape = (mean if mean is not None else X).shape[-2:]
        else:
            shape = tuple(c.shape[-1] if c.ndim else 1 for c in given)
        factors = [cholesky(c) if c.ndim == 2 else ops.diag(ops.sqrt(ops.broadcast_to(c, (n,)))) for c, n in zip(given, shape)]
        return X, ops.zeros(shape, dtype=given[0].dtype) if mean is None else mean, *factors

    def logpdf(self, X: Any, mean: Any = None, rowcov: Any = 1.0, colcov: Any = 1.0) -> Any:
        """The logarithm of the density.

        Parameters
        ----------
        X : array_like, shape (..., m, n)
        mean : array_like, shape (m, n), optional
            Zero by default.
        rowcov, colcov : array_like
            Covariances of rows and of columns: a number, variances, or a positive definite matrix.

        Returns
        -------
        Tensor
        """
        X, mean, rows, columns = self._read(mean, rowcov, colcov, X)
        m, n = mean.shape
        half = solve_triangular(rows, X - mean, lower=True)
        half = solve_triangular(columns, mT(half), lower=True)
        squared = ops.sum(half * half, axis=(-2, -1))
        return -(m * n * LOG_2PI + n * _log_det(rows) + m * _log_det(columns) + squared) / 2

    def entropy(self, rowcov: Any = 1.0, colcov: Any = 1.0) -> Any:
        """The differential entropy in nats."""
        _, mean, rows, columns = self._read(None, rowcov, colcov)
        m, n = mean.shape
        return (m * n * (LOG_2PI + 1) + n * _log_det(rows) + m * _log_det(columns)) / 2

    def rvs(self, mean: Any = None, rowcov: Any = 1.0, colcov: Any = 1.0, size: Any = None, random_state: Any = None) -> Any:
        """Random matrices that move with the parameters; their numbers are not SciPy's."""
        _, mean, rows, columns = self._read(mean, rowcov, colcov)
        standard = asarray(self.generator(random_state).standard_normal((*_size(size), *mean.shape)), dtype=mean.dtype)
        return mean + rows @ standard @ mT(columns)


wishart = Wishart("wishart")
invwishart = InverseWishart("invwishart")
matrix_normal = MatrixNormal("matrix_normal")
