"""Series: a tensor that represents the Taylor coefficients of a path.

Inside of a jet a series looks like its value at the start of the path: its shape and dtype are known.  Reading its numbers raises
an error.  The coefficients are tensors of the outer levels, and have their own gradients and tangents.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core.non_operator_events import array_of
from ...support.dispatch import ops
from ..batching.batched import batched, inside_of, is_row
from ..batching.level_tensor import LevelTensor, refused, represented, whole_of, without_graph


class Series(LevelTensor):
    """The coefficients of a power series in one variable; the first one is the value.

    Attributes
    ----------
    terms : list of Tensor or None
        The coefficients known so far; None is zero.
    rule : callable or None
        Computes an unknown coefficient from its number.
    degree : int
        Degree of the first coefficient in the path's variable: 1 for a derivative.
    """

    __slots__ = ("degree", "rule", "terms")
    _meaning = "jet a tensor stands for the coefficients of a series"
    below = property(lambda self: self.known(0))

    def term(self, number: int) -> Any:
        """A coefficient, None if it is zero."""
        terms = self.terms
        while len(terms) <= number:
            terms.append(None if self.rule is None else self.rule(len(terms)))
        return terms[number]

    def is_zero(self, number: int) -> bool:
        """Whether a coefficient is known to be zero, without computing it."""
        return number < len(self.terms) and self.terms[number] is None

    def known(self, number: int) -> Any:
        """A coefficient as a tensor, zeros if it is zero; outside of a formula it is kept, as views and writes share it."""
        found = self.term(number)
        if found is None:
            found = zeros(self, number)
            if self.level.memo is None:
                self.terms[number] = found
        return found

    def complete(self) -> "Series":
        """Compute all coefficients."""
        self.term(self.level.order)
        self.rule = None
        return self

    def all_known(self) -> list:
        """All coefficients, as tensors."""
        return [self.known(i) for i in range(self.level.order + 1)]

    def is_constant(self) -> bool:
        """Whether all coefficients after the value are zero, as far as is known."""
        return self.rule is None and not any(term is not None for term in self.terms[1:])

    def each(self, change: Callable[[Any], Any]) -> "Series":
        """The series with `change` applied to each nonzero coefficient."""
        return series([term if term is None else change(term) for term in self.complete().terms], self.level, self)

    @property
    def requires_grad(self) -> bool:
        return any(term is not None and term.requires_grad for term in self.terms)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        for term in self.all_known():
            term.requires_grad = value

    def requires_grad_(self, requires_grad: bool = True) -> "Series":
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        return all(term is None or term.is_leaf for term in self.terms)

    @property
    def grad_fn(self) -> Any:
        return next((term.grad_fn for term in self.terms if term is not None and term.grad_fn is not None), None)

    @property
    def grad(self) -> None:
        return None

    _base = property(lambda self: self.refuse("_base"))

    def detach(self) -> "Series":
        """A series that is constant along the path."""
        return series([self.known(0).detach(), *[None] * self.level.order], self.level, self)

    def become(self, view: "Series") -> None:
        super().become(view)
        self.terms[:] = view.complete().terms

    def without_graph(self) -> "Series":
        return self.each(without_graph)

    def __repr__(self) -> str:
        return f"Series(order={self.level.order}, shape={self.shape}, dtype={self.dtype})"


for _name in ("backward", "detach_", "register_hook", "register_post_accumulate_grad_hook", "retain_grad"):
    setattr(Series, _name, refused(_name))


def series(terms: list, level: Any, like: Any, rule: Any = None, degree: int = 0) -> Series:
    """A series at a level, with the shape and dtype of a tensor."""
    found = represented(Series, like.shape, like.dtype, level)
    found.terms, found.rule, found.degree = terms, rule, degree
    return found


def zeros(value: Series, number: int) -> Any:
    """Zeros in place of a coefficient; a whole batch if that coefficient differs between rows."""
    summed = value.level.summed
    if summed is not None and 0 < value.degree + number < value.level.order:
        return batched(ops.zeros((summed.size, *value.shape), dtype=value.dtype), summed)
    return ops.zeros(value.shape, dtype=value.dtype)


def is_series(value: Any, level: Any) -> bool:
    """Whether a value is a series at a level; any other value is constant there."""
    return type(value) is Series and value.level is level


def first_of(value: Any, level: Any) -> Any:
    """The value of a series at a level, also in sequences and slices; any other value unchanged."""
    kind = type(value)
    if kind is Series:
        return value.known(0) if value.level is level else value
    if kind is tuple or kind is list:
        return kind([first_of(item, level) for item in value])
    if kind is slice:
        return slice(*[first_of(item, level) for item in (value.start, value.stop, value.step)])
    return value


def flat(values: Any) -> Iterator[Any]:
    """The items of nested sequences."""
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from flat(value)
        else:
            yield value


def memory(value: Any) -> np.ndarray:
    """The array of the innermost tensor that a tensor represents."""
    return array_of(whole_of(value))


def share_memory(one: Any, other: Any) -> bool:
    """Whether a write to one tensor may change the other; None has no memory."""
    return one is not None and other is not None and np.may_share_memory(memory(one), memory(other))


def is_read_only(value: Any) -> bool:
    """Whether elements may share memory, as after broadcasting."""
    return not memory(value).flags.writeable


def total(level: Any, degree: int, parts: list) -> Any:
    """The sum of the parts of a coefficient, None if there are no parts.

    In the last coefficient of a level with `summed`, the rows of a batch are summed: operators are linear in it, so only the sum
    over all paths is needed from there on.
    """
    parts = [part for part in parts if part is not None]
    if level.summed is not None and degree == level.order:
        parts = [ops.sum(inside_of(part, level.summed), 0) if is_row(part, level.summed) else part for part in parts]
    found = parts[0] if parts else None
    for part in parts[1:]:
        found = ops.add(found, part)
    return found
