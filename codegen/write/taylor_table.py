"""Select the rule that propagates Taylor coefficients through an op.

Derives the rule from the form of an entry.  The rules themselves are in `runtime/transforms/taylor/rules.py`.
"""

from __future__ import annotations

from ..spec.expression import Call, Constant, Expression, Name, names_of, substituted, terms, walk
from ..spec.model import Op

# Rule -> the computation of the outputs' coefficients from the inputs' coefficients.
WAYS = {
    "parts": "a composite operator runs through its parts",
    "terms": "the operator, which is linear, on each coefficient",
    "products": "sums of the operator on pairs of coefficients, as Cauchy has them",
    "solution": "coefficient by coefficient, as the solution of an equation that is linear in it",
    "elementwise": "`recurrence`; in a Laplacian by the coefficients of f(x + t), which are the same for all paths",
    "coefficients": "another operator, of all coefficients at once, as `jet:` says; `recurrence` of few",
    "recurrence": "the jvp on series gives the coefficients of the derivative, order by order",
    "constant": "the value alone, whose derivatives are zero",
    "refused": "it has a derivative, and the entry lacks it",
}


def series(op: Op) -> tuple[object, ...]:
    """The rule of an op, and the positions of the arguments that it is differentiated by; the right side of an equation first.

    The values of `jet:` follow.
    """
    places = [i for i, a in enumerate(op.signature.arguments) if a in op.signature.arrays]
    if op.linear or op.multilinear:
        places = [i for i, a in enumerate(op.signature.arguments) if a.name in (op.linear or op.multilinear)]
    side = right_side(op)
    if side:
        places.sort(key=lambda i: op.signature.arguments[i].name != side)
    return _way(op), tuple(places), *(op.jet or ())


def _way(op: Op) -> str:
    if op.jet:
        return "coefficients"
    if op.composite:
        return "parts"
    if op.form == "unimplemented":
        return "refused"
    if op.linear:
        return "terms"
    if op.multilinear or _is_product(op):
        return "products"
    if right_side(op):
        return "solution"
    slopes = [formula.expression for formula in op.partials.values()]
    if not op.differentiable or not op.signature.arrays or slopes and all(slope == Constant(0) for slope in slopes):
        return "constant"
    if slopes and all(isinstance(slope, Constant) for slope in slopes):
        return "terms"
    return "elementwise" if slopes and len(op.signature.outputs) == 1 else "recurrence"


def _is_product(op: Op) -> bool:
    """Whether the op has two factors, and the partial by each is the other."""
    names = [a.name for a in op.signature.arrays]
    slopes = {name: formula.expression for (_, name), formula in op.partials.items()}
    return len(names) == 2 and all(
        isinstance(slope := slopes.get(name), Name) and slope.name == other for name, other in (names, names[::-1])
    )


def right_side(op: Op) -> str:
    """The input z of an op y = F(b, z) that is linear in z, and whose jvp is F(b, z_t) plus terms with F(b, ...); else empty.

    So y solves an equation M(b, y) = z that is linear in both, and the terms are - F(b, M(b_t, y)): a generalised quotient.
    """
    if op.derived is None or len(op.derived.jvp) != 1 or len(op.signature.arrays) < 2:
        return ""
    (rule,) = op.derived.jvp.values()
    parts = [term for term, _ in terms(substituted(rule, op.let_expressions))]
    for side in (a.name for a in op.signature.arrays):
        alone = [part for part in parts if f"{side}_t" in names_of(part)]
        if alone == [part for part in parts if _again(op, side, part) == f"{side}_t"] and len(alone) == 1 and len(parts) > 1:
            others = [part for part in parts if part not in alone]
            if all(any(_again(op, side, call, of_result=True) for call in walk(part)) for part in others):
                return side
    return ""


def _again(op: Op, side: str, part: Expression, of_result: bool = False) -> str:
    """If part of a rule is the op with one operand replaced: the name of the replacement, or "_" for a formula; else "".

    `of_result` requires a formula of the op's own result.
    """
    if not isinstance(part, Call) or part.op != op.name:
        return ""
    found = ""
    for argument, given in zip(op.signature.arguments, part.arguments):
        name = given.name if isinstance(given, Name) else "_"
        if argument.name == side:
            found = name
            if of_result and (given is None or op.signature.outputs[0].name not in names_of(given)):
                return ""
        elif argument in op.signature.arrays and name != argument.name:
            return ""
    return found


def how(op: Op) -> str:
    """The rule, as in `show` and OPS.md."""
    return _way(op)
