"""Laws: kernels that are wrong off the last axis, in another order of memory, among other rows or at another rank are refused."""

from __future__ import annotations

import re
from types import ModuleType

import numpy as np
import pytest

from codegen.errors import SpecErrors
from codegen.verify.check import check
from tests.asked import each

SCAN = """\
- op: twisted(x, int axis=-1) -> y
  doc: Sums of neighbours, the first one alone.
  shape: x -> x
  forward: kernels.twisted(x, axis)
  linear: [x]
  vjp:
    x: {vjp}
  samples:
  - f(x(3, 4))
  - f(x(3, 4), 0)
  - f(x(2, 3, 4), 1)
- op: untwisted(x, int axis=-1) -> y
  doc: The adjoint.
  shape: x -> x
  forward: kernels.untwisted(x, axis)
  linear: [x]
  vjp:
    x: twisted(grad, axis)
  samples:
  - f(x(3, 4))
  - f(x(3, 4), 0)
"""

TOTAL = """\
- op: total(x, int axis=-1, bool keepdims=False) -> y
  doc: Sum along an axis.
  shape: x -> reduce(x)
  forward: kernels.total(x, axis, keepdims)
  linear: [x]
  vjp:
    x: unsum(grad, x.shape, (axis,), keepdims)
  samples:
  - f(x(3, 4))
  - f(x(3, 4), 0, True)
  examples:
    f([[1.0, 2.0], [3.0, 4.0]], 0, True): [[4, 6]]
"""

HALF = """\
- op: half(x) -> y
  doc: Half of it.
  shape: x -> x
  forward: kernels.half(x)
  linear: [x]
  vjp:
    x: half(grad)
  samples:
  - f(x(3, 4))
"""


def twisted(x, axis=-1):
    x = np.moveaxis(np.array(x), axis, -1)
    x[..., 1:] = x[..., 1:] + x[..., :-1]
    return np.moveaxis(x, -1, axis)


def untwisted(x, axis=-1):
    x = np.moveaxis(np.array(x), axis, -1)
    x[..., :-1] = x[..., :-1] + x[..., 1:]
    return np.moveaxis(x, -1, axis)


def total(x, axis=-1, keepdims=False):
    return np.sum(x, axis=axis, keepdims=keepdims)


def half(x):
    return x / 2


RIGHT = {"twisted": twisted, "untwisted": untwisted, "total": total, "half": half}
ENTRIES = {"twisted": SCAN.format(vjp="untwisted(grad, axis)"), "total": TOTAL, "half": HALF}


def refused(small, entry: str, **kernels) -> str:
    """What a check says of an entry with kernels in the place of the right ones; empty where it says nothing."""
    module = ModuleType("kernels")
    vars(module).update(RIGHT | kernels)
    named = "".join(f"def {name}(*arguments, **named): pass\n" for name in RIGHT)
    small.write("runtime/kernels/planted.py", named)
    small.write("runtime/kernels/__init__.py", f"from .planted import {', '.join(RIGHT)}\n")
    try:
        check(small.analyze(entry), small.root, kernels=module, integers=False)
    except SpecErrors as errors:
        return str(errors)
    return ""


@pytest.mark.parametrize("name", ENTRIES)
def test_kernels_that_are_right(small, name):
    assert refused(small, ENTRIES[name]) == ""


def test_a_kernel_that_does_nothing_off_the_last_axis(small):
    """With it goes a rule that forgets the axis: the identity has the derivative of the identity."""

    def forgetful(right):
        return lambda x, axis=-1: right(x) if axis in (-1, x.ndim - 1) else np.array(x)

    message = refused(small, ENTRIES["twisted"], twisted=forgetful(twisted), untwisted=forgetful(untwisted))
    assert message == """\
derivatives.yaml:15:12: error: twisted: forward: breaks the law of axes: f(x(3, 4), 0) in float64 gives something else than along the last axes of what has axis=-2 at the end
  forward: kernels.twisted(x, axis)
           ^
derivatives.yaml:26:12: error: untwisted: forward: breaks the law of axes: f(x(3, 4), 0) in float64 gives something else than along the last axes of what has axis=-2 at the end
  forward: kernels.untwisted(x, axis)
           ^"""  # fmt: skip


def test_a_rule_of_the_last_axis(small):
    assert "twisted: vjp: x: is wrong" in refused(small, SCAN.format(vjp="untwisted(grad, -1)"))


def in_c_order(x):
    """The numbers as they lie in memory, taken for those of an array in C order."""
    base = x
    while isinstance(base.base, np.ndarray):
        base = base.base
    return np.array(base.ravel("K")[: x.size].reshape(x.shape))


