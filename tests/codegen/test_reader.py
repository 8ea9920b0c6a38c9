"""Reading: keys, their order, names, forms; each refusal beside its whole message."""
# ruff: noqa: E501

from __future__ import annotations

import re

import pytest
from conftest import HEADER, PRELUDE

from codegen.errors import SpecErrors
from codegen.rules.analyze import analyze
from codegen.spec.reader import read_text
from codegen.verify.check import check
from tests.asked import each


def test_defaults_apply_where_the_entry_is_silent(small):
    op = small.read(TANH).ops["tanh"]
    assert (op.dtype, op.variants, op.doc) == ("float", ("function",), "Hyperbolic tangent.")
    assert [sample.source for sample in op.samples] == ["f(x(3, 4))", "f(x(0, 3))"]


def test_an_entry_overrides_a_default(small):
    op = small.read("- op: f(x) -> y\n  doc: F.\n  forward: x\n  dy/dx: 1\n").ops["zeros_like"]
    assert op.form == "nondifferentiable" and op.dtype == "float" and op.family == "prelude"


def test_every_form_is_recognised(small):
    forms = {name: op.form for name, op in small.read(TANH).ops.items()}
    assert forms["tanh"] == "partial"
    assert forms["sum"] == "linear"
    assert forms["matmul"] == "multilinear"
    assert forms["zeros_like"] == "nondifferentiable"


def test_names_and_aliases(small):
    entry = TANH.replace("tanh(x)", "max_pool(x)").replace("  forward", "  alias: [amax, top]\n  forward")
    op = small.read(entry).ops["max_pool"]
    assert (op.signature.name, op.name, op.node) == ("max_pool", "max_pool", "MaxPoolBackward")
    assert op.aliases == ("amax", "top")


def test_a_private_operator_is_public_in_nothing(small):
    entry = TANH.replace("tanh(x)", "_tanh(x)")
    header = HEADER.replace("{shape", "{variants: [method, out], namespace: nn, shape")
    op = read_text(header + entry).ops["_tanh"]
    assert (op.private, op.node) == (True, "TanhBackward")
    assert (op.variants, op.namespace) == ((), "")


def test_a_name_in_another_namespace(small):
    op = small.read(TANH.replace("  forward", "  alias: [th, nn.tanh]\n  forward")).ops["tanh"]
    assert (op.aliases, op.elsewhere) == (("th",), (("nn", "tanh"),))


@pytest.mark.parametrize(
    "words, variants",
    [
        ("[]", ("function",)),
        ("[method]", ("function", "method")),
        ("[property]", ("property",)),
        ("[bound, inplace]", ("method", "bound", "inplace")),
        ("[function, property]", ("function", "property")),
    ],
)
def test_every_op_is_a_function_unless_it_is_a_property_or_bound(small, words, variants):
    op = small.read(TANH.replace("  forward", f"  variants: {words}\n  forward")).ops["tanh"]
    assert op.variants == variants


@pytest.mark.parametrize(
    "names, blamed",
    [
        (["a", "c", "b", "d"], {"b": "above c, or that one below it"}),
        (["a", "d", "b", "c"], {"d": "below c"}),
        (["log1p", "log2p1", "log2", "logit"], {"log2": "above log2p1, or that one below it"}),
        (["z", "a", "b", "c", "e", "d"], {"z": "below e", "d": "above e, or that one below it"}),
        (["a", "_b", "c", "_d"], {}),
        (["a", "_c", "b", "_d"], {"b": "above _c, or that one below it"}),
        (["d", "c", "b", "a"], {"c": "above d, or that one below it", "b": "above d", "a": "above d"}),
    ],
)
def test_blamed_is_the_entry_that_stands_wrong(small, names, blamed):
    """The entries whose removal leaves the others in order, and not their neighbours."""
    entries = "".join(TANH.replace("tanh(x)", f"{name}(x)") for name in names)
    if not blamed:
        assert list(small.read(entries).ops)[: len(names)] == names
        return
    found = re.findall(r"error: (\w+): op: entries are alphabetical: it belongs (.*)", small.refusal("read", entries))
    assert dict(found) == blamed


