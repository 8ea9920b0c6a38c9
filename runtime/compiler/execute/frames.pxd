"""Frames: hold the memory of one call of an executable."""

from ...core.tensor cimport TensorBase
from ...support.capi cimport ndarray, npy_intp
from .executable cimport Slot, Executable

cdef extern from "gradspec/compiler/execute/frames.h":
    object gradspec_look(object, int, npy_intp*, npy_intp*, void*, object)

cdef class Frame:
    cdef char** base
    cdef char* saved        # memory that steps that run together restore
    cdef list tensors
    cdef dict homes         # offered slot -> the tensor over the frame's own memory
    cdef object memory

cdef Frame new_frame(Executable executable)
cdef int put(Executable executable, Frame frame, int place, ndarray array, TensorBase tensor) except -1
cdef int drop(Executable executable, Frame frame, int place) except -1
cdef int return_offered(Executable executable, Frame frame, int place) except -1
cdef TensorBase taken(Executable executable, Frame frame, int place)
cdef bint is_as_planned(Slot* slot, ndarray array) noexcept
cdef ndarray laid_out(Slot* slot, ndarray array)
