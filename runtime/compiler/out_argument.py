"""Out arguments: write the results of a function to the memory that a call names.

Copies a pytree of results into a pytree of tensors.  The copies are part of the recording and wait for guards as other writes do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from ..core.grad_mode import is_grad_enabled, no_grad
from ..core.non_operator_events import array_of
from ..core.tensor import TensorBase
from ..support.pytree import flatten


def into(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function with an additional keyword `name`: a pytree of tensors for its results.

    Parameters
    ----------
    function : callable
    name : str

    Returns
    -------
    callable
        Returns that pytree if the call has the keyword.
    """
    def call(*args: Any, **keywords: Any) -> Any:
        if name not in keywords:
            return function(*args, **keywords)
        target = keywords.pop(name)
        write(function(*args, **keywords), target, name)
        return target

    return update_wrapper(call, function)


def write(results: Any, target: Any, name: str) -> None:
    """Write the leaves of one pytree to the leaves of another pytree with the same structure."""
    found, places = flatten(results)[0], flatten(target)[0]
    if len(found) != len(places):
        raise ValueError(f"compile: {name}= has {len(places)} arrays, but the function returns {len(found)} results")
    for item, place in zip(found, places):
        if not isinstance(item, TensorBase) or not isinstance(place, TensorBase):
            raise TypeError(f"compile: {name}= must be a pytree of tensors and arrays, like the results; got "
                            f"{type(place).__name__} for {type(item).__name__}")  # fmt: skip
        if item.shape != place.shape or item.dtype != place.dtype:
            raise ValueError(f"compile: {name}= has {place.dtype}{list(place.shape)} for a result {item.dtype}{list(item.shape)}")
        if is_grad_enabled() and (item.requires_grad or place.requires_grad):
            raise RuntimeError(f"compile: {name}= is memory without a history, and the result requires grad; call under no_grad, "
                               f"or without {name}=")  # fmt: skip
    held = [item.copy() if any(shares(item, other) for other in places if item is not place or other is not place) else item
            for item, place in zip(found, places)]  # fmt: skip
    with no_grad():
        for item, place in zip(held, places):
            place.copy_(item)


def shares(a: Any, b: Any) -> bool:
    """Whether two tensors may share memory."""
    return np.may_share_memory(array_of(a), array_of(b))
