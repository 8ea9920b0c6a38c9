"""Arithmetic of the numeric check: differences, inner products and comparisons of arrays and of lists of arrays.

Does not depend on the spec.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.random

TOLERANCE = 1e-6
STEP = 2.0**-12
_ARRAY = 200  # the minimum count of an array in a list: lists are compared array by array
LARGEST = 20_000  # numbers in a result; samples are small
_FACTORS = [float(n) for n in range(2, 11)] + [1 / n for n in range(2, 11)]
_CONSTANTS = {"log(2)": math.log(2), "log(10)": math.log(10), "pi": math.pi, "sqrt(2)": 2**0.5, "sqrt(pi)": math.pi**0.5,
              "sqrt(2 * pi)": (2 * math.pi) ** 0.5, "e": math.e}  # fmt: skip
_NAMES = {"180 / pi": 180 / math.pi, "pi / 180": math.pi / 180} | {
    name: value
    for c, x in _CONSTANTS.items()
    for name, value in ((c, x), (f"1 / {c}", 1 / x), (f"2 * {c}", 2 * x), (f"{c} / 2", x / 2), (f"2 / {c}", 2 / x))
}
Value = Any  # an array, or a list of values


def numbers(value: Value) -> Value:
    """The value, if it is numeric arrays of a size for samples; else an error that describes it."""
    parts, count = [value], 0
    while parts:
        part = parts.pop()
        if isinstance(part, (list, tuple)):
            parts += part
            continue
        if (dtype := np.asarray(part).dtype).kind not in "biufc":
            raise TypeError(f"gives {type(part).__name__ if dtype.kind == 'O' else dtype}, not numbers")
        count += max(np.size(part), _ARRAY)
        if count > LARGEST:
            raise ValueError(f"gives more than {LARGEST} numbers: let the samples be small")
    return value


def alike(x: Value, z: Value) -> bool:
    """Whether two values can be compared element by element."""
    if isinstance(x, list) or isinstance(z, list):
        return isinstance(x, list) and isinstance(z, list) and len(x) == len(z) and all(map(alike, x, z))
    return np.shape(x) == np.shape(z)


def same(x: Value, z: Value) -> bool:
    """Whether two values are equal up to rounding, with NaN equal to NaN."""
    if isinstance(x, list):
        return len(x) == len(z) and all(map(same, x, z))
    return np.shape(x) == np.shape(z) and np.allclose(x, z, TOLERANCE, TOLERANCE, equal_nan=True)


def is_inexact(value: Value) -> bool:
    if isinstance(value, list):
        return any(map(is_inexact, value))
    return isinstance(value, np.ndarray) and value.dtype.kind in "fc"


def is_finite(value: Value) -> bool:
    return all(map(is_finite, value)) if isinstance(value, list) else bool(np.all(np.isfinite(value)))


def combined(a: float, x: Value, b: float, z: Value) -> Value:
    """a x + b z."""
    if isinstance(x, list):
        return type(x)(combined(a, p, b, q) for p, q in zip(x, z, strict=True))
    return np.asarray(a * x + b * z)


def scaled(a: float, x: Value) -> Value:
    return type(x)(scaled(a, part) for part in x) if isinstance(x, list) else np.asarray(a * x)


def random_like(value: Value, random: np.random.Generator) -> Value:
    if isinstance(value, list):
        return type(value)(random_like(part, random) for part in value)
    real = random.uniform(0.5, 1.5, value.shape) * random.choice([-1.0, 1.0], value.shape)
    return np.asarray(real + 1j * random.uniform(-1, 1, value.shape) if value.dtype.kind == "c" else real)


def direction_like(value: Value, random: np.random.Generator) -> Value:
    """A direction to move along; a Hermitian matrix stays Hermitian."""
    direction = random_like(value, random)
    if not isinstance(value, list) and _is_hermitian(value):
        return (direction + np.swapaxes(direction.conj(), -1, -2)) / 2
    return direction


def derivative(f: Callable[[Value], list[Value]], x: Value, direction: Value, first: float = STEP, *,
               twice: bool = True) -> list[Value]:  # fmt: skip
    """d f(x + t direction) / dt at 0, by central differences extrapolated twice; once is enough for most functions."""

    def central(step: float) -> list[Value]:
        ahead, behind = f(combined(1.0, x, step, direction)), f(combined(1.0, x, -step, direction))
        return combined(0.5 / step, ahead, -0.5 / step, behind)

    coarse, middle = central(first), central(first / 2)
    once = combined(4 / 3, middle, -1 / 3, coarse)
    if not twice:
        return once
    return combined(16 / 15, combined(4 / 3, central(first / 4), -1 / 3, middle), -1 / 15, once)


def inner(x: Value, z: Value) -> float:
    """The real inner product, where complex numbers are pairs of reals."""
    if isinstance(x, list):
        return sum(inner(p, q) for p, q in zip(x, z, strict=True))
    return float(np.sum(np.conj(x) * z).real)


def size_of(x: Value) -> float:
    return float(np.sqrt(inner(x, x)))


def expanded(x: Value, like: Value) -> Value:
    if isinstance(like, list):
        return type(like)(expanded(p, q) for p, q in zip(x, like, strict=True))
    return np.broadcast_to(x, like.shape)


def reduced(x: Value, like: Value) -> Value:
    """x summed over the axes that broadcasting `like` to its shape added or expanded."""
    if isinstance(like, list):
        if not isinstance(x, (list, tuple)) or len(x) != len(like):
            raise ValueError(f"gives {len(x) if isinstance(x, (list, tuple)) else 1} arrays for {len(like)}")
        return type(like)(reduced(p, q) for p, q in zip(x, like))
    shape, extra = np.shape(x), np.ndim(x) - np.ndim(like)
    if extra < 0 or any(n not in (1, m) for n, m in zip(like.shape, shape[extra:])):
        raise ValueError(f"has the shape {shape}, which does not reduce to {like.shape}")
    axes = tuple(i for i in range(len(shape)) if i < extra or like.shape[i - extra] == 1 != shape[i])
    return np.sum(x, axis=axes).reshape(like.shape)


def worst(got: Value, expected: Value, tolerance: float = TOLERANCE) -> tuple[Any, Any] | None:
    """The elements that differ most, None if all agree."""
    if isinstance(expected, list):
        pairs = (worst(p, q, tolerance) for p, q in zip(got, expected, strict=True))
        return next((pair for pair in pairs if pair is not None), None)
    if not np.size(expected):
        return None
    got, expected = np.broadcast_arrays(got, expected)
    error = np.abs(got - expected) / (1 + np.abs(expected).max())
    place = np.unravel_index(np.argmax(np.where(np.isnan(error), np.inf, error)), error.shape)
    return None if error[place] <= tolerance else (got[place], expected[place])


def hint(got: Value, expected: Value, others: Mapping[str, Value]) -> str:
    """A hint at the likely mistake, or ""."""
    if isinstance(got, list):
        return ""
    if worst(scaled(-1.0, got), expected) is None:
        return "; it has the wrong sign"
    for name, value in others.items():
        if worst(value, expected) is None:
            return f"; it looks like the rule of '{name}'"
    factor = _factor(got, expected)
    if factor is None:
        return ""
    return f"; it is off by a factor {_named(factor)}" if abs(factor) >= 1 else f"; it misses a factor {_named(1 / factor)}"


def _factor(got: Any, expected: Any) -> float | None:
    """The real factor between all elements; for a single element, only a small integer or its inverse."""
    got, expected = np.ravel(got), np.ravel(expected)
    if got.shape != expected.shape or not np.any(expected):
        return None
    place = np.argmax(np.abs(expected))
    factor = complex(got[place] / expected[place])
    if factor.imag or not factor or worst(got / factor.real, expected) is not None:
        return None
    plain = any(math.isclose(factor.real, n, rel_tol=1e-6) for n in _FACTORS)
    return factor.real if plain or np.count_nonzero(expected) > 1 else None


def _named(factor: float) -> str:
    """A number, with its name if it is a known constant of formulas."""
    if math.isclose(factor, round(factor), rel_tol=1e-6):
        return f"{factor:g}"
    names = (name for name, value in _NAMES.items() if math.isclose(abs(factor), value, rel_tol=1e-6))
    return "".join([f"{factor:.5g}", *(f" = {'-' * (factor < 0)}{name}" for name in [*names][:1])])


def plain(value: Any) -> complex | float:
    """A number to print: real if its imaginary part is 0."""
    return float(value.real) if np.imag(value) == 0 else complex(value)


def _is_hermitian(x: np.ndarray) -> bool:
    return x.ndim >= 2 and x.shape[-1] == x.shape[-2] and np.array_equal(x, np.swapaxes(x.conj(), -1, -2))
