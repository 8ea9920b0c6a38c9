"""NumPy's protocols: map calls such as `np.sin(x)` and `np.sum(x, axis=0)` on tensors to operators.

Handles the fast path, when the arguments mean the same for the function and the operator.  All other calls, and the first call of
all, go to `numpy_calls` and `numpy_ufuncs`.
"""

from types import MethodType

from cpython.dict cimport PyDict_GetItem, PyDict_Next, PyDict_Size
from cpython.object cimport PyTypeObject, ternaryfunc
from cpython.ref cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE, PyTuple_GetSlice

from ..support.capi cimport PyTupleObject

cdef extern from "Python.h":
    object PyObject_Call(object, tuple, dict)
    object PyObject_Vectorcall(PyObject*, PyObject**, size_t, PyObject*)

cdef enum:
    MOST = 8                    # arguments of a call without a new tuple

cdef dict universal = None      # universal function -> operator
cdef dict functions = None      # function -> NumpyCall
# Modules that are imported by the first call, not with gradspec.
cdef object numpy_calls = None
cdef object numpy_ufuncs = None


cdef class NumpyCall:
    """A function that shares its first arguments, and some keywords, with an operator."""

    cdef object operator
    cdef Py_ssize_t required, leading
    cdef frozenset keywords
    cdef tuple places       # the operator's positional parameters


cdef int load() except -1:
    global universal, functions, numpy_calls, numpy_ufuncs
    cdef NumpyCall call
    cdef dict found = {}
    from . import numpy_calls as calls, numpy_parameters, numpy_ufuncs as ufuncs

    for function, (operator, required, leading, keywords) in calls.short_calls().items():
        call = NumpyCall.__new__(NumpyCall)
        call.operator, call.required, call.leading, call.keywords = operator, required, leading, keywords
        code = operator.__code__
        call.places = code.co_varnames[: code.co_argcount]
        found[function] = call
    numpy_calls, numpy_ufuncs = calls, ufuncs
    functions = found
    universal = numpy_parameters.universal_operators()  # last: other threads test it
    return 0


cdef object call_universal(PyObject* self, PyObject* arguments, PyObject* keywords):
    """`__array_ufunc__`: the arguments are the tensor, the function, its method and the inputs, in the tuple that NumPy built."""
    cdef tuple given = <tuple> arguments
    cdef Py_ssize_t count = PyTuple_GET_SIZE(given) - 3
    cdef PyObject* operator
    if count < 0:
        raise TypeError("__array_ufunc__ takes a universal function, the name of its method, and the inputs")
    if universal is None:
        load()
    if (keywords == NULL or PyDict_Size(<dict> keywords) == 0) and given[2] == "__call__":
        operator = PyDict_GetItem(universal, given[1])
        if operator != NULL:
            return PyObject_Vectorcall(operator, (<PyTupleObject*> arguments).ob_item + 3, count, NULL)
    named = {} if keywords == NULL else <dict> keywords
    return numpy_ufuncs.call_universal(given[1], given[2], PyTuple_GetSlice(given, 3, count + 3), named)


cdef class UniversalCalls:
    """`__array_ufunc__` as a class attribute for NumPy: the tuple of all arguments is passed on unchanged."""

    def __get__(self, tensor, owner):
        return self if tensor is None else MethodType(self, tensor)


(<PyTypeObject*> UniversalCalls).tp_call = <ternaryfunc> call_universal


cdef object call_function(object function, tuple arguments, dict keywords):
    """`__array_function__`."""
    cdef NumpyCall call
    cdef PyObject* given[MOST]
    cdef PyObject* name_
    cdef PyObject* value
    cdef Py_ssize_t i, place = 0
    if universal is None:
        load()
    call = functions.get(function)
    if call is not None and call.required <= len(arguments) <= call.leading:
        if not keywords:
            return PyObject_Vectorcall(<PyObject*> call.operator, (<PyTupleObject*> arguments).ob_item, len(arguments), NULL)
        if PyDict_Size(keywords) == 1 and len(arguments) < min(MOST, len(call.places)):
            # `axis=0` after the array, the usual form: without a tuple of names.
            PyDict_Next(keywords, &place, &name_, &value)
            if <object> name_ == call.places[len(arguments)] and <object> name_ in call.keywords:
                for i in range(len(arguments)):
                    given[i] = (<PyTupleObject*> arguments).ob_item[i]
                given[len(arguments)] = value
                return PyObject_Vectorcall(<PyObject*> call.operator, given, len(arguments) + 1, NULL)
        for name in keywords:
            if name not in call.keywords:
                break
        else:
            return PyObject_Call(call.operator, arguments, keywords)
    return numpy_calls.call_function(function, arguments, keywords)


cdef object call_method(str name, object tensor, dict keywords, dict beside):
    """Call NumPy's function for a method or function with a parameter of NumPy's that its operator lacks.

    In `beside`, None means that the parameter was not passed; it is dropped, as None may mean something else to NumPy.
    """
    if universal is None:
        load()
    for name_, value in beside.items():
        if value is not None:
            keywords[name_] = value
    return numpy_calls.call_method(name, tensor, keywords)
