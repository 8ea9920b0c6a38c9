"""Write generated/library.json, the table of operators that other packages' formulas call.

Contains the data that another package's check needs: signatures, shapes, Python's operators, and the samples by shape.
`codegen/spec/table.py` reads it, without reading any entry.
"""

from __future__ import annotations

import json
from dataclasses import replace

import yaml

from ..spec.model import Op, Signature, Spec
from ..spec.table import FIELDS, GRAMMAR
from .programs import inner_loops


def table(spec: Spec) -> str:
    """One line for each operator, so that a change of an operator is one line in a diff."""
    head = next(yaml.load_all(spec.source, yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader), None)
    head = head if isinstance(head, dict) and "presets" in head else {}
    parts = {
        "grammar": json.dumps(GRAMMAR), "presets": _block(head.get("presets", {})),
        "shapes": _block(head.get("shapes", {})), "operators": _block({op.name: _record(op) for op in spec.ops.values()}),
    }  # fmt: skip
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {text}" for key, text in parts.items()) + "\n}\n"


def _block(items: dict[str, object]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in items.items()) + "\n}"


def _record(op: Op) -> list[object]:
    op = replace(op, loops=".".join(inner_loops(op)))
    facts = [getattr(op, field) for field in FIELDS]
    return [fact.source if isinstance(fact, Signature) else fact for fact in facts]
