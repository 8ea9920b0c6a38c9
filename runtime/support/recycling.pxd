"""Recycling: reuse freed objects for new ones of the same type, without an allocation or a count of the cyclic collector.

Each module that cimports this file has its own stores.  Under AddressSanitizer every object is new.
"""

from cpython.object cimport PyTypeObject
from cpython.ref cimport PyObject

cdef extern from "gradspec/support/recycling.h":
    ctypedef void (*destructor)(PyObject*) noexcept
    ctypedef struct Blanks "gradspec_blanks":
        int count
    bint gradspec_keep_blank(Blanks*, PyObject*) noexcept
    object gradspec_take_blank(Blanks*)
    bint gradspec_has_weakrefs(PyObject*) noexcept
    destructor gradspec_base_dealloc
    object gradspec_new(PyTypeObject*, object)
    void gradspec_adopt(PyTypeObject*, PyTypeObject*, destructor)
    void gradspec_recycle(PyTypeObject*)
    size_t gradspec_spare_size() noexcept
    void gradspec_drop_spares() noexcept
