"""Report arguments, branches, conditions and words of an op that none of its calls tries.

`coverage` lists the parts to try.
"""

from __future__ import annotations

import ast

import numpy as np

from ..errors import ErrorList
from ..spec.expression import Expression, Foreign, Name, walk
from ..spec.formula import formulas_of
from ..spec.model import Op
from . import coverage
from .case import BoundCall
from .evaluate import Evaluator
from .loops import axis_arguments


def check_tried(op: Op, evaluator: Evaluator, errors: ErrorList, calls: list[BoundCall]) -> None:
    """Report the parts that no sample tries."""
    stated, of_kernel = {example.call.source for example in op.examples}, arguments_of_kernels(op)
    for argument in op.signature.arguments:
        if argument.default is not None:
            default = argument.given
            moved = [call for call in calls if not coverage.still(call.arguments[argument.name], default)]
            if not moved:
                message = f"no sample gives '{argument.name}' another value than its default"
                errors.add(message, argument.location, op.name, "samples")
            elif argument.name in of_kernel and not any(call.source in stated for call in moved):
                message = f"no example says what the kernel makes of another '{argument.name}' than its default"
                errors.add(message, argument.location, op.name, "examples")
    for key, formula in formulas_of(op).items():
        for node, message in coverage.untried(formula.tree, evaluator.record):
            errors.add(message, node, op.name, key)
    for name in coverage.string_arguments(op):
        check_words(op, name, evaluator, errors, calls)


def check_shown(op: Op, evaluator: Evaluator, errors: ErrorList, calls: list[BoundCall]) -> None:
    """Report a function without an example for help(), unless its results are random or empty."""
    if op.private or "function" not in op.variants or op.signature.generators:
        return
    typed = [example for example in op.examples if sum(isinstance(node, ast.Call) for node in ast.walk(example.call.tree)) == 1]
    if not typed and any(np.size(y) for call in calls for y in evaluator.forward(op, call.arguments)):
        message = "no example of literals: one call and its value, which help() shows, such as f([1.0, 2.0]): [...]"
        errors.add(message, op.location, op.name, "examples")


def arguments_of_kernels(op: Op) -> set[str]:
    """The arguments that a kernel gets and that only examples prove.

    The law of axes proves an axis.  Random results have no value to state, and dtypes are compared at every sample.  A private
    operator is proved by its callers.
    """
    if op.private or op.forward is None or op.signature.generators:
        return set()
    kernels = [node for node in walk(op.forward.expression) if isinstance(node, Foreign) and node.root == "kernels"]
    given: list[Expression] = [value for node in kernels for value in (*(node.arguments or ()), *dict(node.keywords).values())]
    proved = set() if "axes" in op.breaks else {argument.name for argument in axis_arguments(op)}
    found = {node.name for value in given for node in walk(value) if isinstance(node, Name)} - proved
    return {name for name in found if (argument := op.signature.argument(name)) and argument.type.base != "DType"}


def check_words(op: Op, name: str, evaluator: Evaluator, errors: ErrorList, calls: list[BoundCall]) -> None:
    """Report words that a string argument is compared with and no sample gives, and an argument that accepts any word."""
    word, given = coverage.Word(), {call.arguments[name] for call in calls}
    at = op.signature.argument(name).location
    try:
        evaluator.forward(op, {**calls[0].arguments, name: word})
    except Exception:
        for other in sorted(word.known - given):
            errors.add(f"no sample gives '{name}' the value '{other}'", at, op.name, "samples")
    else:
        errors.add(f"'{name}' may be any word: one that is unknown raises nothing", at, op.name, "op")
