"""Aliasing of composites: find composites whose result may share memory with an input.

Decides this from the formulas: an operator with `view:` shares memory.  A composite shares memory if its result is an input, or
a view of an input.  Such a composite must run through the operators, which record views.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..spec.expression import Call, Conditional, Expression, Name
from ..spec.model import Op


def shared_inputs(op: Op, ops: Mapping[str, Op], above: frozenset[str] = frozenset()) -> frozenset[str]:
    """The inputs whose memory the result may share."""
    if op.view:
        return frozenset({op.view})
    if op.composite is None:
        return frozenset()
    if op.name in above:  # a recursive call, which may return any of its arguments
        return frozenset(argument.name for argument in op.signature.arguments)
    above |= {op.name}

    def sources(value: Expression | None) -> frozenset[str]:
        match value:
            case Name(name=name) if name in op.let_expressions:
                return sources(op.let_expressions[name])
            case Name(name=name):
                return frozenset({name})
            case Conditional(body=body, orelse=orelse):
                return sources(body) | sources(orelse)
            case Call(op=callee, arguments=arguments) if callee in ops:
                shared = shared_inputs(ops[callee], ops, above)
                parameters = ops[callee].signature.arguments
                found = [sources(given) for a, given in zip(parameters, arguments) if a.name in shared]
                return frozenset().union(*found)
        return frozenset()

    return sources(op.composite.expression)
