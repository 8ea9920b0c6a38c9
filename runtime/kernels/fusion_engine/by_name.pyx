"""Forwards on arrays: what each ends with, and how generated modules call one another's by name.

Owns `as_array`, and the look-up, done once, when a module is imported.  A `cimport` would do the same, and make each
module that calls a forward depend on the header of its whole family: one more operator would compile most of the library
again.  Families may call each other in circles, because a module offers its functions before it looks for those of others.
"""

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer

import importlib
import sys

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_CheckExact

cnp.import_array()


cdef object as_array(object result):
    """A forward's result as an ndarray, or tuple or list of them: NumPy hands out scalars for 0-d results."""
    if PyArray_CheckExact(result):
        return result
    if isinstance(result, (tuple, list)):
        return type(result)([as_array(item) for item in result]) if type(result) in (tuple, list) else (
            tuple([as_array(item) for item in result]))
    return np.asarray(result)


cdef void* load_forward(str module, str name, int arguments) except NULL:
    """The C function `forward_<name>` of a generated module, which must take that many objects and return one."""
    capsule = (sys.modules.get(module) or importlib.import_module(module)).__pyx_capi__[f"forward_{name}"]
    cdef bytes signature = f"PyObject *({', '.join(['PyObject *'] * arguments)})".encode()
    if PyCapsule_GetName(capsule) != signature:
        raise ImportError(f"{module} has another forward_{name} than the one that was compiled for: build again "
                          f"(expected {signature.decode()}, found {PyCapsule_GetName(capsule).decode()})")
    return PyCapsule_GetPointer(capsule, signature)
