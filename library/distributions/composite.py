"""Distributions from others: Independent, TransformedDistribution and MixtureSameFamily.

Decides which axes are the batch and the event of a result, and derives densities, probabilities and random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.grad_mode import no_grad
from ..func import implicit, stop_gradient
from ..support.dispatch import ops
from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .numbers import alias, sum_last
from .transform import ComposeTransform, Transform


class Independent(Distribution):
    """A distribution whose last batch axes belong to one value.

    Parameters
    ----------
    base_distribution : Distribution
    reinterpreted_batch_ndims : int
        How many axes, counted from the last.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> rows = gs.distributions.Independent(gs.distributions.Normal(gs.zeros((2, 3)), 1.0), 1)
    >>> rows.batch_shape, rows.event_shape, rows.log_prob(gs.zeros((2, 3))).shape
    ((2,), (3,), (2,))
    """

    arg_constraints: Any = {}

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                             f"{reinterpreted_batch_ndims} vs {len(batch)}")  # fmt: skip
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        cut = len(batch) - reinterpreted_batch_ndims
        super().__init__(batch[:cut], batch[cut:] + base_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        event = self.base_dist.batch_shape[len(self.batch_shape) :]
        return Independent(self.base_dist.expand(tuple(batch_shape) + event), self.reinterpreted_batch_ndims, self._validate_args)

    has_rsample: Any = alias("base_dist.has_rsample")

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_enumerate_support if self.reinterpreted_batch_ndims == 0 else False

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        base = self.base_dist.support
        return constraints.independent(base, self.reinterpreted_batch_ndims) if self.reinterpreted_batch_ndims else base

    _dtype = alias("base_dist._dtype")
    mean = alias("base_dist.mean")
    mode = alias("base_dist.mode")
    variance = alias("base_dist.variance")

    def log_prob(self, value: Any) -> Any:
        return sum_last(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return sum_last(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def _draw(self, shape: Any, generator: Any) -> Any:
        return self.base_dist._draw(shape, generator)

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The distribution of f(x), with x from a base distribution.

    Parameters
    ----------
    base_distribution : Distribution
    transforms : Transform or sequence of Transform
        The first one is applied first.
    validate_args : bool, optional

    Notes
    -----
    The density is that of x, divided by the Jacobian determinant; so `log_prob` needs bijective transforms, and `cdf` transforms
    that grow or fall.

    Examples
    --------
    >>> import gradspec as gs
    >>> from gradspec.distributions import Normal, TransformedDistribution, transforms
    >>> TransformedDistribution(Normal(0.0, 1.0), [transforms.ExpTransform()]).log_prob(1.0)
    tensor(-0.91893853)
    """

    arg_constraints: Any = {}

    def __init__(self, base_distribution: Distribution, transforms: Transform | Sequence[Transform],
                 validate_args: bool | None = None) -> None:  # fmt: skip
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(transform, Transform) for transform in self.transforms):
            raise ValueError(f"transforms must be a Transform or a list, but was {transforms}")
        whole = ComposeTransform(self.transforms)
        before = base_distribution.batch_shape + base_distribution.event_shape
        if len(before) < whole.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {whole.domain.event_dim}, but got {before}."
            )
        shape = whole.forward_shape(before)
        batch_ndims = len(before) - len(base_distribution.event_shape)
        expanded = whole.inverse_shape(shape)
        if expanded != before:
            base_distribution = base_distribution.expand(expanded[: len(expanded) - len(base_distribution.event_shape)])
            batch_ndims = len(base_distribution.batch_shape)
        claimed = whole.domain.event_dim - len(base_distribution.event_shape)
        if claimed > 0:
            base_distribution = Independent(base_distribution, claimed)
            batch_ndims -= claimed
        self.base_dist = base_distribution
        event = whole.codomain.event_dim + max(len(base_distribution.event_shape) - whole.domain.event_dim, 0)
        cut = len(shape) - event
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = type(self).__new__(type(self)) if _instance is None else _instance
        whole = ComposeTransform(self.transforms)
        shape = whole.inverse_shape(tuple(batch_shape) + self.event_shape)
        base = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.__dict__.update(self.__dict__, base_dist=base, _batch_shape=tuple(batch_shape))
        return new

    has_rsample: Any = alias("base_dist.has_rsample")

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        extra = len(self.event_shape) - support.event_dim
        return constraints.independent(support, extra) if extra > 0 else support

    _dtype = alias("base_dist._dtype")

    def _draw(self, shape: Any, generator: Any) -> Any:
        sample = tuple(shape[: len(shape) - len(self.batch_shape) - len(self.event_shape)])
        x = self.base_dist._draw(self.base_dist._extended_shape(sample), generator)
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Any = (), *, generator: Any = None) -> Any:
        with no_grad():
            x = self.base_dist.sample(sample_shape, generator=generator)
            for transform in self.transforms:
                x = transform(x)
            return x

    def _log_prob(self, value: Any) -> Any:
        total: Any = 0.0
        event = len(self.event_shape)
        y = value
        for transform in self.transforms[::-1]:
            x = transform.inv(y)
            event += transform.domain.event_dim - transform.codomain.event_dim
            total = total - sum_last(transform.log_abs_det_jacobian(x, y), event - transform.domain.event_dim)
            y = x
        return total + sum_last(self.base_dist.log_prob(y), event - len(self.base_dist.event_shape))

    def _sign(self) -> Any:
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return sign

    def _cdf(self, value: Any) -> Any:
        for transform in self.transforms[::-1]:
            value = transform.inv(value)
        return _swapped(self._sign(), self.base_dist.cdf(value))

    def _icdf(self, value: Any) -> Any:
        value = self.base_dist.icdf(_swapped(self._sign(), value))
        for transform in self.transforms:
            value = transform(value)
        return value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist!r}, {self.transforms!r})"


