"""Word the mathematics of an entry for readers: docstrings of nodes, notes of functions, rows of OPS.md.

Prints one line for each rule, then one line for each `let` that the rules need.  Prints the formulas of the entry only, and must
not depend on the place of the lines.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from ..spec.formula import lets_in
from ..spec.model import Formula, Op

WIDTH = 112  # characters in a line of a docstring
ON_ONE_LINE = 3  # most rules on one line with the signature, if there is space


def backward(op: Op) -> list[str]:
    """The rule of each input, as written in the entry, and the lets that the rules need."""
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
    """The tangent of each output, with the lets that it needs; empty for a composite, whose operators have rules."""
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
    """The text of a node's docstring; lines after the first are indented by four."""
    rules = backward(op)
    short = f"{op.signature.source}; {'; '.join(rules)}"
    if len(short) <= WIDTH and len(rules) <= ON_ONE_LINE:
        return short
    lines = [op.signature.source, "", *(part for rule in rules for part in _wrapped(rule))]
    text = "\n".join(f"    {line}" if line else "" for line in lines).strip()
    return f"{text}\n    "


def notes(op: Op) -> list[str]:
    """The mathematics in a function's documentation; includes the rule of its tangent if the entry writes one."""
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
    """The lets that formulas read, directly or through other lets, in the order of their definition."""
    needed = {let for formula in formulas for let in lets_in(formula, op.lets)}
    return [f"where {name} = {formula.source}" for name, formula in op.lets.items() if name in needed]


def _call(op: Op, moved: Iterable[str]) -> str:
    """The operator on the tangents of some of its arguments."""
    values = [(a, f"{a.name}_t" if a.name in moved else a.name) for a in op.signature.arguments]
    return f"{op.name}({', '.join(f'{a.name}={value}' if a.keyword_only else value for a, value in values)})"


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
