"""Samples that a shape gives: which entries have them, and what may stand beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.errors import SpecErrors
from codegen.package import Package
from codegen.spec.reader import read_text
from codegen.spec.shape_samples import alike, fitting
from codegen.spec_cache import read
from tests.asked import each

ROOT = Path(__file__).parents[2]
HEADER = """\
presets:
  one:
  - f(x(3, 4))
  - f(x())
  along:
  - f(x(3, 4), axis=1)
  - f(x(2, 3, 4), axis=(0, 2))
  - f(x(0, 3), axis=1, keepdims=True)
  two:
  - f(x(3, 4), x(4))
  - f(x(3, 4), 2.0)
  - f(x(3, 4), 2)
shapes:
  x -> x: [one, along]
  a, b -> broadcast(a, b): [two]
---
family: tested
about: Entries under test.
defaults: {dtype: float}
ops:
- op: tested"""
REST = "  doc: An op.\n  forward: np.sin(x)\n  nondifferentiable: true\n"
ONE = ["f(x(3, 4))", "f(x())"]


def samples(signature: str, rest: str = "  shape: x -> x\n") -> list[str]:
    # The keys that come before `forward` stand in the order of the grammar.
    spec = read_text(f"{HEADER}{signature}\n  doc: An op.\n{rest.partition('  samples')[0]}  forward: np.sin(x)\n"
                     f"  nondifferentiable: true\n{''.join(rest.partition('  samples')[1:])}")  # fmt: skip
    return [sample.source for sample in spec.ops["tested"].samples]


def refusal(signature: str, rest: str) -> str:
    with pytest.raises(SpecErrors) as caught:
        samples(signature, rest)
    return str(caught.value)


@pytest.mark.parametrize("signature, expected", [
    ("(x) -> y", ONE),
    ("(z, float alpha=1.0) -> y", ONE),
    ("(x, int axis=-1) -> y", ["f(x(3, 4))", "f(x(3, 4), axis=1)"]),
    ("(x, int? axis=None) -> y", [*ONE, "f(x(3, 4), axis=1)"]),
    ("(x, int[]? axis=None) -> y", [*ONE, "f(x(3, 4), axis=1)", "f(x(2, 3, 4), axis=(0, 2))"]),
    ("(x, int[]? axis=None, bool keepdims=False) -> y",
     [*ONE, "f(x(3, 4), axis=1)", "f(x(2, 3, 4), axis=(0, 2))", "f(x(0, 3), axis=1, keepdims=True)"]),
    ("(x, str axis='a', int keepdims=0) -> y", ["f(x(3, 4))"]),
    ("(x, int n) -> y", []),
])  # fmt: skip
def test_the_calls_that_fit_the_signature(signature, expected):
    shape = "  shape: z -> z\n" if "(z" in signature else "  shape: x -> x\n"
    assert samples(signature, shape) == expected


def test_the_calls_that_fit_the_dtype_and_the_types():
    shape = "  shape: c, d -> broadcast(c, d)\n"
    assert samples("(c, d) -> y", shape) == ["f(x(3, 4), x(4))", "f(x(3, 4), 2.0)", "f(x(3, 4), 2)"]
    assert samples("(c, d) -> y", f"  dtype: int\n{shape}") == ["f(x(3, 4), x(4))", "f(x(3, 4), 2)"]
    assert samples("(Mask c, d) -> y", shape) == []
    assert samples("(c, Index d) -> y", shape) == []


LITERALS = ["1", "2.5", "True", "(0, 1)", "'up'", "None"]


@each("type, taken", [
    ("int", ["1"]), ("float", ["1", "2.5"]), ("Scalar", ["1", "2.5"]), ("Array", ["1", "2.5"]), ("bool", ["True"]),
    ("int[]", ["1", "(0, 1)"]), ("int[]?", ["1", "(0, 1)"]), ("int[2]", ["1"]), ("int[3]", ["1"]), ("float[]", ["1", "2.5"]),
    ("str", []), ("Index", []), ("Mask", []), ("DType", []),
])  # fmt: skip
def test_the_literals_that_fit_a_type(type, taken):
    """A list of a fixed length takes no tuple, which is not known to be as long."""
    literals = "".join(f"  - f(x(3), {value})\n" for value in LITERALS)
    spec = read_text(f"{HEADER}(x, {type} v) -> y\n  doc: An op.\n  shape: _\n{REST.partition(chr(10))[2]}  samples: one\n"
                     .replace("shapes:", f"  literals:\n{literals}shapes:", 1))  # fmt: skip
    found = fitting(spec.presets["literals"], spec.ops["tested"])
    assert [call.source for call in found] == [f"f(x(3), {value})" for value in taken]


def test_a_domain_that_is_an_equality_is_not_drawn_into():
    assert samples("(x) -> y", "  domain: x == real(x)\n  shape: x -> x\n") == []
    assert samples("(x) -> y", "  domain: x >= 0\n  shape: x -> x\n") == ONE


def test_an_entry_writes_what_is_special():
    own = "  shape: x -> x\n  samples:\n  - f(x(7))\n"
    assert samples("(x) -> y", own) == [*ONE, "f(x(7))"]
    assert samples("(x) -> y", own.replace("samples:", "samples:\n  - only")) == ["f(x(7))"]
    assert samples("(x) -> y", own.replace("x -> x", "_")) == ["f(x(7))"]


@pytest.mark.parametrize("sample", ["f(x(3, 4))", "f( x(3,4) )", "f(x=x(3, 4))", "f(x(3, 4), 1)", "f(x(3, 4), axis=None)", "one"])
def test_a_sample_that_the_shape_gives_is_refused_however_it_is_spelled(sample):
    text = refusal("(x, int[]? axis=None) -> y", f"  shape: x -> x\n  samples:\n  - {sample}\n")
    assert "tested: samples: " in text and "is there already, by the shape or by another line: leave it out" in text


def test_a_sample_that_is_written_twice_is_refused():
    text = refusal("(x) -> y", "  shape: _\n  samples:\n  - f(x(7))\n  - f(x(7))\n")
    assert text.startswith("derivatives.yaml:28:5: error: tested: samples: f(x(7)) is there already")


def test_shapes_are_alike_by_their_form():
    assert alike("a, b -> broadcast(a, b)") == alike("x,target -> broadcast( x, target )")
    assert alike("(..., n, n) -> (..., n, n)") != alike("(..., m, n) -> (..., m, n)")
    assert alike("x -> _") != alike("x -> x")


@pytest.mark.parametrize("line, message", [
    ("  y -> y: [one]", "shapes: y -> y: stands above already, with other names"),
    ("  x -> _: [tow]", "shapes: x -> _: unknown preset 'tow'; did you mean 'two'?"),
])
def test_what_shapes_may_not_say(line, message):
    with pytest.raises(SpecErrors) as caught:
        read_text(f"{HEADER}(x) -> y\n  shape: x -> x\n{REST}".replace("---", f"{line}\n---", 1))
    assert message in str(caught.value)


def test_every_preset_that_a_shape_gives_is_used():
    spec = read(Package(ROOT))
    used = {sample.source for op in spec.ops.values() for sample in op.samples}
    unused = [call.source for calls in spec.presets.values() for call in calls if call.source not in used]
    assert not unused
