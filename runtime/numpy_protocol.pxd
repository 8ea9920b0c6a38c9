"""NumPy's protocols."""

cdef object call_universal(object function, str method, tuple inputs, dict keywords)
cdef object call_method(str name, object tensor, dict keywords)
cdef object call_function(object function, tuple arguments, dict keywords)
