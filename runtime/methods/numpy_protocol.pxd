"""NumPy's protocols."""

cdef class UniversalCalls:
    pass

cdef object call_method(str name, object tensor, dict keywords, dict beside)
cdef object call_function(object function, tuple arguments, dict keywords)
