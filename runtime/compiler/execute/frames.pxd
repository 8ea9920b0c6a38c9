"""Frames: the memory of one call that runs from a tape."""

from ...core.tensor cimport TensorBase
from ...support.capi cimport ndarray, npy_intp
from .executable cimport Slot, Tape

cdef extern from "gradspec/compiler/execute/frames.h":
    object gradspec_look(object, int, npy_intp*, npy_intp*, void*, object)

cdef class Frame:
    cdef char** base
    cdef char* saved        # what steps that run together put back
    cdef list tensors
    cdef dict homes         # of slots that are offered: the tensors around the frame's own memory
    cdef object memory

cdef Frame new_frame(Tape tape)
cdef int put(Tape tape, Frame frame, int place, ndarray array, TensorBase tensor) except -1
cdef int drop(Tape tape, Frame frame, int place) except -1
cdef int go_home(Tape tape, Frame frame, int place) except -1
cdef TensorBase taken(Tape tape, Frame frame, int place)
cdef bint is_as_planned(Slot* slot, ndarray array) noexcept
cdef ndarray laid_out(Slot* slot, ndarray array)
