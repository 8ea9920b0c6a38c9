"""NumPy's functions that an operator answers to.

Owns which function a dotted name is, and which ones follow from an entry: the one that its forward calls with the arguments
as they are, and those of its names.  Must not know what the operator is used for.
"""

from __future__ import annotations

import ast
import types
import warnings
from collections.abc import Callable

import numpy as np

from ..errors import SpecError, did_you_mean
from .model import Op, Text


def function(name: str) -> Callable | None:
    """`np.linalg.svd` for "linalg.svd", None where NumPy has no such function."""
    place: object = np
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for word in name.split("."):
            public = isinstance(place, types.ModuleType) and word.isidentifier() and not word.startswith("_")
            place = getattr(place, word, None) if public else None
    return place if callable(place) and not isinstance(place, type) else None


def function_named(text: Text) -> str:
    """The name as it is written, refused where NumPy has no function of that name."""
    name = text.value
    if function(name) is None:
        module, _, last = name.rpartition(".")
        if name.startswith("np.") and function(name[3:]):
            near = f"; write {name[3:]}"
        else:
            known = [n for n in dir(getattr(np, module, np)) if function(f"{module}.{n}".lstrip("."))]
            near = did_you_mean(last, known)
        raise SpecError(f"NumPy has no function '{name}'", text.location, suggestion=near)
    return name


def numpy_names(op: Op, *, stated: bool) -> tuple[str, ...]:
    """All of them for a public operator: the one that the entry states, else the one it calls, then those of its names."""
    if op.private or stated and not op.numpy:
        return ()
    spelled = [(op.namespace, name) for name in (op.name, *op.aliases)] + list(op.elsewhere)
    names = [*(op.numpy if stated else _called(op)), *(f"{place}.{name}".lstrip(".") for place, name in spelled)]
    return tuple(name for name in dict.fromkeys(names) if function(name))


def _called(op: Op) -> list[str]:
    """The function that the forward calls with each argument once, in order, or by keyword."""
    call = op.forward and op.forward.tree
    if not isinstance(call, ast.Call):
        return []
    head, _, name = ast.unparse(call.func).partition(".")
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    given = [value.id for value in values if isinstance(value, ast.Name)]
    wanted = [a.name for a in op.signature.arguments]
    count = len(call.args)
    plain = len(given) == len(values) and given[:count] == wanted[:count] and sorted(given) == sorted(wanted)
    return [name] if head == "np" and plain else []
