"""First-call check: a recording whose operators differ from its file is refused before it is lowered to an executable."""

import copy

import numpy as np
import pytest

import gradspec as gs
from tests.runtime.fuzzed_files import numbers

from .test_structure_checks import opened, packed, saved

# One program for each way in which a tape runs an operator: it believes the sizes that the recording has.
FUNCTIONS = {
    "loop": lambda x: x * 2 + 1, "rows": lambda x: x + x[:1] * 2, "sum": lambda x: (x * x).sum(axis=1), "mean": lambda x: x.mean(),
    "kernel": lambda x: (x @ x.T) @ (x @ x.T), "move": lambda x: gs.concat([x, x[::-1]], 1) * 1, "forward": lambda x: gs.softmax(x, 1),
    "several": lambda x: gs.linalg.slogdet(x @ x.T)[1], "view": lambda x: x.T[1:] * 1, "write": lambda x: (x * 1).add_(1), "cast": lambda x: x.astype("float32") * 1,
}  # fmt: skip


def layouts(document):
    """Changes of one value's size, stride, dtype or place."""
    for number, value in enumerate(document["values"]):
        for axis in range(len(value[1])):
            for size in (1, value[1][axis] + 1, 10 * value[1][axis]):
                if size != value[1][axis]:
                    yield number, 1, axis, size
            for stride in (0, 2 * value[3][axis], -value[3][axis]):
                if stride != value[3][axis] and value[1][axis] > 1:
                    yield number, 3, axis, stride
        for dtype in ("float32", "int64", "complex128"):
            if dtype != value[2]:
                yield number, 2, None, dtype
        yield number, 5, None, value[5] + 8


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_every_layout_is_proved(kind, tmp_path):
    """Whatever one value of a program is said to be: it is refused, or its numbers are those of the program as it was saved."""
    path, x = tmp_path / "f.gsp", numbers(4, 6)
    saved(path, FUNCTIONS[kind], x)
    document, members = opened(path)
    right = gs.load_program(path)(x).numpy()
    refused = 0
    changes = list(layouts(document))
    for number, field, axis, content in changes:
        changed = copy.deepcopy(document)
        if axis is None:
            changed["values"][number][field] = content
        else:
            changed["values"][number][field][axis] = content
        try:
            found = gs.load_program(packed(path, changed, members))(x)
        except (ValueError, RuntimeError) as error:
            assert "load_program" in str(error) or "which a program of a file calls" in str(error.__notes__), error
            refused += 1
        else:
            assert np.array_equal(found, right), (number, field, axis, content)
    assert refused > len(changes) / 2


def test_the_first_call_changes_what_a_call_changes_and_draws_as_it_does(tmp_path):
    w = gs.asarray(numbers(3))

    def function(x):
        w.add_(x)
        return w + gs.random.standard_normal(3)

    path = tmp_path / "f.gsp"
    compiled = gs.compile(function)
    compiled(np.ones(3)), compiled(np.ones(3))
    compiled.save(path)
    for _ in range(2):
        loaded = gs.load_program(path)
        (mine,) = loaded.weights.values()
        before = mine.numpy().copy()
        gs.manual_seed(3)
        first, second = loaded(np.ones(3)), loaded(np.ones(3))
        gs.manual_seed(3)
        wanted = [before + n + gs.random.standard_normal(3).numpy() for n in (1, 2)]
        assert np.allclose(first, wanted[0], rtol=1e-15) and np.allclose(second, wanted[1], rtol=1e-15)


def test_what_an_operator_says_of_numbers_is_its_own(tmp_path):
    path = tmp_path / "f.gsp"
    saved(path, lambda x: gs.linalg.inv(x), np.eye(2))
    with pytest.raises(np.linalg.LinAlgError) as caught:
        gs.load_program(path)(np.zeros((2, 2)))
    assert "which a program of a file calls" in str(caught.value.__notes__)


def test_a_program_that_has_not_run_yet_is_listed(tmp_path):
    path = tmp_path / "f.gsp"
    saved(path, lambda x: gs.exp(x), np.ones(2))
    loaded = gs.load_program(path)
    assert str(loaded).split() == [*"program that has not run yet:".split(), "exp"]
    loaded(np.ones(2))
    assert "return" in str(loaded)
