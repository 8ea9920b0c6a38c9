"""Transform: differentiable maps with inverses and Jacobian determinants, their composition, and caching.

Decides the axes of a composition's values, and when two transforms are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..support.dispatch import ops
from . import constraints
from .numbers import alias, sum_last


class Transform:
    """A map y = f(x) with the logarithm of its Jacobian determinant.

    A subclass states `domain`, `codomain`, `_call`, `_inverse` if `bijective`, and `log_abs_det_jacobian`.

    Parameters
    ----------
    cache_size : int
        With 1, the last x and y are kept: the inverse of y is then x itself, to all digits.

    Attributes
    ----------
    domain, codomain : Constraint
    bijective : bool
        Whether each y belongs to one x.
    sign : int or Tensor
        1 if an elementwise map grows, else -1.
    """

    bijective = False
    domain: Any
    codomain: Any
    _sign: Any = None

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"cache_size must be 0 or 1, got {cache_size!r}")
        self._cache_size = cache_size
        self._cached: tuple[Any, Any] = (None, None)

    @property
    def sign(self) -> Any:
        """1 if the map grows, -1 if it falls."""
        if self._sign is None:
            raise NotImplementedError(f"{type(self).__name__} is not a growing or a falling map of numbers, and has no sign")
        return self._sign

    @property
    def inv(self) -> Any:
        """The inverse transform."""
        return _Inverse(self)

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with a cache of another size."""
        if self._cache_size == cache_size:
            return self
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        Transform.__init__(new, cache_size)
        return new

    def __call__(self, x: Any) -> Any:
        if self._cache_size == 0:
            return self._call(x)
        if x is not self._cached[0]:
            self._cached = x, self._call(x)
        return self._cached[1]

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size == 0:
            return self._inverse(y)
        if y is not self._cached[1]:
            self._cached = self._inverse(y), y
        return self._cached[0]

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} states no _call")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log(abs(det(dy / dx))) of an input x and its image y, without the axes of one value."""
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian")

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of f(x) for an x of this shape."""
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of x for an f(x) of this shape."""
        return tuple(shape)

    def _state(self) -> Any:
        return ()

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and _same(self._state(), other._state())

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, (tuple, list)):
        return isinstance(other, (tuple, list)) and len(one) == len(other) and all(map(_same, one, other))
    same = one == other
    return bool(same.all()) if hasattr(same, "all") else bool(same)


class _Inverse(Transform):
    """The inverse of a transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._transform = transform
        self.bijective = transform.bijective

    domain = alias("_transform.codomain")
    codomain = alias("_transform.domain")
    sign = alias("_transform.sign")

    @property
    def inv(self) -> Any:
        return self._transform

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._transform.with_cache(cache_size).inv

    def __call__(self, x: Any) -> Any:
        return self._transform._inv_call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._transform(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._transform.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return self._transform.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return self._transform.forward_shape(shape)

    def _state(self) -> Any:
        return (self._transform,)

    def __repr__(self) -> str:
        return f"{self._transform!r}.inv"


class ComposeTransform(Transform):
    """Transforms one after another; the first of `parts` is applied first.

    Parameters
    ----------
    parts : sequence of Transform
    cache_size : int
    """

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)
        self.bijective = all(part.bijective for part in self.parts)

    def _end(self, first: bool) -> Any:
        """The domain, or the codomain, whose value has as many axes as any part needs."""
        parts = self.parts if first else [part.inv for part in self.parts[::-1]]
        if not parts:
            return constraints.real
        rank = parts[-1].codomain.event_dim
        for part in parts[::-1]:
            rank = max(rank + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        end = parts[0].domain
        return constraints.independent(end, rank - end.event_dim) if rank > end.event_dim else end

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return self._end(True)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        return self._end(False)

    @property
    def sign(self) -> Any:
        sign: Any = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    def _call(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for part in self.parts[::-1]:
            y = part.inv(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        total: Any = ops.zeros_like(x) if not self.parts else 0.0
        rank = self.domain.event_dim
        for place, part in enumerate(self.parts):
            image = y if place == len(self.parts) - 1 else part(x)
            total = total + sum_last(part.log_abs_det_jacobian(x, image), rank - part.domain.event_dim)
            rank += part.codomain.event_dim - part.domain.event_dim
            x = image
        return total

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        for part in self.parts[::-1]:
            shape = part.inverse_shape(shape)
        return tuple(shape)

    def _state(self) -> Any:
        return self.parts

    def __repr__(self) -> str:
        return f"ComposeTransform({self.parts!r})"


identity_transform = ComposeTransform([])
identity_transform.__doc__ = """The transform y = x: a `ComposeTransform` of nothing.

Parameters
----------
x : Tensor

Returns
-------
Tensor
    `x` itself.
"""
