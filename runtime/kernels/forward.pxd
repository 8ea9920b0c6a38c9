"""Forwards on arrays that a module finds by name when it is imported."""

ctypedef object (*Forward1)(object)
ctypedef object (*Forward2)(object, object)
ctypedef object (*Forward3)(object, object, object)
ctypedef object (*Forward4)(object, object, object, object)
ctypedef object (*Forward5)(object, object, object, object, object)
ctypedef object (*Forward6)(object, object, object, object, object, object)
ctypedef object (*Forward7)(object, object, object, object, object, object, object)
ctypedef object (*Forward8)(object, object, object, object, object, object, object, object)

cdef void* load_forward(str module, str name, int arguments) except NULL
