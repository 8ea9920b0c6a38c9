"""Pairs: one loop that computes two inner loops over one operand."""

from .ufunc cimport PyUFuncGenericFunction, Ufunc

cdef int offer_pair(Ufunc first, Ufunc second, int slot, PyUFuncGenericFunction both) except -1
cdef PyUFuncGenericFunction pair_of(str first, str second, int slot) noexcept
