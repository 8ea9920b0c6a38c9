"""Distribution: the base class of all distributions, with PyTorch's methods and attributes.

Defines the checks of parameters and values, shapes, and the methods that follow from those that a distribution states.
"""

from __future__ import annotations

from math import inf
from typing import Any, ClassVar

import numpy as np

from ..core.conversion import asarray
from ..core.grad_mode import no_grad
from ..core.tensor import TensorBase
from ..func import jvp, stop_gradient
from ..support.dispatch import ops
from .constraints import Constraint, is_dependent
from .numbers import known, lazy, one_stream

Shape = tuple[int, ...]


class Distribution:
    """A distribution over tensors of shape `event_shape`, one for each element of `batch_shape`.

    A distribution states `arg_constraints`, `support`, `_log_prob`, `_draw` and its moments.

    Parameters
    ----------
    batch_shape : tuple of int
        The shape of independent distributions with parameters of their own.
    event_shape : tuple of int
        The shape of one value.
    validate_args : bool, optional
        Whether parameters and values are compared with their constraints; by default they are.

    Attributes
    ----------
    arg_constraints : dict of str to Constraint
        The constraint of each parameter.
    support : Constraint
        The region of all values.
    has_rsample : bool
        Whether random numbers have derivatives in the parameters.
    has_enumerate_support : bool
        Whether `enumerate_support` is offered.

    Raises
    ------
    ValueError
        A parameter violates its constraint.  Inside of `vmap` the numbers are unknown: there the results are NaN, if the formula
        is not defined.

    Notes
    -----
    Without `validate_args`, the `log_prob` of a value beyond the ends of the support is -inf; between whole numbers it is the
    formula's, as in PyTorch.
    """

    arg_constraints: ClassVar[Any] = {}
    support: Any = None
    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args: bool = __debug__

    def __init__(self, batch_shape: Shape = (), event_shape: Shape = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = tuple(batch_shape), tuple(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                if name in self.__dict__ and not is_dependent(constraint):
                    self._validate_parameter(name, constraint)

    def _validate_parameter(self, name: str, constraint: Constraint) -> None:
        value = asarray(getattr(self, name))
        if known(constraint.check(value)) is False:
            raise ValueError(f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                             f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n"
                             f"{stop_gradient(value)}")  # fmt: skip

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Choose whether distributions check parameters and values when `validate_args` is not given.

        Parameters
        ----------
        value : bool
        """
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: expected a bool, got {value!r}")
        Distribution._validate_args = value

    # Shapes.

    @property
    def batch_shape(self) -> Shape:
        """The shape of the parameters' batch."""
        return self._batch_shape

    @property
    def event_shape(self) -> Shape:
        """The shape of one value."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = ()) -> Shape:
        sample_shape = (sample_shape,) if isinstance(sample_shape, int) else tuple(sample_shape)
        return sample_shape + self._batch_shape + self._event_shape

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        """The distribution with its parameters broadcast to a batch shape.

        Parameters
        ----------
        batch_shape : tuple of int

        Returns
        -------
        Distribution
            Of the same class; parameters are views.
        """
        batch_shape = tuple(batch_shape)
        new = type(self).__new__(type(self)) if _instance is None else _instance
        new.__dict__.update(self.__dict__, _batch_shape=batch_shape)
        for name, constraint in self.arg_constraints.items():
            value = self.__dict__.get(name)
            if isinstance(value, TensorBase):
                event = value.shape[value.ndim - constraint.event_dim :]
                new.__dict__[name] = ops.broadcast_to(value, batch_shape + tuple(event))
        return new

    # Values.

    def _tensors(self) -> list[Any]:
        """The parameters that are tensors."""
        return [value for name in self.arg_constraints if isinstance(value := self.__dict__.get(name), TensorBase)]

    @property
    def _dtype(self) -> Any:
        return self._tensors()[0].dtype

    def _as_value(self, value: Any) -> Any:
        tensor = asarray(value)
        if tensor.dtype.kind not in "fc" or isinstance(value, (int, float)):
            tensor = ops.astype(tensor, self._dtype)
        return tensor

    def _inside(self, value: Any) -> Any:
        """None if all values are known to be in the support, else a mask of the shape of `log_prob`: True inside.

        Raises
        ------
        ValueError
            The shape of a value does not suit, or a value is not in the support and `validate_args` is set.
        """
        event = len(self._event_shape)
        shape = tuple(value.shape)
        if shape[len(shape) - event :] != self._event_shape or len(shape) < event:
            raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}.")
        for size, own in zip(shape[: len(shape) - event][::-1], self._batch_shape[::-1]):
            if size not in (1, own) and own != 1:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs "
                                 f"{self._batch_shape + self._event_shape}.")  # fmt: skip
        support = self.support
        if support is None or is_dependent(support):
            return None
        if not self._validate_args:
            return support.continued_check(value)
        valid = support.check(value)
        answer = known(valid)
        if answer is False:
            raise ValueError(f"Expected value argument ({type(value).__name__} of shape {shape}) to be within the support "
                             f"({support!r}) of the distribution {self!r}, but found invalid values:\n"
                             f"{stop_gradient(value)}")  # fmt: skip
        return None if answer else valid

    def _validate_sample(self, value: Any) -> None:
        """Raise a ValueError if a value is not in the support: for classes that define `log_prob` themselves, as in PyTorch."""
        self._inside(asarray(value))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability density, or of the probability, at a value.

        Parameters
        ----------
        value : array_like or Tensor
            Its last axes are `event_shape`, the others broadcast with `batch_shape`.

        Returns
        -------
        Tensor

        Raises
        ------
        ValueError
            A value is not in the support, and `validate_args` is set.
        """
        value = self._as_value(value)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = self._inside(value)
            found = self._log_prob(value)
            return found if inside is None else ops.where(inside, found, -inf)

    def _log_prob(self, value: Any) -> Any:
        raise self._lacks("log_prob")

    def cdf(self, value: Any) -> Any:
        """The probability of at most `value`.

        Parameters
        ----------
        value : array_like or Tensor

        Returns
        -------
        Tensor
        """
        value = self._as_value(value)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = self._inside(value)
            found = self._cdf(value)
            if inside is None:
                return found
            return ops.where(inside, found, ops.where(value < self._middle(), 0.0, ops.where(ops.isnan(value), value, 1.0)))

    def _middle(self) -> Any:
        """A number that divides values below the support from those above."""
        return stop_gradient(getattr(self.support, "lower_bound", 0.0))

    def _cdf(self, value: Any) -> Any:
        raise self._lacks("cdf")

    def icdf(self, value: Any) -> Any:
        """The quantile: the point whose `cdf` is `value`.

        Parameters
        ----------
        value : array_like or Tensor
            Probabilities.

        Returns
        -------
        Tensor
            NaN for a number that is not between 0 and 1.
        """
        value = self._as_value(value)
        with np.errstate(divide="ignore", invalid="ignore"):
            return ops.where((value >= 0) & (value <= 1), self._icdf(value), float("nan"))

    def _icdf(self, value: Any) -> Any:
        raise self._lacks("icdf")

    # Random numbers.

    def rsample(self, sample_shape: Any = (), *, generator: Any = None) -> Any:
        """Random values with derivatives in the parameters.

        Parameters
        ----------
        sample_shape : tuple of int
            Shape of independent draws of the whole batch.
        generator : numpy.random.Generator or int, optional
            Source of the random numbers, or a seed; by default the generator of `gradspec.manual_seed`.

        Returns
        -------
        Tensor, shape sample_shape + batch_shape + event_shape
        """
        if not self.has_rsample:
            raise self._lacks("rsample")
        return self._draw(self._extended_shape(sample_shape), one_stream(generator))

    def sample(self, sample_shape: Any = (), *, generator: Any = None) -> Any:
        """Random values without derivatives; parameters as for `rsample`.

        Returns
        -------
        Tensor, shape sample_shape + batch_shape + event_shape
        """
        with no_grad():
            return stop_gradient(self._draw(self._extended_shape(sample_shape), one_stream(generator)))

    def sample_n(self, n: int) -> Any:
        """`sample((n,))`."""
        return self.sample((n,))

    def _draw(self, shape: Shape, generator: Any) -> Any:
        raise self._lacks("sample")

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values of a discrete distribution, along a new first axis.

        Parameters
        ----------
        expand : bool
            Whether the result has the whole batch shape, or ones in its place.

        Returns
        -------
        Tensor, shape (count,) + batch_shape + event_shape
        """
        if not self.has_enumerate_support:
            raise self._lacks("enumerate_support")
        values = self._values()
        ones = (1,) * len(self._batch_shape)
        values = ops.reshape(values, (values.shape[0], *ones, *self._event_shape))
        return ops.broadcast_to(values, (values.shape[0], *self._batch_shape, *self._event_shape)) if expand else values

    def _values(self) -> Any:
        raise self._lacks("enumerate_support")

    # Moments.

    @property
    def mean(self) -> Any:
        """The mean; inf or NaN if it is infinite or does not exist."""
        raise self._lacks("mean")

    @property
    def mode(self) -> Any:
        """The most probable value."""
        raise self._lacks("mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise self._lacks("variance")

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return ops.sqrt(self.variance)

    def entropy(self) -> Any:
        """The entropy in nats, of shape `batch_shape`.

        Returns
        -------
        Tensor
        """
        raise self._lacks("entropy")

    def perplexity(self) -> Any:
        """exp(entropy)."""
        return ops.exp(self.entropy())

    def _lacks(self, method: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {method}: there is no formula of it")

    def __repr__(self) -> str:
        given = [(name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__]
        texts = [f"{name}: {stop_gradient(value)!r}" if not isinstance(value, TensorBase) or value.ndim == 0
                 else f"{name}: {tuple(value.shape)}" for name, value in given]  # fmt: skip
        return f"{type(self).__name__}({', '.join(texts)})"


class ExponentialFamily(Distribution):
    """A distribution with the density exp(<t(x), eta> - A(eta) + h(x)), whose entropy and divergences follow from A.

    A subclass states `_natural_params`, a tuple of tensors eta, the function `_log_normalizer`, `A(*eta)`, and
    `_mean_carrier_measure`, the mean of h.

    Parameters
    ----------
    batch_shape, event_shape, validate_args
        As for `Distribution`.
    """

    _mean_carrier_measure: Any = 0.0

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise self._lacks("_natural_params")

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise self._lacks("_log_normalizer")

    def entropy(self) -> Any:
        """The entropy A - <eta, dA/deta> - E[h], in nats."""
        eta = self._natural_params
        value, slope = jvp(self._log_normalizer, eta, eta)
        return value - slope - self._mean_carrier_measure


class Paired:
    """A distribution with the parameter `probs` or `logits`, and the other one computed from it."""

    _given: str

    @lazy
    def probs(self) -> Any:
        """Probabilities."""
        return ops.sigmoid(self.logits)

    @lazy
    def logits(self) -> Any:
        """Logarithms of the odds, log(p / (1 - p))."""
        return ops.logit(self.probs)
