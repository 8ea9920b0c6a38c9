"""The calls that these tests make: every sample of every entry, in every dtype that the entry takes.

Owns how a row of op_info becomes tensors and a function of them.  Knows no operator by name, and no test.
"""

from __future__ import annotations

import copy
import inspect
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import gradspec as gs
from gradspec.codegen.spec.samples import evaluate_sample, seed_of
from gradspec.generated.op_info import OPS, OpInfo
from gradspec.support.dispatch import ops

BY_NAME = {op.name: op for op in OPS}
# A name of gs.random may take a key: the functions of the entries are in the namespace behind it.
NAMESPACES = {"": gs} | {name: getattr(gs, name) for name in sorted({op.namespace for op in OPS} - {""})} | {"random": gs._random}
DOUBLE = {
    "any": (np.float64, np.complex128), "float": (np.float64, np.complex128), "real": (np.float64,), "complex": (np.complex128,),
    "int": (np.int64,), "bool": (np.bool_,),
}  # fmt: skip
REAL = {key: dtypes[:1] for key, dtypes in DOUBLE.items()}  # the first one of each


class Evaluated:
    """What a sample stands for: nobody gets its arrays and lists, but copies of them."""

    def __init__(self, arguments: dict[str, Any], inputs: tuple[str, ...]):
        self.arguments = arguments
        self.copied = [name for name, value in arguments.items() if isinstance(value, (list, tuple, np.ndarray, np.random.Generator))]
        self.places: list[tuple[str, int | None]] = []
        for name in inputs:
            value = arguments[name]
            if isinstance(value, list):
                self.places += [(name, k) for k in range(len(value))]
            elif isinstance(value, np.ndarray) and value.dtype.kind in "fc":
                self.places.append((name, None))
        replaced = {name for name, k in self.places if k is None}
        self.beside = [name for name in self.copied if name not in replaced]  # what is copied where the places are filled anew


STATIC = "_EVALUATED", "_POSITIONAL"  # what is kept of every sample that was asked: compiled functions need not look at it
_EVALUATED: dict[tuple, Evaluated] = {}
_POSITIONAL: dict[str, list[str]] = {}