def test_an_adjoint_may_stand_below_its_op(small):
    entry = "- op: {}(x) -> y\n  doc: D.\n  forward: -x\n  linear: [x]\n  vjp:\n    x: {}(grad)\n"
    small.read(entry.format("slice", "extend") + entry.format("extend", "slice"))


def test_locations_are_those_of_the_file(small):
    op = small.read(TANH).ops["tanh"]
    assert str(op.location) == "derivatives.yaml:12:7"
    assert str(op.partials["y", "x"].location) == "derivatives.yaml:15:10"


def test_further_samples_and_examples_follow_those_of_the_entry():
    entry = TANH.replace("one", "\n  - only\n  - f(x(2))") + "  examples:\n    f(0.0): 0\n"
    spec = read_text(HEADER + entry, further={"samples/tested.yaml": FURTHER})
    op = spec.ops["tanh"]
    assert [sample.source for sample in op.samples] == ["f(x(2))", "f(x(5))", "f(x(6))"]
    assert [example.call.source for example in op.examples] == ["f(0.0)", "f(inf)"]
    assert str(op.samples[1].location) == "samples/tested.yaml:4:5" and op.samples[1].is_of(op)
    assert str(op.examples[1].value.location) == "samples/tested.yaml:7:13"


def test_an_entry_shows_three_samples_at_most(small):
    shown = TANH.replace("one", "\n  - only\n" + "\n".join(f"  - f(x({n}))" for n in (2, 5, 6)))
    assert len(small.read(shown).ops["tanh"].samples) == 3
    assert small.refusal("read", shown + "  - f(x(7))\n") == """\
derivatives.yaml:21:5: error: tanh: samples: more than 3: those that explain the entry least stand in samples/tested.yaml
  - f(x(7))
    ^"""


def test_further_samples_may_be_the_only_ones():
    spec = read_text(HEADER + TANH.replace("  samples: one\n", ""), further={"samples/tested.yaml": FURTHER})
    assert len(spec.ops["tanh"].samples) == 2


@each(
    "file, text, message",
    [
        ("tested", "tahn:\n  samples:\n  - f(x(5))\n", "1:1: error: no operator 'tahn' in the family; did you mean 'tanh'?\ntahn:\n^"),
        ("tasted", "", "1:1: error: one document is expected: operators with 'samples:' and 'examples:'\n\n^"),
        ("tasted", "tanh: {}\n", "1:1: error: there is no family 'tasted'; did you mean 'tested'?\ntanh: {}\n^"),
        ("tested", "- tanh\n", "1:1: error: a file of further samples is a mapping\n- tanh\n^"),
        ("tested", "tanh:\n  kinks:\n    f(1.0): 0\n", "2:3: error: tanh: unknown key 'kinks'\n  kinks:\n  ^"),
        ("tested", "tanh:\n  samples: one\n", "2:12: error: tanh: samples: a list is expected here\n  samples: one\n           ^"),
        ("tested", "tanh:\n  samples:\n  - f(x(3, 4))\n", "3:5: error: tanh: samples: f(x(3, 4)) is there already, by the shape or by "
         "another line: leave it out\n  - f(x(3, 4))\n    ^"),
        ("tested", "tanh:\n  samples:\n  - f(x(5)\n", "3:6: error: tanh: samples: not a Python expression\n  - f(x(5)\n     ^"),
        ("tested", "tanh:\n  samples:\n  - f(\x07)\n", "3:7: error: the character U+0007 is not allowed in a spec\n  - f(\x07)\n      ^"),
        ("tested", "tanh:\n  examples:\n    f(0.0): 0\n", "3:5: error: tanh: examples: 'f(0.0)' is written twice\n    f(0.0): 0\n    ^"),
        ("tested", "zero:\n  samples: []\ntanh:\n  samples: []\n", "3:1: error: tanh: the order is that of the entries: it belongs above "
         "'zero'\ntanh:\n^"),
    ],
)  # fmt: skip
def test_errors_in_further_samples_have_the_place_in_their_file(file, text, message):
    entries = TANH + "  examples:\n    f(0.0): 0\n\n" + TANH.replace("tanh(x)", "zero(x)")
    with pytest.raises(SpecErrors) as caught:
        read_text(HEADER + entries, further={f"samples/{file}.yaml": text})
    assert str(caught.value) == f"samples/{file}.yaml:{message}"


