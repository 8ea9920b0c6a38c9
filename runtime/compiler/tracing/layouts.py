"""Layouts: analyse the memory layouts of values for inner loops.

Decides whether operands form one loop over plain memory or a loop over rows, and copies an array to given strides.
"""

from __future__ import annotations

import numpy as np

from .values import Value

SHORT = 4  # shortest row; for shorter ones the operator itself is cheaper


def rows_of(values: list[Value], out: Value) -> tuple[int, int, list[tuple[int, int]]] | None:
    """Operands and the result of a loop as rows: the number of rows, their length, and for each array the strides (to the next
    row, inside a row).  None if more than two axes remain after joining axes that are contiguous in all arrays."""
    ndim = len(out.shape)
    if not out.layout.c_contiguous:
        return None
    strides = []
    for value in (*values, out):
        shape = (1,) * (ndim - len(value.shape)) + value.shape
        if len(shape) > ndim or any(a not in (1, b) for a, b in zip(shape, out.shape)):
            return None
        own = (0,) * (ndim - len(value.shape)) + value.strides
        strides.append(tuple(0 if size == 1 else stride for size, stride in zip(shape, own)))
    axes: list[tuple[int, list[int]]] = []
    for axis, size in enumerate(out.shape):
        if size == 1:
            continue
        here = [each[axis] for each in strides]
        if axes and all(outer == inner * size for outer, inner in zip(axes[-1][1], here)):
            axes[-1] = axes[-1][0] * size, here
        else:
            axes.append((size, here))
    if len(axes) != 2 or axes[1][0] < SHORT:
        return None
    return axes[0][0], axes[1][0], list(zip(axes[0][1], axes[1][1]))


def step_of(value: Value, out: Value) -> int | None:
    """The stride of an operand, in bytes, in the order of the result's elements; None if it is not constant."""
    if value.layout.count == 1 and len(value.shape) <= len(out.shape):
        return 0
    if value.shape != out.shape:
        return None
    axes = [i for i, size in enumerate(out.shape) if size > 1]
    if all(value.strides[i] == 0 for i in axes):
        return 0
    if value.dtype.itemsize == out.dtype.itemsize:
        return value.dtype.itemsize if all(value.strides[i] == out.strides[i] for i in axes) else None
    if value.layout.c_contiguous and out.layout.c_contiguous:
        return value.dtype.itemsize
    return None


def laid_out(array: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """A copy of an array with different strides, in new memory."""
    ends = [(size - 1) * stride for size, stride in zip(array.shape, strides)]
    first = -sum(min(end, 0) for end in ends)
    memory = np.zeros(first + sum(max(end, 0) for end in ends) + array.itemsize, np.uint8)
    found = np.ndarray(array.shape, array.dtype, memory, first, strides)
    found[...] = array
    return found
