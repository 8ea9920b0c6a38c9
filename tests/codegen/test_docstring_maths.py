"""How the rules of an entry are worded in documentation."""

import pytest

from codegen.write import docstring_maths

ENTRIES = {
    "partial": """\
- op: norm2(a, b) -> y
  doc: Length of (a, b).
  forward: np.hypot(a, b)
  let:
    divisor: where(flat, 1, y)
    flat: y == 0
    unread: 1
  dy/da: a / divisor
  dy/db: b / divisor
""",
    "linear": """\
- op: total(x, *, bool twice=False) -> y
  doc: Sum.
  forward: np.sum(x)
  linear: [x]
  vjp:
    x: unsum(grad, x.shape)
""",
    "multilinear": """\
- op: times(a, b) -> y
  doc: Product.
  forward: a * b
  multilinear: [a, b]
  vjp:
    a: grad * b
    b: grad * a
""",
    "vjp_jvp": """\
- op: pair(x) -> y, z
  doc: Two values.
  forward: kernels.pair(x)
  let:
    both: grad_y + grad_z
    half: x_t / 2
  vjp:
    x: both * x
  jvp:
    y: half
    z: -half
""",
    "composite": """\
- op: tangent(x) -> y
  doc: Tangent.
  composite: sin(x) / below
  let:
    below: cos(x)
""",
    "nondifferentiable": """\
- op: empty(x) -> y
  doc: Nothing | or all.
  forward: np.empty_like(x)
  nondifferentiable: true
""",
}
BACKWARD = {
    "partial": ["dy/da = a / divisor", "dy/db = b / divisor", "where divisor = where(flat, 1, y)", "where flat = y == 0"],
    "linear": ["linear in x", "grad_x = unsum(grad, x.shape)"],
    "multilinear": ["multilinear in a, b", "grad_a = grad * b", "grad_b = grad * a"],
    "vjp_jvp": ["grad_x = both * x", "where both = grad_y + grad_z"],
    "composite": ["composite: sin(x) / below", "where below = cos(x)"],
    "nondifferentiable": ["not differentiable"],
}
FORWARD = {
    "partial": ["y_t = dy/da * a_t + dy/db * b_t"],
    "linear": ["y_t = total(x_t, twice=twice)"],
    "multilinear": ["y_t = times(a_t, b) + times(a, b_t)"],
    "vjp_jvp": ["y_t = half", "z_t = -half", "where half = x_t / 2"],
    "composite": [],
    "nondifferentiable": [],
}


@pytest.fixture
def op(small, request):
    return next(iter(small.read(ENTRIES[request.param]).ops.values()))


@pytest.mark.parametrize("op, lines", BACKWARD.items(), indirect=["op"])
def test_backward(op, lines):
    assert docstring_maths.backward(op) == lines


@pytest.mark.parametrize("op, lines", FORWARD.items(), indirect=["op"])
def test_forward(op, lines):
    assert docstring_maths.forward(op) == lines


@pytest.mark.parametrize("op", ["linear"], indirect=True)
def test_docstring_that_fits_is_one_line(op):
    text = "total(x, *, bool twice=False) -> y; linear in x; grad_x = unsum(grad, x.shape)"
    assert docstring_maths.docstring(op) == text
    assert docstring_maths.notes(op) == text.split("; ")


@pytest.mark.parametrize("op", ["vjp_jvp"], indirect=True)
def test_notes_of_a_function_have_the_written_tangents_too(op):
    assert "half" not in docstring_maths.docstring(op)
    assert docstring_maths.notes(op) == [
        "pair(x) -> y, z",
        "grad_x = both * x",
        "where both = grad_y + grad_z",
        "y_t = half",
        "z_t = -half",
        "where half = x_t / 2",
    ]


@pytest.mark.parametrize("op", ["partial"], indirect=True)
def test_cell_is_one_cell(op):
    assert docstring_maths.cell(["a | b", "c"]) == "`a \\| b`<br>`c`"
    assert "\n" not in docstring_maths.cell(docstring_maths.backward(op))