@pytest.mark.parametrize("step, line, message", [
    ("analyze", "  - f(y(5))", "4:7: error: tanh: samples: unknown function 'y'; did you mean 'x'?"),
    ("analyze", "  - f(x(5).Q)", "4:7: error: tanh: samples: .Q is not for samples; did you mean '.T'?"),
    ("check", "  - f(x(5, 'a'))", "4:5: error: tanh: samples: f(x(5, 'a')) in float64: TypeError"),
])  # fmt: skip
def test_later_steps_point_into_the_file_too(step, line, message, tmp_path):
    text = FURTHER.replace("  - f(x(5))", line)
    with pytest.raises(SpecErrors) as caught:
        spec = analyze(read_text(HEADER + TANH + PRELUDE, further={"samples/tested.yaml": text}), tmp_path)
        check(spec, tmp_path, integers=False)
    assert f"samples/tested.yaml:{message.partition('; did')[0]}" in str(caught.value)
    assert f"\n{line}\n" in str(caught.value)


FURTHER = """\
# Further samples.
tanh:
  samples:
  - f(x(5))
  - f(x(6))
  examples:
    f(inf): 1
"""

TANH = """\
- op: tanh(x) -> y
  doc: Hyperbolic tangent.
  forward: np.tanh(x)
  dy/dx: 1 - y*y
  samples: one
"""

REFUSED = {
    "unknown key": (
        """\
- op: f(x) -> y
  doc: F.
  forwards: np.sin(x)
  dy/dx: cos(x)
  samples: one
""",
        """\
derivatives.yaml:14:3: error: f: unknown key 'forwards'; did you mean 'forward'?
  forwards: np.sin(x)
  ^""",
    ),
    "repeated key": (
        """\
- op: f(x) -> y
  doc: F.
  doc: G.
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:14:3: error: f: doc: 'doc' is written twice
  doc: G.
  ^""",
    ),
    "misordered keys": (
        """\
- op: f(x) -> y
  forward: np.sin(x)
  doc: F.
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:14:3: error: f: doc: the order of keys is fixed: it belongs above 'forward'
  doc: F.
  ^""",
    ),
    "missing doc": (
        """\
- op: f(x) -> y
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:12:7: error: f: doc: missing: one line that says what the op computes
- op: f(x) -> y
      ^""",
    ),
    "not alphabetical": (
        """\
- op: g(x) -> y
  doc: G.
  forward: np.sin(x)
  dy/dx: cos(x)
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:16:7: error: f: op: entries are alphabetical: it belongs above g, or that one below it
- op: f(x) -> y
      ^""",
    ),
    "two entries of one name": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
- op: f(x) -> y
  doc: F again.
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:16:7: error: f: op: 'f' has an entry already: derivatives.yaml:12:7
- op: f(x) -> y
      ^""",
    ),
    "alias that is taken": (
        """\
- op: f(x) -> y
  doc: F.
  alias: [f1]
  forward: np.sin(x)
  dy/dx: cos(x)
- op: g(x) -> y
  doc: G.
  alias: [g1, f1]
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:19:15: error: g: alias: 'f1' is a name of f already: derivatives.yaml:14:11
  alias: [g1, f1]
              ^""",
    ),
    "alias that is an op below": (
        """\
- op: f(x) -> y
  doc: F.
  alias: [sin]
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:54:7: error: sin: op: 'sin' is a name of f already: derivatives.yaml:14:11
- op: sin(x) -> y
      ^""",
    ),
    "no derivative": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
""",
        """\
derivatives.yaml:12:7: error: f: no derivative: write one of d<output>/d<input>, linear, multilinear, vjp and jvp, composite, nondifferentiable, unimplemented
- op: f(x) -> y
      ^""",
    ),
    "two derivative forms": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
  vjp:
    x: grad * cos(x)
