"""The forward in single precision and in integers."""

from __future__ import annotations

import pytest

from codegen.errors import ErrorList
from codegen.verify.check import check_op, quiet
from codegen.verify.evaluate import Evaluator

REFUSED = {
    "a NumPy scalar": (
        """\
- op: f(x) -> y
  doc: F.
  dtype: real
  forward: np.log2(1 + x * x) * np.log(2)
  dy/dx: 2 * x / (1 + x * x)
  samples: one
""",
        """\
derivatives.yaml:15:12: error: f: forward: gives float64 where y should be float32 at f(x(3, 4)) in float32; is np.log(2) a NumPy scalar that should be a Python number?
  forward: np.log2(1 + x * x) * np.log(2)
           ^""",
    ),
    "a kernel": (
        """\
- op: f(x) -> y
  doc: F.
  forward: kernels.wide(x)
  dy/dx: 1
  samples:
  - f(x())
""",
        """\
derivatives.yaml:14:12: error: f: forward: gives float64 where y should be float32 at f(x()) in float32
  forward: kernels.wide(x)
           ^""",
    ),
    "a real result": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.absolute(x)
  nondifferentiable: true
  samples: one
""",
        """\
derivatives.yaml:14:12: error: f: forward: gives float32 where y should be complex64 at f(x(3, 4)) in complex64; is it `-> real(x)`?
  forward: np.absolute(x)
           ^""",
    ),
    "a result that is not real": (
        """\
- op: f(x) -> y
  doc: F.
  dtype: any -> real(x)
  forward: np.negative(x)
  dy/dx: -1
  samples: one
""",
        """\
derivatives.yaml:15:12: error: f: forward: gives complex64 where y should be float32 at f(x(3, 4)) in complex64; is it `-> x`?
  forward: np.negative(x)
           ^""",
    ),
    "an input's dtype": (
        """\
- op: f(a, b) -> y
  doc: F.
  forward: (a + b).astype(a.dtype)
  dy/da: 1
  dy/db: 1
  samples:
  - f(x(3), x(3))
""",
        """\
derivatives.yaml:14:12: error: f: forward: gives float32 where y should be float64 at f(x(3), x(3)) with b in float64, the rest in float32; is it `-> a`?
  forward: (a + b).astype(a.dtype)
           ^""",
    ),
    "a list's first dtype": (
        """\
- op: f(Array[] parts) -> y
  doc: F.
  forward: np.sum(parts, 0).astype(parts[1].dtype)
  linear: [parts]
  vjp:
    parts: "[grad, grad]"
  samples:
  - f([x(3), x(3)])
""",
        """\
derivatives.yaml:14:12: error: f: forward: gives float32 where y should be float64 at f([x(3), x(3)]) with parts in float64, the rest in float32
  forward: np.sum(parts, 0).astype(parts[1].dtype)
           ^""",
    ),
    "integers": (
        """\
- op: f(x) -> y
  doc: F.
  dtype: any
  forward: np.multiply(x, 1.0)
  dy/dx: 1
  samples: one
""",
        """\
derivatives.yaml:15:12: error: f: forward: gives float64 where y should be int64 at f(x(3, 4)) in int64
  forward: np.multiply(x, 1.0)
           ^""",
    ),
    "no integers": (
        """\
- op: f(x) -> y
  doc: F.
  dtype: any
  forward: kernels.inexact(x)
  dy/dx: 1
  samples: one
""",
        """\
derivatives.yaml:15:12: error: f: forward: fails at f(x(3, 4)) in int64: TypeError: int64
  forward: kernels.inexact(x)
           ^""",
    ),
    "single precision": (
        """\
- op: f(x) -> y
  doc: F.
  dtype: real
  forward: kernels.double(x)
  dy/dx: 1
  samples: one
""",
        """\
derivatives.yaml:15:12: error: f: forward: fails at f(x(3, 4)) in float32: TypeError: float32
  forward: kernels.double(x)
           ^""",
    ),
    "memory of an input": (
        """\
- op: f(x) -> y
  doc: F.
  forward: x[...]
  linear: [x]
  vjp:
    x: grad
  samples: one
""".replace("x[...]", "np.asarray(x)"),
        """\
derivatives.yaml:14:12: error: f: forward: y shares memory with an input at f(x(3, 4)) in float32, and the entry has no `view:`
  forward: np.asarray(x)
           ^""",
    ),
    "memory of an input in a list": (
        """\
- op: f(a, b) -> Array[] parts
  doc: F.
  forward: "[np.copy(a), np.transpose(b)]"
  nondifferentiable: true
  samples:
  - f(x(3), x(3))
""",
        """\
derivatives.yaml:14:13: error: f: forward: parts shares memory with an input at f(x(3), x(3)) in float32, and the entry has no `view:`
  forward: "[np.copy(a), np.transpose(b)]"
            ^""",
    ),
    "the dtype of a part of a list": (
        """\
- op: f(x) -> Array[] parts
  doc: F.
  dtype: real
  forward: "[np.copy(x), np.astype(x, 'float64')]"
  nondifferentiable: true
  samples:
  - f(x(3))
""",
        """\
derivatives.yaml:15:13: error: f: forward: gives float64 where parts should be float32 at f(x(3)) in float32
  forward: "[np.copy(x), np.astype(x, 'float64')]"
            ^""",
    ),
}
KERNELS = """\
import numpy as np


def wide(x):
    return x + np.zeros((), np.complex128 if x.dtype.kind == "c" else np.float64)


def double(x):
    if x.dtype == np.float32:
        raise TypeError(x.dtype)
    return +x


def inexact(x):
    if x.dtype.kind not in "fc":
        raise TypeError(x.dtype)
    return +x
"""


@pytest.mark.parametrize("name", REFUSED)
def test_refused(small, name):
    entry, message = REFUSED[name]
    small.write("runtime/kernels/wide.py", KERNELS)
    assert small.refusal("check", entry) == message


def test_a_dtype_that_is_asked_for(small):
    assert small.check("""\
- op: cast(x, DType? dtype=None) -> y
  doc: X in another dtype.
  dtype: real -> dtype
  forward: np.array(x, dtype)
  linear: [x]
  vjp:
    x: grad
  samples:
  - f(x(3))
  - f(x(3), 'float64')
""") == []  # fmt: skip


def test_python_numbers_are_weak(small):
    assert small.check("""\
- op: scaled(a, b) -> y
  doc: Product.
  composite: half(a) * b + 2.5
  samples:
  - f(x(3), 0.3)
  - f(0.3, x(3))
- op: half(x) -> y
  doc: Half.
  forward: x / 2
  linear: [x]
  vjp:
    x: half(grad)
  samples: one
""".replace("half", "timid")) == []  # fmt: skip


def test_a_dtype_that_is_not_given(small):
    assert small.refusal("check", """\
- op: cast(x, DType? dtype=None) -> y
  doc: X in another dtype.
  dtype: real -> dtype
  forward: np.array(x)
  linear: [x]
  vjp:
    x: grad
  samples:
  - f(x(3))
  - f(x(3), 'float64')
""") == """\
derivatives.yaml:15:12: error: cast: forward: gives float32 where y should be float64 at f(x(3), 'float64') in float32; is it `-> x`?
  forward: np.array(x)
           ^"""  # fmt: skip


INTEGERS = """\
- op: f(x, bool whole=False) -> y
  doc: F.
  dtype: {dtype}
  forward: {forward}
  nondifferentiable: true
  samples:
  - f(x(3, 4))
  - f(x(3, 4), True)
"""


@pytest.mark.parametrize("dtype, forward, message", [
    ("real", "np.exp(x)", None),
    ("float", "np.exp(x)", None),
    ("real", "np.copy(x)", "forward: gives int64 where y should be float64 at f(x(3, 4)) in int64; is it `-> given`?"),
    ("float -> given", "np.copy(x)", None),
    ("real -> given", "np.exp(x)", "forward: gives float64 where y should be int64 at f(x(3, 4)) in int64"),
    ("real -> given", "np.copy(x) if whole else np.exp(x)", "forward: gives float64 where y should be int64"),
    ("real -> either", "np.copy(x) if whole else np.exp(x)", None),
])  # fmt: skip
def test_what_becomes_of_integers(small, dtype, forward, message):
    spec = small.analyze(INTEGERS.format(dtype=dtype, forward=forward))
    errors = ErrorList(spec.file, spec.source)
    with quiet():
        check_op(spec.ops["f"], Evaluator(spec, small.root), errors, integers=True)
    assert [message in str(error) for error in errors.errors] == ([True] if message else [])


@pytest.mark.parametrize("dtype, forward, message", [
    ("any", "kernels.inexact(x)", "forward: fails at f(x(3, 4)) in int64: TypeError: int64"),
    ("any", "np.copy(x) if whole else kernels.inexact(x)", None),  # some integers have no power with some others
    ("real", "kernels.inexact(x)", None),  # an entry for floats may take none
])  # fmt: skip
def test_integers_that_are_refused(small, dtype, forward, message):
    small.write("runtime/kernels/wide.py", KERNELS)
    spec = small.analyze(INTEGERS.format(dtype=f"{dtype} -> given" if dtype == "real" else dtype, forward=forward))
    errors = ErrorList(spec.file, spec.source)
    with quiet():
        check_op(spec.ops["f"], Evaluator(spec, small.root), errors, integers=True)
    assert [message in str(error) for error in errors.errors] == ([True] if message else [])


def test_a_generator_that_says_nothing(small):
    text = """\
- op: noise(x, *, Generator? generator=None) -> y
  doc: X, and noise that is left out.
  dtype: real
  forward: x + 0
  dy/dx: 1
  samples:
  - f(x(3, 4), generator=generator(0))
"""
    assert "noise: forward: gives the same numbers whatever 'generator' is\n" in small.refusal("check", text)
