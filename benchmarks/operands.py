"""Operands of the calls in `benchmarks/calls.py`: NumPy arrays of about a given number of elements, by name."""

from __future__ import annotations

import math

import numpy as np

# Elements: images in the batch, channels, rows of an image; length of a signal; rows of a volume; heads, length and features.
SHAPES = {
    8: ((1, 2, 2), 4, 2, (1, 2, 4)),
    1_000: ((2, 4, 11), 125, 5, (2, 16, 32)),
    100_000: ((8, 16, 28), 782, 9, (8, 196, 64)),
    1_000_000: ((16, 32, 44), 1953, 12, (16, 976, 64)),
}
CONSTANT = {"target", "shares"}  # floating-point operands without a gradient
LARGEST = 100  # rows of a matrix in a batch; a larger operand has more matrices


def square_root(size: int) -> int:
    """The number of rows of an operand: the largest divisor below the square root."""
    return next(rows for rows in range(math.isqrt(size), 0, -1) if size % rows == 0)


def elements(size: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Arrays of two axes and of one axis, and indices into them."""
    shape = rows, columns = square_root(size), size // square_root(size)
    return {
        "x": rng.normal(size=shape), "a": rng.normal(size=shape), "target": rng.normal(size=shape),
        "p": rng.uniform(0.5, 2, shape), "g": rng.uniform(1.001, 1.02, shape), "near": rng.uniform(0.99, 1.01, shape),
        "u": rng.uniform(-0.9, 0.9, shape), "r": rng.uniform(0.05, 0.95, shape), "shares": rng.uniform(0.05, 0.95, shape),
        "d": rng.permutation(np.linspace(-2, 2, size)).reshape(shape),  # all are different
        "row": rng.normal(size=columns), "col": rng.normal(size=(rows, 1)), "side": rng.normal(size=rows),
        "other": rng.normal(size=(columns, rows)), "v": rng.normal(size=size), "w": rng.normal(size=size),
        "mask": rng.random(shape) < 0.5, "rows": rng.integers(0, rows, rows), "places": rng.integers(0, rows, shape),
        "classes": rng.integers(0, columns, rows),
    }  # fmt: skip


def matrices(size: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Well-conditioned square matrices: one of the given number of elements, and a batch of smaller matrices."""
    n = math.isqrt(size)
    noise, full = rng.normal(size=(n, n)) / math.sqrt(n), rng.normal(size=(n, n))
    rows = min(LARGEST, round(size ** (1 / 3)))
    left, right = (np.linalg.qr(rng.normal(size=(max(1, size // rows**2), rows, rows)))[0] for _ in range(2))
    stretched = left * np.linspace(1, 3, rows)  # singular values are well separated
    return {
        "square": noise / 2 + np.eye(n), "positive": noise @ noise.T + np.eye(n), "lower": np.tril(noise) / 2 + np.eye(n),
        "full": full, "general": stretched @ right, "definite": stretched @ left.swapaxes(1, 2),
    }  # fmt: skip


def images(size: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A batch of images, of signals and of volumes, with weights of length three along each axis; queries, keys and values."""
    (count, channels, side), length, depth, heads = SHAPES[size]
    weights = {f"weight{axes}": rng.normal(size=(channels, channels) + (3,) * axes) / channels for axes in (1, 2, 3)}
    return weights | {
        "image": rng.normal(size=(count, channels, side, side)), "signal": rng.normal(size=(count, channels, length)),
        "volume": rng.normal(size=(count, channels) + (depth,) * 3), "scale": rng.uniform(0.5, 2, channels),
        **{name: rng.normal(size=heads) for name in ("query", "key", "value")},
    }  # fmt: skip


def operands(size: int, dtype: str) -> dict[str, np.ndarray]:
    """Every operand; floating-point operands have the dtype."""
    rng = np.random.default_rng(0)
    arrays = elements(size, rng) | matrices(size, rng) | images(size, rng)
    return {name: array.astype(dtype) if array.dtype.kind == "f" else array for name, array in arrays.items()}


def differentiable(name: str, array: np.ndarray) -> bool:
    return array.dtype.kind == "f" and name not in CONSTANT
