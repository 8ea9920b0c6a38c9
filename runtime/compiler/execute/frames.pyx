# cython: boundscheck=False, wraparound=False
"""Frames: the memory of one running call.

Holds an address for each slot, and a tensor if a step needs one.  Planned slots are in the frame's own memory: their addresses
and tensors stay the same at each call.  Offered slots are in that memory or in an array of their own.
"""

from libc.stdlib cimport calloc, free

import numpy as np

from ...core.tensor cimport wrap
from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BASE, PyArray_BYTES, PyArray_DIMS, PyArray_NDIM, PyArray_STRIDES, PyArray_TYPE
from .executable cimport CONSTANT, VIEW, OFFERED, PLANNED

cnp.import_array()


cdef class Frame:
    """The memory of one running call."""

    def __dealloc__(self):
        free(self.base)


cdef Frame new_frame(Executable executable):
    """A new frame, with its planned memory and constants filled in."""
    cdef Frame frame = Frame.__new__(Frame)
    cdef Slot* slot
    cdef char* start
    cdef object block, array
    cdef int i
    frame.base = <char**> calloc(executable.slot_count + 1, sizeof(char*))
    if frame.base == NULL:
        raise MemoryError
    frame.tensors, frame.homes = [None] * executable.slot_count, {}
    frame.memory = np.zeros(executable.memory + executable.saving + 128, np.uint8)
    start = PyArray_BYTES(<ndarray> frame.memory)
    start += -<Py_ssize_t> <size_t> start & 63
    frame.saved = start + ((executable.memory + 63) & ~63)
    block = memoryview(frame.memory)  # not an ndarray, so that each slot is its own base
    for i in range(executable.slot_count):
        slot = &executable.slots[i]
        if slot.place == PLANNED or slot.place == OFFERED:
            frame.base[i] = start + slot.offset
            if not slot.object and slot.place == PLANNED and not <list> executable.views[i]:
                continue
            array = view_of(executable, frame, i, block)
            if slot.object or slot.place == OFFERED:
                frame.tensors[i] = wrap(array)
            if slot.place == OFFERED:
                frame.homes[i] = frame.tensors[i]
            view_from(executable, frame, i, array)
        elif slot.place == CONSTANT:
            put(executable, frame, i, <ndarray> executable.data[i], None)
    return frame


cdef ndarray view_of(Executable executable, Frame frame, int place, object owner):
    """An array over the memory of a slot."""
    cdef Slot* slot = &executable.slots[place]
    return gradspec_look(executable.dtypes[place], slot.ndim, slot.dims, slot.dims + slot.ndim, frame.base[place], owner)


cdef int view_from(Executable executable, Frame frame, int root, object owner) except -1:
    """Set the addresses and tensors of the views of a slot."""
    cdef Slot* slot
    cdef int i
    for i in <list> executable.views[root]:
        slot = &executable.slots[i]
        frame.base[i] = frame.base[root] + slot.offset
        if slot.object:
            frame.tensors[i] = wrap(view_of(executable, frame, i, owner))
    return 0


cdef int put(Executable executable, Frame frame, int place, ndarray array, TensorBase tensor) except -1:
    """Fill a slot."""
    frame.base[place] = PyArray_BYTES(array)
    frame.tensors[place] = wrap(array) if tensor is None else tensor
    if <list> executable.views[place]:
        view_from(executable, frame, place, array)
    return 0


cdef int drop(Executable executable, Frame frame, int place) except -1:
    """Release the array of a slot."""
    cdef int i
    if executable.slots[place].place == OFFERED:
        return return_offered(executable, frame, place)
    frame.tensors[place] = None
    for i in <list> executable.views[place]:
        frame.tensors[i] = None
    return 0


cdef int return_offered(Executable executable, Frame frame, int place) except -1:
    """Return an offered slot to the frame's memory."""
    cdef TensorBase home = frame.homes[place]
    if <TensorBase> frame.tensors[place] is not home:
        put(executable, frame, place, home.array, home)
    return 0


cdef TensorBase taken(Executable executable, Frame frame, int place):
    """A result of the call, as a new tensor."""
    cdef TensorBase tensor = frame.tensors[place]
    cdef int root = place
    while executable.slots[root].place == VIEW:
        root = executable.slots[root].root
    if tensor is None:
        tensor = wrap(view_of(executable, frame, place, (<TensorBase> frame.tensors[root]).array))
    if executable.slots[root].place == CONSTANT:
        return wrap((<object> tensor.array).copy(order="K"))
    return wrap(tensor.array)


cdef bint is_as_planned(Slot* slot, ndarray array) noexcept:
    """Whether an operator's result has the planned dtype, shape and layout."""
    cdef int i
    if PyArray_TYPE(array) != slot.type_num or PyArray_NDIM(array) != slot.ndim:
        return False
    for i in range(slot.ndim):
        if PyArray_DIMS(array)[i] != slot.dims[i]:
            return False
        if PyArray_STRIDES(array)[i] != slot.dims[slot.ndim + i] and slot.dims[i] > 1 and slot.size > 0:
            return False
    return True


cdef ndarray laid_out(Slot* slot, ndarray array):
    """A copy of an operator's own result with the planned layout; None if more than the layout differs."""
    cdef int i
    cdef ndarray found
    if PyArray_BASE(array) != NULL or PyArray_NDIM(array) != slot.ndim:
        return None
    strides = np.array([slot.dims[slot.ndim + i] for i in range(slot.ndim)])
    order = np.argsort(-strides, kind="stable")
    shape = [PyArray_DIMS(array)[i] for i in order]
    found = np.empty(shape, (<object> array).dtype).transpose(np.argsort(order))
    if not is_as_planned(slot, found):
        return None
    found[...] = array
    return found
