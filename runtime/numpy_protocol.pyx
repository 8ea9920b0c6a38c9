"""NumPy's protocols: `np.sin(x)` and `np.sum(x, axis=0)` of a tensor are calls of its operators.

Owns the short way, on which all arguments mean the same to both; whatever else there is, and the first call of all, is up to
`numpy_calls` and `numpy_universal`.  Knows no function by name.
"""

cdef dict universal = None      # universal function -> operator
cdef dict functions = None      # function -> NumpyCall
# Modules that no import of gradspec waits for.
cdef object numpy_calls = None
cdef object numpy_universal = None


cdef class NumpyCall:
    """A function whose first arguments, and some keywords, are those of an operator."""

    cdef object operator
    cdef Py_ssize_t required, leading
    cdef frozenset keywords


cdef int load() except -1:
    global universal, functions, numpy_calls, numpy_universal
    cdef NumpyCall call
    cdef dict found = {}
    from . import numpy_calls as calls, numpy_parameters, numpy_universal as methods

    for function, (operator, required, leading, keywords) in calls.short_calls().items():
        call = NumpyCall.__new__(NumpyCall)
        call.operator, call.required, call.leading, call.keywords = operator, required, leading, keywords
        found[function] = call
    numpy_calls, numpy_universal = calls, methods
    functions = found
    universal = numpy_parameters.universal_operators()  # last: what other threads look at
    return 0


cdef object call_universal(object function, str method, tuple inputs, dict keywords):
    """What `__array_ufunc__` answers."""
    if universal is None:
        load()
    if not keywords and method == "__call__":
        operator = universal.get(function)
        if operator is not None:
            return operator(*inputs)
    return numpy_universal.call_universal(function, method, inputs, keywords)


cdef object call_function(object function, tuple arguments, dict keywords):
    """What `__array_function__` answers."""
    cdef NumpyCall call
    if universal is None:
        load()
    call = functions.get(function)
    if call is not None and call.required <= len(arguments) <= call.leading:
        if not keywords:
            return call.operator(*arguments)
        for name in keywords:
            if name not in call.keywords:
                break
        else:
            return call.operator(*arguments, **keywords)
    return numpy_calls.call_function(function, arguments, keywords)


cdef object call_method(str name, object tensor, dict keywords):
    """A method with a parameter of NumPy's that its operator lacks: the function of that name."""
    if universal is None:
        load()
    return numpy_calls.call_method(name, tensor, keywords)
