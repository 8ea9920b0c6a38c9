"""Distributions of vectors: Dirichlet, MultivariateNormal and LowRankMultivariateNormal.

States constraints, densities, random numbers and moments; a covariance is given as a matrix, its inverse, or a Cholesky factor.
"""

from __future__ import annotations

import math
from typing import Any

from ..scipy.values import reals
from ..special import digamma, xlogy
from ..special import gammaln as lgamma
from ..support.dispatch import ops
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .half_line import log_gamma_draw
from .numbers import alias, broadcast, broadcast_shapes, lazy

LOG_2PI = math.log(2 * math.pi)


class Dirichlet(ExponentialFamily):
    """Dirichlet distribution of n positive numbers with the sum 1: the density is the product of x_i^(a_i - 1), divided by B(a).

    Parameters
    ----------
    concentration : array_like
        a, positive; its last axis is that of a value.
    validate_args : bool, optional

    Notes
    -----
    `rsample` divides gamma numbers by their sum, each with implicit derivatives.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Dirichlet([1.0, 3.0]).mean
    tensor([0.25, 0.75])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        (self.concentration,) = broadcast("Dirichlet", concentration)
        if self.concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        super().__init__(self.concentration.shape[:-1], self.concentration.shape[-1:], validate_args=validate_args)

    def _draw(self, shape: Any, generator: Any) -> Any:
        return ops.softmax(log_gamma_draw(self.concentration, shape, generator), -1)

    @property
    def _total(self) -> Any:
        return ops.sum(self.concentration, -1, keepdims=True)

    @property
    def mean(self) -> Any:
        return self.concentration / self._total

    @property
    def mode(self) -> Any:
        """The most probable value; if all concentrations are below 1, the corner of the greatest one."""
        above = ops.maximum(self.concentration - 1, 0.0)
        total = ops.sum(above, -1, keepdims=True)
        corner = ops.one_hot(ops.argmax(self.concentration, -1), self.event_shape[0], dtype=above.dtype)
        return ops.where(total > 0, above / ops.where(total > 0, total, 1.0), corner)

    @property
    def variance(self) -> Any:
        total = self._total
        return self.concentration * (total - self.concentration) / (total * total * (total + 1))

    def _log_prob(self, value: Any) -> Any:
        a = self.concentration
        return ops.sum(xlogy(a - 1, value) - lgamma(a), -1) + lgamma(ops.sum(a, -1))

    def entropy(self) -> Any:
        a, total = self.concentration, ops.sum(self.concentration, -1)
        return ops.sum(lgamma(a) - (a - 1) * digamma(a), -1) - lgamma(total) + (total - a.shape[-1]) * digamma(total)

    @property
    def _natural_params(self) -> Any:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return ops.sum(lgamma(x), -1) - lgamma(ops.sum(x, -1))


def log_diagonal(low: Any) -> Any:
    """The sum of the logarithms of a diagonal."""
    return ops.sum(ops.log(ops.diagonal(low, 0, -2, -1)), -1)


def squared_length(low: Any, vectors: Any) -> Any:
    """The squared length of L^-1 v, with a lower triangle L, for a batch of vectors."""
    batch = broadcast_shapes(low.shape[:-2], vectors.shape[:-1])
    solved = ops.solve_triangular(ops.broadcast_to(low, (*batch, *low.shape[-2:])),
                                  ops.broadcast_to(vectors, (*batch, vectors.shape[-1]))[..., None], lower=True)  # fmt: skip
    return ops.sum(solved * solved, (-2, -1))


def _from_precision(precision: Any) -> Any:
    """The Cholesky factor of the inverse of a matrix P: that of P with reversed axes, inverted, is an upper triangle."""
    flipped = ops.mT(ops.flip(ops.cholesky(ops.flip(precision, (-2, -1))), (-2, -1)))
    return ops.solve_triangular(
        flipped, ops.broadcast_to(ops.eye(precision.shape[-1], dtype=precision.dtype), precision.shape), lower=True
    )


def one_matrix(name: str, other: Any, covariance_matrix: Any, precision_matrix: Any, scale_tril: Any) -> tuple[str, Any, Any]:
    """The name of the one matrix that is given, and the other parameter and the matrix as tensors of one dtype."""
    given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
    given = {which: value for which, value in given.items() if value is not None}
    if len(given) != 1:
        raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    ((which, value),) = given.items()
    other, value = reals(name, other, value)
    if value.ndim < 2:
        raise ValueError(f"{which} must be at least two-dimensional, with optional leading batch dimensions")
    return which, other, value


class OfCovariance(Distribution):
    """A distribution with a covariance matrix, its inverse or its Cholesky factor as parameter, and the others computed from it."""

    @lazy
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance matrix."""
        if "precision_matrix" in self.__dict__:
            return _from_precision(self.precision_matrix)
        return ops.cholesky(self.covariance_matrix)

    @lazy
    def covariance_matrix(self) -> Any:
        """The covariance matrix of a normal vector."""
        return self.scale_tril @ ops.mT(self.scale_tril)

    @lazy
    def precision_matrix(self) -> Any:
        """The inverse of the covariance matrix."""
        eye = ops.broadcast_to(ops.eye(self.event_shape[-1], dtype=self._dtype), self.scale_tril.shape)
        inverse = ops.solve_triangular(self.scale_tril, eye, lower=True)
        return ops.mT(inverse) @ inverse


