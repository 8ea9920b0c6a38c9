"""Which rules take cotangents and tangents with one more axis at the front, by what they say."""

from pathlib import Path

import pytest

from codegen.package import Package
from codegen.spec_cache import analysed
from codegen.write.batches import Batches
from codegen.write.programs import Elementwise
from tests.asked import each

ROOT = Path(__file__).parents[2]
HEAD = """
---
family: batches
about: One rule each.
defaults: {dtype: real, shape: x -> x}
ops:
"""
# Arguments, what else the entry says, the rule of x, and whether the node takes a batch.
ENTRIES = [
    ("x", "", "grad * x", True),
    ("x", "", "grad * cosh(x) if x.ndim > 1 else grad / x", True),
    ("x", "", "astype(zeros_like(grad), x.dtype)", True),
    ("x", "", "grad * lgamma(x)", True),  # a partial, whose kernel is no universal function
    ("x, float p=2.0", "", "grad * p ** 2 * y", True),
    ("x, Mask a", "shape: x, a -> broadcast(x, a)", "where(a, grad, 0)", True),
    ("x, Mask a", "shape: x, _ -> x", "where(a, grad, 0)", False),  # a may have more axes than a row
    ("x", "shape: x -> reduce(x)", "grad * x", False),
    ("x", "", "cumsum(grad, 0)", False),
    ("x", "", "grad * cumsum(x, 0)", False),  # how many axes that has is not known
    ("x", "", "grad * x if grad.ndim > 1 else grad", False),
    ("x", "", "reshape(grad, x.shape)", False),
    ("x", "", "reshape(grad * 2 / x.size, x.shape)", False),
    ("x", "", "-sum(reshape(grad, (1,) + x.shape), 0)", False),
    ("x", "", "reshape(grad * x, x.shape)", False),  # x has as many axes as a row: not asked
    ("x", "", "reshape(grad, grad.shape)", False),
    ("x", "let: {z: exp(x)}", "grad * z", True),
    ("x", "let: {z: sum(x)}", "grad * z", False),
]


@pytest.fixture(scope="module")
def batches():
    text = HEAD
    for i, (arguments, key, rule, _) in enumerate(ENTRIES):
        sample = "f(x(3), mask(3))" if "Mask" in arguments else "f(x(3), 3.0)" if "float" in arguments else "f(x(3))"
        shape, let = (key, "") if key.startswith("shape") else ("", key)
        lines = [shape, "forward: np.tanh(x)", let, f"vjp: {{x: '{rule}'}}", "jvp: x_t * x", f"samples: ['only', '{sample}']"]
        text += "\n".join([f"- op: t_{i:02}({arguments}) -> y", "  doc: Its forward does not matter here.",
                           *[f"  {line}" for line in lines if line], ""]) + "\n"  # fmt: skip
    spec = analysed(Package(ROOT), more=text)
    found = Batches(Elementwise(spec.ops))
    return found, [spec.ops[f"t_{i:02}"] for i in range(len(ENTRIES))]


@each("i", range(len(ENTRIES)), ids=[rule for _, _, rule, _ in ENTRIES])
def test_rules(i, batches):
    found, ops = batches
    assert found.takes_batch(ops[i]) is ENTRIES[i][-1]


# Rules that are made of what ops do to rows, and of elementwise calls with statics.
BY_ROWS = {"reshape(grad, x.shape)", "cumsum(grad, 0)", "reshape(grad * 2 / x.size, x.shape)", "-sum(reshape(grad, (1,) + x.shape), 0)"}


@each("i", range(len(ENTRIES)), ids=[rule for _, _, rule, _ in ENTRIES])
def test_rules_for_rows(i, batches):
    found, ops = batches
    assert bool(found.rows_statements(ops[i])) is (ENTRIES[i][2] in BY_ROWS)


def test_no_entry_states_what_follows_from_its_rules():
    spec = analysed(Package(ROOT))
    batches = Batches(Elementwise(spec.ops))
    stated = [op for op in spec.ops.values() if op.batched]
    assert stated and not [op.name for op in stated if batches.is_made_of_elements(op)]