WRONG = {
    "in C order whatever the strides": ("half", lambda x: half(in_c_order(x)), "memory"),
    "with every stride positive": ("half", lambda x: half(x[::-1] if x.ndim and x.strides[0] < 0 else x), "memory"),
    "by writing into what it is given": ("half", lambda x: np.divide(x, 2, out=x) if x.flags.f_contiguous else x / 2, "memory"),
    "for two axes only": ("half", lambda x: x / 2 if x.ndim == 2 else x / 3, "parts"),
    "with what the first row has": ("half", lambda x: x / 2 + (x - x[:1] if x.ndim > 1 else 0 * x), "parts"),
    "for the whole array by one number": ("half", lambda x: x / 2 * (1 if x.size > 1 else 2), "parts"),
    "where nothing is": ("half", lambda x: half(x.reshape(max(x.size, 1)).reshape(x.shape)), "parts"),
    "of three rows": ("half", lambda x: np.where(np.arange(len(x)).reshape(-1, *[1] * (x.ndim - 1)) < 3, x / 2, 0)
                      if x.ndim else x / 2, "parts"),
    "along the last of three axes": ("total", lambda x, axis, keepdims: total(x, -1 if x.ndim > 2 else axis, keepdims), "parts"),
    "among neighbouring rows": ("total", lambda x, axis, keepdims: total(x + x[::-1] if axis in (-1, 1) else x, axis, keepdims),
                                "axes"),
}  # fmt: skip


@each("how", WRONG)
def test_a_kernel_that_is_right(small, how):
    """By itself, or with a rule that follows it in what it gets wrong, so that nothing but a law refuses it."""
    name, kernel, law = WRONG[how]
    entry = re.sub(r"linear: .*?samples", "nondifferentiable: true\n  samples", ENTRIES[name], flags=re.DOTALL)
    assert refused(small, entry) == ""
    assert f"error: {name}: forward: breaks the law of {law}: " in refused(small, entry, **{name: kernel})


# What an entry states.


def stated(law: str, forward: str = "np.sinh(x)") -> str:
    return f"""\
- op: bent(x) -> y
  doc: Odd.
  shape: x -> x
  forward: {forward}
  nondifferentiable: true
  law:
  - {law}
  samples:
  - f(x(3, 4))
"""


NUMPY = {"hcosine": "cosh", "hsine": "sinh", "unbent": "arcsinh"}
MORE = "".join(f"""\
- op: {name}(x) -> y
  doc: One of NumPy's.
  shape: x -> x
  forward: np.{NUMPY[name]}(x)
  nondifferentiable: true
  samples:
  - f(x(3, 4))
""" for name in NUMPY)  # fmt: skip


@pytest.mark.parametrize("law", ["bent(-x) == -bent(x)", "unbent(y) == x", "bent(x + c) == hcosine(c) * y + hsine(c) * hcosine(x)"])
def test_laws_that_hold(small, law):
    assert small.check(stated(law) + MORE) == []


def test_a_law_that_does_not_hold(small):
    message = small.refusal("check", stated("bent(x) == sin(x)"))
    assert message.startswith("derivatives.yaml:18:5: error: bent: law: bent(x) == sin(x): does not hold at f(x(3, 4)) in float64: ")
    assert message.endswith("  - bent(x) == sin(x)\n    ^")


def test_a_law_that_says_nothing(small):
    assert small.refusal("check", stated("conj(y) == y")) == """\
derivatives.yaml:18:5: error: bent: law: conj(y) == y: says nothing: it holds whatever bent gives
  - conj(y) == y
    ^"""


def test_a_law_of_something_else(small):
    assert "says nothing of bent, which is not called, nor of what it gives" in small.refusal("analyze", stated("conj(x) == x"))


@pytest.mark.parametrize(("law", "message"), [
    ("bent(x)", "a law is an equation: left == right"),
    ("bent(x) == y == x", "a law is an equation: left == right"),
    ("bent(z) == y", "unknown name 'z'"),
    ("bents(x) == y", "unknown function 'bents'; did you mean 'bent'?"),
])  # fmt: skip
def test_what_is_no_law(small, law, message):
    assert f"18:{5 + max(law.find('z'), 0)}: error: bent: law" in small.refusal("analyze", stated(law))
    assert message in small.refusal("analyze", stated(law))


def test_what_an_entry_breaks(small):
    entry = HALF.replace("kernels.half(x)", "x - x[:1]").replace("half(grad)", "grad").replace("linear: [x]\n  vjp:\n    x: grad",
                         "nondifferentiable: true\n  breaks:\n    parts: the first row is taken from each")  # fmt: skip
    assert small.check(entry) == []
    assert small.refusal("check", entry.replace("x - x[:1]", "x / 2")) == """\
derivatives.yaml:18:12: error: half: breaks: parts: the law of parts holds at every sample: leave it out
    parts: the first row is taken from each
           ^"""
    assert "unknown key 'part'; did you mean 'parts'?" in small.refusal("read", entry.replace("parts:", "part:"))
    assert "empty: one line is expected" in small.refusal("read", entry.replace("the first row is taken from each", "''"))
