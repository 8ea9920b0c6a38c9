"""What an entry says to readers: its arguments, its source, NumPy's functions; each refusal beside its whole message."""
# ruff: noqa: E501

from __future__ import annotations

import operator
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import HEADER, ROOT

from codegen.errors import SpecErrors
from codegen.spec.numpy_names import functions
from codegen.spec.reader import read, read_text
from tests.asked import each

ENTRY = """\
- op: f(x, int axis=0, bool keepdims=False) -> y
  doc: F.
  forward: np.sum(x, axis=axis, keepdims=keepdims)
  nondifferentiable: true
"""
HERE = "  forward: np.sum"


def stated(*lines):
    return ENTRY.replace(HERE, "\n".join([*(f"  {line}" for line in lines), HERE]))


def with_defaults(args):
    return HEADER.replace("{dtype: float, shape: _}", f"{{args: {args}, dtype: float, shape: _}}")


def test_arguments_stand_in_the_order_of_the_signature(small):
    op = small.read(stated("args:", "  keepdims: Whether the axes stay.", "  axis: Where.")).ops["f"]
    assert list(op.args.items()) == [("axis", "Where."), ("keepdims", "Whether the axes stay.")]


def test_arguments_of_the_family_hold_where_the_entry_is_silent():
    spec = read_text(with_defaults("{axis: Where., keepdims: How.}") + stated("args:", "  axis: Here.") + ENTRY.replace("f(x", "_g(x"))
    assert spec.ops["f"].args == {"axis": "Here.", "keepdims": "How."}
    assert spec.ops["_g"].args == {}  # nobody reads of it


def test_arguments_of_the_family_that_an_entry_has_not_are_left_out():
    other = "- op: g(x) -> y\n  doc: G.\n  forward: np.sin(x)\n  nondifferentiable: true\n"
    spec = read_text(with_defaults("{axis: Where.}") + ENTRY + other)
    assert (spec.ops["f"].args, spec.ops["g"].args) == ({"axis": "Where."}, {})


def test_source(small):
    assert small.read(stated("ref: Giles (2008), section 2.")).ops["f"].ref == "Giles (2008), section 2."


@each(
    "signature, forward, keys, names",
    [
        ("f(x)", "np.sin(x)", "", ("sin",)),
        ("f(a, b)", "np.arctan2(a, b)", "", ("arctan2",)),
        ("f(a, b)", "np.arctan2(b, a)", "", ()),
        ("f(a, b)", "np.arctan2(a, a)", "", ()),
        ("f(x)", "np.sin(x) + 1", "", ()),
        ("f(x)", "np.add(x, 1)", "", ()),
        ("f(x)", "kernels.sin(x)", "", ()),
        ("f(x)", "x.sum()", "", ()),
        ("f(x)", "np.linalg.inv(x)", "", ("linalg.inv",)),
        ("f(x, int axis=0, float correction=0)", "np.var(x, ddof=correction, axis=axis)", "", ("var",)),
        ("f(x, int axis=0)", "np.sum(x)", "", ()),
        ("cos(x)", "np.sin(x)", "", ("sin", "cos")),
        ("f(x)", "kernels.f(x)", "alias: [arcsin, norm, linalg.norm]", ("arcsin", "linalg.norm")),
        ("norm(x)", "kernels.f(x)", "namespace: linalg", ("linalg.norm",)),
        ("array(x)", "kernels.f(x)", "namespace: nn", ()),
        ("ndarray(x)", "kernels.f(x)", "", ()),
        ("f(x)", "np.array(x)", "numpy: copy", ("copy",)),
        ("f(x)", "np.array(x)", "alias: [clone, fabs]\n  numpy: copy", ("copy", "fabs")),
        ("sin(x)", "np.sin(x)", "numpy: false", ()),
        ("_f(x)", "np.sin(x)", "", ()),
    ],
)
def test_functions_of_numpy(signature, forward, keys, names):
    head = f"- op: {signature} -> y\n  doc: F.\n" + (f"  {keys}\n" if keys else "")
    (op,) = read_text(f"{HEADER}{head}  forward: {forward}\n  nondifferentiable: true\n").ops.values()
    assert op.numpy == names


