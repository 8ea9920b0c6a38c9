"""Parameters and values as tensors of one dtype and shape, and questions about their numbers.

Decides which numbers are known: a batch of `vmap` hides its numbers, and a compiled function guards the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from ..core.grad_mode import enable_grad
from ..func import stop_gradient
from ..scipy.values import reals
from ..support.dispatch import ops
from ..support.generator import numpy_random


class lazy(cached_property):
    """A property computed at its first use and kept; it records even under `no_grad`, since it is read again outside."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        super().__init__(enable_grad()(compute))


def alias(path: str, doc: str | None = None) -> Any:
    """A property with the value of another attribute, such as `loc` or `base_dist.loc`."""
    get = attrgetter(path)
    return property(lambda self: get(self), doc=doc)


def broadcast(name: str, *values: Any) -> list[Any]:
    """Parameters as tensors of one floating dtype and one shape."""
    tensors = reals(name, *values)
    return tensors if len({tensor.shape for tensor in tensors}) == 1 else list(ops.broadcast_arrays(*tensors))


def known(mask: Any) -> bool | None:
    """Whether a mask is True everywhere; None if its numbers are unknown."""
    try:
        return bool(stop_gradient(mask).numpy().all())
    except (RuntimeError, TypeError):
        return None


def one_of(name: str, probs: Any, logits: Any) -> tuple[str, Any]:
    """The name and the value of the parameter that is given of two.

    Raises
    ------
    ValueError
        Both are given, or neither.
    """
    if (probs is None) == (logits is None):
        raise ValueError(
            f"{name}: exactly one of `probs` and `logits` must be specified, got {'neither' if probs is None else 'both'}"
        )
    return ("probs", probs) if logits is None else ("logits", logits)


def one_stream(generator: Any) -> Any:
    """A seed as a generator: draws of one call continue its stream, and do not begin again."""
    return numpy_random().default_rng(generator) if isinstance(generator, (int, np.integer)) else generator


def sum_last(value: Any, count: int) -> Any:
    """The sum over the last `count` axes."""
    return ops.sum(value, tuple(range(-count, 0))) if count else value


def all_last(mask: Any, count: int) -> Any:
    """Whether a mask is True along its last `count` axes."""
    return ops.all(mask, tuple(range(-count, 0))) if count else mask


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape of the result of an operator on arrays with these shapes."""
    return np.broadcast_shapes(*map(tuple, shapes))
