"""Samples: create the arrays that the calls in an entry's `samples:` mean.

Defines the makers (`x(3, 4)`, `pos(2)`, `psd(3)`, ...), their seeds and the domain.  `check` uses it, and so does the test suite,
through the generated op_info.  It depends on NumPy and on plain strings only.

The same seed gives the same values.  Default values are distinct and at least 0.1 away from every multiple of 0.5, so that
sign, floor, round and maximum are smooth there.  Comparisons of a domain hold by a margin that is larger than the steps of
differences.
"""

from __future__ import annotations

import ast
import functools
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any

import numpy as np
import numpy.random

from .constants import CONSTANTS, FUNCTIONS
from .limits import ELEMENTS, OPERATIONS, bounded

MARGIN = 0.05
_TRIES = 200  # the most redraws that an entry needs are 26
Sampled = tuple[tuple[Any, ...], dict[str, Any]]
DOMAIN_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "real": np.real, "imag": np.imag, "floor": np.floor, "round": np.round, "min": np.min, "max": np.max,
    "isfinite": np.isfinite, "mH": lambda x: np.conj(np.swapaxes(x, -2, -1)),
}  # fmt: skip
STATED = {**CONSTANTS, **FUNCTIONS, "sin": math.sin, "cos": math.cos, "tanh": math.tanh}  # names in values of examples and kinks
_LITERALS = {"slice": slice, "Ellipsis": ..., **CONSTANTS}


def seed_of(op: str, index: int) -> int:
    """The seed of one sample of one op; it does not depend on other ops or on the process."""
    return zlib.crc32(op.encode()) + index


def evaluate_sample(source: str, domain: str | None = None, dtype: Any = np.float64, seed: int = 0,
                    parameters: Sequence[str] = (), defaults: Mapping[str, Any] | None = None) -> Sampled:  # fmt: skip
    """The arguments of a sample call; `parameters`, the positional ones, and `defaults` give the names for the domain."""
    makers = _Makers(np.dtype(dtype), seed)
    names: dict[str, Any] = {name: _small(name, getattr(makers, name)) for name in _MAKER_NAMES}
    names |= {"f": lambda *args, **kwargs: (args, kwargs), **_LITERALS}
    args, kwargs = eval(_sample(source), {"__builtins__": {}}, names)
    if domain is not None:
        given = dict(defaults or {}) | dict(zip(parameters, args)) | kwargs
        _move_into_domain(_domain(domain), given, makers)
    return args, kwargs


# Each text is compiled once: a check evaluates it for every dtype, and a mutation run for every mutant.


@functools.lru_cache(maxsize=4096)
def _sample(source: str) -> CodeType:
    return compile(source, f"<sample {source}>", "eval")


