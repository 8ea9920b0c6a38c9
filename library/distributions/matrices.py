"""Distributions of matrices: Wishart, of covariance matrices, and LKJCholesky, of Cholesky factors of correlation matrices."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import TensorBase
from ..func import stop_gradient
from ..special import digamma, multigammaln
from ..special import gammaln as lgamma
from ..support.dispatch import ops
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .half_line import gamma_draw
from .interval import Beta
from .multivariate import OfCovariance, log_diagonal, one_matrix
from .numbers import broadcast, broadcast_shapes, known


def _mean_of_log_determinant(df: Any, size: int) -> Any:
    """The mean of log(det(X)) for X of Wishart's distribution with the unit matrix as scale."""
    places = ops.arange(size, dtype=df.dtype)
    return ops.sum(digamma((df[..., None] - places) / 2), -1) + size * math.log(2)


class Wishart(OfCovariance, ExponentialFamily):
    """Wishart distribution of positive definite n x n matrices: the sum of v v^T over df normal vectors v, for a whole df.

    Parameters
    ----------
    df : array_like
        Degrees of freedom, more than n - 1; need not be whole.
    covariance_matrix : array_like
        Covariance of v, positive definite; or
    precision_matrix : array_like
        Its inverse; or
    scale_tril : array_like
        Its Cholesky factor.
    validate_args : bool, optional

    Notes
    -----
    Random matrices are products of triangles (Bartlett's decomposition): normal numbers below the diagonal, and on it square
    roots of chi-squared numbers, which have implicit derivatives in df.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Wishart(3.0, [[2.0, 0.0], [0.0, 1.0]]).mean
    tensor([[6., 0.],
            [0., 3.]])
    """

    arg_constraints = {"df": constraints.dependent, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}  # fmt: skip
    support = constraints.positive_definite
    has_rsample = True

    def __init__(self, df: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        name, df, value = one_matrix("Wishart", df, covariance_matrix, precision_matrix, scale_tril)
        batch = broadcast_shapes(df.shape, value.shape[:-2])
        self.df = ops.broadcast_to(df, batch)
        self.__dict__[name] = ops.broadcast_to(value, (*batch, *value.shape[-2:]))
        super().__init__(batch, value.shape[-2:], validate_args=validate_args)
        if self._validate_args and known(self.df > self._size - 1) is False:
            raise ValueError(f"Value of df={stop_gradient(self.df)} expected to be greater than ndim - 1 = {self._size - 1}.")

    @property
    def _size(self) -> int:
        return self.event_shape[-1]

    @property
    def mean(self) -> Any:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self.df - self._size - 1
        return ops.where(factor <= 0, math.nan, factor)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Any:
        v = self.covariance_matrix
        diagonal = ops.diagonal(v, 0, -2, -1)
        return self.df[..., None, None] * (v * v + diagonal[..., :, None] * diagonal[..., None, :])

    def _draw(self, shape: Any, generator: Any) -> Any:
        places = ops.arange(self._size, dtype=self._dtype)
        squares = 2 * gamma_draw((self.df[..., None] - places) / 2, shape[:-1], generator)
        normal = ops._standard("normal", 0.0, self.df[..., None, None], shape, generator=generator)
        low = self.scale_tril @ (ops.tril(normal, -1) + ops.diag_embed(ops.sqrt(squares)))
        return low @ ops.mT(low)

    def _log_prob(self, value: Any) -> Any:
        df, n = self.df, self._size
        log_determinant = 2 * log_diagonal(ops.cholesky(value))
        trace = ops.sum(self.precision_matrix * value, (-2, -1))
        return (0.5 * (df - n - 1) * log_determinant - 0.5 * trace - df * log_diagonal(self.scale_tril)
                - 0.5 * df * n * math.log(2) - multigammaln(df / 2, n))  # fmt: skip

    def entropy(self) -> Any:
        df, n = self.df, self._size
        half = log_diagonal(self.scale_tril)
        mean = _mean_of_log_determinant(df, n) + 2 * half
        return (df * half + 0.5 * df * n * math.log(2) + multigammaln(df / 2, n) - 0.5 * (df - n - 1) * mean
                + 0.5 * df * n)  # fmt: skip

    @property
    def _natural_params(self) -> Any:
        return -0.5 * self.precision_matrix, 0.5 * (self.df - self._size - 1)

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        n = self._size
        half = y + 0.5 * (n + 1)
        return -half * 2 * log_diagonal(ops.cholesky(-2 * x)) + half * n * math.log(2) + multigammaln(half, n)


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices whose density is proportional to det^(concentration - 1).

    Parameters
    ----------
    dim : int
        Rows of the matrix, at least 2.
    concentration : array_like
        Positive; 1 for a uniform distribution.
    validate_args : bool, optional

    References
    ----------
    Lewandowski, Kurowicka and Joe, Generating random correlation matrices based on vines and extended onion method, 2009.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.LKJCholesky(2, 1.0).log_prob(gs.eye(2)).exp()
    tensor(0.5)
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if isinstance(dim, TensorBase) or dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast("LKJCholesky", concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def _draw(self, shape: Any, generator: Any) -> Any:
        """The onion method: each row is a direction of a sphere, scaled by the square root of a beta number."""
        dtype, n = self._dtype, self.dim
        places = ops.arange(1, n, dtype=dtype)
        marginal = self.concentration[..., None] + 0.5 * (n - 2)
        shares = Beta(0.5 * places, marginal - 0.5 * (places - 1), validate_args=False)._draw((*shape[:-2], n - 1), generator)
        normal = ops.tril(
            ops._standard("normal", 0.0, self.concentration[..., None, None], (*shape[:-2], n - 1, n), generator=generator)
        )
        directions = normal / ops.sqrt(ops.sum(normal * normal, -1, keepdims=True))
        rows = ops.sqrt(shares)[..., None] * directions
        first = ops.zeros((*shape[:-2], 1, n), dtype=dtype)
        low = ops.concat([first, rows], -2)
        left = ops.concat([ops.ones((*shape[:-2], 1), dtype=dtype), ops.sqrt(1 - shares)], -1)
        return low + ops.diag_embed(left)

    def _log_prob(self, value: Any) -> Any:
        n, a = self.dim, self.concentration
        orders = 2 * (a[..., None] - 1) + n - ops.arange(2, n + 1, dtype=value.dtype)
        free = ops.sum(orders * ops.log(ops.diagonal(value, 0, -2, -1)[..., 1:]), -1)
        half = a + 0.5 * (n - 1)
        constant = 0.5 * (n - 1) * math.log(math.pi) + multigammaln(half - 0.5, n - 1) - (n - 1) * lgamma(half)
        return free - constant
