"""The sections of the docstrings in the stubs."""

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
DOCSTRING = """\
Longer.

    Parameters
    ----------
    x : array_like
    width : int or sequence of 2, default 1
    axis : int or None, default None
    twice : bool, default False
        Whether both ends grow.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    y : Tensor

    References
    ----------
    Somebody (1999).
    """


def test_docstring(small):
    op = next(iter(small.analyze(ENTRY).ops.values()))
    assert sections.docstring(OpText(op, {}, {})) == DOCSTRING
    notes = DOCSTRING.replace("    References\n", "    Notes\n    -----\n    two\n    lines\n\n    References\n")
    assert sections.docstring(OpText(op, {}, {}), ["two", "lines"]) == notes


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
