"""What is done to memory without an operator, told to listeners.

Owns the words for it: a copy that the runtime makes of an array, and a write by which a composite operator, or a step of a
backward pass, stores what it has computed.  A listener that follows values finds each of them so.
"""

from .events cimport note_event
from .grad_mode cimport LISTENING, ThreadState, thread_state
from ..support.capi cimport ndarray
from .tensor cimport TensorBase


cdef object tell_of_copy(object source, object result):
    """Tell of a copy of an array, which is returned."""
    cdef ThreadState* state = thread_state()
    if state.flags & LISTENING:
        note_event(state, "made", "copy", (source,), result)
    return result


cdef int tell_of_write(object target, object value) except -1:
    """Tell that an array, or a number, is about to be written into another array."""
    cdef ThreadState* state = thread_state()
    if state.flags & LISTENING:
        note_event(state, "write", "copy_", (target, value), None)
    return 0


def shell(type cls, ndarray array):
    """A tensor of a subclass whose array has the shape and the dtype of values that are elsewhere.

    Parameters
    ----------
    cls : type
        A subclass of Tensor.
    array : numpy.ndarray

    Returns
    -------
    Tensor
    """
    cdef TensorBase tensor = cls.__new__(cls)
    tensor.array = array
    return tensor


def array_of(TensorBase tensor):
    """The array of a tensor, for who listens: that it has a history or tangents is no matter there.

    Parameters
    ----------
    tensor : Tensor

    Returns
    -------
    numpy.ndarray
    """
    return tensor.array