def _swapped(sign: Any, probability: Any) -> Any:
    """A probability, or its complement if the sign is -1."""
    if isinstance(sign, int):
        return probability if sign == 1 else 1 - probability
    return ops.where(sign > 0, probability, 1 - probability)


class MixtureSameFamily(Distribution):
    """A mixture of distributions of one family, whose last batch axis counts the components.

    Parameters
    ----------
    mixture_distribution : Categorical
        Weights of the components.
    component_distribution : Distribution
    validate_args : bool, optional

    Notes
    -----
    `rsample`, which PyTorch does not offer, is there for components of single numbers with a `cdf`: the number moves so that the
    mixture's `cdf` is constant, by weights too.

    Examples
    --------
    >>> import gradspec as gs
    >>> from gradspec.distributions import Categorical, MixtureSameFamily, Normal
    >>> two = MixtureSameFamily(Categorical(probs=[0.5, 0.5]), Normal([-1.0, 1.0], 1.0))
    >>> two.mean, two.variance, two.cdf(0.0)
    (tensor(0.), tensor(2.), tensor(0.5))
    """

    arg_constraints: Any = {}

    def __init__(self, mixture_distribution: Categorical, component_distribution: Distribution,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an instance of gradspec.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of gradspec.distributions.Distribution")
        batch, count = component_distribution.batch_shape[:-1], component_distribution.batch_shape[-1:]
        for one, other in zip(mixture_distribution.batch_shape[::-1], batch[::-1]):
            if one != other and 1 not in (one, other):
                raise ValueError(f"`mixture_distribution.batch_shape` ({mixture_distribution.batch_shape}) is not compatible "
                                 f"with `component_distribution.batch_shape`({component_distribution.batch_shape})")  # fmt: skip
        if count != (mixture_distribution._num_events,):
            raise ValueError(f"`mixture_distribution component` ({mixture_distribution._num_events}) does not equal "
                             f"`component_distribution.batch_shape[-1]` ({count})")  # fmt: skip
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        batch_shape = tuple(batch_shape)
        components = self._component_distribution.expand((*batch_shape, self._mixture_distribution._num_events))
        return MixtureSameFamily(self._mixture_distribution.expand(batch_shape), components, self._validate_args)

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    mixture_distribution = alias("_mixture_distribution", "The distribution of the component.")
    component_distribution = alias("_component_distribution", "The distributions of a value, given its component.")
    _dtype = alias("_component_distribution._dtype")

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        base = self._component_distribution
        own = type(base)._cdf is not Distribution._cdf or type(base).cdf is not Distribution.cdf
        return base.has_rsample and not self.event_shape and own

    def _weighted(self, values: Any) -> Any:
        """The mean over the components."""
        probs = self._mixture_distribution.probs
        probs = ops.reshape(probs, (*probs.shape, *(1,) * len(self.event_shape)))
        return ops.sum(probs * values, -1 - len(self.event_shape))

    def _pad(self, value: Any) -> Any:
        return ops.expand_dims(value, -1 - len(self.event_shape))

    @property
    def mean(self) -> Any:
        return self._weighted(self._component_distribution.mean)

    @property
    def variance(self) -> Any:
        within = self._weighted(self._component_distribution.variance)
        return within + self._weighted((self._component_distribution.mean - self._pad(self.mean)) ** 2)

    def _log_prob(self, value: Any) -> Any:
        weights = ops.log_softmax(self._mixture_distribution.logits, -1)
        return ops.logsumexp(self._component_distribution.log_prob(self._pad(value)) + weights, -1)

    def cdf(self, value: Any) -> Any:
        value = self._as_value(value)
        return ops.sum(self._component_distribution.cdf(self._pad(value)) * self._mixture_distribution.probs, -1)

    def _draw(self, shape: Any, generator: Any) -> Any:
        sample = tuple(shape[: len(shape) - len(self.batch_shape) - len(self.event_shape)])
        place = self._mixture_distribution.expand(self.batch_shape).sample(sample, generator=generator)
        drawn = self._component_distribution.sample(sample, generator=generator)
        place = ops.reshape(place, (*place.shape, *(1,) * (1 + len(self.event_shape))))
        axis = -1 - len(self.event_shape)
        place = ops.broadcast_to(place, (*place.shape[: place.ndim + axis], 1, *self.event_shape))
        return ops.squeeze(ops.take_along_axis(drawn, place, axis), axis)

    def rsample(self, sample_shape: Any = (), *, generator: Any = None) -> Any:
        if not self.has_rsample:
            raise NotImplementedError("MixtureSameFamily.rsample needs components of single numbers that have rsample and cdf; "
                                      f"got {self._component_distribution!r}")  # fmt: skip
        drawn = self.sample(sample_shape, generator=generator)
        level = stop_gradient(self.cdf(drawn))
        return implicit(lambda x: x, lambda y, x: self.cdf(y) - level, solve=_by_diagonal)(drawn)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution!r},\n  {self._component_distribution!r})"


def _by_diagonal(matvec: Any, b: Any) -> Any:
    """The solution of a linear equation with a diagonal matrix, which is the image of ones."""
    return b / matvec(ops.ones_like(b))
