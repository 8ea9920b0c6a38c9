"""Which composites may hand back the memory of an input."""

from __future__ import annotations

from codegen.rules.sharing import shared_inputs
from tests.asked import each


def shared(small, entries: str) -> dict[str, set[str]]:
    spec = small.analyze(entries)
    return {name: set(shared_inputs(op, spec.ops)) for name, op in spec.ops.items() if name.startswith("f")}


def entry(signature: str, composite: str, let: str = "") -> str:
    lets = f"  let:\n{let}" if let else ""
    given = ", ".join("1" if " " in part.strip() else "x(3, 4)" for part in signature.partition("(")[2][:-1].split(","))
    return f"- op: {signature} -> y\n  doc: F.\n  composite: {composite}\n{lets}  samples:\n  - f({given})\n"


VIEW = """\
- op: a_view(x, b) -> y
  doc: A view of its second argument.
  view: b
  shape: x, b -> b
  forward: b[...]
  nondifferentiable: true
  samples: two
"""


@each("signature, composite, let, inputs", [
    ("f(x)", "sin(x)", "", set()),
    ("f(x)", "x", "", {"x"}),
    ("f(x, b)", "b", "", {"b"}),
    ("f(x)", "mT(x)", "", {"x"}),
    ("f(x)", "mT(mT(x))", "", {"x"}),
    ("f(x)", "mT(sin(x))", "", set()),
    ("f(x)", "sin(mT(x))", "", set()),
    ("f(x)", "mT(x) + 1", "", set()),
    ("f(x, b)", "a_view(x, b)", "", {"b"}),
    ("f(x, b)", "a_view(b, x)", "", {"x"}),
    ("f(x, b)", "a_view(x, sin(b))", "", set()),
    ("f(x, b, int n=1)", "mT(x) if n == 1 else b", "", {"x", "b"}),
    ("f(x, b, int n=1)", "sin(x) if n == 1 else mT(b)", "", {"b"}),
    ("f(x, b, int n=1)", "x if n == 1 else sin(b)", "", {"x"}),
    ("f(x)", "part", "    part: mT(x)\n", {"x"}),
    ("f(x)", "part", "    part: sin(x)\n", set()),
    ("f(x)", "mT(part)", "    turned: mT(x)\n    part: turned\n", {"x"}),
])  # fmt: skip
def test_shared_inputs(small, signature, composite, let, inputs):
    assert shared(small, VIEW + entry(signature, composite, let))["f"] == inputs


def test_through_other_composites(small):
    """By the argument that the callee hands back, wherever it stands."""
    found = shared(small, VIEW + "".join([
        entry("f(x, b, c)", "fright(c, x) if 1 < 2 else fleft(b, x)"),
        entry("fleft(x, b)", "mT(x)"),
        entry("fright(x, b)", "a_view(sin(x), b)"),
    ]))  # fmt: skip
    assert found == {"f": {"x", "b"}, "fleft": {"x"}, "fright": {"b"}}


def test_a_composite_that_calls_itself(small):
    """May hand back whatever it is given by the call of itself."""
    found = shared(small, "".join([
        entry("f(x, b, int n)", "x if n == 0 else f(b, x, n - 1)"),
        entry("fsum(x, int n)", "sin(x) if n == 0 else x + fsum(x, n - 1)"),
    ]))  # fmt: skip
    assert found == {"f": {"x", "b"}, "fsum": set()}
