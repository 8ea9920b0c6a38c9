"""The page of an operator in a notebook: its entry, its rules and the checks that were made.

Decides the layout alone; the texts come from the facts.
"""

from __future__ import annotations

from html import escape
from typing import Any


def html(operator: Any) -> str:
    """The page of an operator."""
    facts = operator.facts
    first, _, _ = facts.doc.partition("\n")
    rules = "<br>".join(f"<code>{escape(rule)}</code>" for rule in facts.rules)
    rows = [("what it computes", escape(first)), ("derivative", rules), ("dtypes", escape(facts.dtype)),
            ("vmap", escape(facts.batch[0])), ("series", escape(facts.series[0]))]  # fmt: skip
    rows += [(escape(check), escape(found)) for check, found in operator.proofs]
    left = "style='text-align:left'"
    body = "".join(f"<tr><th {left}>{name}</th><td {left}>{value}</td></tr>" for name, value in rows)
    return f"<table><caption><code>{escape(facts.signature)}</code></caption>{body}</table>"


def text(operator: Any) -> str:
    """The checks that were made, one in each line, for `print(operator.page)`."""
    facts = operator.facts
    rows = [("", facts.signature), ("derivative", "; ".join(facts.rules)), *operator.proofs]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:{width}}  {value}" if name else value for name, value in rows)
