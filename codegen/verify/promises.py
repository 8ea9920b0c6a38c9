"""Results: the forward in single precision and in integers, where differences would say nothing, and memory of its own.

Owns the promises that the precision of a result is that of the inputs, that it has the dtype that is asked for and that
it shares no memory unless it is a view, and the hint at what breaks them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..spec.model import Formula, Op
from .case import BoundCall, Report, make_sample, what
from .evaluate import Evaluator

_OTHERS = {"real": (np.float32,), "float": (np.float32, np.complex64), "any": (np.float32, np.complex64, np.int64)}


def check_promises(op: Op, evaluator: Evaluator, report: Report) -> None:
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
            _check_asked(op, call, outputs, lambda message: report(message, key, formula))
            if op.forward and not op.view:
                _check_memory(op, call, outputs, lambda message: report(message, key, formula))
            for got in _wider(op, call, outputs):
                report(f"gives {got} for {call.dtype} at {call.source}{_scalar(formula)}", key, formula)
        # Some integers have no power with some others, but an entry for integers takes some.
        if failures and (dtype is not np.int64 or len(failures) == len(op.samples)):
            report(failures[0], key, formula)


def _check_asked(op: Op, call: BoundCall, outputs: list[Any], report: Callable[[str], None]) -> None:
    """A DType argument is the dtype of the result."""
    for argument in op.signature.arguments:
        wanted = call.arguments[argument.name]
        if argument.type.base == "DType" and wanted is not None and outputs[0].dtype != wanted:
            report(f"gives {outputs[0].dtype} where '{argument.name}' is {np.dtype(wanted)} at {call}")


def _check_memory(op: Op, call: BoundCall, outputs: list[Any], report: Callable[[str], None]) -> None:
    """Who writes into a result does not write into an input, if the entry does not say so."""
    given = [value for value in call.arguments.values() if isinstance(value, np.ndarray)]
    for output, value in zip(op.signature.outputs, outputs):
        if any(np.may_share_memory(part, x) for part in (value if isinstance(value, list) else [value]) for x in given):
            report(f"{output.name} shares memory with an input at {call}, and the entry has no `view:`")


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