class MultivariateNormal(OfCovariance):
    """Normal distribution of vectors, with a mean and a covariance matrix.

    Parameters
    ----------
    loc : array_like
        Mean.
    covariance_matrix : array_like
        Positive definite; or
    precision_matrix : array_like
        Its inverse; or
    scale_tril : array_like
        Its Cholesky factor, a lower triangle with a positive diagonal.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.MultivariateNormal([0.0, 0.0], [[4.0, 0.0], [0.0, 1.0]]).log_prob([0.0, 0.0]).round(6)
    tensor(-2.531024)
    """

    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        name, loc, value = one_matrix("MultivariateNormal", loc, covariance_matrix, precision_matrix, scale_tril)
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        batch = broadcast_shapes(loc.shape[:-1], value.shape[:-2])
        self.loc = ops.broadcast_to(loc, (*batch, loc.shape[-1]))
        self.__dict__[name] = ops.broadcast_to(value, (*batch, *value.shape[-2:]))
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)

    mean = alias("loc")
    mode = alias("loc")

    @property
    def variance(self) -> Any:
        low = self.scale_tril
        return ops.sum(low * low, -1)

    def _draw(self, shape: Any, generator: Any) -> Any:
        normal = ops._standard("normal", 0.0, self.loc, shape, generator=generator)
        return self.loc + ops.sum(self.scale_tril * normal[..., None, :], -1)

    def _log_prob(self, value: Any) -> Any:
        low = self.scale_tril
        return -0.5 * (self.event_shape[0] * LOG_2PI + squared_length(low, value - self.loc)) - log_diagonal(low)

    def entropy(self) -> Any:
        return 0.5 * self.event_shape[0] * (1 + LOG_2PI) + log_diagonal(self.scale_tril)


class LowRankMultivariateNormal(Distribution):
    """Normal distribution of vectors with the covariance matrix W W^T + diag(d), at a cost that is linear in their length.

    Parameters
    ----------
    loc : array_like
        Mean, n numbers.
    cov_factor : array_like
        W, n rows and few columns.
    cov_diag : array_like
        d, n positive numbers.
    validate_args : bool, optional

    Notes
    -----
    Products and determinants follow from the Woodbury identity and the matrix determinant lemma.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.LowRankMultivariateNormal([0.0, 0.0], [[1.0], [0.0]], [1.0, 3.0]).variance
    tensor([2., 3.])
    """

    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        loc, factor, diagonal = reals("LowRankMultivariateNormal", loc, cov_factor, cov_diag)
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        size = loc.shape[-1]
        if factor.ndim < 2 or factor.shape[-2] != size:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {size} x m, got {tuple(factor.shape)}")
        if diagonal.shape[-1:] != (size,):
            raise ValueError(f"cov_diag must be a batch of vectors with shape ({size},), got {tuple(diagonal.shape)}")
        batch = broadcast_shapes(loc.shape[:-1], factor.shape[:-2], diagonal.shape[:-1])
        self.loc = ops.broadcast_to(loc, (*batch, size))
        self.cov_factor = ops.broadcast_to(factor, (*batch, *factor.shape[-2:]))
        self.cov_diag = ops.broadcast_to(diagonal, (*batch, size))
        super().__init__(batch, (size,), validate_args=validate_args)

    @property
    def _capacitance_tril(self) -> Any:
        """The Cholesky factor of I + W^T diag(d)^-1 W."""
        w = self.cov_factor
        inner = ops.mT(w) @ (w / self.cov_diag[..., None])
        return ops.cholesky(inner + ops.eye(w.shape[-1], dtype=w.dtype))

    @property
    def covariance_matrix(self) -> Any:
        """The covariance matrix."""
        return self.cov_factor @ ops.mT(self.cov_factor) + ops.diag_embed(self.cov_diag)

    @property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance matrix."""
        return ops.cholesky(self.covariance_matrix)

    @property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance matrix."""
        turned = ops.mT(self.cov_factor / self.cov_diag[..., None])
        half = ops.solve_triangular(self._capacitance_tril, turned, lower=True)
        return ops.diag_embed(1 / self.cov_diag) - ops.mT(half) @ half

    mean = alias("loc")
    mode = alias("loc")

    @property
    def variance(self) -> Any:
        return ops.sum(self.cov_factor**2, -1) + self.cov_diag

    def _draw(self, shape: Any, generator: Any) -> Any:
        w = self.cov_factor
        few = ops._standard("normal", 0.0, ops.zeros((), dtype=w.dtype), (*shape[:-1], w.shape[-1]), generator=generator)
        many = ops._standard("normal", 0.0, self.loc, shape, generator=generator)
        return self.loc + ops.sum(w * few[..., None, :], -1) + ops.sqrt(self.cov_diag) * many

    def _log_determinant(self) -> Any:
        return 2 * log_diagonal(self._capacitance_tril) + ops.sum(ops.log(self.cov_diag), -1)

    def _squared_length(self, vectors: Any) -> Any:
        scaled = vectors / self.cov_diag
        inner = ops.sum(self.cov_factor * scaled[..., None], -2)
        return ops.sum(vectors * scaled, -1) - squared_length(self._capacitance_tril, inner)

    def _log_prob(self, value: Any) -> Any:
        return -0.5 * (self.event_shape[0] * LOG_2PI + self._log_determinant() + self._squared_length(value - self.loc))

    def entropy(self) -> Any:
        return 0.5 * (self.event_shape[0] * (1 + LOG_2PI) + self._log_determinant())
