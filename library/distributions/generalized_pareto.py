"""GeneralizedPareto: the distribution of the excess over a high threshold.

States its density and probabilities, by series where its concentration is near 0.
"""

from __future__ import annotations

import math
from typing import Any

from ..support.dispatch import ops
from . import constraints
from .distribution import Distribution
from .numbers import alias, broadcast


class GeneralizedPareto(Distribution):
    """Generalised Pareto distribution: the probability of more than x is (1 + c z)^(-1 / c), z = (x - loc) / scale.

    Parameters
    ----------
    loc : array_like
        The least number.
    scale : array_like
        Positive.
    concentration : array_like
        c; for 0 the distribution is exponential, below 0 it ends at loc - scale / c.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.GeneralizedPareto(0.0, 1.0, 0.5).mean
    tensor(2.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast("GeneralizedPareto", loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        c = self.concentration
        falls = c < 0
        return constraints.interval(self.loc, ops.where(falls, self.loc - self.scale / ops.where(falls, c, -1.0), math.inf))

    def _log_survival(self, z: Any) -> Any:
        """log of the probability of more than z: -log(1 + c z) / c, by a series for small c z."""
        product = self.concentration * z
        flat = abs(product) < 1e-4
        small = ops.where(flat, product, 0.0)
        series = 1 + small * (-1 / 2 + small * (1 / 3 + small * (-1 / 4 + small * (1 / 5 - small / 6))))
        steep = ops.where(flat, 1.0, product)
        return -z * ops.where(flat, series, ops.log1p(steep) / steep)

    def _z(self, value: Any) -> Any:
        return (value - self.loc) / self.scale

    def _log_prob(self, value: Any) -> Any:
        z = self._z(value)
        return -ops.log(self.scale) + self._log_survival(z) - ops.log1p(self.concentration * z)

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of the probability of more than `value`.

        Parameters
        ----------
        value : array_like or Tensor

        Returns
        -------
        Tensor
        """
        return self._log_survival(self._z(self._as_value(value)))

    def log_cdf(self, value: Any) -> Any:
        """log(cdf).

        Parameters
        ----------
        value : array_like or Tensor

        Returns
        -------
        Tensor
        """
        return ops.log1mexp(-self.log_survival_function(value))

    def _cdf(self, value: Any) -> Any:
        return -ops.expm1(self._log_survival(self._z(value)))

    def _icdf(self, value: Any) -> Any:
        log_rest, c = ops.log1p(-value), self.concentration
        product = -c * log_rest
        flat = abs(product) < 1e-4
        small = ops.where(flat, product, 0.0)
        series = 1 + small * (1 / 2 + small * (1 / 6 + small * (1 / 24 + small / 120)))
        steep = ops.where(flat, 1.0, product)
        return self.loc - self.scale * log_rest * ops.where(flat, series, ops.expm1(steep) / steep)

    def _middle(self) -> Any:
        return self.loc.detach()

    def _draw(self, shape: Any, generator: Any) -> Any:
        return self._icdf(ops._standard("uniform", 0.0, self.loc, shape, generator=generator))

    @property
    def mean(self) -> Any:
        c = self.concentration
        return ops.where(c < 1, self.loc + self.scale / (1 - ops.where(c < 1, c, 0.0)), math.inf)

    mode = alias("loc")

    @property
    def variance(self) -> Any:
        c = ops.where(self.concentration < 0.5, self.concentration, 0.0)
        return ops.where(self.concentration < 0.5, self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c)), math.inf)

    def entropy(self) -> Any:
        return ops.log(self.scale) + self.concentration + 1