@dataclass(frozen=True)
class Case:
    """One sample of one op in one dtype."""

    op: OpInfo
    index: int
    dtype: type

    @property
    def source(self) -> str:
        """The sample as the entry writes it: `f(x(3, 4), axis=1)`."""
        return self.op.samples[self.index]

    @property
    def is_first(self) -> bool:
        """Whether the dtype is the first one in which the sample is asked: what does not depend on it is asked once."""
        return self.dtype is REAL[self.op.dtype][0]

    def arguments(self) -> dict[str, Any]:
        """Every argument by name, defaults included: NumPy arrays, new in each call and laid out as the sample says."""
        of = self.evaluated
        return of.arguments | {name: anew(of.arguments[name]) for name in of.copied}

    @cached_property
    def evaluated(self) -> Evaluated:
        key = self.op.name, self.index, self.dtype
        if key not in _EVALUATED:
            _EVALUATED[key] = Evaluated(self._evaluated(), self.op.inputs)
        return _EVALUATED[key]

    def _evaluated(self) -> dict[str, Any]:
        names = positional(self.op)
        seed = seed_of(self.op.name, self.index)
        defaults = {name: eval(default) for name, _, default, _ in self.op.arguments if default is not None}
        args, kwargs = evaluate_sample(self.source, self.op.domain, self.dtype, seed, names, defaults)
        return defaults | dict(zip(names, args)) | kwargs

    @property
    def places(self) -> list[tuple[str, int | None]]:
        """Where the floating-point arrays are: (argument, None), or (argument, position) in a list of arrays."""
        return self.evaluated.places

    @cached_property
    def arrays(self) -> list[np.ndarray]:
        """The floating-point arrays, in the order of `places`."""
        arguments = self.arguments()
        return [arguments[name] if k is None else arguments[name][k] for name, k in self.places]

    def leaves(self, requires_grad: bool = True) -> list[gs.Tensor]:
        """New tensors with copies of the arrays in the same memory order."""
        return [gs.asarray(a.copy(order="K"), requires_grad=requires_grad) for a in self.arrays]

    def with_arrays(self, values: Iterable[Any]) -> dict[str, Any]:
        """The arguments with other arrays or tensors in the places."""
        of = self.evaluated
        values = list(values)
        given = of.beside if len(values) == len(of.places) else of.copied
        arguments = of.arguments | {name: anew(of.arguments[name]) for name in given}
        for (name, k), value in zip(of.places, values):
            if k is None:
                arguments[name] = value
            else:
                arguments[name][k] = value
        return arguments

    def __call__(self, *values: Any) -> list[gs.Tensor]:
        """The floating-point outputs, lists of arrays laid out flat; the wrapper gets the values in their places."""
        return [y for y in self.all_outputs(*values) if y.dtype.kind in "fc"]

    def all_outputs(self, *values: Any) -> list[gs.Tensor]:
        return flat(self.apply(self.with_arrays(map(self.within_domain, values) if self.hermitian else values)))

    def apply(self, arguments: dict[str, Any]) -> Any:
        if in_place_only(self.op):  # a function all the same: of a copy
            first = self.op.arguments[0][0]
            arguments = arguments | {first: ops.copy(gs.asarray(arguments[first]))}
        return applied(self.op, arguments)

    @property
    def hermitian(self) -> bool:
        """A domain `x == mH(x)` has no room for a step: the function is then that of x's Hermitian part."""
        return self.op.domain is not None and "== mH(" in self.op.domain

    @staticmethod
    def within_domain(value: Any) -> Any:
        return ops._hermitian_part(value)


def anew(value: Any) -> Any:
    """A value that nobody else writes to; an array with the strides of the given one, in memory of its own."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(anew, value))
    if isinstance(value, np.random.Generator):
        return copy.deepcopy(value)
    if not isinstance(value, np.ndarray):
        return value
    if value.flags.forc:
        return value.copy(order="K")
    owner = value
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    memory = owner.copy(order="K")
    offset = value.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return np.ndarray(value.shape, value.dtype, memory if memory.flags.c_contiguous else memory.T, offset, value.strides)


def applied(op: OpInfo, arguments: dict[str, Any]) -> Any:
    """The operator of arguments by name: by position as far as it takes them so, which `*operands` wants."""
    names = positional(op)
    given = list(itertools.takewhile(arguments.__contains__, names))
    keywords = {name: value for name, value in arguments.items() if name not in given}
    return getattr(ops, op.name)(*map(arguments.__getitem__, given), **keywords)


def positional(op: OpInfo) -> list[str]:
    """The arguments that an operator and its function take at the same positions."""
    if op.name not in _POSITIONAL:
        own = [name for name, _, _, keyword_only in op.arguments if not keyword_only]
        public = inspect.signature(getattr(ops, op.name)).parameters
        _POSITIONAL[op.name] = [name for name, there in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(own, public))]
    return _POSITIONAL[op.name]


def flat(results: Any) -> list[gs.Tensor]:
    if isinstance(results, (tuple, list)):
        return [tensor for item in results for tensor in flat(item)]
    return [results]


def in_place_only(op: OpInfo) -> bool:
    return op.name.endswith("_")


def samples_of(op: OpInfo, dtypes: dict[str, tuple] = DOUBLE) -> list[Case]:
    """Each sample of an entry in each dtype, in the order of the entry."""
    return [Case(op, index, dtype) for index in range(len(op.samples)) for dtype in dtypes[op.dtype]]


def array(tensor: Any) -> np.ndarray:
    """The values of a tensor, whether or not it requires grad."""
    return tensor.detach().numpy() if isinstance(tensor, gs.Tensor) else np.asarray(tensor)
