"""Literals: write Python values as text that evaluates to the same values, to the last bit.

Writes numbers, arrays, dtypes, slices and generators.  Does not depend on operators.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from .values import Source, Value, bounds

SHORT = 12  # an array with at least as many elements is written as bytes


def literal(item: Any) -> str:
    """The text of a value.

    Raises
    ------
    TypeError
        The value is a function or an object of a user's class.
    """
    if isinstance(item, (Value, Source)):
        return item.name
    if isinstance(item, int) and type(item).__module__ != "builtins" and not isinstance(item, np.generic):
        return str(item)  # a Size, written as its expression
    if item is None or item is Ellipsis or isinstance(item, (bool, int, str, bytes)) and type(item).__module__ == "builtins":
        return "..." if item is Ellipsis else repr(item)
    if isinstance(item, np.generic):
        return array_literal(np.asarray(item)) + "[()]"
    if type(item) is float:
        return real(item)
    if type(item) is complex:
        return f"complex({real(item.real)}, {real(item.imag)})"
    if isinstance(item, np.dtype):
        return f"np.dtype({item.name!r})"
    if isinstance(item, type) and issubclass(item, np.generic):
        return f"np.{item.__name__}"
    if item in (bool, int, float, complex):
        return item.__name__
    if isinstance(item, slice):
        return f"slice({', '.join(map(literal, (item.start, item.stop, item.step)))})"
    if isinstance(item, list):
        return f"[{', '.join(map(literal, item))}]"
    if isinstance(item, tuple):
        return f"({', '.join(map(literal, item))}{',' if len(item) == 1 else ''})"
    if isinstance(item, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(value)}" for key, value in item.items()) + "}"
    raise TypeError(f"trace: a program has no text for {item!r} of class {type(item).__name__}; pass numbers, strings and arrays")


def real(number: float) -> str:
    """The text of a float: NaN and infinities have no literals in Python."""
    return repr(number) if math.isfinite(number) else f"float({str(number)!r})"


def array_literal(array: np.ndarray) -> str:
    """The text of an array with the same bytes and strides."""
    dense = array.flags.c_contiguous
    if dense and array.size < SHORT and array.dtype.kind in "fiub" and exact(array):
        return f"np.array({array.tolist()!r}, {array.dtype.name!r})" + (f".reshape({array.shape})" if array.size == 0 else "")
    if dense:
        text = base64.b64encode(array.tobytes()).decode()
        return f"np.ndarray({array.shape}, {array.dtype.name!r}, bytearray(b64decode({text!r})))"
    low, high = bounds(array)
    memory = np.zeros(high - low, np.uint8)
    first = array.__array_interface__["data"][0] - low
    np.ndarray(array.shape, array.dtype, memory, first, array.strides)[...] = array
    text = base64.b64encode(memory.tobytes()).decode()
    return f"np.ndarray({array.shape}, {array.dtype.name!r}, bytearray(b64decode({text!r})), {first}, {array.strides})"


def exact(array: np.ndarray) -> bool:
    """Whether Python's literals preserve the bits: NaN and infinities have no literal."""
    return bool(np.isfinite(array).all()) if array.dtype.kind == "f" else True
