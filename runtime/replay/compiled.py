"""Compiled functions: the first call of a kind is written down, later ones run from what was written.

Owns which recording serves a call: the nest of its arguments, their dtypes, shapes and layouts, numbers by value, modes, what
the function holds, and the values that it looked at.  Where none does the function runs as it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from ..autograd.nest import flatten, rebuild
from ..core.grad_mode import is_grad_enabled
from ..core.increment_version import increment_version
from ..core.operand import asarray
from ..core.tensor import TensorBase
from ..tracing.values import Value, mapped
from .capture import Captured, Unfit, capture
from .holdings import Holdings, array_held
from .lowering import Lowered
from .tape import Missed, is_listened

BRANCHES = 8  # recordings of one signature
TRIES = 3  # recordings that turn out to be others than the ones before, until the function runs as it is


class Program:
    """One recording of a call, ready to run."""

    def __init__(self, taken: Captured) -> None:
        self.results = taken.results
        leaves: list[Value] = []
        mapped(taken.results, lambda item: leaves.append(item) if type(item) is Value else None)
        grads = [value for _, value in taken.gradients if value is not None]
        self.lowered = Lowered(taken, [*leaves, *grads])
        self.tape = self.lowered.tape
        self.gradients = taken.gradients
        self.inputs = taken.inputs
        self.as_arrays: list[bool] = []
        mapped(taken.outcome, lambda item: self.as_arrays.append(isinstance(item, np.ndarray)))
        self.single = type(taken.results) is Value and not self.as_arrays[0]
        self.index = {value: i for i, value in enumerate(self.lowered.returned)}

    def run(self, given: list[Any], arrays: list[np.ndarray]) -> Any:
        """Run of other arrays."""
        found = self.tape([arrays[i] for i in self.lowered.given])
        for number in self.lowered.written:
            if isinstance(given[number], TensorBase):
                increment_version(given[number])
        for number, value in self.gradients:
            given[number].grad = None if value is None else found[self.index[value]]
        if self.single:
            return found[self.index[self.results]]
        parts = iter(self.as_arrays)

        def leaf(item: Any) -> Any:
            plain = next(parts)
            if type(item) is not Value:
                return item
            result = found[self.index[item]]
            return array_held(result) if plain else result

        return mapped(self.results, leaf)


class Signature:
    """Calls of one kind.

    Attributes
    ----------
    programs : list of Program
        One for each branch that was taken, the latest first.
    doubted : Captured or None
        A recording that met numbers of unknown origin, and has to be met once more.
    """

    def __init__(self) -> None:
        self.programs: list[Program] = []
        self.doubted: Captured | None = None
        self.reason: str | None = None
        self.tries = 0


class Compiled:
    """A function whose calls are written down once, and run from what was written afterwards.

    Parameters
    ----------
    function : callable
    strict : bool
        Whether a call that cannot be run again is an error.
    """

    def __init__(self, function: Callable[..., Any], strict: bool = False) -> None:
        update_wrapper(self, function)
        self.function, self.strict = function, strict
        self.holdings: Holdings | None = None
        self.signatures: dict[tuple, Signature] = {}
        self.changes = 0

    def clear(self) -> None:
        """Forget all recordings."""
        self.holdings, self.signatures, self.changes = None, {}, 0

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if is_listened():
            return self.function(*args, **keywords)
        if self.holdings is None:
            self.holdings = Holdings(self.function)
        elif self.holdings.changed() is not None:
            self.holdings = Holdings(self.function)
            self.signatures = {}
        leaves, form = flatten((args, keywords))
        leaves = [asarray(leaf) if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fciub" else leaf for leaf in leaves]
        given = [leaf for leaf in leaves if isinstance(leaf, TensorBase)] + [item for _, item in self.holdings.tensors]
        given += [item.grad for item in given if isinstance(item, TensorBase) and item.is_leaf and item.grad is not None]
        arrays = [array_held(item) for item in given]
        key = (kind_of(form), *[kind_of_leaf(leaf) for leaf in leaves if not isinstance(leaf, TensorBase)],
               *[kind_of_array(item, array) for item, array in zip(given, arrays)], is_grad_enabled())  # fmt: skip
        signature = self.signatures.setdefault(key, Signature())
        for program in signature.programs:
            try:
                return program.run(given, arrays)
            except Missed:
                continue
        args, keywords = rebuild(form, leaves)
        if signature.reason is not None:
            return self.function(*args, **keywords)
        return self.record(signature, args, keywords, given)

    def record(self, signature: Signature, args: tuple, keywords: dict, given: list[Any]) -> Any:
        """Run a call as it is, and write it down."""
        taken = capture(self.function, args, keywords, given, self.holdings)
        try:
            if taken.failure is not None:
                raise taken.failure
            signature.programs.insert(0, Program(taken))
        except Unfit as error:
            signature.reason = str(error)
            if self.strict:
                raise
            warnings.warn(f"compile: {self.function.__name__} runs as it is: {error}", RuntimeWarning, stacklevel=3)
        return taken.outcome


def kind_of(form: Any) -> Any:
    if form is None:
        return None
    like, keys, forms = form
    return type(like), None if keys is None else tuple(keys), tuple(kind_of(item) for item in forms)


def kind_of_leaf(leaf: Any) -> tuple:
    return type(leaf), repr(leaf) if isinstance(leaf, (int, float, complex)) else leaf


def kind_of_array(item: Any, array: np.ndarray) -> tuple:
    flags = item.requires_grad and (True, item.is_leaf, item.grad is None) if isinstance(item, TensorBase) else None
    return array.dtype, array.shape, array.strides, array.flags.num & 0x500, flags


def compile(function: Callable[..., Any], *, strict: bool = False) -> Compiled:
    return Compiled(function, strict)


jit = compile
