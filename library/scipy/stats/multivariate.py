"""Distributions of vectors: multivariate_normal, multivariate_t, vonmises_fisher, dirichlet, multinomial.

Defines their formulas.  A vector is along the last axis, for `dirichlet` along the first, as in SciPy; other axes are a batch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...func import stop_gradient
from ...generated.ops import exp, log, log1p, mT, where, xlogy
from ...linalg import cholesky, eigvalsh, pinv, solve_triangular
from ...special import digamma, gammaln, ive
from ...support.dispatch import ops
from ..values import generator_for, must_be_constant, reals, refused
from .frozen import Frozen
from .tails import some

LOG_2PI = math.log(2 * math.pi)
SINGULAR = 1e6 * 2.220446049250313e-16  # an eigenvalue below this fraction of the largest one counts as 0, as in SciPy


class Multivariate:
    """Common methods: a density from its logarithm, and frozen distributions."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<gradspec.scipy.stats.{self.name}>"

    def __call__(self, *args: Any, **kwds: Any) -> Frozen:
        return Frozen(self, args, kwds)

    def pdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The density at x."""
        return exp(self.logpdf(x, *args, **kwds))

    def logpdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of the density at x."""
        raise NotImplementedError

    def generator(self, random_state: Any) -> Any:
        """The generator for SciPy's random numbers."""
        return generator_for(f"scipy.stats.{self.name}.rvs", random_state)


def _size(size: Any) -> tuple[int, ...]:
    return () if size is None else (size,) if isinstance(size, (int, np.integer)) else tuple(size)


def _location_and_factor(name: str, mean: Any, cov: Any, x: Any = None) -> tuple[Any, Any, Any]:
    """x with its vectors along the last axis, the mean, and the factor of Cholesky of the covariance."""
    given = reals(name, *(v for v in (x, mean, cov) if v is not None))
    x = given.pop(0) if x is not None else None
    mean = given.pop(0) if mean is not None else None
    cov = given.pop(0)
    if cov.ndim > 2 or cov.ndim == 2 and cov.shape[0] != cov.shape[1]:
        raise ValueError(f"{name}: cov must be a number, a vector or a square matrix, got the shape {cov.shape}")
    size = mean.size if mean is not None else cov.shape[0] if cov.ndim else 1
    mean = ops.zeros(size, dtype=cov.dtype) if mean is None else ops.reshape(mean, (size,))
    if cov.ndim == 2:
        factor = cholesky(cov)
    else:
        factor = ops.diag(ops.sqrt(ops.broadcast_to(cov, (size,))))
    if factor.shape[0] != size:
        raise ValueError(f"{name}: mean has {size} elements and cov {factor.shape[0]} rows")
    if x is not None:
        x = ops.reshape(x, (*x.shape, 1)) if size == 1 and (x.ndim == 0 or x.shape[-1] != 1) else x
        if x.shape[-1:] != (size,):
            raise ValueError(f"{name}: x must have {size} elements along its last axis, got the shape {x.shape}")
    return x, mean, factor


def _distance(x: Any, mean: Any, factor: Any) -> tuple[Any, Any]:
    """The squared distance of Mahalanobis, and the logarithm of the determinant of the covariance."""
    off = ops.reshape(x - mean, (-1, mean.size))
    scaled = solve_triangular(factor, mT(off), lower=True)
    squared = ops.reshape(ops.sum(scaled * scaled, axis=0), x.shape[:-1])
    return squared, 2 * ops.sum(log(ops.diagonal(factor)))


