"""Result views: take the results of a call that are views again from their base tensors."""

from ...core.tensor cimport TensorBase
from ...saved.view cimport ViewStep

cdef class ResultView:
    cdef ViewStep last          # the last step; earlier ones follow through `previous`
    cdef readonly bint quiet    # the view is taken with grad disabled

    cdef object take(self, object source)

cdef TensorBase around(object owner, TensorBase item, int version)
