"""Support for forwards on arrays: convert the result to an array, and look up forwards of other generated modules by name.

The look-up is done once, when a module is imported.  A `cimport` would do the same, but make each module that calls a forward
depend on the header of the whole family: one more operator would then recompile most of the library.  Families may depend on one
another in cycles, because a module publishes its functions before it looks up the functions of others.
"""

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer

import importlib
import sys

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_CheckExact

cnp.import_array()


cdef object as_array(object result):
    """A forward's result as an ndarray, or as a tuple or list of ndarrays: NumPy returns scalars for 0-d results."""
    if PyArray_CheckExact(result):
        return result
    if isinstance(result, (tuple, list)):
        return type(result)([as_array(item) for item in result]) if type(result) in (tuple, list) else (
            tuple([as_array(item) for item in result]))
    return np.asarray(result)


cdef void* load_forward(str module, str name, int arguments) except NULL:
    """The C function `forward_<name>` of a generated module; it must take `arguments` objects and return one."""
    capsule = (sys.modules.get(module) or importlib.import_module(module)).__pyx_capi__[f"forward_{name}"]
    cdef bytes signature = f"PyObject *({', '.join(['PyObject *'] * arguments)})".encode()
    if PyCapsule_GetName(capsule) != signature:
        raise ImportError(f"{module} has another forward_{name} than the one that was compiled for: build again "
                          f"(expected {signature.decode()}, found {PyCapsule_GetName(capsule).decode()})")
    return PyCapsule_GetPointer(capsule, signature)