class MultivariateNormal(Multivariate):
    """Multivariate normal distribution.

    Parameters
    ----------
    *args, **kwds : array_like
        mean, cov and allow_singular, by position or by name, as for `logpdf`.

    Returns
    -------
    Frozen
        The distribution with these parameters, whose methods take no others.
    """

    def logpdf(self, x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Any:
        """The logarithm of the density.

        Parameters
        ----------
        x : array_like, shape (..., n)
        mean : array_like, shape (n,), optional
            Zero by default.
        cov : array_like
            A number, variances of shape (n,), or the covariance matrix of shape (n, n), symmetric: its lower triangle is read.
        allow_singular : bool
            Whether `cov` may be singular: then the result is the log-density on its range, -inf outside, with the derivative in
            `cov` at constant rank.

        Returns
        -------
        Tensor
            Has the shape of x without its last axis.

        Raises
        ------
        numpy.linalg.LinAlgError
            `cov` is not positive definite.
        """
        if allow_singular:
            return self._on_range(x, mean, cov)
        x, mean, factor = _location_and_factor(self.name, mean, cov, x)
        squared, log_det = _distance(x, mean, factor)
        return -(squared + mean.size * LOG_2PI + log_det) / 2

    def _on_range(self, x: Any, mean: Any, cov: Any) -> Any:
        """The logarithm of the density on the range of a covariance matrix."""
        x, mean, cov = reals(self.name, x, 0.0 if mean is None else mean, cov)
        if cov.ndim != 2:
            cov = ops.diag(ops.broadcast_to(cov, (max(cov.size, mean.size),)))
        inverse, values = pinv(cov, hermitian=True, rtol=SINGULAR), eigvalsh(cov)
        there = values > SINGULAR * ops.max(ops.absolute(values))
        log_det = ops.sum(log(where(there, values, 1.0)))
        rank = ops.sum(ops.astype(there, cov.dtype))
        off = x - mean
        squared = ops.sum(off @ inverse * off, axis=-1)
        beside = ops.max(ops.absolute(off - off @ inverse @ cov), axis=-1) > 1e-6 * (1 + ops.max(ops.absolute(off), axis=-1))
        return where(beside, -math.inf, -(squared + rank * LOG_2PI + log_det) / 2)

    def _by_scipy(self, which: str, x: Any, mean: Any, cov: Any) -> Any:
        """SciPy's integral; it has no derivative here."""
        import scipy.stats

        x, mean, factor = _location_and_factor(f"{self.name}.{which}", mean, cov, x)
        mean_, cov_ = (stop_gradient(v).numpy() for v in (mean, factor @ mT(factor)))
        value = getattr(scipy.stats.multivariate_normal, which)(stop_gradient(x).numpy(), mean_, cov_)
        words = f"scipy.stats.{self.name}.{which} has no derivative: its value is a sum at random points; pass x.detach()"
        return refused(asarray(value), (x, mean, factor), words)

    def cdf(self, x: Any, mean: Any = None, cov: Any = 1.0) -> Any:
        """The probability of values up to x in each element, by SciPy; its derivative is refused."""
        return self._by_scipy("cdf", x, mean, cov)

    def logcdf(self, x: Any, mean: Any = None, cov: Any = 1.0) -> Any:
        """The logarithm of `cdf`; its derivative is refused."""
        return self._by_scipy("logcdf", x, mean, cov)

    def entropy(self, mean: Any = None, cov: Any = 1.0) -> Any:
        """The differential entropy in nats."""
        _, mean, factor = _location_and_factor(self.name, mean, cov)
        return mean.size * (LOG_2PI + 1) / 2 + ops.sum(log(ops.diagonal(factor)))

    def rvs(self, mean: Any = None, cov: Any = 1.0, size: Any = None, random_state: Any = None) -> Any:
        """Random vectors that move with `mean` and `cov`: standard ones, times the factor of Cholesky.

        Their numbers are not SciPy's, which takes another factor.
        """
        _, mean, factor = _location_and_factor(self.name, mean, cov)
        standard = asarray(self.generator(random_state).standard_normal((*_size(size), mean.size)), dtype=mean.dtype)
        drawn = mean + standard @ mT(factor)
        return drawn[..., 0] if mean.size == 1 else drawn


class MultivariateT(Multivariate):
    """Multivariate t distribution.

    Parameters
    ----------
    *args, **kwds : array_like
        loc, shape and df, by position or by name, as for `logpdf`.

    Returns
    -------
    Frozen
        The distribution with these parameters, whose methods take no others.
    """

    def logpdf(self, x: Any, loc: Any = None, shape: Any = 1.0, df: Any = 1.0) -> Any:
        """The logarithm of the density.

        Parameters
        ----------
        x : array_like, shape (..., n)
        loc : array_like, shape (n,), optional
            Zero by default.
        shape : array_like
            A number, or a positive definite matrix of shape (n, n).
        df : float
            Degrees of freedom.

        Returns
        -------
        Tensor
        """
        x, loc, factor = _location_and_factor(self.name, loc, shape, x)
        (df,) = reals(self.name, df)
        squared, log_det = _distance(x, loc, factor)
        total = df + loc.size
        return gammaln(total / 2) - gammaln(df / 2) - (loc.size * log(math.pi * df) + log_det + total * log1p(squared / df)) / 2

    def entropy(self, loc: Any = None, shape: Any = 1.0, df: Any = 1.0) -> Any:
        """The differential entropy in nats."""
        _, loc, factor = _location_and_factor(self.name, loc, shape)
        (df,) = reals(self.name, df)
        half, total = df / 2, (df + loc.size) / 2
        constant = gammaln(half) - gammaln(total) + loc.size / 2 * log(math.pi * df)
        return constant + total * (digamma(total) - digamma(half)) + ops.sum(log(ops.diagonal(factor)))


class VonMisesFisher(Multivariate):
    """Von Mises-Fisher distribution of unit vectors.

    Parameters
    ----------
    *args, **kwds : array_like
        mu and kappa, by position or by name, as for `logpdf`.

    Returns
    -------
    Frozen
        The distribution with these parameters, whose methods take no others.
    """

    def logpdf(self, x: Any, mu: Any = None, kappa: Any = 1.0) -> Any:
        """The logarithm of the density on the sphere.

        Parameters
        ----------
        x : array_like, shape (..., n)
            Unit vectors.
        mu : array_like, shape (n,)
            The mean direction, a unit vector.
        kappa : float
            Concentration, positive.

        Returns
        -------
        Tensor
        """
        if mu is None:
            raise ValueError(f"{self.name}: mu must be given, a unit vector")
        x, mu, kappa = reals(self.name, x, mu, kappa)
        return self._log_constant(mu.size, kappa) + kappa * (ops.sum(x * mu, axis=-1) - 1)

    def _log_constant(self, size: int, kappa: Any) -> Any:
        half = size / 2
        return (half - 1) * log(kappa) - half * LOG_2PI - log(ive(half - 1, kappa))

    def entropy(self, mu: Any = None, kappa: Any = 1.0) -> Any:
        """The differential entropy in nats."""
        mu, kappa = reals(self.name, mu, kappa)
        half = mu.size / 2
        return -self._log_constant(mu.size, kappa) + kappa * (1 - ive(half, kappa) / ive(half - 1, kappa))


class Dirichlet(Multivariate):
    """Dirichlet distribution.

    Parameters
    ----------
    *args, **kwds : array_like
        alpha, by position or by name, as for `logpdf`.

    Returns
    -------
    Frozen
        The distribution with these parameters, whose methods take no others.
    """

    def _read(self, where: str, alpha: Any, x: Any = None) -> tuple[Any, Any, Any]:
        given = reals(f"{self.name}.{where}", *(v for v in (x, alpha) if v is not None))
        alpha = given[-1]
        if alpha.ndim != 1 or some(alpha <= 0):
            raise ValueError(f"{self.name}.{where}: alpha must be a vector of positive numbers")
        if x is None:
            return None, alpha, ops.sum(alpha)
        x = given[0]
        if x.shape[0] == alpha.size - 1:
            x = ops.concat([x, 1 - ops.sum(x, axis=0, keepdims=True)])
        if x.shape[0] != alpha.size:
            raise ValueError(f"{self.name}.{where}: x must have {alpha.size} or {alpha.size - 1} elements along its first axis, "
                             f"got the shape {x.shape}")  # fmt: skip
        if some((x < 0) | (abs(ops.sum(x, axis=0) - 1) > 1e-9)):
            raise ValueError(f"{self.name}.{where}: x must hold numbers from 0 to 1 whose sum is 1")
        return x, ops.reshape(alpha, (-1,) + (1,) * (x.ndim - 1)), ops.sum(alpha)

    def logpdf(self, x: Any, alpha: Any) -> Any:
        """The logarithm of the density.

        Parameters
        ----------
        x : array_like, shape (n, ...) or (n - 1, ...)
            With sum 1 along the first axis; the last element may be omitted.
        alpha : array_like, shape (n,)
            Positive.

        Returns
        -------
        Tensor

        Raises
        ------
        ValueError
            x is not on the simplex, or alpha not positive.
        """
        x, alpha, total = self._read("logpdf", alpha, x)
        return gammaln(total) - ops.sum(gammaln(alpha)) + ops.sum(xlogy(alpha - 1, x), axis=0)

    def mean(self, alpha: Any) -> Any:
        """The mean."""
        _, alpha, total = self._read("mean", alpha)
        return alpha / total

    def var(self, alpha: Any) -> Any:
        """The variance of each element."""
        _, alpha, total = self._read("var", alpha)
        return alpha * (total - alpha) / (total * total * (total + 1))

    def cov(self, alpha: Any) -> Any:
        """The covariance matrix."""
        _, alpha, total = self._read("cov", alpha)
        mean = alpha / total
        return (ops.diag(mean) - ops.outer(mean, mean)) / (total + 1)

    def entropy(self, alpha: Any) -> Any:
        """The differential entropy in nats."""
        _, alpha, total = self._read("entropy", alpha)
        constant = ops.sum(gammaln(alpha)) - gammaln(total)
        return constant + (total - alpha.size) * digamma(total) - ops.sum((alpha - 1) * digamma(alpha))

    def rvs(self, alpha: Any, size: Any = 1, random_state: Any = None) -> Any:
        """Random vectors along the last axis, which move with `alpha`: gamma numbers over their sum."""
        from .gamma_kind import gamma

        _, alpha, _ = self._read("rvs", alpha)
        drawn = gamma.rvs(alpha, size=(*_size(size), alpha.size), random_state=self.generator(random_state))
        return drawn / ops.sum(drawn, axis=-1, keepdims=True)


class Multinomial(Multivariate):
    """Multinomial distribution.

    Parameters
    ----------
    *args, **kwds : array_like
        n and p, by position or by name, as for `logpmf`.

    Returns
    -------
    Frozen
        The distribution with these parameters, whose methods take no others.
    """

    def logpmf(self, x: Any, n: Any, p: Any) -> Any:
        """The logarithm of the probability; -inf if the counts do not sum to n.

        Parameters
        ----------
        x : array_like, shape (..., k)
            Counts.
        n : int
            Their sum.
        p : array_like, shape (k,)
            Probabilities; the last one is 1 minus the others, as in SciPy.

        Returns
        -------
        Tensor
        """
        x, n, p = reals(self.name, x, n, p)
        x = refused(x, (x,), f"scipy.stats.{self.name}.logpmf is of whole numbers: it has no derivative in x; pass x.detach()")
        p = ops.concat([p[..., :-1], 1 - ops.sum(p[..., :-1], axis=-1, keepdims=True)], axis=-1)
        fits = (ops.sum(x, axis=-1) == n) & ops.all((x >= 0) & (ops.floor(x) == x), axis=-1)
        valid = ops.all((p >= 0) & (p <= 1), axis=-1) & (n >= 0)
        safe = where(x >= 0, x, 0.0)
        value = gammaln(n + 1) + ops.sum(xlogy(safe, p) - gammaln(safe + 1), axis=-1)
        return where(valid, where(fits, value, -math.inf), math.nan)

    def pmf(self, x: Any, n: Any, p: Any) -> Any:
        """The probability."""
        return exp(self.logpmf(x, n, p))

    def cov(self, n: Any, p: Any) -> Any:
        """The covariance matrix."""
        n, p = reals(self.name, n, p)
        return n * (ops.diag(p) - ops.outer(p, p))

    def rvs(self, n: Any, p: Any, size: Any = None, random_state: Any = None) -> Any:
        """Random counts, which have no derivative."""
        (p,) = reals(self.name, p)
        must_be_constant(f"scipy.stats.{self.name}.rvs draws whole numbers", [p])
        return asarray(self.generator(random_state).multinomial(n, p.numpy(), size))


class DirichletMultinomial(Multivariate):
    """Dirichlet-multinomial distribution: counts whose probabilities follow a Dirichlet distribution.

    Parameters
    ----------
    *args, **kwds : array_like
        alpha, positive, and n, the sum of the counts, by position or by name, as for `logpmf`.

    Returns
    -------
    Frozen
        The distribution with these parameters, whose methods take no others.
    """

    def logpmf(self, x: Any, alpha: Any, n: Any) -> Any:
        """The logarithm of the probability; -inf if the counts do not sum to n."""
        x, alpha, n = reals(self.name, x, alpha, n)
        x = refused(x, (x,), f"scipy.stats.{self.name}.logpmf is of whole numbers: it has no derivative in x; pass x.detach()")
        total = ops.sum(alpha, axis=-1)
        value = gammaln(total) + gammaln(n + 1) - gammaln(n + total)
        value = value + ops.sum(gammaln(x + alpha) - gammaln(alpha) - gammaln(x + 1), axis=-1)
        return where(ops.sum(x, axis=-1) == n, value, -math.inf)

    def pmf(self, x: Any, alpha: Any, n: Any) -> Any:
        """The probability."""
        return exp(self.logpmf(x, alpha, n))

    def mean(self, alpha: Any, n: Any) -> Any:
        """The mean."""
        alpha, n = reals(self.name, alpha, n)
        return n * alpha / ops.sum(alpha, axis=-1, keepdims=True)


multivariate_normal = MultivariateNormal("multivariate_normal")
multivariate_t = MultivariateT("multivariate_t")
vonmises_fisher = VonMisesFisher("vonmises_fisher")
dirichlet = Dirichlet("dirichlet")
multinomial = Multinomial("multinomial")
dirichlet_multinomial = DirichletMultinomial("dirichlet_multinomial")
