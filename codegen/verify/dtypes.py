"""Dtypes: the forward in single precision and in integers, where differences would say nothing.

Owns the promise that the precision of the result is that of the inputs, and the hint at what breaks it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..spec.model import Formula, Op
from .case import BoundCall, Report, make_sample, what
from .evaluate import Evaluator

_OTHERS = {"real": (np.float32,), "float": (np.float32, np.complex64), "any": (np.float32, np.complex64, np.int64)}


def check_dtypes(op: Op, evaluator: Evaluator, report: Report) -> None:
    """Runs the forward at every sample in the other dtypes that the entry claims."""
    key = "composite" if op.composite else "forward" if op.forward else "inplace"
    formula = getattr(op, key)
    for dtype in _OTHERS.get(op.dtype, ()):
        failures = []
        for index in range(len(op.samples)):
            call = make_sample(op, index, dtype)
            try:
                outputs = evaluator.forward(op, _weak(op, call) if op.composite else call.arguments)
            except Exception as error:
                failures.append(f"fails at {call}: {what(error)}")
                continue
            for got in _wider(op, call, outputs):
                report(f"gives {got} for {call.dtype} at {call.source}{_scalar(formula)}", key, formula)
        # Some integers have no power with some others, but an entry for integers takes some.
        if failures and (dtype is not np.int64 or len(failures) == len(op.samples)):
            report(failures[0], key, formula)


def _weak(op: Op, call: BoundCall) -> dict[str, Any]:
    """The arguments of a composite, for which a Python number takes the dtype of the arrays."""
    arrays = {a.name for a in op.signature.arrays}
    return {name: np.asarray(value, call.dtype) if name in arrays and isinstance(value, (int, float)) else value
            for name, value in call.arguments.items()}  # fmt: skip


def _wider(op: Op, call: BoundCall, outputs: list[Any]) -> Iterator[np.dtype]:
    """The dtypes of results that are of double precision although no input is, and nobody asked for it."""
    asked = any(a.type.base == "DType" and call.arguments[a.name] is not None for a in op.signature.arguments)
    if asked or call.dtype.kind not in "fc" or not _inputs(op, call):
        return
    for output, value in zip(op.signature.outputs, outputs):
        for array in value if isinstance(value, list) else [value]:
            if output.differentiable and array.dtype.kind in "fc" and array.real.dtype.itemsize > 4:
                yield array.dtype


def _inputs(op: Op, call: BoundCall) -> bool:
    """Whether there are arrays of the dtype among the inputs, and no others of floating point."""
    values = [call.arguments[a.name] for a in op.signature.arrays]
    arrays = [x for value in values for x in (value if isinstance(value, list) else [value]) if isinstance(x, np.ndarray)]
    return bool(arrays) and all(x.dtype.kind not in "fc" or x.real.dtype.itemsize == 4 for x in arrays)


def _scalar(formula: Formula) -> str:
    """A NumPy function of constants only: its result is of double precision, and not weak as a Python number is."""
    for node in ast.walk(formula.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("np.") and node.args:
            if all(isinstance(part, (ast.Constant, ast.operator, ast.unaryop, ast.BinOp, ast.UnaryOp))
                   for arg in node.args for part in ast.walk(arg)):  # fmt: skip
                return f"; is {ast.unparse(node)} a NumPy scalar that should be a Python number?"
    return ""
