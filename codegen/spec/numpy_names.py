"""Find the NumPy functions that an operator implements.

Derives them from an entry: the function that its forward calls with unchanged arguments, and functions with the entry's names.
The file numpy_functions.txt lists the functions of the oldest NumPy that gradspec supports, so the generated code does not depend
on the installed NumPy.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from ..errors import SpecError, did_you_mean
from .model import Op, Text


@functools.cache
def functions() -> frozenset[str]:
    """The names of NumPy's functions: "linalg.svd" is np.linalg.svd."""
    lines = Path(__file__).with_name("numpy_functions.txt").read_text().splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def function_named(text: Text) -> str:
    """The name in a text; rejected if NumPy has no function of this name."""
    name = text.value
    if name not in functions():
        module, _, last = name.rpartition(".")
        if name.startswith("np.") and name[3:] in functions():
            near = f"; write {name[3:]}"
        else:
            beside = [other.rpartition(".") for other in sorted(functions())]
            near = did_you_mean(last, [n for place, _, n in beside if place == module])
        raise SpecError(f"NumPy has no function '{name}'", text.location, suggestion=near)
    return name


def numpy_names(op: Op, *, stated: bool) -> tuple[str, ...]:
    """The functions of a public operator: first the stated or the called function, then the functions with the op's names."""
    if op.private or stated and not op.numpy:
        return ()
    spelled = [(op.namespace, name) for name in (op.name, *op.aliases)] + list(op.elsewhere)
    names = [*(op.numpy if stated else _called(op)), *(f"{place}.{name}".lstrip(".") for place, name in spelled)]
    return tuple(name for name in dict.fromkeys(names) if name in functions())


def _called(op: Op) -> list[str]:
    """The function that the forward calls with each argument once, in order or by keyword."""
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
