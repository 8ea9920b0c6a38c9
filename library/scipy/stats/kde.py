"""A density from points: `gaussian_kde`.

Computes it with operators: it has derivatives in the points, the weights and the evaluation points.
"""

from __future__ import annotations

import math
from typing import Any

from ...generated.ops import log, logsumexp, mT
from ...linalg import cholesky, solve_triangular
from ...support.dispatch import ops
from ..values import reals


class gaussian_kde:
    """A sum of normal densities around points.

    Parameters
    ----------
    dataset : array_like, shape (n,) or (d, n)
        The points.
    bw_method : {'scott', 'silverman'}, number, Tensor or callable, optional
        The factor of the bandwidth, or a function of this object that returns it; by default Scott's.
    weights : array_like, shape (n,), optional
        All the same without them.

    Attributes
    ----------
    factor : number or Tensor
    covariance : Tensor, shape (d, d)
        Covariance of each normal density.
    neff : Tensor
        Effective number of points.

    Examples
    --------
    >>> import gradspec as gs
    >>> points = gs.tensor([0.0, 1.0, 3.0], requires_grad=True)
    >>> gs.scipy.stats.gaussian_kde(points).logpdf([0.5, 2.0]).sum().backward()
    >>> points.grad.shape
    (3,)
    """

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        dataset, *rest = reals("gaussian_kde", dataset, *(() if weights is None else (weights,)))
        self.dataset = ops.reshape(dataset, (1, -1)) if dataset.ndim < 2 else dataset
        self.d, self.n = self.dataset.shape
        if self.n < 2:
            raise ValueError("gaussian_kde: dataset must hold several points")
        weights = rest[0] if rest else ops.ones(self.n, dtype=dataset.dtype)
        self.weights = weights / ops.sum(weights)
        self.neff = 1 / ops.sum(self.weights**2)
        if bw_method is None or bw_method == "scott":
            self.factor = self.scotts_factor()
        elif bw_method == "silverman":
            self.factor = self.silverman_factor()
        else:
            self.factor = bw_method(self) if callable(bw_method) else bw_method
        off = self.dataset - ops.sum(self.dataset * self.weights, axis=1, keepdims=True)
        data_covariance = (off * self.weights) @ mT(off) / (1 - 1 / self.neff)
        self.covariance = data_covariance * self.factor**2
        self._factor_of_covariance = cholesky(self.covariance)

    def scotts_factor(self) -> Any:
        """The factor of Scott."""
        return self.neff ** (-1.0 / (self.d + 4))

    def silverman_factor(self) -> Any:
        """The factor of Silverman."""
        return (self.neff * (self.d + 2) / 4.0) ** (-1.0 / (self.d + 4))

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density.

        Parameters
        ----------
        x : array_like, shape (m,) or (d, m)

        Returns
        -------
        Tensor, shape (m,)
        """
        (x,) = reals("gaussian_kde.logpdf", x)
        if x.ndim < 2:
            x = ops.reshape(x, (1, -1)) if self.d == 1 else ops.reshape(x, (-1, 1))
        if x.shape[0] != self.d:
            raise ValueError(f"gaussian_kde: expected points of {self.d} elements along the first axis, got the shape {x.shape}")
        scaled = [solve_triangular(self._factor_of_covariance, v, lower=True) for v in (x, self.dataset)]
        off = scaled[0][:, :, None] - scaled[1][:, None, :]
        constant = self.d / 2 * math.log(2 * math.pi) + ops.sum(log(ops.diagonal(self._factor_of_covariance)))
        return logsumexp(log(self.weights) - ops.sum(off * off, axis=0) / 2, axis=1) - constant

    def pdf(self, x: Any) -> Any:
        """The density; for the arguments see `logpdf`."""
        return ops.exp(self.logpdf(x))

    evaluate = __call__ = pdf
