"""Recomputation: a call that was replayed, run as it is once more, for who differentiates its backward pass.

Owns what that needs: the arguments as they were, random draws that are the same, and that nothing has changed since.  A
checkpoint does the same.
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
    """A function with the form of its arguments.

    Parameters
    ----------
    function : callable
    args, keywords
        Of a call, its arrays as tensors.
    """

    def __init__(self, function: Callable[..., Any], args: tuple, keywords: dict) -> None:
        leaves, self.form = flatten((args, keywords))
        self.function, self.leaves = function, [None if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
        self.arrays = [n for n, leaf in enumerate(leaves) if isinstance(leaf, TensorBase)]
        self.kinds, self.grad = [kind_of(leaf) for leaf in leaves], is_grad_enabled()

    def __call__(self, given: list[Any]) -> list[Any]:
        """The leaves of what the function gives, recorded, for these arrays."""
        leaves = list(self.leaves)
        for n, item in zip(self.arrays, given):
            leaves[n] = asarray(item)
        args, keywords = unmarked(*rebuild(self.form, leaves), number_of)
        with enable_grad():
            return flatten(self.function(*args, **keywords))[0]


def kind_of(leaf: Any) -> dict[str, Any]:
    """What a leaf of the arguments has to be, in words that can be saved."""
    if not isinstance(leaf, TensorBase):
        return {"text": f"{type(leaf).__name__} {leaf!r}"}
    array = array_of(leaf)
    return {"text": None, "dtype": str(array.dtype), "shape": list(array.shape), "strides": list(array.strides),
            "requires_grad": leaf.requires_grad}  # fmt: skip


class Inputs:
    """What a replayed call was given, kept for another run.

    Parameters
    ----------
    given : list of Tensor or ndarray
    sources : list
        What the call draws from: None is the default generator, of which a seed may have made another one since.
    states : list of dict
        Before the call.
    """

    def __init__(self, given: list[Any], sources: list[Any], states: list[Any]) -> None:
        self.given = [item if isinstance(item, TensorBase) else np.array(item) for item in given]
        self.versions = [item._version if isinstance(item, TensorBase) else 0 for item in given]
        self.sources, self.states = sources, states

    def unchanged(self) -> list[Any]:
        """The arrays, refused where somebody has written to one."""
        for item, version in zip(self.given, self.versions):
            if isinstance(item, TensorBase) and item._version != version:
                raise RuntimeError("a backward pass through a compiled call is differentiated by running the function again, but "
                                   f"a tensor of shape {list(item.shape)} that it was given or holds has been modified by an "
                                   "inplace operation since")  # fmt: skip
        return self.given

    @contextmanager
    def same_draws(self) -> Iterator[None]:
        """Random numbers are those of the call; afterwards they go on where they were."""
        generators = [as_generator(one, "compile", "generator").bit_generator for one in self.sources]
        now = [generator.state for generator in generators]
        for generator, state in zip(generators, self.states):
            generator.state = state
        try:
            yield
        finally:
            for generator, state in zip(generators, now):
                generator.state = state
