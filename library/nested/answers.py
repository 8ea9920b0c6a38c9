"""Operators on nested tensors: dispatch gradspec's functions if an operand is nested.

Decides which operators take nested tensors, and the meaning of their axes.  This follows from the operator's batching rule.
An elementwise operator, and a reduction of everything, runs on the values.  Any other operator whose axes are behind the ragged
axis runs in a vmap over the rows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from operator import matmul
from typing import Any

import numpy as np

from ..func import vmap
from ..generated.batching import BATCHING
from ..generated.tensor import Tensor
from ..support.error_hints import parameters_of
from ..support.keywords import renamed
from . import products
from .products import is_nested

# Operators along the ragged axis, or over all elements.
OWN = {"unstack": "unbind"}
OWN |= {name: name for name in ("sum", "mean", "prod", "max", "min", "amax", "amin", "softmax", "log_softmax", "chunk")}
FUNCTIONS = {
    "matmul": matmul,
    "linear": products.linear,
    "layer_norm": products.layer_norm,
    "rms_norm": products.rms_norm,
    "embedding": products.embedding,
    "scaled_dot_product_attention": products.scaled_dot_product_attention,
}
ROW_BY_ROW = ("dropout", "alpha_dropout")  # without an axis, and independent for each element
REFUSED = ("rollaxis",)  # its `start` is an axis as well
ALONG = ("along", "inserted", "parts", "beside")  # batching rules of operators that may run along an axis


def answer(function: Callable[..., Any], args: tuple, keywords: dict[str, Any]) -> Any:
    """Apply an operator with a nested tensor among its operands.

    Parameters
    ----------
    function : callable
        A function of the spec.
    args, keywords
        The arguments of its call.

    Returns
    -------
    NestedTensor, Tensor, or a list or tuple of them

    Raises
    ------
    TypeError
        The operator is not defined for nested tensors, or cannot run along this axis.
    """
    name = function.__name__
    way, roles, *rest = BATCHING.get(name, ("", ""))
    keywords = renamed(keywords, parameters_of(function), name)
    given = _signature(function).bind(*args, **keywords)
    given.apply_defaults()
    arguments = given.arguments
    kinds = dict(zip(arguments, roles))
    nested = next(_nested_in(arguments.values()))
    if any(_holds(value) and kinds.get(key, ".") not in "al" for key, value in arguments.items()):
        raise TypeError(f"{name}: a nested tensor is given where no array is taken")
    if way == "elements":
        for key, role in kinds.items():
            if role == "a":
                arguments[key] = nested.aligned(name, arguments[key])
        return _again(function(*given.args, **given.kwargs), nested)
    if name in FUNCTIONS:
        return FUNCTIONS[name](*args, **keywords)
    axes = [key for key, role in kinds.items() if role in "xX"]
    shared = [_behind(nested, arguments[key], way == "inserted") for key in axes]
    by_rows = axes and way in ALONG and name not in REFUSED or way in ("leading", "draws") or name in ROW_BY_ROW
    if by_rows and None not in shared:
        arguments.update(zip(axes, shared))
        return _by_rows(name, function, given, nested)
    if name in OWN and args and is_nested(args[0]):
        return getattr(args[0], OWN[name])(*args[1:], **keywords)
    if way == "along" and rest == [True] and arguments[axes[0]] is None and not arguments.get("keepdims"):
        return function(*[value.values() if is_nested(value) else value for value in given.args], **given.kwargs)
    refused = "it takes an axis that all items share, 2 or more" if axes and way in ALONG else "it takes no nested tensors"
    raise TypeError(f"{name}: {refused}; write nt.map_values(f) if f computes each row alone, gs.nested.vmap(f)(nt) if f is a "
                    "function of an item, nt.values() otherwise")  # fmt: skip


def takes(name: str) -> bool:
    """Whether an operator of this name may be defined for nested tensors."""
    way, roles = BATCHING.get(name, ("", ""))[:2]
    return way in ("elements", "leading") or way in ALONG and "x" in roles.lower() and name not in REFUSED or name in ROW_BY_ROW


@cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def _holds(value: Any) -> bool:
    return next(_nested_in([value]), None) is not None


def _nested_in(values: Any) -> Iterator[Any]:
    for value in values:
        if is_nested(value):
            yield value
        elif type(value) in (list, tuple):
            yield from (item for item in value if is_nested(item))


def _behind(nested: Any, axis: Any, inserted: bool) -> Any:
    """The axes of a row that correspond to axes of the nested tensor behind the ragged one; None for other axes."""
    if axis is None:
        return None
    if isinstance(axis, (list, tuple)):
        found = [_behind(nested, one, inserted) for one in axis] if not inserted or len(axis) == 1 else [None]
        return None if None in found else tuple(found)
    ndim = nested.ndim + inserted
    if not isinstance(axis, (int, np.integer)) or not 2 - ndim <= axis < ndim or 0 <= axis < 2:
        return None
    return int(axis) - 2 if axis >= 0 else int(axis)


def _by_rows(name: str, function: Callable[..., Any], given: inspect.BoundArguments, nested: Any) -> Any:
    """Run an operator in a vmap over the rows of all items."""
    own = dict(given.arguments)
    rows = list(_nested_in(own.values()))
    if any(not np.array_equal(one._offsets, nested._offsets) for one in rows):
        raise RuntimeError(f"{name}: nested tensors of different lengths: "
                           f"{', '.join(str(one.lengths().tolist()) for one in rows)}")  # fmt: skip
    if any(_holds(value) and not is_nested(value) and not all(map(is_nested, value)) for value in own.values()):
        raise TypeError(f"{name}: a list of nested tensors holds nothing else")

    def of_a_row(*items: Any) -> Any:
        left = iter(items)
        for key, value in own.items():
            if is_nested(value):
                given.arguments[key] = next(left)
            elif _holds(value):
                given.arguments[key] = [next(left) for _ in value]
        return function(*given.args, **given.kwargs)

    return _again(vmap(of_a_row, randomness="different")(*(one.values() for one in rows)), nested)


def _again(found: Any, nested: Any) -> Any:
    """Wrap the resulting rows as items, with the lengths of the operand."""
    if isinstance(found, (list, tuple)):
        items = [_again(item, nested) for item in found]
        return type(found)(*items) if hasattr(found, "_fields") else type(found)(items)
    return type(nested)(found, nested._offsets) if isinstance(found, Tensor) else found
