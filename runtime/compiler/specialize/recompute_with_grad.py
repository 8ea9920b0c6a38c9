"""Recomputation: run a replayed call eagerly again, to differentiate its backward pass.

Holds what that needs: the original arguments, the same random draws, and the check that no state has changed since.  A checkpoint
does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...core.grad_mode import enable_grad, is_grad_enabled
from ...core.non_operator_events import array_of
from ...core.tensor import TensorBase
from ...support.generator import as_generator
from ...support.pytree import flatten, rebuild
from ..record.dynamic_scalars import number_of, unmarked


class Recomputation:
    """A function with the structure of its arguments.

    Parameters
    ----------
    function : callable
    args, keywords
        Arguments of a call, with tensors in place of arrays.
    """

    def __init__(self, function: Callable[..., Any], args: tuple, keywords: dict) -> None:
        leaves, self.form = flatten((args, keywords))
        self.function, self.leaves = function, [None if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
        self.arrays = [n for n, leaf in enumerate(leaves) if isinstance(leaf, TensorBase)]
        self.kinds, self.grad = [kind_of(leaf) for leaf in leaves], is_grad_enabled()

    def __call__(self, given: list[Any]) -> list[Any]:
        """The leaves of the function's results for these arrays, computed with a graph."""
        leaves = list(self.leaves)
        for n, item in zip(self.arrays, given):
            leaves[n] = asarray(item)
        args, keywords = unmarked(*rebuild(self.form, leaves), number_of)
        with enable_grad():
            return flatten(self.function(*args, **keywords))[0]


def kind_of(leaf: Any) -> dict[str, Any]:
    """The required properties of an argument leaf, in a form that can be saved."""
    if not isinstance(leaf, TensorBase):
        return {"text": f"{type(leaf).__name__} {leaf!r}"}
    array = array_of(leaf)
    return {"text": None, "dtype": str(array.dtype), "shape": list(array.shape), "strides": list(array.strides),
            "requires_grad": leaf.requires_grad}  # fmt: skip


class Inputs:
    """The inputs of a replayed call, kept for a recomputation.

    Parameters
    ----------
    given : list of Tensor or ndarray
    sources : list
        Generators that the call draws from.  None is the default generator, which a new seed may have replaced since.
    states : list of dict
        States of the generators before the call.
    """

    def __init__(self, given: list[Any], sources: list[Any], states: list[Any]) -> None:
        self.given = [item if isinstance(item, TensorBase) else np.array(item) for item in given]
        self.versions = [item._version if isinstance(item, TensorBase) else 0 for item in given]
        self.sources, self.states = sources, states

    def unchanged(self) -> list[Any]:
        """The arrays; an array that was written to since is refused."""
        for item, version in zip(self.given, self.versions):
            if isinstance(item, TensorBase) and item._version != version:
                raise RuntimeError("a backward pass through a compiled call is differentiated by running the function again, but "
                                   f"a tensor of shape {list(item.shape)} among its arguments or captured tensors has been "
                                   "modified by an inplace operation")  # fmt: skip
        return self.given

    @contextmanager
    def same_draws(self) -> Iterator[None]:
        """Repeat the random numbers of the call; afterwards the generators continue from their present states."""
        generators = [as_generator(one, "compile", "generator").bit_generator for one in self.sources]
        now = [generator.state for generator in generators]
        for generator, state in zip(generators, self.states):
            generator.state = state
        try:
            yield
        finally:
            for generator, state in zip(generators, now):
                generator.state = state
