"""Views: track shared memory, and update a view's history after writes to its base."""

from libc.stdint cimport uint32_t

from ..support.capi cimport ndarray
from ..core.grad_mode cimport ThreadState
from ..core.tensor cimport TensorBase

cdef class ViewStep:
    cdef void* operator     # the wrapper that took the view: `operator(source, *statics)`
    cdef tuple statics
    cdef int index          # position in a list of views; -1 for a single view
    cdef ViewStep previous  # the step that computed the source; None if the source is the base

cdef int attach_view(TensorBase view, object operand, void* operator, tuple statics) except -1
cdef int attach_views(list views, object operand, void* operator, tuple statics) except -1
cdef int attach_alias(TensorBase view, object operand) except -1
cdef int attach_dual(TensorBase view, TensorBase operand) except -1

cdef object assigned(TensorBase target, object value)
cdef object replayed(ViewStep last, ViewStep stop, object base)
cdef ndarray array_view(ViewStep last, ViewStep stop, ndarray base)
cdef TensorBase base_of(TensorBase tensor)
cdef TensorBase dual_base_of(TensorBase view)
cdef ViewStep steps_of(TensorBase tensor)
cdef uint32_t history_writes(TensorBase view) noexcept
cdef int note_writes(TensorBase view) except -1
cdef int watch(TensorBase view) except -1
cdef bint is_watched(TensorBase view) noexcept

cdef int check_inplace(ThreadState* state, TensorBase target, bint recording, str op) except -1
cdef int refuse(TensorBase view, str op, str written) except -1
cdef int adopt(TensorBase target, TensorBase value) except -1
