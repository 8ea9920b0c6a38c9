"""Write the example of a docstring: a call and its stated value, in the form of a Python session.

Selects the entry's example and prints its tensors.  The value is the stated one in the promised dtype, so nothing runs here; a
test runs every example and compares the output.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..spec.model import Op, Stated
from ..spec.results import result_dtype
from ..spec.samples import evaluate_sample, evaluate_stated
from .arguments import Bindings

WIDTH, LINES = 120, 6  # limits of an example


def example(op: Bindings, alias: str = "gs") -> list[str]:
    """The lines of the first example that is short and consists of literals, or no lines."""
    for stated in op.op.examples:
        try:
            lines = list(_session(op, stated, alias))
        except ValueError:  # literals that do not form an array
            continue
        if 0 < len(lines) <= LINES and max(map(len, lines)) <= WIDTH and all(lines):
            return lines
    return []


def _session(op: Bindings, stated: Stated, alias: str) -> Iterator[str]:
    tree = ast.parse(stated.call.source, mode="eval").body
    assert isinstance(tree, ast.Call)
    given = [node for part in (*tree.args, *tree.keywords) for node in ast.walk(part)]
    if any(isinstance(node, ast.Call) for node in given):
        return  # a slice, which users do not write this way
    for node in given:
        if isinstance(node, ast.Name):
            node.id = f"{alias}.{node.id}"
    place = ".".join(part for part in (alias, op.op.namespace, op.name) if part)
    tree.func = ast.Name(place)
    values = _typed(op.op, stated)
    if values is None:
        return
    yield f">>> {ast.unparse(tree)}"
    shown = [_several(v, output.type.is_tuple) if isinstance(v, list) else _tensor(v) for v, output in zip(values, op.visible)]
    if op.result_class:
        names = [output.name for output in op.visible]
        yield from f"{op.result_class}({', '.join(f'{n}={s}' for n, s in zip(names, shown))})".split("\n")
    else:
        yield from (shown[0] if len(shown) == 1 else f"({', '.join(shown)})").split("\n")


def _typed(op: Op, stated: Stated) -> list[Any] | None:
    """The stated values in the dtypes that the entry promises, None if it promises none."""
    args, kwargs = evaluate_sample(stated.call.source)
    given: dict[str, Any] = {a.name: a.given for a in op.signature.arguments}
    positional = [a.name for a in op.signature.arguments if not a.keyword_only]
    given |= dict(zip(positional, args)) | kwargs
    arrays = [a for a in op.signature.arguments if a.type.base in ("Array", "Index", "Mask")]
    inputs = {a.name: _dtypes(given[a.name], a.type.is_list) for a in arrays}
    found: list[Any] = []
    outputs = op.signature.visible
    for index, (output, value) in enumerate(zip(outputs, evaluate_stated(stated.value.source, len(outputs)))):
        dtype = result_dtype(op, index, inputs, given)
        if dtype is None:
            return None
        found.append([np.asarray(v).astype(dtype) for v in value] if output.type.is_list else np.asarray(value).astype(dtype))
    return found


def _dtypes(value: Any, is_list: bool) -> Any:
    """The values that determine a dtype: the dtype of an array, a Python number itself, or a list of both."""
    if is_list:
        return [_dtypes(v, False) for v in value]
    return np.asarray(value).dtype if isinstance(value, list) else value


def _several(values: list[np.ndarray], is_tuple: bool) -> str:
    text = ", ".join(map(_tensor, values))
    return f"({text}{',' if len(values) == 1 else ''})" if is_tuple else f"[{text}]"


def _tensor(value: np.ndarray) -> str:
    """The text that a tensor prints."""
    parts = [np.array2string(value, separator=", ", prefix="tensor(")]
    if value.dtype not in (np.float64, np.int64, np.bool_):
        parts.append(f"dtype={value.dtype}")
    if value.size == 0 and value.ndim != 1:
        parts.append(f"shape={value.shape}")
    return f"tensor({', '.join(parts)})"
