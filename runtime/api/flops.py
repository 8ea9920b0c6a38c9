"""Floating-point operations of a call, estimated from shapes.

An elementwise operator counts one operation for each element of its result; a product or a convolution counts a multiplication
and an addition for each term of its sums.  All other operators count 0.  A composite operator counts its parts, if its parts are
events.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any


def _matmul(inputs: Any, given: Any) -> int:
    return 2 * math.prod(given) * inputs[0][-1]


def _linear(inputs: Any, given: Any) -> int:
    with_bias = inputs[2] is not None
    return (2 * inputs[0][-1] + with_bias) * math.prod(given)


def _convolution(inputs: Any, given: Any) -> int:
    return 2 * math.prod(given) * math.prod(inputs[1][1:])


def _convolution_transposed(inputs: Any, given: Any) -> int:
    return 2 * math.prod(inputs[0]) * math.prod(inputs[1][1:])


# For products: the shapes of the inputs and of the result -> number of operations.
PRODUCTS: Mapping[str, Callable[[Any, Any], int]] = {
    "matmul": _matmul, "linear": _linear, "vecdot": lambda inputs, given: 2 * math.prod(inputs[0]),
    "outer": lambda inputs, given: math.prod(given), "_convolve": _convolution, "_convolve_input": _convolution_transposed,
    **{f"conv{axes}d": _convolution for axes in (1, 2, 3)},
    **{f"conv_transpose{axes}d": _convolution_transposed for axes in (1, 2, 3)},
}  # fmt: skip


@functools.cache
def elementwise() -> frozenset[str]:
    """The operators whose entry is a partial derivative."""
    from ..generated.op_info import OPS

    return frozenset(entry.name for entry in OPS if entry.form == "partial")


def of_call(name: str, inputs: Any, given: Any) -> int:
    """Number of operations of one call of an operator, 0 if unknown.

    Parameters
    ----------
    name : str
        Name of its entry, with `_` if it writes in place and `.out` if it writes to `out=`.
    inputs, given : tuple
        Shapes of its inputs and of its result.
    """
    name = name.removesuffix(".out")
    name = name.removesuffix("_") if name not in PRODUCTS else name
    try:
        if name in PRODUCTS:
            return PRODUCTS[name](inputs, given)
        return math.prod(given) if name in elementwise() else 0
    except (IndexError, TypeError):  # not the shapes of such a call
        return 0
