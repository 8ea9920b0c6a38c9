"""Proofs on file: tell for each entry whether its rules are proved as formulas or tested by differences.

Reads proofs.txt, which `check --prove` writes: a line for each operator that sympy proves, with a digest of its rules and of the
rules of the operators that they call.  So an old proof never counts for a new rule.  Needs no sympy.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

from ..spec.expression import Call, walk
from ..spec.model import Formula, Op, Spec

PROVED, TESTED, CONVENTION = "proved", "tested", "by convention"
FILE = Path(__file__).with_name("proofs.txt")
_HEADER = "# Operators whose rules sympy proves to second order, and what tells that they are still those: `check --prove`.\n"


def known(op: Op, spec: Spec) -> str:
    """The status of an entry's rules, in a few words; empty if it has no rules."""
    if op.form in ("nondifferentiable", "unimplemented"):
        return ""
    if op.composite is not None:
        return "of its parts"
    return PROVED if proofs().get(op.name) == mark(op, spec) else TESTED


@functools.cache
def proofs() -> dict[str, str]:
    """Operator -> the digest of the rules that were proved."""
    lines = FILE.read_text().splitlines() if FILE.exists() else []
    return dict(line.split() for line in lines if line and not line.startswith("#"))


def text(names: Iterable[str], spec: Spec) -> str:
    """The text of the file, for the given operators."""
    return _HEADER + "".join(f"{name} {mark(spec.ops[name], spec)}\n" for name in names)


def mark(op: Op, spec: Spec) -> str:
    """A digest of the value and the rules of an entry, and of all operators that they call."""
    seen: dict[str, None] = {}
    pending = [op.name]
    while pending:
        name = pending.pop()
        if name not in seen:
            seen[name] = None
            pending += [called for formula in _formulas(spec.ops[name]) for called in _called(formula)]
    sources = [f"{name}: {formula.source}" for name in sorted(seen) for formula in _formulas(spec.ops[name])]
    return hashlib.sha256("\n".join(sources).encode()).hexdigest()[:12]


def _formulas(op: Op) -> list[Formula]:
    single = [op.forward, op.reference, op.composite, op.domain]
    return [f for f in (*single, *op.lets.values(), *op.partials.values(), *op.vjp.values(), *op.jvp.values()) if f is not None]


def _called(formula: Formula) -> list[str]:
    return [node.op for node in walk(formula.expression) if isinstance(node, Call) and node.op] if formula.expression else []
