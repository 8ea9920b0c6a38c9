"""Resolution: every name, attribute and call that means nothing is refused at its place."""
# ruff: noqa: E501

from __future__ import annotations

from codegen.spec.expression import Sequence
from tests.asked import each

HELPER = """\
def first(shape):
    return shape[0]


def unused(shape, *, axis):
    return first(shape)
"""


def test_helpers_take_static_values(small):
    small.write("runtime/formulas.py", HELPER)
    entry = "- op: f(x) -> y\n  doc: F.\n  forward: np.sin(x)\n  dy/dx: cos(x) / unused({}, axis=0)\n  samples: one\n"
    small.analyze(entry.format("x.shape"))
    assert small.refusal("analyze", entry.format("x")) == """\
derivatives.yaml:15:26: error: f: dy/dx: 'shape' of unused takes a static value; x is an array
  dy/dx: cos(x) / unused(x, axis=0)
                         ^"""


def test_kernels_are_found_in_their_source(small):
    small.write("runtime/kernels/trigonometry.pyx", "cpdef object sine(object x):\n    return x\n")
    entry = "- op: f(x) -> y\n  doc: F.\n  forward: kernels.{}(x)\n  dy/dx: cos(x)\n  samples: one\n"
    small.analyze(entry.format("sine"))
    assert small.refusal("analyze", entry.format("sin")) == """\
derivatives.yaml:14:20: error: f: forward: no kernel 'sin' in runtime/kernels; did you mean 'sine'?
  forward: kernels.sin(x)
                   ^"""


def test_an_argument_may_be_called_like_an_op(small):
    small.check("- op: f(sin) -> y\n  doc: F.\n  forward: np.sin(sin)\n  dy/dsin: cos(sin)\n  samples: one\n")


def test_metadata_of_an_overwritten_input_is_left(small):
    small.analyze("""\
- op: f_(x) -> y
  doc: F.
  forward: np.zeros_like(x)
  linear: [x]
  vjp:
    x: zeros_like(grad) if x.ndim else grad * 0
  samples: one
""")


WINDOW = """\
- op: window(x, int[2] size=1) -> y
  doc: A window.
  forward: np.sin(x)
  nondifferentiable: true
  samples: one
"""


@each("given, several", [
    ("2", True), ("n", True), ("x.ndim", True), ("x.size", True), ("n + 1", True), ("2 * n - x.ndim", True), ("n // 2 % 3", True),
    ("x.shape", False), ("x.shape + (1,)", False), ("(n, 2)", False), ("n / 2", False), ("n == 2", False), ("w", False),
    ("2 * x.shape", False), ("x.dtype", False), ("True", False),
])  # fmt: skip
def test_one_int_for_several(small, given, several):
    """What is known to be an int stands for as many as the type says."""
    entry = f"- op: f(x, int n=1, float w=1.0) -> y\n  doc: F.\n  composite: window(x, {given})\n  samples: one\n"
    size = small.analyze(entry + WINDOW).ops["f"].composite.expression.arguments[1]
    assert (isinstance(size, Sequence) and len(size.items) == 2 and size.items[0] == size.items[1]) == several


def test_attributes_of_arrays_in_forward(small):
    entry = "- op: f(x) -> y\n  doc: F.\n  forward: np.sin({})\n  nondifferentiable: true\n  samples: one\n"
    for attribute in ("x.T", "x.real", "np.add(x, 1).T"):
        small.analyze(entry.format(attribute))
    assert small.refusal("analyze", entry.format("x.rel")) == """\
derivatives.yaml:14:21: error: f: forward: arrays have no .rel; did you mean 'real'?
  forward: np.sin(x.rel)
                    ^"""


REFUSED = {
    "unknown name": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x) * m
  samples: one
""",
        """\
derivatives.yaml:15:19: error: f: dy/dx: unknown name 'm'
  dy/dx: cos(x) * m
                  ^""",
    ),
    "near name": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x1)
  samples: one
""",
        """\
derivatives.yaml:15:14: error: f: dy/dx: unknown name 'x1'; did you mean 'x'?
  dy/dx: cos(x1)
             ^""",
    ),
    "unknown function": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: coss(x)
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: unknown function 'coss'; did you mean 'cos'?
  dy/dx: coss(x)
         ^""",
    ),
    "op not called": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: 'cos' is a function: call it
  dy/dx: cos
         ^""",
    ),
    "grad in a partial": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: grad * cos(x)
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: 'grad' is a cotangent, which only a vjp has
  dy/dx: grad * cos(x)
         ^""",
    ),
    "tangent in a partial": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: x_t * cos(x)
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: 'x_t' is a tangent, which only a jvp has
  dy/dx: x_t * cos(x)
         ^""",
    ),
    "NumPy in a formula": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: np.cos(x)
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: 'np' is allowed in forward and inplace only; formulas call ops
  dy/dx: np.cos(x)
         ^""",
    ),
    "method in a formula": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: x.cos()
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: a formula calls ops and helpers by name, and arrays have no methods here
  dy/dx: x.cos()
         ^""",
    ),
    "attribute in a formula": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x.T)
  samples: one
""",
        """\
derivatives.yaml:15:16: error: f: dy/dx: only .shape .ndim .dtype .size can be read, not .T
  dy/dx: cos(x.T)
               ^""",
    ),
    "metadata of an expression": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: sum(x, (x * y).ndim)
  samples: one
""",
        """\
derivatives.yaml:15:17: error: f: dy/dx: .ndim of an expression: name the expression in let and pass it to an op
  dy/dx: sum(x, (x * y).ndim)
                ^""",
    ),
    "metadata of a parameter": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x) * n.ndim
  samples: one
