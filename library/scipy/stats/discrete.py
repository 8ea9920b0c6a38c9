"""Discrete distributions: probabilities of integers, with derivatives in the real parameters.

Refuses derivatives in integers: in the argument, and in integer parameters.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...support.dispatch import ops
from ..values import must_be_constant, refused
from .distribution import WAYS, Distribution, Formula

WAYS_OF_MASS = {"logpmf": [(("pmf",), WAYS["logpdf"][0][1])], "pmf": [(("logpmf",), WAYS["pdf"][0][1])]}


class Discrete(Distribution):
    """A distribution of integers.

    Parameters
    ----------
    whole : str
        Names of the integer shape parameters, separated by spaces.
    """

    _has_scale = False
    _ways = {**{name: ways for name, ways in WAYS.items() if "pdf" not in name}, **WAYS_OF_MASS}

    def __init__(self, *args: Any, whole: str = "", **stated: Any) -> None:
        if stated.keys().isdisjoint(("cdf", "sf", "logcdf", "logsf")):
            stated.update(cdf=self._by_scipy("cdf"), sf=self._by_scipy("sf"))
        super().__init__(*args, **stated)
        self._whole = whole.split()

    def _by_scipy(self, name: str) -> Formula:
        return lambda k, *shapes: self._without(name, list(shapes), k)

    def _standard(self, where: str, k: Any, args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
        """k at `loc` 0, the shapes, whether they are admissible, and the ends of the support."""
        k, shapes, loc, scale = self._tensors(where, args, kwds, (k,))
        words = f"scipy.stats.{self.name}.{where} is of whole numbers: it has no derivative in k, loc"
        words = ", ".join([words, *self._whole]) + "; pass k.detach()"
        k = refused(k - loc, (k, loc), words)
        valid, named = self._valid(shapes, scale), list(zip(self._names, shapes))
        for name, shape in named:
            if name in self._whole:
                valid = valid & (ops.floor(shape) == shape)
        shapes = [refused(shape, (shape,), words) if name in self._whole else shape for name, shape in named]
        return k, shapes, valid, self._ends(shapes)

    def _mass(self, which: str, k: Any, args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
        with np.errstate(all="ignore"):
            k, shapes, valid, ends = self._standard(which, k, args, kwds)
            beyond = (k < ends[0]) | (k > ends[1]) | ops.isinf(k) | (ops.floor(k) != k) & (k == k)
            value = self._formulas[which](ops.where(beyond, self._first(ends), k), *shapes)
            return ops.where(valid, ops.where(beyond, -math.inf if which == "logpmf" else 0.0, value), math.nan)

    def _first(self, ends: Any) -> Any:
        """An integer in the support."""
        return 0.0 if isinstance(ends[0], float) and ends[0] == -math.inf else ends[0]

    def logpmf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of the probability of k; -inf with derivatives 0 if k is not in the support."""
        return self._mass("logpmf", k, args, kwds)

    def pmf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of k."""
        return self._mass("pmf", k, args, kwds)

    def _probability(self, which: str, k: Any, args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
        with np.errstate(all="ignore"):
            k, shapes, valid, ends = self._standard(which, k, args, kwds)
            below, above = k < ends[0], k >= ends[1]
            value = self._formulas[which](ops.floor(ops.where(below | above, self._first(ends), k)), *shapes)
            return self._between(which, valid, below, above, value)

    def cdf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of values up to k."""
        return self._probability("cdf", k, args, kwds)

    def sf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of more than k."""
        return self._probability("sf", k, args, kwds)

    def logcdf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of `cdf`."""
        return self._probability("logcdf", k, args, kwds)

    def logsf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of `sf`."""
        return self._probability("logsf", k, args, kwds)

    def _quantile(self, which: str, q: Any, args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
        q, shapes, loc, _ = self._tensors(which, args, kwds, (q,))
        words = f"scipy.stats.{self.name}.{which} is a step function: it has no derivative; pass q.detach()"
        return refused(self._scipys(which, q, *shapes) + loc, (q, *shapes, loc), words)

    def ppf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        """The least number whose `cdf` is at least q; it has no derivative."""
        return self._quantile("ppf", q, args, kwds)

    def isf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        """The least number whose `sf` is at most q; it has no derivative."""
        return self._quantile("isf", q, args, kwds)

    def expect(self, func: Any = None, args: tuple = (), loc: Any = 0, lb: Any = None, ub: Any = None,
               conditional: bool = False) -> Any:  # fmt: skip
        """The mean of a function of k, by a sum over the numbers that have a probability.

        Parameters
        ----------
        func : callable, optional
            Takes a Tensor of all these numbers and returns one of that shape; k itself by default.
        args : tuple
            The shape parameters, each a single number, like `loc`.
        lb, ub : int, optional
            The first and the last number; by default the ends of the support, or the points beyond which the probability is below
            1e-15.
        conditional : bool
            Whether the sum is divided by the probability between the ends.

        Returns
        -------
        Tensor, shape ()
        """
        from .fitting import expect_of_counts

        return expect_of_counts(self, func or (lambda k: k), tuple(args), {"loc": loc}, (lb, ub), conditional)

    def rvs(self, *args: Any, size: Any = None, random_state: Any = None, **kwds: Any) -> Any:
        """Random integers, which have no derivative.

        Parameters
        ----------
        *args, **kwds
            Shape parameters and `loc`.
        size : int or tuple of int, optional
            The shape of the result; by default the parameters' shape.
        random_state : int, numpy.random.Generator or RandomState, optional
            As in SciPy, with the same numbers; by default the generator of `gradspec.manual_seed`.

        Returns
        -------
        Tensor
            Of integers.

        Raises
        ------
        RuntimeError
            A parameter requires grad, or has a tangent.
        """
        shapes, loc, scale = self._tensors("rvs", args, kwds)
        must_be_constant(f"scipy.stats.{self.name}.rvs draws whole numbers", [*shapes, loc])
        return ops.astype(self._drawn(shapes, loc, scale, size, random_state) + loc, np.int64)
