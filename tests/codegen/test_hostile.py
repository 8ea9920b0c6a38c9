"""Texts that could hang, overflow or confuse a reader: each is refused within a second, with its place."""

from __future__ import annotations

import re
import time

import pytest

from codegen.errors import SpecErrors
from codegen.rules.analyze import analyze
from codegen.spec import limits
from codegen.spec.reader import read, read_text
from codegen.verify.check import check
from tests.asked import each

SPEC = """\
presets:
  one:
  - f(x(3, 4))
---
family: tested
about: What is tested.
defaults: {dtype: float}
ops:
- op: f(x, int n) -> y
  doc: A function.
  alias: [g]
  domain: x < 10 + n
  shape: x -> x
  forward: np.sin(x) * n
  let:
    both: cos(x) * n
  dy/dx: both
  samples:
  - f(x(3, 4), 2)
  - f(x(2), 3)
---
family: called
about: What is called.
defaults: {dtype: float, shape: _, samples: one}
ops:
- op: conj(x) -> y
  doc: Conjugate.
  dtype: float -> given
  forward: np.conj(x)
  linear: [x]
  vjp:
    x: conj(grad)

- op: cos(x) -> y
  doc: Cosine.
  forward: np.cos(x)
  dy/dx: -sin(x)

- op: multiply(a, b) -> y
  doc: Product.
  operator: __mul__
  dtype: float -> given
  forward: np.multiply(a, b)
  multilinear: [a, b]
  vjp:
    a: grad * conj(b)
    b: grad * conj(a)
  samples:
  - f(x(3), x(3))

- op: negative(x) -> y
  doc: Minus.
  operator: __neg__
  dtype: float -> given
  forward: np.negative(x)
  dy/dx: -1

- op: sin(x) -> y
  doc: Sine.
  forward: np.sin(x)
  dy/dx: cos(x)
"""
TOWER = "10 ** 10 ** 10 ** 10"
DEEP = 5000
LINES = {key: number for number, line in enumerate(SPEC.split("\n")[:20]) for key in [line.strip().partition(":")[0]]}