""",
        """\
derivatives.yaml:16:3: error: f: more than one derivative form: dy/dx, vjp
  vjp:
  ^""",
    ),
    "vjp alone": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  vjp:
    x: grad * cos(x)
""",
        """\
derivatives.yaml:15:3: error: f: 'vjp' is not enough alone; it needs jvp, linear or multilinear
  vjp:
  ^""",
    ),
    "linear alone": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.negative(x)
  linear: [x]
""",
        """\
derivatives.yaml:15:3: error: f: 'linear' is not enough alone; it needs vjp
  linear: [x]
  ^""",
    ),
    "linear in a parameter": (
        """\
- op: f(x, int axis=0) -> y
  doc: F.
  forward: np.flip(x, axis)
  linear: [axis]
  vjp:
    x: f(grad, axis)
""",
        """\
derivatives.yaml:15:12: error: f: linear: 'axis' is not an array input
  linear: [axis]
           ^""",
    ),
    "operator that is none": (
        """\
- op: f(x) -> y
  doc: F.
  operator: __ads__
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:14:13: error: f: operator: '__ads__' is not an operator method; did you mean '__and__'?
  operator: __ads__
            ^""",
    ),
    "operator without underscores": (
        """\
- op: f(x) -> y
  doc: F.
  operator: add
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:14:13: error: f: operator: 'add' is not an operator method; did you mean '__add__'?
  operator: add
            ^""",
    ),
    "operator that is taken": (
        """\
- op: f(x) -> y
  doc: F.
  operator: __neg__
  forward: np.sin(x)
  dy/dx: cos(x)
- op: g(x) -> y
  doc: G.
  operator: __neg__
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:19:13: error: g: operator: '__neg__' is a name of f already: derivatives.yaml:14:13
  operator: __neg__
            ^""",
    ),
    "unknown variant": (
        """\
- op: f(x) -> y
  doc: F.
  variants: [metod]
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:14:14: error: f: variants: unknown variant 'metod'; did you mean 'method'?
  variants: [metod]
             ^""",
    ),
    "method of no array": (
        """\
- op: f(int n) -> y
  doc: F.
  variants: [method]
  forward: np.eye(n)
  nondifferentiable: true
""",
        """\
derivatives.yaml:14:14: error: f: variants: variant 'method' needs an array as first argument
  variants: [method]
             ^""",
    ),
    "inplace with two outputs": (
        """\
- op: f(x) -> y, z
  doc: F.
  variants: [inplace]
  forward: np.frexp(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:14:14: error: f: variants: variant 'inplace' needs a single output
  variants: [inplace]
             ^""",
    ),
    "unknown namespace": (
        """\
- op: f(x) -> y
  doc: F.
  namespace: linag
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:14:14: error: f: namespace: unknown namespace 'linag'; did you mean 'linalg'?
  namespace: linag
             ^""",
    ),
    "unknown dtype class": (
        """\
- op: f(x) -> y
  doc: F.
  dtype: reel
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:14:10: error: f: dtype: unknown dtype 'reel'; did you mean 'real'?
  dtype: reel
         ^""",
    ),
    "view of what is no input": (
        """\
- op: f(x, int[] axes) -> y
  doc: F.
  view: axes
  forward: np.transpose(x, axes)
  nondifferentiable: true
""",
        """\
derivatives.yaml:14:9: error: f: view: 'axes' is not an array input
  view: axes
        ^""",
    ),
    "neither true nor false": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: yes
  samples: one
""",
        """\
derivatives.yaml:15:22: error: f: nondifferentiable: unknown value 'yes'
  nondifferentiable: yes
                     ^""",
    ),
    "unknown preset": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
  samples: ones
""",
        """\
derivatives.yaml:16:12: error: f: samples: unknown preset 'ones'; did you mean 'one'?
  samples: ones
           ^""",
    ),
    "one jvp for two outputs": (
        """\
- op: f(x) -> y, z
  doc: F.
  forward: np.modf(x)
  vjp:
    x: grad_y
  jvp: x_t
