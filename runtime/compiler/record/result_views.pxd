"""Looks: results of a call that are views, taken again of the tensors that they are views of."""

from ...core.tensor cimport TensorBase
from ...saved.view cimport ViewStep

cdef class ResultView:
    cdef ViewStep last          # the steps, from the tensor on
    cdef readonly bint quiet    # nothing of them is recorded

    cdef object take(self, object source)

cdef TensorBase around(object owner, TensorBase item, int version)