# What is written, where: a key of the entry `f` and its new line.
LINES_OF_F = {
    "tower in a formula": ("dy/dx", f"dy/dx: both * {TOWER}"),
    "tower in a let": ("both", f"both: cos(x) * n * {TOWER}"),
    "tower of an argument": ("both", "both: cos(x) * n ** (n + 8) ** (n + 8) ** (n + 8)"),
    "tower of an argument in numpy": ("forward", "forward: np.sin(x) * n ** (n + 8) ** (n + 8) ** (n + 8)"),
    "tower of an argument in the domain": ("domain", "domain: x < (n + 8) ** (n + 8) ** (n + 8) ** (n + 8)"),
    "tower in forward": ("forward", f"forward: np.sin(x) * n * {TOWER}"),
    "tower in the domain": ("domain", f"domain: x < {TOWER}"),
    "tower in a default": ("- op", f"- op: f(x, int n={TOWER}) -> y"),
    "tower in a shape": ("shape", f"shape: x -> ({TOWER})"),
    "long dim": ("shape", f"shape: x -> ({'9' * DEEP})"),
    "dim that is no ASCII digit": ("shape", "shape: x -> (\u00b2)"),
    "tower in a sample": ("- f(x(2), 3)", f"- f(x(2), {TOWER})"),
    "long number": ("dy/dx", f"dy/dx: both * {'9' * DEEP}"),
    "large number": ("dy/dx", "dy/dx: both * 99999999999999999999999999"),
    "long number in a default": ("- op", f"- op: f(x, int n={'9' * DEEP}) -> y"),
    "long length": ("- op", f"- op: f(x, int[{'9' * DEEP}] n=2) -> y"),
    "repeated list": ("dy/dx", "dy/dx: sum_of((1,) * 10 ** 12, both)"),
    "repeated by an argument": ("both", "both: cos(x) * ((1,) * (n * 10 ** 12))[0]"),
    "formatted": ("dy/dx", "dy/dx: both * len('%01000000000d' % 1)"),
    "large sample": ("- f(x(2), 3)", "- f(x(10**9), 3)"),
    "larger sample": ("- f(x(2), 3)", "- f(ones(10**6, 10**6), 3)"),
    "large matrix": ("- f(x(2), 3)", "- f(mat(1, 10**6), 3)"),
    "large permutation": ("- f(x(2), 3)", "- f(perm(10**12), 3)"),
    "sample that calls a method": ("- f(x(2), 3)", "- f(x(2).repeat(10**9))"),
    "sample with NumPy": ("- f(x(2), 3)", "- f(np.ones((10**6, 10**6)))"),
    "large array": ("forward", "forward: np.sin(x) * n + np.ones((10**6, 10**5)).sum()"),
    "deep parentheses": ("dy/dx", f"dy/dx: {'(' * DEEP}both{')' * DEEP}"),
    "nested calls": ("dy/dx", f"dy/dx: {'cos(' * 150}both{')' * 150}"),
    "many signs": ("dy/dx", f"dy/dx: both * {'-' * 1500}1"),
    "many powers": ("dy/dx", f"dy/dx: both{' ** x' * 300}"),
    "very long": ("dy/dx", f"dy/dx: both{' + both' * 5000}"),
    "deep default": ("- op", f"- op: f(x, int[] n={'[' * 150}{']' * 150}) -> y"),
    "keyword as an alias": ("alias", "alias: [class]"),
    "keyword as an operator": ("- op", "- op: lambda(x, int n=2) -> y"),
    "keyword as an argument": ("- op", "- op: f(x, int None=2) -> y"),
    "keyword as a let": ("both", "while: cos(x)"),
    "keyword of Cython": ("alias", "alias: cdef"),
    "type of C as an argument": ("- op", "- op: f(x, int long=2) -> y"),
    "an operand called out": ("- op", "- op: f(x, int out=2) -> y"),
    "alias that is no name": ("alias", "alias: [a b]"),
    "alias in another alphabet": ("alias", "alias: [\ufb01nd]"),
    "alias with a dot": ("alias", "alias: [a.b]"),
    "alias twice": ("alias", "alias: [g, g]"),
    "alias that is its own name": ("alias", "alias: [f]"),
    "long name": ("alias", f"alias: [{'a' * DEEP}]"),
    "let called like an argument": ("both", "x: cos(x)"),
    "let called like a cotangent": ("both", "grad_x: cos(x)"),
    "let called like a tangent": ("both", "x_t: cos(x)"),
    "let called like a shape": ("both", "x_shape: cos(x)"),
    "let that is no name": ("both", "1 + 1: cos(x)"),
    "doc that ends a docstring": ("doc", 'doc: A """ function.'),
    "doc with an escape": ("doc", "doc: A \\N function."),
    "comment in a formula": ("dy/dx", "dy/dx: both#, and more"),
    "invalid escape": ("dy/dx", r"dy/dx: both + '\d'"),
    "number run into a word": ("dy/dx", "dy/dx: 1if n else both"),
    "argument given twice": ("forward", "forward: np.sum(x, axis=0, axis=0) * n"),
    "dict is unpacked": ("forward", "forward: np.sin(x, **n)"),
    "op is a mapping": ("- op", "- op: {a: b}"),
    "op is a list": ("- op", "- op: [a, b]"),
    "doc is a mapping": ("doc", "doc: {a: b}"),
    "entry is a text": ("- op", "- f(x) -> y\n- op: f(x, int n=2) -> y"),
    "key is a list": ("doc", "? [a, b]\n  : c"),
    "key is a mapping": ("doc", "? {a: b}\n  : c"),
    "key is a number": ("doc", "1: c"),
    "key is empty": ("doc", ": c"),
    "anchor": ("doc", "doc: &a A function."),
    "alias of YAML": ("alias", "alias: &a [*a]"),
    "unknown alias of YAML": ("doc", "doc: *a"),
    "recursive mapping": ("let", "let: &a {b: *a}"),
    "merge key": ("doc", "<<: {doc: a}"),
    "tag": ("doc", "doc: !!python/object/apply:os.system [ls]"),
    "literal block": ("dy/dx", "dy/dx: |\n    both"),
    "folded block": ("dy/dx", "dy/dx: >\n    both"),
    "deep list of YAML": ("alias", f"alias: {'[' * DEEP}{']' * DEEP}"),
    "deep mapping of YAML": ("let", f"let: {'{a: ' * DEEP}{'}' * DEEP}"),
    "unclosed lists of YAML": ("alias", f"alias: {'[' * 100000}"),
    "escape beyond Unicode": ("doc", 'doc: "\\UFFFFFFFF"'),
    "escaped control character": ("dy/dx", 'dy/dx: "both\\0"'),
    "escaped surrogate": ("alias", 'alias: "\\ud800"'),
    "tab": ("doc", "\tdoc: A function."),
    "NUL": ("doc", "doc: A \0 function."),
    "escape character": ("doc", "doc: A \x1b[2J function."),
    "form feed": ("doc", "doc: A \x0c function."),
    "line separator": ("doc", "doc: A \u2028 function."),
    "carriage return alone": ("doc", "doc: A \r function."),
    "ragged example": ("- f(x(2), 3)", "- f(x(2), 3)\n  examples:\n    f([1.0, 2.0], 2): [1, [2]]"),
    "example of a word": ("- f(x(2), 3)", "- f(x(2), 3)\n  examples:\n    f(1.0, 2): 'a'"),
    "ragged kink": ("- f(x(2), 3)", "- f(x(2), 3)\n  kinks:\n    f([1.0, 2.0], 2): [1, [2]]"),
    "long unknown word": ("dy/dx", f"dy/dx: {'both_' * 390}"),
    "long unknown key": ("doc", f"{'doc' * 40000}: a"),
}
TEXTS = {
    "nothing": "",
    "empty documents": "---\n---\n---\n",
    "a comment only": "# nothing\n",
    "a text": "tanh",
    "a list": "- a\n- b\n",
    "a number": "1\n",
    "presets only": "presets:\n  one:\n  - f(x(3, 4))\n",
    "presets that are a list": "presets: [a]\n",
    "family without a name": SPEC.replace("family: tested", "family:"),
    "family called like a path": SPEC.replace("family: tested", "family: ../../tested"),
    "family twice": SPEC.replace("family: called", "family: tested"),
    "ops is a mapping": SPEC.replace("ops:\n- op: f", "ops:\n  op: f"),
    "alias that another family has": SPEC.replace("alias: [g]", "alias: [g, cos]"),
    "alias that an in-place form has": SPEC.replace("alias: [g]", "alias: [h, h_]\n  variants: [inplace]"),
    "directive": f"%YAML {'9' * DEEP}.1\n---\n{SPEC}",
    "other version": f"%YAML 3.1\n---\n{SPEC}",
    "unclosed text": SPEC.replace("doc: A function.", 'doc: "A function.'),
}


