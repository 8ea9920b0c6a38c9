"""Functional updates: JAX's `x.at[index].set(value)`, which returns a new tensor.

Each update is an operator, so it is recorded.  An index outside raises an error, where JAX leaves the update out.
"""

from collections.abc import Callable
from typing import Any

import gradspec as gs


class At:
    """`x.at`, which waits for an index."""

    __slots__ = ("_x",)

    def __init__(self, x: Any) -> None:
        self._x = x

    def __getitem__(self, index: Any) -> "Place":
        return Place(self._x, index)

    def __repr__(self) -> str:
        return f"At({self._x!r})"


class Place:
    """`x.at[index]`: its methods return a copy of `x` with other elements at the index."""

    __slots__ = ("_index", "_x")

    def __init__(self, x: Any, index: Any) -> None:
        self._x, self._index = x, index

    def set(self, values: Any, **options: Any) -> Any:
        """The copy with `values` at the index; of equal indices the last wins."""
        _check(options)
        return gs.index_put(self._x, self._index, values)

    def add(self, values: Any, **options: Any) -> Any:
        """The copy with `values` added, for each index once."""
        _check(options)
        return gs.index_put(self._x, self._index, values, True)

    def subtract(self, values: Any, **options: Any) -> Any:
        """The copy with `values` subtracted, for each index once."""
        return self.add(gs.negative(values), **options)

    def multiply(self, values: Any, **options: Any) -> Any:
        """The copy multiplied by `values`, for each index once."""
        return self._reduced(values, "prod", options)

    def divide(self, values: Any, **options: Any) -> Any:
        """The copy divided by `values`, for each index once."""
        return gs.divide(self._x, Place(gs.ones_like(self._x), self._index).multiply(values, **options))

    def power(self, values: Any, **options: Any) -> Any:
        """The copy to the power of `values`, for each index once."""
        return gs.pow(self._x, Place(gs.ones_like(self._x), self._index).multiply(values, **options))

    def min(self, values: Any, **options: Any) -> Any:
        """The copy with the smaller one of its elements and `values`."""
        return self._reduced(values, "amin", options)

    def max(self, values: Any, **options: Any) -> Any:
        """The copy with the larger one of its elements and `values`."""
        return self._reduced(values, "amax", options)

    def apply(self, func: Callable[..., Any], **options: Any) -> Any:
        """The copy with `func` of the elements at the index."""
        return self.set(func(self.get()), **options)

    def get(self, **options: Any) -> Any:
        """The elements at the index."""
        _check(options)
        return self._x[self._index]

    mul = multiply

    def _reduced(self, values: Any, reduce: str, options: dict[str, Any]) -> Any:
        """Combine the elements and all values that share an index."""
        _check(options)
        x = self._x
        places = gs.reshape(gs.arange(x.size), x.shape)[self._index]
        values = gs.broadcast_to(gs.astype(values, x.dtype), places.shape)
        flat = gs.scatter_reduce(gs.reshape(x, (-1,)), 0, gs.reshape(places, (-1,)), gs.reshape(values, (-1,)), reduce)
        return gs.reshape(flat, x.shape)


def _check(options: dict[str, Any]) -> None:
    """Refuse JAX's modes for an index outside, and unknown options."""
    idle = {"indices_are_sorted", "unique_indices", "wrap_negative_indices", "out_sharding"}
    for name, value in options.items():
        if name not in (*idle, "mode", "fill_value"):
            raise TypeError(f"at[]: unexpected keyword argument {name!r}")
        if name not in idle and value is not None and value != "promise_in_bounds":
            raise NotImplementedError(f"at[]: {name}={value!r} is for indices outside, which raise an error here; write "
                                      "gs.clip(index, 0, length - 1), or a mask and gs.where")  # fmt: skip
