"""Forwards over NumPy: write each operator as a Python function of arrays, for programs that do not need gradspec.

Spells formulas for it: operators call one another by name, and Python's operators are NumPy's.  The statements determine the
order of the code.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

from ..rules.statements import forward_statements
from ..spec.expression import Call
from ..spec.model import Argument, Op, Signature
from . import layout
from .printer import OnTensors, lines

# Metadata of an array argument, which may be a Python number.
_ASKED = {"shape": "np.shape({})", "ndim": "np.ndim({})", "size": "np.size({})", "dtype": "np.result_type({})"}


class OnNumPy(OnTensors):
    """Spells expressions with the functions of the other operators."""

    def __init__(self, op: Op, signatures: Mapping[str, Signature]):
        super().__init__(signatures)
        self.lists = {a.name for a in op.signature.arguments if a.type.is_list and a.type.base == "Array"}
        self.own = {*(a.name for a in op.signature.arguments), *op.lets}

    def op(self, name: str) -> ast.expr:
        found = ast.Name(name, ast.Load())
        return ast.Attribute(ast.Name("operators", ast.Load()), name, ast.Load()) if name in self.own else found

    def metadata(self, name: str, attribute: str) -> ast.expr:
        text = _ASKED[attribute]
        if name in self.lists:
            text = f"tuple([{text.format('part')} for part in {{}}])"
        return ast.parse(text.format(name), mode="eval").body

    def call(self, call: Call) -> ast.expr:
        found = super().call(call)
        signature = self.signatures[call.op] if call.op else None
        if signature is None or signature.outputs == signature.visible:
            return found
        # A function also returns the hidden outputs, which a formula does not see.
        count = len(signature.visible)
        return ast.Subscript(found, ast.Constant(0) if count == 1 else ast.Slice(None, ast.Constant(count)), ast.Load())


def function_text(op: Op, signatures: Mapping[str, Signature]) -> str:
    """The function of an operator, and a second one if a kernel computes it in place."""
    spell = OnNumPy(op, signatures)
    texts = [_function(op, op.name, lines(forward_statements(op), spell, op))]
    if op.inplace and not op.inplace_only:
        texts.append(_function(op, f"{op.name}_", [f"return {spell(op.inplace.expression)}"]))
    return layout.broken("\n\n".join(texts))


def _function(op: Op, name: str, body: list[str]) -> str:
    """The definition of a function, with the entry's parameters."""
    parameters: list[str] = []
    for argument in op.signature.arguments:
        if argument.keyword_only and "*" not in parameters:
            parameters.append("*")
        parameters.append(argument.name + ("" if argument.default is None else f"={_default(argument)}"))
    head = [f"def {name}({', '.join(parameters)}):", *(f"    {line}" for line in body)]
    return "\n".join(head)


def _default(argument: Argument) -> str:
    """A default in the form that the operator passes on: one int for `int[2]` is repeated."""
    count, source = argument.type.length, argument.default
    if count and isinstance(ast.literal_eval(source), int):
        return f"({', '.join([source] * count)}{',' if count == 1 else ''})"
    return f"math.{source}" if hasattr(math, source) else source
