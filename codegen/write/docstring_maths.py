"""The mathematics of an entry as people read it: docstrings of nodes, notes of functions, rows of OPS.md.

Owns how rules are worded: a line for each, then a line for each name of `let` that they need.  It prints the formulas of the
entry, derives none of its own, and must not know where the lines go.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from ..spec.formula import lets_in
from ..spec.model import Formula, Op

WIDTH = 112  # of a docstring's text
ON_ONE_LINE = 3  # rules, with the signature, where there is room


def backward(op: Op) -> list[str]:
    """The rule of each input, as the entry writes it, and the names that the rules need."""
    if op.partials:
        return _with_lets(op, {f"d{output}/d{name}": f for (output, name), f in op.partials.items()})
    if op.composite:
        return [f"composite: {op.composite.source}", *_lets(op, [op.composite])]
    if not op.differentiable:
        return ["not differentiable"]
    if op.form == "unimplemented":
        return ["no rule yet: backward raises NotImplementedError"]
    linear = op.linear or op.multilinear
    lines = [f"{'linear' if op.linear else 'multilinear'} in {', '.join(linear)}"] if linear else []
    return lines + _with_lets(op, {f"grad_{name}": formula for name, formula in op.vjp.items()})


def forward(op: Op) -> list[str]:
    """The tangent of each output, with the names that it needs; empty where the operators of a composite know."""
    if op.jvp:
        return _with_lets(op, {f"{output}_t": formula for output, formula in op.jvp.items()})
    if op.partials:
        terms: dict[str, list[str]] = {}
        for output, name in op.partials:
            terms.setdefault(output, []).append(f"d{output}/d{name} * {name}_t")
        return [f"{output}_t = {' + '.join(parts)}" for output, parts in terms.items()]
    if op.linear or op.multilinear:
        outputs = ", ".join(f"{output.name}_t" for output in op.signature.outputs)
        moved = [op.linear] if op.linear else [(name,) for name in op.multilinear]
        return [f"{outputs} = {' + '.join(_call(op, names) for names in moved)}"]
    return []


def docstring(op: Op) -> str:
    """The text of a node's docstring, its lines indented by four from the second on."""
    rules = backward(op)
    short = f"{op.signature.source}; {'; '.join(rules)}"
    if len(short) <= WIDTH and len(rules) <= ON_ONE_LINE:
        return short
    lines = [op.signature.source, "", *(part for rule in rules for part in _wrapped(rule))]
    text = "\n".join(f"    {line}" if line else "" for line in lines).strip()
    return f"{text}\n    "


def notes(op: Op) -> list[str]:
    """What the documentation of a function says of its maths: with the rule of its tangent, where the entry writes one."""
    rules = backward(op)
    if op.jvp:
        rules += [line for line in forward(op) if line not in rules]
    return [part for line in (op.signature.source, *rules) for part in _wrapped(line)]


def cell(lines: Iterable[str]) -> str:
    """Lines as one cell of a table in Markdown."""
    return "<br>".join(f"`{line}`" for line in lines).replace("|", "\\|")


def _with_lets(op: Op, rules: dict[str, Formula]) -> list[str]:
    return [*(f"{name} = {formula.source}" for name, formula in rules.items()), *_lets(op, rules.values())]


def _lets(op: Op, formulas: Iterable[Formula]) -> list[str]:
    """The lets that formulas read, through other lets too, in the order in which the entry defines them."""
    needed = {let for formula in formulas for let in lets_in(formula, op.lets)}
    return [f"where {name} = {formula.source}" for name, formula in op.lets.items() if name in needed]


def _call(op: Op, moved: Iterable[str]) -> str:
    """The operator on the tangents of some of its arguments."""
    values = [(a, f"{a.name}_t" if a.name in moved else a.name) for a in op.signature.arguments]
    return f"{op.name}({', '.join(f'{a.name}={value}' if a.keyword_only else value for a, value in values)})"


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
