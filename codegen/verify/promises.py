"""Promises: check the forward's results in single precision and for integers, where differences do not help.

Checks three promises, with a hint at the likely cause.  A result has the dtype that spec/results.py computes.  It shares no
memory with an input unless it is a view.  Its random numbers come from the given generator.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.random

from ..spec.model import Formula, Op
from ..spec.results import choices, dtype_of, result_dtype
from .case import BoundCall, Report, make_sample, what
from .evaluate import Evaluator

_OTHERS = {
    "real": (np.float32,), "complex": (np.complex64,), "float": (np.float32, np.complex64),
    "any": (np.float32, np.complex64, np.int64),
}  # fmt: skip
_WIDER = {np.float32: np.float64, np.complex64: np.complex128}


def check_integers(op: Op, evaluator: Evaluator, report: Report) -> None:
    """Run the forward of an entry for floats at the integers that it takes, and check the result dtypes."""
    if op.dtype in ("float", "real"):
        check_promises(op, evaluator, report, (np.int64,))


def check_promises(op: Op, evaluator: Evaluator, report: Report, dtypes: tuple[type, ...] | None = None) -> None:
    """Run the forward at every sample in the other dtypes that the entry claims, or in `dtypes`."""
    key = "composite" if op.composite else "forward" if op.forward else "inplace"
    formula = getattr(op, key)
    for dtype in _OTHERS.get(op.dtype, ()) if dtypes is None else dtypes:
        failures = []
        for call in _calls(op, dtype):
            arguments = _weak(op, call) if op.composite else call.arguments
            try:
                outputs = evaluator.forward(op, arguments)
            except Exception as error:
                failures.append(f"fails at {call}: {what(error)}")
                continue
            if op.forward and not op.view:
                _check_memory(op, call, outputs, lambda message: report(message, key, formula))
            for message in _other_dtypes(op, call, arguments, outputs, formula):
                report(message, key, formula)
        # An integer power may be undefined, but an entry for integers takes some of them; an entry for floats may take none.
        if failures and (dtype is not np.int64 or op.dtype == "any" and len(failures) == len(op.samples)):
            report(failures[0], key, formula)


def check_generators(op: Op, evaluator: Evaluator, report: Report) -> None:
    """Report random numbers that do not come from the given generator."""
    key = "composite" if op.composite else "forward" if op.forward else "inplace"
    for name in op.signature.generators:
        calls = [make_sample(op, index, float) for index in range(len(op.samples))]
        drawn = [[evaluator.forward(op, {**call.arguments, name: np.random.default_rng(seed)}) for seed in range(3)]
                 for call in calls if call.arguments[name] is not None]  # fmt: skip
        if drawn and all(np.array_equal(first, other) for firsts, *others in drawn for found in others
                         for first, other in zip(firsts, found)):  # fmt: skip
            report(f"gives the same numbers whatever '{name}' is", key, getattr(op, key))


def _calls(op: Op, dtype: type) -> Iterator[BoundCall]:
    """The samples in a dtype, and with each array in turn in a wider dtype than the others."""
    for index in range(len(op.samples)):
        try:
            call = make_sample(op, index, dtype)
        except ValueError:  # a domain such as 0 < x < 1 contains no integers
            continue
        yield call
        arrays = [a.name for a in op.signature.arrays if _widened(call.arguments[a.name], dtype) is not None]
        for name in arrays if dtype in _WIDER else ():
            wide = _widened(call.arguments[name], dtype)
            if len(arrays) > 1 or isinstance(wide, list):
                source = f"{call.source} with {name} in {np.dtype(_WIDER[dtype])}, the rest"
                yield replace(call, source=source, arguments={**call.arguments, name: wide})


def _widened(value: Any, dtype: type) -> Any:
    """The array, or the first array of a list, in the wider dtype, or None."""
    if isinstance(value, list):
        return [_widened(value[0], dtype), *value[1:]] if len(value) > 1 and isinstance(value[0], np.ndarray) else None
    return value.astype(_WIDER.get(dtype)) if isinstance(value, np.ndarray) and value.dtype == dtype else None


def _check_memory(op: Op, call: BoundCall, outputs: list[Any], report: Callable[[str], None]) -> None:
    """Report a result that shares memory with an input although the entry has no `view:`."""
    given = [value for value in call.arguments.values() if isinstance(value, np.ndarray)]
    for output, value in zip(op.signature.outputs, outputs):
        if any(np.may_share_memory(part, x) for part in (value if isinstance(value, list) else [value]) for x in given):
            report(f"{output.name} shares memory with an input at {call}, and the entry has no `view:`")


def _weak(op: Op, call: BoundCall) -> dict[str, Any]:
    """The arguments of a composite, where a Python number takes the dtype of the arrays."""
    arrays = {a.name for a in op.signature.arrays}
    return {name: np.asarray(value, np.result_type(call.dtype, value))
            if name in arrays and isinstance(value, (int, float)) else value
            for name, value in call.arguments.items()}  # fmt: skip


def _other_dtypes(op: Op, call: BoundCall, arguments: dict[str, Any], outputs: list[Any], formula: Formula) -> Iterator[str]:
    """The errors in the dtypes of the outputs that callers receive."""
    inputs = {a.name: _dtype(arguments[a.name]) for a in op.signature.arguments if a.type.base in ("Array", "Index", "Mask")}
    for index, output in enumerate(op.signature.visible):
        expected = result_dtype(op, index, inputs, arguments)
        for array in outputs[index] if isinstance(outputs[index], list) else [outputs[index]]:
            if expected is not None and array.dtype != expected:
                said = f"gives {array.dtype} where {output.name} should be {expected} at {call}"
                fits = [word for word in choices(op) if dtype_of(op, word, inputs, arguments) == array.dtype]
                if call.dtype == np.int64:
                    fits = [word for word in fits if word == "given"] or fits
                yield said + (_scalar(formula) or (f"; is it `-> {fits[0]}`?" if fits else ""))


def _dtype(value: Any) -> Any:
    """An argument in the form that result_dtype takes."""
    if isinstance(value, (list, tuple)):
        return [_dtype(item) for item in value]
    return getattr(value, "dtype", value)


def _scalar(formula: Formula) -> str:
    """A hint at a NumPy function of constants only: its result is double precision, and not weak like a Python number."""
    for node in ast.walk(formula.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("np.") and node.args:
            if all(isinstance(part, (ast.Constant, ast.operator, ast.unaryop, ast.BinOp, ast.UnaryOp))
                   for arg in node.args for part in ast.walk(arg)):  # fmt: skip
                return f"; is {ast.unparse(node)} a NumPy scalar that should be a Python number?"
    return ""