""",
        """\
derivatives.yaml:15:19: error: f: dy/dx: 'n' is not an array
  dy/dx: cos(x) * n.ndim
                  ^""",
    ),
    "subscripted array": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x[0])
  samples: one
""",
        """\
derivatives.yaml:15:14: error: f: dy/dx: no entry has the operator __getitem__
  dy/dx: cos(x[0])
             ^""",
    ),
    "condition on elements": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x) if x > 0 else x
  samples: one
""",
        """\
derivatives.yaml:15:20: error: f: dy/dx: a condition is static; choose between elements with where
  dy/dx: cos(x) if x > 0 else x
                   ^""",
    ),
    "and of arrays": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x) * (x > 0 and n)
  samples: one
""",
        """\
derivatives.yaml:15:20: error: f: dy/dx: 'and' and 'or' are static; combine arrays with logical_and and logical_or
  dy/dx: cos(x) * (x > 0 and n)
                   ^""",
    ),
    "too many arguments": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x, n)
  samples: one
""",
        """\
derivatives.yaml:15:17: error: f: dy/dx: cos takes 1 positional argument, 2 given
  dy/dx: cos(x, n)
                ^""",
    ),
    "unknown keyword": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: sum(x, axes=0)
  samples: one
""",
        """\
derivatives.yaml:15:17: error: f: dy/dx: sum has no argument 'axes'; did you mean 'axis'?
  dy/dx: sum(x, axes=0)
                ^""",
    ),
    "argument twice": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: sum(x, 0, axis=0)
  samples: one
""",
        """\
derivatives.yaml:15:20: error: f: dy/dx: sum is given 'axis' twice
  dy/dx: sum(x, 0, axis=0)
                   ^""",
    ),
    "missing argument": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: unsum(x)
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: unsum needs 'shape'
  dy/dx: unsum(x)
         ^""",
    ),
    "array for a parameter": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: sum(x, y)
  samples: one
""",
        """\
derivatives.yaml:15:17: error: f: dy/dx: 'axis' of sum takes a static value; y is an array
  dy/dx: sum(x, y)
                ^""",
    ),
    "list for an array": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos([x, y])
  samples: one
""",
        """\
derivatives.yaml:15:14: error: f: dy/dx: 'x' of cos takes one array; [x, y] is several arrays
  dy/dx: cos([x, y])
             ^""",
    ),
    "in-place op in a formula": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: zero_(x)
  samples: one
""",
        """\
derivatives.yaml:15:10: error: f: dy/dx: zero_ works in place: a formula must not write
  dy/dx: zero_(x)
         ^""",
    ),
    "NumPy function missing": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sine(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:15: error: f: forward: NumPy has no np.sine; did you mean 'sin'?
  forward: np.sine(x)
              ^""",
    ),
    "NumPy submodule function missing": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.linalg.sine(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:22: error: f: forward: NumPy has no np.linalg.sine
  forward: np.linalg.sine(x)
                     ^""",
    ),
    "kernel missing": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: kernels.sine(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:20: error: f: forward: no kernel 'sine' in runtime/kernels
  forward: kernels.sine(x)
                   ^""",
    ),
    "output in forward": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(y)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:19: error: f: forward: 'y' is an output, which does not exist yet
  forward: np.sin(y)
                  ^""",
    ),
    "op in forward": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: cos(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:12: error: f: forward: forward calls np.*, kernels.* and helpers: unknown function 'cos'
  forward: cos(x)
           ^""",
    ),
    "array attribute missing": (
        """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: x.sine()
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:14: error: f: forward: arrays have no .sine; did you mean 'size'?
  forward: x.sine()
             ^""",
    ),
    "grad of two outputs": (
        """\
- op: f(x) -> q, r
  doc: F.
  forward: np.divmod(x, 1)
  vjp:
    x: grad * cos(x)
  jvp:
    q: x_t
    r: x_t
  samples: one
""",
        """\
derivatives.yaml:16:8: error: f: vjp: x: there are several outputs: write grad_q or grad_r
    x: grad * cos(x)
       ^""",
    ),
    "let below": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  let:
    u: v * 2
    v: cos(x)
  dy/dx: u / 2
  samples: one
""",
        """\
derivatives.yaml:16:8: error: f: let: u: let 'v' is defined below
    u: v * 2
       ^""",
    ),
    "let that nobody names": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  let:
    u: cos(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:16:8: error: f: let: u: no formula names it
    u: cos(x)
       ^""",
    ),
    "tangent in a vjp's let": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  let:
    u: cos(x) * x_t
  vjp:
    x: grad * u
  jvp: u
  samples: one
""",
        """\
derivatives.yaml:16:17: error: f: let: u: 'x_t' is a tangent, which only a jvp has
    u: cos(x) * x_t
                ^""",
    ),
    "overwritten value": (
        """\
- op: f_(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:15:14: error: f_: dy/dx: 'x' is overwritten by the op: only its shape and dtype are left
  dy/dx: cos(x)
             ^""",
    ),
}


@each("name", REFUSED)
def test_refused(small, name):
    entry, message = REFUSED[name]
    assert small.refusal("analyze", entry) == message
