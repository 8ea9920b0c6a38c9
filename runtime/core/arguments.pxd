"""Arguments: convert users' non-array arguments to the forms that operators and kernels take."""

from cpython.long cimport PyLong_AsLongLongAndOverflow

cdef object slow_int(object value, str op, str argument)
cdef object slow_float(object value, str op, str argument)
cdef object slow_bool(object value, str op, str argument)
cdef object slow_scalar(object value, str op, str argument)
cdef object as_axes(object value, object x, str op)
cdef object as_ints(object value, str op, str argument, Py_ssize_t count)
cdef object as_str(object value, str op, str argument)
cdef object as_dtype(object dtype, str op, str argument)
cdef object as_generator(object generator, str op, str argument)

cdef inline object as_int(object value, str op, str argument):
    """An integer of at most 64 bits: this bounds formulas that recurse in steps of one."""
    cdef int overflow = 1
    if type(value) is int:
        PyLong_AsLongLongAndOverflow(value, &overflow)
    return value if overflow == 0 else slow_int(value, op, argument)

cdef inline object as_float(object value, str op, str argument):
    return value if type(value) is float else slow_float(value, op, argument)

cdef inline object as_bool(object value, str op, str argument):
    return value if type(value) is bool else slow_bool(value, op, argument)

cdef inline object as_scalar(object value, str op, str argument):
    """A number, also NumPy's; a tensor whose gradient or tangent would be lost is refused."""
    return value if type(value) is float or type(value) is int else slow_scalar(value, op, argument)
