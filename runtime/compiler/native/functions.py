"""NumPy's other functions: those that move, join and make arrays, and the module that a text finds under the name `np`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from .arrays import FUNCTIONS, Array, chosen, code_of, fresh, known, lift, store
from .loops import Code, Unwritten

MOVERS = """
    reshape ravel transpose matrix_transpose permute_dims swapaxes moveaxis rollaxis expand_dims squeeze broadcast_to flip flipud
    fliplr roll rot90 diagonal repeat tile
""".split()

TAPS = 64  # elements of the shorter array of a convolution


def mover(function: Any) -> Any:
    """A function that moves elements: it is applied to their positions."""

    def moves(x: Any, *args: Any, **keywords: Any) -> Array:
        args, keywords = tuple(map(known, args)), {name: known(one) for name, one in keywords.items()}
        return lift(code_of((x,)), x).moved(function, *args, **keywords)

    return moves


def splitter(function: Any) -> Any:
    return lambda x, *args, **keywords: [Array(x.code, x.buffer, one) for one in function(x.index, *args, **keywords)]


def joiner(function: Any) -> Any:
    """A function that joins arrays: each is copied to the box of its elements."""

    def joins(arrays: Any, *args: Any, **keywords: Any) -> Array:
        code = code_of(arrays)
        arrays = [lift(code, one) for one in arrays]
        owner = function([np.full(one.shape, i) for i, one in enumerate(arrays)], *args, **keywords)
        source = function([one.index for one in arrays], *args, **keywords)
        y = fresh(code, owner.shape, np.result_type(*(one.dtype for one in arrays)))
        for i, one in enumerate(arrays):
            if one.size:
                box = tuple(slice(int(axis.min()), int(axis.max()) + 1) for axis in np.nonzero(owner == i))
                store(y[box], Array(code, one.buffer, source[box]))
        return y

    return joins


def filled(code: Code, shape: Any, value: Any, dtype: Any = None) -> Array:
    sizes = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(map(int, shape))
    y = fresh(code, sizes, np.asarray(value).dtype if dtype is None else dtype)
    store(y, value)
    return y


def like(value: Any) -> Any:
    def function(x: Array, dtype: Any = None, order: Any = None, subok: Any = None, shape: Any = None) -> Array:
        return filled(x.code, x.shape if shape is None else shape, value, x.dtype if dtype is None else dtype)

    return function


def padded(x: Array, widths: Any, mode: str = "constant", constant_values: Any = 0) -> Array:
    """np.pad."""
    if mode != "constant":
        raise Unwritten(f"np.pad with mode {mode} has no C here")
    widths = np.broadcast_to(widths, (x.ndim, 2)).tolist()
    y = filled(x.code, [size + sum(pair) for size, pair in zip(x.shape, widths)], constant_values, x.dtype)
    y[tuple(slice(before, before + size) for size, (before, _) in zip(x.shape, widths))] = x
    return y


def as_strided(x: Array, shape: Any, strides: Any, **keywords: Any) -> Array:
    index = np.asarray(x.index[(0,) * len(x.strides)])
    for axis, (size, stride) in enumerate(zip(shape, strides)):
        index = index + (np.arange(size) * (stride // x.itemsize)).reshape((size,) + (1,) * (len(shape) - axis - 1))
    return Array(x.code, x.buffer, index)


def clip(x: Any, min: Any = None, max: Any = None) -> Any:
    y = x if min is None else np.maximum(x, min)
    return y if max is None else np.minimum(y, max)


def rounded(x: Array, decimals: int = 0) -> Array:
    if x.dtype.kind != "f":
        raise Unwritten("rounding of integers has no C here")
    scale = 10.0 ** abs(decimals)
    return np.rint(x) if decimals == 0 else np.rint(x * scale) / scale if decimals > 0 else np.rint(x / scale) * scale


def numbers(x: Array, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    """np.nan_to_num."""
    if x.dtype.kind != "f":
        return x.copy()
    limits = np.finfo(x.dtype)
    x = chosen(np.isnan(x), x.dtype.type(nan), x)
    x = chosen(np.equal(x, np.inf), x.dtype.type(limits.max if posinf is None else posinf), x)
    return chosen(np.equal(x, -np.inf), x.dtype.type(limits.min if neginf is None else neginf), x)


def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Array:
    near = np.logical_and(np.less_equal(np.abs(a - b), atol + rtol * np.abs(b)), np.isfinite(b))
    near = np.logical_or(near, np.equal(a, b))
    return np.logical_or(near, np.logical_and(np.isnan(a), np.isnan(b))) if equal_nan else near


def correlate(a: Any, b: Any, mode: str = "valid") -> Array:
    """np.correlate, one element of the shorter array after the other."""
    code = code_of((a, b))
    a, b = lift(code, a), lift(code, b)
    if b.size > a.size:
        return correlate(b, a, mode)[::-1]
    if b.size > TAPS:
        raise Unwritten(f"np.correlate with more than {TAPS} elements has no C here")
    y = filled(code, [a.size + b.size - 1], 0, np.result_type(a.dtype, b.dtype))
    for k in range(b.size):
        here = slice(b.size - 1 - k, b.size - 1 - k + a.size)
        y[here] = y[here] + a * b[k]
    first = {"valid": b.size - 1, "same": b.size - 1 - b.size // 2, "full": 0}[mode]
    return y[first : {"valid": a.size, "same": first + a.size, "full": y.size}[mode]]


def convolve(a: Any, b: Any, mode: str = "full") -> Array:
    """np.convolve."""
    a, b = (b, a) if np.size(b) > np.size(a) else (a, b)
    return correlate(a, b[::-1], mode)


def meshgrid(*given: Any, indexing: str = "xy", **others: Any) -> list[Array]:
    opened = [lift(code_of(given), one).reshape([-1 if j == k else 1 for j in range(len(given))]) for k, one in enumerate(given)]
    if indexing == "xy" and len(given) > 1:
        opened = [one.moved(np.swapaxes, 0, 1) for one in opened]
    return broadcast(*opened)


def triangle(function: Any) -> Any:
    return lambda x, k=0: chosen(function(np.ones(x.shape[-2:], bool), k), x, 0)


def broadcast(*given: Any) -> list[Array]:
    shape = np.broadcast_shapes(*map(np.shape, given))
    return [lift(code_of(given), one).moved(np.broadcast_to, shape) for one in given]


FUNCTIONS.update({name: mover(getattr(np, name)) for name in MOVERS})
FUNCTIONS.update({name: splitter(getattr(np, name)) for name in ("split", "array_split", "unstack") if hasattr(np, name)})
FUNCTIONS.update({name: joiner(getattr(np, name)) for name in ("concatenate", "concat", "stack", "hstack", "vstack")})
FUNCTIONS.update({
    "sliding_window_view": mover(np.lib.stride_tricks.sliding_window_view), "broadcast_arrays": broadcast, "pad": padded,
    "isclose": isclose, "correlate": correlate, "convolve": convolve,
    "meshgrid": meshgrid, "angle": lambda x: np.arctan2(np.zeros_like(x), x),
    "clip": clip, "round": rounded, "around": rounded, "nan_to_num": numbers,
    "tril": triangle(np.tril), "triu": triangle(np.triu),
    "zeros_like": like(0), "ones_like": like(1), "empty_like": like(0),
    "full_like": lambda x, value, dtype=None: filled(x.code, x.shape, value, x.dtype if dtype is None else dtype),
    "shape": lambda x: x.shape, "ndim": lambda x: x.ndim, "size": lambda x: x.size, "copy": lambda x: x.copy(),
    "real": lambda x: x, "imag": lambda x: np.zeros_like(x), "iscomplexobj": lambda x: False, "isrealobj": lambda x: True,
    "result_type": lambda *given: np.result_type(*(one.dtype if type(one) is Array else one for one in given)),
    "may_share_memory": lambda a, b: True, "shares_memory": lambda a, b: True,
})  # fmt: skip


class NumPy:
    """The module `np` of a text; functions that make arrays or leave no override are its own."""

    ndarray = Array
    lib = SimpleNamespace(
        stride_tricks=SimpleNamespace(as_strided=as_strided, sliding_window_view=np.lib.stride_tricks.sliding_window_view),
        array_utils=np.lib.array_utils,
    )

    def __init__(self, code: Code) -> None:
        self.code = code

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def asarray(self, x: Any, dtype: Any = None, *args: Any, **keywords: Any) -> Any:
        if type(x) is Array or isinstance(x, (list, tuple)) and any(type(part) is Array for part in x):
            return lift(self.code, x, dtype)
        return np.asarray(x, dtype)

    ascontiguousarray = asanyarray = require = asarray

    def array(self, x: Any, dtype: Any = None, **keywords: Any) -> Any:
        found = self.asarray(x, dtype)
        return found.copy() if found is x else found

    def zeros(self, shape: Any, dtype: Any = float, **keywords: Any) -> Any:
        if np.dtype(dtype).kind in "iub":  # positions and masks that no argument decides
            return np.zeros(shape, dtype)
        return filled(self.code, shape, 0, dtype)

    empty = zeros

    def ones(self, shape: Any, dtype: Any = float, **keywords: Any) -> Any:
        if np.dtype(dtype).kind in "iub":
            return np.ones(shape, dtype)
        return filled(self.code, shape, 1, dtype)

    def full(self, shape: Any, value: Any, dtype: Any = None, **keywords: Any) -> Any:
        return filled(self.code, shape, value, dtype)
