"""Run gradspec's operators in the formulas of another package, through the public functions.

Converts arrays to tensors and back.  The operators are proved by gradspec's own check, so nothing is checked here.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..spec.table import OWNER, table

Given = Sequence[tuple[Any] | None]  # an argument for each parameter, None for its default


def value(name: str, given: Given) -> Any:
    """The result of an operator for arrays."""
    library = importlib.import_module(OWNER)
    with library.no_grad():
        return _arrays(_call(name, given))


def tangent(name: str, given: Given, tangents: Sequence[Any]) -> Any:
    """The tangent of the result for tangents of some arguments; None if the result does not change."""
    forward_ad = importlib.import_module(f"{OWNER}.autograd.forward_ad")
    with forward_ad.dual_level():
        moving = [part and (_dual(part[0], t, forward_ad),) for part, t in zip(given, tangents)]
        return _tangents(_call(name, moving), forward_ad)


def _call(name: str, given: Given) -> Any:
    ops = importlib.import_module(f"{OWNER}.support.dispatch").ops
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    signature = table().operators[name].signature
    for parameter, part in zip(signature.arguments, given, strict=True):
        if part is None:
            continue
        if parameter.keyword_only or len(positional) < signature.arguments.index(parameter):
            keywords[parameter.name] = part[0]
        else:
            positional.append(part[0])
    return getattr(ops, signature.name)(*positional, **keywords)


def _arrays(found: Any) -> Any:
    if isinstance(found, (list, tuple)):
        return [_arrays(item) for item in found] if isinstance(found, list) else tuple(map(_arrays, found))
    return found.detach().numpy() if hasattr(found, "detach") else found


def _dual(given: Any, moved: Any, forward_ad: Any) -> Any:
    if moved is None:
        return given
    if isinstance(given, (list, tuple)):
        return [_dual(item, t, forward_ad) for item, t in zip(given, moved)]
    library = importlib.import_module(OWNER)
    primal = library.asarray(np.asarray(given))
    return forward_ad.make_dual(primal, library.asarray(np.broadcast_to(moved, primal.shape).astype(primal.dtype)))


def _tangents(found: Any, forward_ad: Any) -> Any:
    if isinstance(found, (list, tuple)):
        return [_tangents(item, forward_ad) for item in found]
    moved = forward_ad.unpack_dual(found).tangent
    return None if moved is None else moved.detach().numpy()