REFUSED = {
    "unknown argument": (
        stated("args:", "  axes: Where."),
        """\
derivatives.yaml:15:5: error: f: args: no argument 'axes'; did you mean 'axis'?
    axes: Where.
    ^""",
    ),
    "empty line": (
        stated("args:", "  axis:"),
        """\
derivatives.yaml:15:10: error: f: args: empty: one line is expected
    axis:
         ^""",
    ),
    "two lines": (
        stated("args:", "  axis: Where", "    it is."),
        """\
derivatives.yaml:15:11: error: f: args: more than one line
    axis: Where
          ^""",
    ),
    "text in place of arguments": (
        stated("args: Where."),
        """\
derivatives.yaml:14:9: error: f: args: 'args' is a mapping
  args: Where.
        ^""",
    ),
    "factor that is an argument": (
        stated("factor: {axis: x}"),
        """\
derivatives.yaml:14:12: error: f: factor: 'axis' is an argument or a result already
  factor: {axis: x}
           ^""",
    ),
    "factor of what there is not": (
        stated("factor: {alpha: b}"),
        """\
derivatives.yaml:14:19: error: f: factor: 'b' is not an array input
  factor: {alpha: b}
                  ^""",
    ),
    "two factors": (
        stated("factor: {alpha: x, beta: x}"),
        """\
derivatives.yaml:14:11: error: f: factor: one keyword and one array are expected
  factor: {alpha: x, beta: x}
          ^""",
    ),
    "argument twice": (
        stated("args:", "  axis: Where.", "  axis: Here."),
        """\
derivatives.yaml:16:5: error: f: args: 'axis' is written twice
    axis: Here.
    ^""",
    ),
    "what ends a docstring": (
        stated("ref: '\"\"\"'"),
        """\
derivatives.yaml:14:9: error: f: ref: \"\"\" ends or changes a docstring
  ref: '\"\"\"'
        ^""",
    ),
    "empty source": (
        stated("ref:"),
        """\
derivatives.yaml:14:7: error: f: ref: empty: one line is expected
  ref:
      ^""",
    ),
    "source of two lines": (
        stated("ref: Giles", "  (2008)"),
        """\
derivatives.yaml:14:8: error: f: ref: more than one line
  ref: Giles
       ^""",
    ),
    "unknown function": (
        stated("numpy: linalg.sdv"),
        """\
derivatives.yaml:14:10: error: f: numpy: NumPy has no function 'linalg.sdv'; did you mean 'svd'?
  numpy: linalg.sdv
         ^""",
    ),
    "with its module": (
        stated("numpy: np.linalg.svd"),
        """\
derivatives.yaml:14:10: error: f: numpy: NumPy has no function 'np.linalg.svd'; write linalg.svd
  numpy: np.linalg.svd
         ^""",
    ),
    "type": (
        stated("numpy: ndarray"),
        """\
derivatives.yaml:14:10: error: f: numpy: NumPy has no function 'ndarray'; did you mean 'array'?
  numpy: ndarray
         ^""",
    ),
    "order": (
        stated("numpy: sum", "ref: Giles (2008)."),
        """\
derivatives.yaml:15:3: error: f: ref: the order of keys is fixed: it belongs above 'numpy'
  ref: Giles (2008).
  ^""",
    ),
    "private operator": (
        stated("args:", "  axis: Where.", "numpy: sum").replace("f(x", "_f(x"),
        """\
derivatives.yaml:14:3: error: _f: args: a private operator is called by formulas only: leave `args:` out
  args:
  ^
derivatives.yaml:16:3: error: _f: numpy: a private operator is called by formulas only: leave `numpy:` out
  numpy: sum
  ^""",
    ),
}


@each("name", REFUSED)
def test_refused(small, name):
    entry, message = REFUSED[name]
    assert small.refusal("read", entry) == message


def test_argument_that_no_operator_of_the_family_has_is_refused():
    with pytest.raises(SpecErrors) as caught:
        read_text(with_defaults("{axes: Where.}") + ENTRY)
    assert str(caught.value) == """\
derivatives.yaml:10:19: error: args: no operator of the family has an argument 'axes'; did you mean 'axis'?
defaults: {args: {axes: Where.}, dtype: float, shape: _}
                  ^"""


@pytest.fixture(scope="module")
def operators():
    return read(Path(ROOT) / "derivatives.yaml").ops.values()


def test_every_function_of_numpy_is_one(operators):
    names = [name for op in operators for name in op.numpy]
    assert len(names) > 100
    assert [name for name in names if name not in functions()] == []


def test_no_function_of_numpy_is_claimed_twice(operators):
    """Neither by name nor as what it is: np.acos is np.arccos, and both are one operator's."""
    owners = {}
    for op in operators:
        for name in op.numpy:
            owners.setdefault(name, set()).add(op.name)
            if (function := operator_of(name)) is not None:
                owners.setdefault(function, set()).add(op.name)
    assert {claim: names for claim, names in owners.items() if len(names) > 1} == {}


def test_the_functions_are_those_of_the_oldest_numpy():
    """What is generated does not depend on the NumPy at hand, and a name that is newer is none."""
    head = (Path(ROOT) / "codegen/spec/numpy_functions.txt").read_text().partition("\n")[0]
    allowed = re.search(r'^dependencies = \["numpy>=([0-9.]+)"\]', (Path(ROOT) / "pyproject.toml").read_text(), re.MULTILINE)[1]
    assert f"of NumPy {allowed}," in head
    assert {"sin", "linalg.svdvals", "fft.fft"} <= functions() and not {"unstack", "cumulative_sum", "matvec"} & functions()


def test_every_function_of_the_oldest_numpy_that_an_operator_has_is_there_now(operators):
    """A newer NumPy may have dropped the other name of a function, but not the function."""
    gone = [op.name for op in operators if op.numpy and not any(callable(operator_of(name)) for name in op.numpy)]
    assert gone == []


def operator_of(name):
    """NumPy's function of a name, or None where this NumPy has dropped the name."""
    try:
        return operator.attrgetter(name)(np)
    except AttributeError:
        return None
