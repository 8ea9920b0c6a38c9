"""Constraints: regions of tensors, for parameters and supports of distributions.

Defines the regions, how a value is compared with them, and their text in messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradspec  # noqa: F401 (waits for it)

from ..func import stop_gradient
from ..support.dispatch import ops
from .numbers import all_last

__all__ = [
    "Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than", "greater_than_eq",
    "half_open_interval", "independent", "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky",
    "lower_triangular", "MixtureSameFamilyConstraint", "multinomial", "nonnegative", "nonnegative_integer", "one_hot",
    "positive", "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square",
    "stack", "symmetric", "unit_interval",
]  # fmt: skip
__dir__ = __all__.copy


class Constraint:
    """A region of tensors.

    Attributes
    ----------
    is_discrete : bool
        Whether its values are whole numbers.
    event_dim : int
        The number of the last axes that one value occupies.
    """

    is_discrete, event_dim = False, 0

    def check(self, value: Any) -> Any:
        """Whether each value is in the region.

        Parameters
        ----------
        value : Tensor

        Returns
        -------
        Tensor of bool
            Without the last `event_dim` axes.
        """
        raise NotImplementedError

    def continued_check(self, value: Any) -> Any:
        """`check` that does not ask whether numbers are whole; None for a region without ends."""
        return self.check(value)

    def __repr__(self) -> str:
        return type(self).__name__.lstrip("_") + "()"


class _Dependent(Constraint):
    """A region that depends on other parameters, and is not known from the class alone."""

    def __init__(self, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, *, is_discrete: bool | None = None, event_dim: int | None = None) -> Constraint:
        return _Dependent(is_discrete=self.is_discrete if is_discrete is None else is_discrete,
                          event_dim=self.event_dim if event_dim is None else event_dim)  # fmt: skip

    def check(self, value: Any) -> Any:
        raise ValueError("the region depends on the parameters: ask the constraint of a distribution, and not of its class")


class dependent_property(property, _Dependent):  # noqa: N801
    """A property of a distribution that is a constraint; on the class it is `dependent`.

    Parameters
    ----------
    fn : callable
        Takes the distribution, returns its constraint.
    is_discrete : bool
    event_dim : int
    """

    def __init__(self, fn: Callable[..., Any] | None = None, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        super().__init__(fn)
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> dependent_property:  # type: ignore[override]
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


class _Real(Constraint):
    def check(self, value: Any) -> Any:
        return value == value

    def continued_check(self, value: Any) -> Any:
        return None


class _Between(Constraint):
    """Numbers between two ends, which are given for the text of the constraint under their names."""

    ends: tuple[str, ...] = ()

    def __init__(self, *ends: Any) -> None:
        self._ends = ends
        self.__dict__.update(zip(self.ends, ends))

    def __repr__(self) -> str:
        texts = (f"{name}={_short(end)}" for name, end in zip(self.ends, self._ends))
        return f"{type(self).__name__}({', '.join(texts)})"


def _short(end: Any) -> Any:
    return stop_gradient(end) if hasattr(end, "dtype") else end


class greater_than(_Between):  # noqa: N801
    """Numbers above `lower_bound`."""

    ends = ("lower_bound",)

    def check(self, value: Any) -> Any:
        return value > self.lower_bound


class greater_than_eq(_Between):  # noqa: N801
    """Numbers not below `lower_bound`."""

    ends = ("lower_bound",)

    def check(self, value: Any) -> Any:
        return value >= self.lower_bound


class less_than(_Between):  # noqa: N801
    """Numbers below `upper_bound`."""

    ends = ("upper_bound",)

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class interval(_Between):  # noqa: N801
    """Numbers from `lower_bound` to `upper_bound`, with both ends."""

    ends = ("lower_bound", "upper_bound")

    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class half_open_interval(_Between):  # noqa: N801
    """Numbers from `lower_bound` up to but not including `upper_bound`."""

    ends = ("lower_bound", "upper_bound")

    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class integer_interval(_Between):  # noqa: N801
    """Whole numbers from `lower_bound` to `upper_bound`."""

    ends = ("lower_bound", "upper_bound")
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & self.continued_check(value)

    def continued_check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _IntegersFrom(_Between):
    """Whole numbers from `lower_bound` on."""

    ends = ("lower_bound",)
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & self.continued_check(value)

    def continued_check(self, value: Any) -> Any:
        return value >= self.lower_bound

    def __repr__(self) -> str:
        return f"integer_greater_than_eq(lower_bound={self.lower_bound})"


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)

    def continued_check(self, value: Any) -> Any:
        return (value >= 0) & (value <= 1)


class _Multinomial(Constraint):
    """Vectors of counts that sum to a total."""

    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return ops.all(value >= 0, -1) & (ops.sum(value, -1) <= self.upper_bound)

    def continued_check(self, value: Any) -> Any:
        return ops.all(value >= 0, -1)


class _OneHot(Constraint):
    is_discrete, event_dim = True, 1

    def check(self, value: Any) -> Any:
        return ops.all((value == 0) | (value == 1), -1) & (ops.sum(value, -1) == 1)

    def continued_check(self, value: Any) -> Any:
        return None


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Any) -> Any:
        return ops.all(value >= 0, -1) & (abs(ops.sum(value, -1) - 1) < 1e-6)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return ops.full(value.shape[:-2], value.shape[-1] == value.shape[-2])


class _Symmetric(_Square):
    def check(self, value: Any) -> Any:
        square = super().check(value)
        if value.shape[-1] != value.shape[-2]:
            return square
        return square & all_last(ops.isclose(value, ops.mT(value), atol=1e-6), 2)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        if value.shape[-1] != value.shape[-2]:
            return symmetric
        return symmetric & self._signs(ops.eigvalsh(stop_gradient(value)))

    def _signs(self, eigenvalues: Any) -> Any:
        return ops.all(eigenvalues > 0, -1)


class _PositiveSemidefinite(_PositiveDefinite):
    def _signs(self, eigenvalues: Any) -> Any:
        return ops.all(eigenvalues >= -1e-6 * ops.max(abs(eigenvalues), -1, keepdims=True), -1)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return all_last(ops.tril(value) == value, 2)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Any) -> Any:
        return super().check(value) & ops.all(ops.diagonal(value, 0, -2, -1) > 0, -1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Any) -> Any:
        unit = (
            abs(ops.sum(value * value, -1) - 1) < 1e-4 if value.dtype.itemsize < 8 else abs(ops.sum(value * value, -1) - 1) < 1e-8
        )
        return super().check(value) & ops.all(unit, -1)


class independent(Constraint):  # noqa: N801
    """A constraint whose last batch axes belong to one value.

    Parameters
    ----------
    base_constraint : Constraint
    reinterpreted_batch_ndims : int
        How many axes, counted from the last.
    """

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        return all_last(self.base_constraint.check(value), self.reinterpreted_batch_ndims)

    def continued_check(self, value: Any) -> Any:
        found = self.base_constraint.continued_check(value)
        return None if found is None else all_last(found, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"independent({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: that of its components, whose axis a value does not have.

    Parameters
    ----------
    base_constraint : Constraint
        The support of the components.
    """

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint
        self.is_discrete, self.event_dim = base_constraint.is_discrete, base_constraint.event_dim

    def check(self, value: Any) -> Any:
        return ops.any(self.base_constraint.check(ops.expand_dims(value, -1 - self.event_dim)), -1)

    def continued_check(self, value: Any) -> Any:
        found = self.base_constraint.continued_check(ops.expand_dims(value, -1 - self.event_dim))
        return None if found is None else ops.any(found, -1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class cat(Constraint):  # noqa: N801
    """Constraints of consecutive parts of an axis.

    Parameters
    ----------
    cseq : sequence of Constraint
    dim : int
        The axis.
    lengths : sequence of int, optional
        The length of each part, by default 1.
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        self.is_discrete = any(part.is_discrete for part in self.cseq)
        self.event_dim = max(part.event_dim for part in self.cseq)

    def check(self, value: Any) -> Any:
        edges = [sum(self.lengths[:k]) for k in range(1, len(self.lengths))]
        parts = ops.split(value, edges, self.dim)
        return ops.concat([one.check(part) for one, part in zip(self.cseq, parts)], self.dim)


class stack(Constraint):  # noqa: N801
    """A constraint for each index of an axis.

    Parameters
    ----------
    cseq : sequence of Constraint
    dim : int
        The axis.
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.is_discrete = any(part.is_discrete for part in self.cseq)
        rank = max(part.event_dim for part in self.cseq)
        self.event_dim = rank + 1 if dim + rank < 0 else rank

    def check(self, value: Any) -> Any:
        parts = ops.unstack(value, axis=self.dim)
        return ops.stack([one.check(part) for one, part in zip(self.cseq, parts)], self.dim)


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on parameters, so that no value can be compared with it."""
    return is_dependent(constraint.base_constraint) if isinstance(constraint, independent) else isinstance(constraint, _Dependent)


dependent, boolean, one_hot = _Dependent(), _Boolean(), _OneHot()
nonnegative_integer, positive_integer = _IntegersFrom(0), _IntegersFrom(1)
real = _Real()
real_vector = independent(real, 1)
positive, nonnegative = greater_than(0.0), greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = _Simplex()
multinomial = _Multinomial
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
lower_triangular, lower_cholesky, corr_cholesky = _LowerTriangular(), _LowerCholesky(), _CorrCholesky()
