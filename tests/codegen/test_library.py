"""Helpers and kernels are found by reading source, without importing it."""

from __future__ import annotations

import pytest

from codegen.errors import SpecErrors
from codegen.spec.library import helper_texts, read_library, unused_helpers

FORMULAS = """\
import missing


def shape_of(x, axis=None, *, keepdims=False):
    return _private(x)


def wide(shape):
    return shape_of(shape)


def _private(x):
    return x
"""
KERNELS = """\
cdef class Loop:
    def method(self):
        pass

cdef object hidden(object x):
    return x

cpdef inline object scaled(object x, double by=1.0):
    return x

def total(x):
    return x

def _private(x):
    return x
"""


def test_helpers_have_signatures(small):
    small.write("runtime/formulas.py", FORMULAS)
    library = read_library(small.root)
    assert list(library.helpers) == ["shape_of", "wide"]
    arguments = library.helpers["shape_of"].arguments
    assert [(a.name, a.default, a.keyword_only) for a in arguments] == [
        ("x", None, False),
        ("axis", "None", False),
        ("keepdims", "False", True),
    ]


def test_a_helper_of_a_helper_is_used(small):
    small.write("runtime/formulas.py", FORMULAS)
    assert [helper.name for helper in unused_helpers(read_library(small.root), set())] == ["wide"]


def test_kernels_of_cython_and_python(small):
    small.write("runtime/kernels/loops.pyx", KERNELS)
    small.write("runtime/kernels/plain.py", "import missing\n\n\ndef gather(x):\n    return x\n")
    assert read_library(small.root).kernels == {"scaled", "total", "gather"}


def test_what_the_package_and_a_tensor_hold_by_hand(small):
    small.write("runtime/__init__.py", "from .grad_mode import no_grad\nfrom .generated.ops import *\n__all__ = sorted(['load', *ops.__all__])\n")
    small.write("runtime/support/constants.py", "pi = 3.14\n__all__ = ['pi']\n")
    small.write("runtime/engine.pyx", "")
    small.write("runtime/tensor.pyx", "cdef class TensorBase:\n    def detach(self):\n        pass\n\n    cpdef object item(self):\n")
    small.write("runtime/tensor.pxd", "cdef class TensorBase:\n    cdef readonly bint is_leaf\n    cdef object _hidden\n")
    small.write("runtime/array_tensor.pyx", "cdef class ArrayTensor(TensorBase):\n    def numpy(self):\n        pass\n")
    library = read_library(small.root)
    assert {"no_grad", "engine", "tensor", "load", "pi"} <= library.public
    assert library.attributes == {"detach", "item", "is_leaf", "numpy"}


@pytest.mark.parametrize("path", ["runtime/formulas.py", "runtime/kernels/plain.py"])
def test_a_slip_of_the_pen_has_a_place(path, small):
    small.write(path, "def first(shape):\n    return shape[0\n")
    with pytest.raises(SpecErrors) as caught:
        read_library(small.root)
    assert str(caught.value) == f"""\
{path}:2:17: error: not Python: '[' was never closed
    return shape[0
                ^"""


def test_texts_of_helpers_come_with_those_that_they_call(tmp_path):
    (tmp_path / "runtime").mkdir()
    (tmp_path / "runtime/formulas.py").write_text(FORMULAS.replace("def _private", "@cached\ndef _private"))
    file, private = "runtime/formulas.py", "@cached\ndef _private(x):\n    return x"
    shape_of = "def shape_of(x, axis=None, *, keepdims=False):\n    return _private(x)"
    assert list(helper_texts(tmp_path, ["shape_of", "sin"])) == [(file, 4, shape_of), (file, 12, private)]
    assert [line for _, line, _ in helper_texts(tmp_path, ["wide"])] == [8, 4, 12]
    assert list(helper_texts(tmp_path, [])) == []