def run(text: str, root) -> None:
    check(analyze(read_text(text), root), root)


def changed(key: str, line: str) -> str:
    lines = SPEC.split("\n")
    indent = re.match(" *", lines[LINES[key]])[0]
    lines[LINES[key]] = line if line.startswith("\t") else indent + line
    return "\n".join(lines)


def refuse(function, *arguments) -> SpecErrors:
    start = time.process_time()
    with pytest.raises(SpecErrors) as caught:
        function(*arguments)
    assert time.process_time() - start < 1
    assert all(error.line >= 1 and error.column >= 1 and error.message for error in caught.value.errors)
    str(caught.value).encode()
    return caught.value


def test_the_spec_that_is_changed_is_right(tmp_path):
    run(SPEC, tmp_path)


@each("name", LINES_OF_F)
def test_line_is_refused_where_it_stands(name, tmp_path):
    key, line = LINES_OF_F[name]
    found = refuse(run, changed(key, line), tmp_path)
    lines = {error.line for error in found.errors}
    wanted = {LINES[key] + 1, LINES[key] + 2, LINES[key] + line.count("\n") + 1}  # an entry can begin with another line, a text go on in the next
    if key == "domain":  # its arithmetic is that of a sample
        wanted.add(LINES["samples"] + 2)
    assert lines & wanted, str(found)


@each("name", TEXTS)
def test_text_is_refused(name, tmp_path):
    refuse(run, TEXTS[name], tmp_path)


def test_file_that_is_not_utf_8(tmp_path):
    path = tmp_path / "derivatives.yaml"
    path.write_bytes(SPEC.replace("A function", "A fönction").encode("latin-1"))
    found = refuse(read, path)
    line = LINES["doc"] + 1
    assert str(found).startswith(f"derivatives.yaml:{line}:11: error: not UTF-8\n  doc: A f\ufffdnction.\n          ^")


def test_file_that_is_an_image(tmp_path):
    path = tmp_path / "derivatives.yaml"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 1000)
    refuse(read, path)


@pytest.mark.parametrize("encode", [lambda s: b"\xef\xbb\xbf" + s.encode(), lambda s: s.replace("\n", "\r\n").encode()])
def test_marks_of_other_editors_are_read(encode, tmp_path):
    path = tmp_path / "derivatives.yaml"
    path.write_bytes(encode(SPEC))
    assert [op.signature for op in read(path).ops.values()] == [op.signature for op in read_text(SPEC).ops.values()]


def test_bounded_operations_are_those_of_python():
    assert limits.power(2, 10) == 1024 and limits.power(2.0, -1) == 0.5 and limits.power(0, 10**6) == 0
    assert limits.multiply((1, 2), 2) == (1, 2, 1, 2) and limits.remainder(7, 4) == 3
    for function, a, b in ((limits.power, 3, 10**9), (limits.multiply, 2**63, 4), (limits.multiply, [0], 10**9)):
        with pytest.raises(OverflowError):
            function(a, b)


def test_memory_is_given_back():
    import numpy as np

    with limits.memory(2**26), pytest.raises(MemoryError):
        np.ones(2**26)
    np.ones(2**24)


@each("name", ["conj", "sin", "negative", "multiply"])
@each("changed", ["", "- op: {}() -> y", "- op: {}(x, y, z) -> w", "- op: {}x(x) -> y"])
def test_an_entry_that_others_need(name, changed, tmp_path):
    """Taken away or of another signature: refused, or not missed."""
    entry = re.search(rf"^- op: {name}\(.*?(?=^- |^---|\Z)", SPEC, re.MULTILINE | re.DOTALL)[0]
    text = SPEC.replace(entry, changed.format(name) + entry[entry.index("\n") :] if changed else "")
    start = time.process_time()
    try:
        run(text, tmp_path)
    except SpecErrors as errors:
        assert all(error.line >= 1 and error.column >= 1 for error in errors.errors)
    assert time.process_time() - start < 1


def test_rules_are_made_with_operators_that_may_be_missing(tmp_path):
    found = refuse(run, SPEC.replace("dy/dx: both", "dy/dx: 0").replace("  let:\n    both: cos(x) * n\n", ""), tmp_path)
    assert "f: needs an operator 'zeros_like' of 1 arguments, which the spec has not" in str(found)