""",
        """\
derivatives.yaml:17:8: error: f: jvp: write one formula for each output
  jvp: x_t
       ^""",
    ),
    "entry without op": (
        """\
- doc: F.
  forward: np.sin(x)
""",
        """\
derivatives.yaml:12:3: error: an entry starts with 'op:'
- doc: F.
  ^""",
    ),
    "mapping for text": (
        """\
- op: f(x) -> y
  doc: F.
  forward: {np.sin: x}
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:14:13: error: f: forward: the last case is 'else:'
  forward: {np.sin: x}
            ^""",
    ),
    "a slice with a blank": (
        """\
- op: f(x) -> y
  doc: F.
  forward: x[..., :: 2]
""",
        """\
derivatives.yaml:14:20: error: not YAML: mapping values are not allowed here; a colon before a blank begins a value: write x[..., ::k]
  forward: x[..., :: 2]
                   ^""",
    ),
    "not YAML": (
        """\
- op: f(x) -> y
  doc: F: G.
""",
        """\
derivatives.yaml:13:9: error: not YAML: mapping values are not allowed here; a colon before a blank begins a value: write x[..., ::k]
  doc: F: G.
        ^""",
    ),
    "a name in a namespace that there is not": (
        """\
- op: f(x) -> y
  doc: F.
  alias: [g, lnalg.f]
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:14:14: error: f: alias: unknown namespace 'lnalg'; did you mean 'linalg'?
  alias: [g, lnalg.f]
             ^""",
    ),
    "what a private operator cannot have": (
        """\
- op: _f(x) -> y
  doc: F.
  alias: [g]
  variants: [method]
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:14:3: error: _f: alias: a private operator is called by formulas only: leave `alias:` out
  alias: [g]
  ^
derivatives.yaml:15:3: error: _f: variants: a private operator is called by formulas only: leave `variants:` out
  variants: [method]
  ^""",
    ),
    "one name for two nodes": (
        """\
- op: f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
- op: _f(x) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: cos(x)
""",
        """\
derivatives.yaml:16:7: error: _f: op: its node is FBackward, which is that of f
- op: _f(x) -> y
      ^""",
    ),
    "several at once": (
        """\
- op: f(x) -> y
  doc: F.
  dtype: reel
  forward: np.sin(x)
  dy/dx: cos(x
""",
        """\
derivatives.yaml:14:10: error: f: dtype: unknown dtype 'reel'; did you mean 'real'?
  dtype: reel
         ^
derivatives.yaml:16:13: error: f: dy/dx: not a Python expression
  dy/dx: cos(x
            ^""",
    ),
}


@each("name", REFUSED)
def test_refused(small, name):
    entry, message = REFUSED[name]
    assert small.refusal("read", entry) == message


@pytest.mark.parametrize(
    ("outputs", "jvp", "message"),
    [
        ("y", "\n    y: x_t", "16:5: error: f: jvp: there is one output: write jvp: FORMULA\n    y: x_t\n    ^"),
        ("y, _m", "\n    y: x_t", "16:5: error: f: jvp: there is one output: write jvp: FORMULA\n    y: x_t\n    ^"),
        ("y, z", " x_t", "15:8: error: f: jvp: write one formula for each output\n  jvp: x_t\n       ^"),
    ],
)
def test_a_jvp_is_written_in_one_way(small, outputs, jvp, message):
    entry = f"- op: f(x) -> {outputs}\n  doc: F.\n  vjp: {{x: grad}}\n  jvp:{jvp}\n"
    assert small.refusal("read", entry) == f"derivatives.yaml:{message}"


def test_a_family_may_be_compiled_for_size():
    def families(line):
        return read_text(re.sub(r"(?m)^(about: .*)$", rf"\1{line}", HEADER, count=1) + TANH).families

    assert [family.small for family in families("")] == [False]
    assert [family.small for family in families("\nsmall: true")] == [True]
    with pytest.raises(Exception, match="unknown value 'yes'"):
        families("\nsmall: 'yes'")
