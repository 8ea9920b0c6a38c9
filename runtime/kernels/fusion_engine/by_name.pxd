"""Support for forwards on arrays: convert the result to an array, and call other forwards by name.

Does not use NumPy's types, so that a module of forwards without them compiles without NumPy's headers.
"""

ctypedef object (*Forward1)(object)
ctypedef object (*Forward2)(object, object)
ctypedef object (*Forward3)(object, object, object)
ctypedef object (*Forward4)(object, object, object, object)
ctypedef object (*Forward5)(object, object, object, object, object)
ctypedef object (*Forward6)(object, object, object, object, object, object)
ctypedef object (*Forward7)(object, object, object, object, object, object, object)
ctypedef object (*Forward8)(object, object, object, object, object, object, object, object)

cdef object as_array(object result)
cdef void* load_forward(str module, str name, int arguments) except NULL
