"""Definitions: a function of this library as text that stands by itself."""

import numpy as np
import pytest

from gradspec.compiler.tracing.definitions import FORWARDS, Definitions, kernel, module
from gradspec.generated.kernel_names import COMPILED, PYTHON


def written(place, name, taken=()):
    definitions = Definitions(set(taken))
    called = definitions.want((place, name), name)
    text = "\n".join([*definitions.imports, *definitions.texts])
    names = {}
    exec(text, names)
    return names[called], text, called


def test_a_definition_comes_with_what_it_calls():
    function, text, _ = written("kernels.row_wise.softmax", "softmax")
    assert "def _highest(" in text and text.count('"""') == 6
    np.testing.assert_allclose(function(np.zeros((2, 4)), 1), np.full((2, 4), 0.25))


def test_names_that_stand_for_something_else_are_left_to_it():
    function, text, called = written(FORWARDS, "sum", {"mean"})
    assert called == "sum_" and function(np.ones(3)) == 3.0
    assert written(FORWARDS, "mean", {"mean", "mean_"})[2] == "mean__"


def test_an_operator_by_whose_name_an_argument_goes():
    function, text, _ = written(FORWARDS, "constant_pad_nd")
    assert function(np.ones(2), (1, 2)).tolist() == [0, 1, 1, 0, 0]


def test_helpers_and_the_library_of_python_are_imported():
    function, text, _ = written("formulas.shapes", "reduced_count")
    assert "import math" in text and function((3, 4), (1,)) == 4


def test_every_kernel_has_an_expression():
    names = {name for table in (COMPILED, PYTHON) for kernels in table.values() for name in kernels}
    placed = {name for name in names if name.endswith("_placed")}  # which a backward pass adds to a gradient: no program does
    assert {name for name in names if kernel(name) is None} == placed
    for name in sorted(names - placed):
        definitions = Definitions(set())
        definitions.want(kernel(name), name)
        compile("\n".join(definitions.texts), name, "exec")


def test_what_is_compiled_is_refused():
    assert module("kernels.matrices.matmul") is None and module("no.such") is None
    definitions = Definitions(set())
    with pytest.raises(TypeError, match="sigmoid has no text over NumPy alone, for 'Program' is compiled"):
        definitions.want(("kernels.special_functions.scipy_backed", "_gelu_by_tanh"), "sigmoid")


def test_kernels_beside_their_loops():
    assert kernel("cumsum") == ("kernels.reductions.scans", "cumsum")
    assert kernel("matmul") == ("kernels.expressions", "matmul")
