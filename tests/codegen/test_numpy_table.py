"""The table of NumPy's calls: which argument of an operator each parameter of a NumPy function is."""

import inspect

import numpy as np
import pytest
from conftest import HEADER

from codegen.spec.numpy_signatures import numpy_signatures, text_of
from codegen.spec.reader import read_text
from codegen.write.numpy_calls import functions, universal


def table_of(signature, forward, keys=""):
    """Of the one operator with this signature."""
    entry = f"- op: {signature}\n  doc: F.\n{keys}  forward: {forward}\n  nondifferentiable: true\n"
    ops = list(read_text(HEADER + entry).ops.values())
    return universal(ops), functions(ops)


@pytest.mark.parametrize(
    "signature, numpy, leading, spelled, given",
    [
        ("f(x, int[]? axis=None, bool keepdims=False) -> y", "sum", 2, "a=x axis dtype= out= keepdims initial= where=", {}),
        ("f(x, Array? min=None, Array? max=None) -> y", "clip", 3, "a=x a_min=min a_max=max out= min max", {}),
        ("f(x, float dx=1.0, int axis=-1) -> y", "trapezoid", 1, "y=x x= dx axis", {}),
        ("f(x, *, bool full_matrices=False) -> y", "linalg.svd", -1, "a=x full_matrices compute_uv= hermitian=", {"full_matrices": "True"}),
        ("f(Mask mask, a, b) -> y", "where", 3, "condition=mask x=a y=b", {}),
        ("f(a, b, int axis=-1) -> y", "cross", 2, "a b axisa= axisb= axisc= axis", {}),
        ("f(str subscripts, Array[] *operands) -> y", "einsum", 99, "out= optimize=", {}),
    ],
)
def test_parameters(signature, numpy, leading, spelled, given):
    call = table_of(signature, "kernels.f(x)", f"  numpy: {numpy}\n")[1][numpy]
    assert (call.leading, call.spelled, dict(call.given)) == (leading, spelled, given)


def test_universal_functions():
    assert table_of("f(a, b) -> y", "np.add(a, b)")[0] == {"add": "f"}
    assert table_of("f(a, b, c) -> y", "kernels.f(a)", "  numpy: add\n")[0] == {}  # which has two inputs


def test_of_two_operators_the_namesake_answers():
    entries = "".join(f"- op: {name}(x) -> y\n  doc: F.\n  forward: np.sin(x)\n  nondifferentiable: true\n" for name in ("a", "sin", "z"))
    assert universal(list(read_text(HEADER + entries).ops.values())) == {"sin": "sin"}


def test_the_table_is_that_of_numpy():
    """Of this NumPy or of one near it: what both have is alike in the order of what may go by place."""
    table = numpy_signatures()
    here = {line.split(" ")[0]: line for line in text_of(np).splitlines() if not line.startswith("#")}
    assert len(here.keys() & table.keys()) > 300
    for name in here.keys() & table.keys():
        function = np
        for part in name.split("."):
            function = getattr(function, part)
        if table[name].is_universal:
            assert (function.nin, function.nout) == (table[name].inputs, table[name].outputs), name
            continue
        ours = [p.name for p in table[name].parameters if p.kind == "positional"]
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        theirs = [p.name for p in inspect.signature(function).parameters.values() if p.kind in kinds]
        assert ours[: len(theirs)] == theirs[: len(ours)], name
