"""Static slices in formulas: the operator with `operator: __getitem__`, however long the index."""

from __future__ import annotations

import pytest

from codegen.write.printer import OnTensors, Spelling

GETITEM = """\
- op: part(x, Index index) -> y
  doc: x[index].
  operator: __getitem__
  view: x
  shape: _
  forward: np.asarray(x)[index]
  nondifferentiable: true
  samples:
  - f(x(3), slice(1, None))
"""
ENTRY = """\
- op: f(x, Index rows, int n=1) -> y
  doc: F.
  shape: _
  composite: {}
  samples:
  - f(x(3, 4), slice(0, 2), 2)
"""


def spelled(small, formula):
    spec = small.analyze(ENTRY.format(formula) + "\n" + GETITEM)
    expression = spec.ops["f"].composite.expression
    signatures = {name: op.signature for name, op in spec.ops.items()}
    return [spell(expression) for spell in (Spelling(signatures), OnTensors(signatures))]


@pytest.mark.parametrize("formula, index", [
    ("x[..., 1:]", "(..., slice(1, None))"),
    ("x[..., :-1]", "(..., slice(None, -1))"),
    ("x[:n, None, ::2]", "(slice(None, n), None, slice(None, None, 2))"),
    ("x[0]", "0"),
    ("x[rows]", "rows"),
    ("x[x.ndim - 1:]", "slice(x.ndim - 1, None)"),
])  # fmt: skip
def test_a_slice_is_a_call_of_the_operator(small, formula, index):
    entry, tensors = spelled(small, formula)
    assert entry == f"part(x, {index})"
    assert tensors == f"ops.part(x, {index.replace('x.ndim', 'ndim_of(x)')})"


def test_slices_of_what_a_formula_computes(small):
    assert spelled(small, "sin(x)[1:][..., n]")[0] == "part(part(sin(x), slice(1, None)), (..., n))"


def test_static_values_keep_the_subscripts_of_python(small):
    assert spelled(small, "sum(x, x.shape[1:][0])")[1] == "ops.sum(x, shape_of(x)[1:][0])"


@pytest.mark.parametrize("formula, message", [
    ("x[sin(x)]", "15:16: error: f: composite: an index between brackets is static: call an op for an array of places\n"
     "  composite: x[sin(x)]\n               ^"),
    ("x[m:]", "15:16: error: f: composite: unknown name 'm'"),
    ("x[1:, *n]", "15:20: error: f: composite: '*' unpacking is not allowed in a formula"),
])  # fmt: skip
def test_what_is_no_static_index_is_refused(small, formula, message):
    entries = ENTRY.format(formula) + "\n" + GETITEM
    assert f"derivatives.yaml:{message}" in small.refusal("analyze", entries)
