"""What all calls of an op together have tried: arguments, branches, conditions and words.

Owns the refusals of what samples leave out.  `coverage` lists what there is to try.
"""

from __future__ import annotations

import ast

from ..errors import ErrorList
from ..spec.formula import formulas_of
from ..spec.model import Op
from . import coverage
from .case import BoundCall
from .evaluate import Evaluator


def check_tried(op: Op, evaluator: Evaluator, errors: ErrorList, calls: list[BoundCall]) -> None:
    """Refuses what no sample has tried."""
    for argument in op.signature.arguments:
        if argument.default is not None:
            default = ast.literal_eval(argument.default)
            if all(coverage.still(call.arguments[argument.name], default) for call in calls):
                message = f"no sample gives '{argument.name}' another value than its default"
                errors.add(message, argument.location, op.name, "samples")
    for key, formula in formulas_of(op).items():
        for node, message in coverage.untried(formula.tree, evaluator.record):
            errors.add(message, node, op.name, key)
    for name in coverage.string_arguments(op):
        check_words(op, name, evaluator, errors, calls)


def check_words(op: Op, name: str, evaluator: Evaluator, errors: ErrorList, calls: list[BoundCall]) -> None:
    """Every word that a string argument is compared with is given by a sample, and any other is refused."""
    word, given = coverage.Word(), {call.arguments[name] for call in calls}
    at = op.signature.argument(name).location
    try:
        evaluator.forward(op, {**calls[0].arguments, name: word})
    except Exception:
        for other in sorted(word.known - given):
            errors.add(f"no sample gives '{name}' the value '{other}'", at, op.name, "samples")
    else:
        errors.add(f"'{name}' may be any word: one that is unknown raises nothing", at, op.name, "op")
