"""biject_to and transform_to: the transform from all real numbers to a constraint.

Defines the registry, and the transform of each constraint.  `transform_to` maps onto the region, `biject_to` also one to one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


DOC = """

Parameters
----------
constraint : Constraint

Returns
-------
Transform

Raises
------
NotImplementedError
    No transform is registered for such constraints.
"""


class ConstraintRegistry:
    """Constraint classes and the functions that make a transform for a constraint of them.

    Examples
    --------
    >>> import gradspec as gs
    >>> from gradspec.distributions import constraints, transform_to
    >>> transform_to(constraints.greater_than(2.0))(gs.asarray(0.0))
    tensor(3.)
    """

    def __init__(self) -> None:
        self._factories: dict[type, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """Register a function for a class of constraints; as a decorator without `factory`.

        Parameters
        ----------
        constraint : type or Constraint
            A subclass of Constraint, or an instance of it.
        factory : callable, optional
            Takes a constraint, returns a Transform.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, constraints.Constraint)):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._factories[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """A transform from all real numbers to a constraint."""
        try:
            factory = self._factories[type(constraint)]
        except KeyError:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints") from None
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()
biject_to.__doc__ = f"The bijective transform from all real numbers to a constraint.{DOC}"
transform_to.__doc__ = f"A transform from all real numbers onto a constraint, which need not be bijective.{DOC}"


def _both(*kinds: Any) -> Callable[[Any], Any]:
    def register(factory: Any) -> Any:
        for kind in kinds:
            for registry in (biject_to, transform_to):
                registry.register(kind, factory)
        return factory

    return register


@_both(constraints.real)
def _real(constraint: Any) -> Any:
    return transforms.identity_transform


@_both(constraints.greater_than, constraints.greater_than_eq)
def _above(constraint: Any) -> Any:
    if isinstance(constraint.lower_bound, (int, float)) and constraint.lower_bound == 0:
        return transforms.ExpTransform()
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)])


@_both(constraints.less_than)
def _below(constraint: Any) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)])


@_both(constraints.interval, constraints.half_open_interval)
def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@_both(constraints.corr_cholesky)
def _corr_cholesky(constraint: Any) -> Any:
    return transforms.CorrCholeskyTransform()


biject_to.register(constraints.simplex, lambda constraint: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform())
for _region in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_region, lambda constraint: transforms.PositiveDefiniteTransform())


def _of_parts(registry: ConstraintRegistry) -> None:
    """The transforms of constraints that consist of others."""
    registry.register(constraints.independent, lambda constraint: transforms.IndependentTransform(
        registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims))  # fmt: skip
    registry.register(constraints.cat, lambda constraint: transforms.CatTransform(
        [registry(part) for part in constraint.cseq], constraint.dim, constraint.lengths))  # fmt: skip
    registry.register(constraints.stack, lambda constraint: transforms.StackTransform(
        [registry(part) for part in constraint.cseq], constraint.dim))  # fmt: skip


_of_parts(biject_to)
_of_parts(transform_to)
