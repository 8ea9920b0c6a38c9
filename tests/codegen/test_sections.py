"""The lines of the sections of docstrings, as generated/docs has them."""

import pytest

from codegen.spec.model import Type
from codegen.write import sections
from codegen.write.wrapper import OpText

ENTRY = """\
- op: pad(x, int[2] width=1, int? axis=None, *, bool twice=False) -> y
  doc: Longer.
  args:
    twice: Whether both ends grow.
  ref: Somebody (1999).
  variants: [out]
  forward: np.pad(x, width, axis, twice)
  nondifferentiable: true
  samples: one
"""
RECORD = """\
    "pad": docstring('Longer.', 'x : array_like\\n' 'width : int or sequence of 2, default 1\\n'
        'axis : int or None, default None\\n' 'twice : bool, default False\\n' '    Whether both ends grow.\\n' + OUT, 'two\\n'
        'lines', references='Somebody (1999).'),"""


def only(small, entry):
    return OpText(next(iter(small.analyze(entry).ops.values())), {}, {})


def test_record(small):
    op = only(small, ENTRY)
    assert sections.record(op, ["two", "lines"], []) == RECORD
    session = RECORD.replace(", references=", ", examples='>>> 1\\n' '1', references=")
    assert sections.record(op, ["two", "lines"], [">>> 1", "1"]) == session


def test_what_is_not_usual(small):
    """Several results, a summary of two lines, an operator without arguments."""
    summary = " ".join(["word"] * 30)
    entry = "- op: f() -> y, z\n  doc: SUMMARY\n  forward: np.zeros(3), np.ones(3)\n  nondifferentiable: true\n  samples: [f()]\n"
    text = sections.record(only(small, entry.replace("SUMMARY", summary)), ["note"], [])
    assert "LEAF, 'note', returns='y : Tensor\\n' 'z : Tensor')," in text
    assert "\\n'\n        'word word" in text


@pytest.mark.parametrize(
    "type_, words",
    [
        (Type("Array"), "array_like"),
        (Type("Array", is_list=True), "sequence of array_like"),
        (Type("int", is_list=True), "int or sequence of int"),
        (Type("int", is_list=True, length=2), "int or sequence of 2"),
        (Type("Generator"), "numpy.random.Generator or int"),
        (Type("str"), "str"),
    ],
)
def test_words_of_types(type_, words):
    assert sections.words(type_) == words