@functools.lru_cache(maxsize=4096)
def _domain(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


@functools.lru_cache(maxsize=4096)
def _stated(source: str) -> CodeType:
    return compile(ast.Expression(bounded(ast.parse(source, mode="eval").body)), f"<stated {source}>", "eval")


@functools.lru_cache(maxsize=4096)
def _condition(node: ast.expr) -> CodeType:
    return compile(ast.Expression(bounded(node)), "<domain>", "eval")


def _small(name: str, make: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """A maker that rejects shapes with too many numbers for a sample."""

    def maker(*shape: int, **options: int) -> np.ndarray:
        count = math.prod(shape) * (max(shape[-2:], default=1) if name in _MATRICES else 1)
        if count > ELEMENTS:
            raise ValueError(f"{name}{shape} takes {count} numbers, and a sample is small: {ELEMENTS} at most")
        return make(*shape, **options)

    return maker


def evaluate_stated(source: str, count: int) -> tuple[Any, ...]:
    """The `count` values that an entry states: one expression, or several separated by commas."""
    values = eval(_stated(source), {"__builtins__": {}}, {**OPERATIONS, **STATED})
    return values if count > 1 and isinstance(values, tuple) else (values,)


class _Makers:
    """The makers of one sample: each call continues the random sequence."""

    def __init__(self, dtype: np.dtype, seed: int):
        self.dtype = dtype
        self.random = np.random.default_rng(seed)
        self._drawn = self.random.uniform(0, 100)

    def x(self, *shape: int) -> np.ndarray:
        return self._typed(lambda: self._off_kinks(shape))

    def pos(self, *shape: int) -> np.ndarray:
        if self.dtype.kind in "iub":
            return np.abs(self.x(*shape)) if self.dtype.kind != "b" else np.ones(shape, bool)
        real = self.random.uniform(0.2, 2.0, shape)
        return np.asarray(real + 0.5j * self._off_kinks(shape) if self.dtype.kind == "c" else real, self.dtype)

    def unit(self, *shape: int) -> np.ndarray:
        scale = 0.3 if self.dtype.kind == "c" else 0.45
        return np.asarray(scale * self._typed(lambda: self._off_kinks(shape)), self.dtype)

    def distinct(self, *shape: int) -> np.ndarray:
        """Values in random order, at least 0.3 apart."""
        order = self.random.permutation(int(np.prod(shape, dtype=int))).reshape(shape)
        if self.dtype.kind in "iub":
            return order.astype(self.dtype)
        real = 0.37 * (order - order.size / 2) + 0.11
        return np.asarray(real + 0.5j * self._off_kinks(shape) if self.dtype.kind == "c" else real, self.dtype)

    def mat(self, *shape: int) -> np.ndarray:
        """General matrices with the singular values 1, 1.7, 2.4, ..."""
        *batch, m, n = shape
        k = min(m, n)
        u, v = self._rotation(*batch, m)[..., :k], self._rotation(*batch, n)[..., :k]
        return (u * (1.0 + 0.7 * np.arange(k)) @ np.swapaxes(v.conj(), -1, -2)).astype(self.dtype)

    def psd(self, *shape: int) -> np.ndarray:
        """`psd(2, 3)`: two Hermitian positive definite 3 by 3 matrices with the eigenvalues 1, 1.7, 2.4."""
        u = self._rotation(*shape)
        x = u * (1.0 + 0.7 * np.arange(shape[-1])) @ np.swapaxes(u.conj(), -1, -2)
        return ((x + np.swapaxes(x.conj(), -1, -2)) / 2).astype(self.dtype)

    def tril(self, *shape: int) -> np.ndarray:
        *batch, n = shape
        return np.tril(self._general(*batch, n, n) * 0.4 + 1.5 * np.eye(n)).astype(self.dtype)

    def ints(self, *shape: int, high: int = 3, low: int = 0) -> np.ndarray:
        return np.asarray(self.random.integers(low, high, shape))

    def mask(self, *shape: int) -> np.ndarray:
        """Both truth values, if there are at least two elements."""
        size = int(np.prod(shape, dtype=int))
        return self.random.permutation(np.arange(size) % 2 == 0).reshape(shape)

    def tied(self, *shape: int) -> np.ndarray:
        """Small integers with zeros and repetitions, so that elements also equal elements of a second array."""
        size = int(np.prod(shape, dtype=int))
        real = np.resize([0, 1, -1, 1, 2], size).astype(float)
        return self.random.permutation(np.abs(real) if self.dtype.kind == "u" else real).reshape(shape).astype(self.dtype)

    def perm(self, n: int) -> np.ndarray:
        return self.random.permutation(n)

    def generator(self, seed: int) -> np.random.Generator:
        return np.random.default_rng(seed)

    def ones(self, *shape: int) -> np.ndarray:
        return np.ones(shape, self.dtype)

    def zeros(self, *shape: int) -> np.ndarray:
        return np.zeros(shape, self.dtype)

    def redraw(self, values: np.ndarray, where: np.ndarray) -> None:
        """Draw new values, more widely spread, for part of an array."""
        count = int(np.count_nonzero(where))
        spread = self.random.choice([0.4, 1.0, 3.0], count)
        values[where] = (self._typed(lambda: self._off_kinks((count,))) * spread).astype(values.dtype)

    def _typed(self, draw: Callable[[], np.ndarray]) -> np.ndarray:
        kind = self.dtype.kind
        if kind == "c":
            return np.asarray(draw() + 1j * draw(), self.dtype)
        if kind == "b":
            return np.asarray(draw() > 0)
        if kind in "iu":  # not zero, so that integers divide
            whole = np.sign(draw()) * np.ceil(2 * np.abs(draw()))
            return np.asarray(np.abs(whole) if kind == "u" else whole).astype(self.dtype)
        return draw().astype(self.dtype)

    def _off_kinks(self, shape: tuple[int, ...]) -> np.ndarray:
        """Steps of the golden section in random order: they differ from all other values of the sample."""
        count = int(np.prod(shape, dtype=int))
        steps = (self._drawn + np.arange(count)) * (5**0.5 - 1) / 2
        self._drawn += count
        eighths, part = np.divmod(8 * np.mod(self.random.permutation(steps), 1), 1)
        return np.asarray(eighths / 2 - 2 + 0.1 + 0.3 * part).reshape(shape)

    def _general(self, *shape: int) -> np.ndarray:
        real = self.random.uniform(-1, 1, shape)
        return real + 1j * self.random.uniform(-1, 1, shape) if self.dtype.kind == "c" else real

    def _rotation(self, *shape: int) -> np.ndarray:
        """Orthogonal or unitary matrices."""
        return np.linalg.qr(self._general(*shape, shape[-1]))[0]


_MAKER_NAMES = (
    "x", "pos", "unit", "distinct", "mat", "psd", "tril", "ints", "mask", "tied", "perm", "generator", "ones", "zeros",
)  # fmt: skip
_MATRICES = ("mat", "psd", "tril")  # computed from square matrices
MAKERS = (*_MAKER_NAMES, "slice")
ARRAY_PARTS = ("T", "mT", "real", "imag")  # attributes of an array that a sample can use, besides a slice
MAKER_CONSTANTS = tuple(_LITERALS)


def _move_into_domain(domain: ast.expr, arguments: dict[str, Any], makers: _Makers) -> None:
    """Redraw, in place, values outside the domain; a condition on several arguments redraws the first of their arrays."""
    conditions = domain.values if isinstance(domain, ast.BoolOp) and isinstance(domain.op, ast.And) else [domain]
    targets = [(c, array) for c in conditions if (array := _target(c, arguments, makers.dtype)) is not None]
    for _ in range(_TRIES):
        outside = [(array, ~np.asarray(satisfied(condition, arguments))) for condition, array in targets]
        if not any(where.any() for _, where in outside):
            return
        for array, where in outside:
            makers.redraw(array, _within(where, array.shape))
    raise ValueError(f"no sample was found in the domain {ast.unparse(domain)}")


def _target(condition: ast.expr, arguments: dict[str, Any], dtype: np.dtype) -> np.ndarray | None:
    """The array that is redrawn until a condition holds."""
    names = [n.id for n in ast.walk(condition) if isinstance(n, ast.Name)]
    arrays = [a for name in names if isinstance(a := arguments.get(name), np.ndarray) and a.flags.writeable]
    return next((a for a in arrays if a.dtype == dtype and dtype.kind != "b"), None)


def _within(outside: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The elements of an array of `shape` that take part in a failure of a broadcast condition."""
    extra = max(outside.ndim - len(shape), 0)
    outside = outside.any(axis=tuple(range(extra)))
    outside = outside.reshape((1,) * (len(shape) - outside.ndim) + outside.shape)
    repeated = tuple(i for i, n in enumerate(shape) if n == 1 != outside.shape[i])
    return np.broadcast_to(outside.any(axis=repeated, keepdims=True), shape)


def satisfied(domain: ast.expr, arguments: dict[str, Any]) -> Any:
    """The domain, element by element; comparisons of floats must hold by MARGIN."""

    def value(node: ast.expr) -> Any:
        match node:
            case ast.BoolOp(ast.And(), values):
                return np.logical_and.reduce(np.broadcast_arrays(*map(value, values)))
            case ast.BoolOp(ast.Or(), values):
                return np.logical_or.reduce(np.broadcast_arrays(*map(value, values)))
            case ast.UnaryOp(ast.Not(), operand):
                return np.logical_not(value(operand))
            case ast.Compare(left, operators, rest):
                operands = [value(operand) for operand in [left, *rest]]
                parts = [_compare(op, a, b) for op, a, b in zip(operators, operands, operands[1:])]
                return np.logical_and.reduce(np.broadcast_arrays(*parts))
        names = {**CONSTANTS, **DOMAIN_FUNCTIONS, **OPERATIONS, **arguments}
        return eval(_condition(node), {"__builtins__": {}}, names)

    return value(domain)


def _compare(operator: ast.cmpop, a: Any, b: Any) -> Any:
    if not isinstance(operator, (ast.Eq, ast.NotEq)):
        a, b = np.real(a), np.real(b)
    margin = MARGIN if np.result_type(a, b).kind in "fc" else 0
    match operator:
        case ast.Gt():
            return a - b > margin
        case ast.GtE():
            return a - b >= margin
        case ast.Lt():
            return b - a > margin
        case ast.LtE():
            return b - a >= margin
        case ast.NotEq():
            return np.abs(a - b) > margin
    return a == b
