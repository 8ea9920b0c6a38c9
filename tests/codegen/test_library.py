"""Helpers and kernels are found by reading source, without importing it."""

from __future__ import annotations

from codegen.spec.library import read_library, unused_helpers

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
