"""Events without an operator: report copies, writes, hooks and callbacks to listeners.

Reports the runtime's own copies of arrays, hooks, and functions that the program calls back.  Also reports the writes that
store a result of a composite operator or of a step of a backward pass.  So a listener can follow every value.
"""

from .events cimport Event, begin_event, end_event, note_event
from .grad_mode cimport LISTENING, ThreadState, thread_state
from .node cimport Node
from ..support.capi cimport ndarray
from .tensor cimport TensorBase


cdef object tell_of_copy(object source, object result):
    """Report a copy of an array; returns the copy."""
    cdef ThreadState* state = thread_state()
    if state.flags & LISTENING:
        note_event(state, "made", "copy", (source,), result)
    return result


cdef int tell_of_write(object target, object value) except -1:
    """Report that an array, or a number, is about to be written into another array."""
    cdef ThreadState* state = thread_state()
    if state.flags & LISTENING:
        note_event(state, "write", "copy_", (target, value), None)
    return 0


cdef object call_hook(Node node, object hook, tuple arguments):
    """Call a hook of a node, reported to listeners, and return its result."""
    cdef ThreadState* state = thread_state()
    cdef Event event
    if not state.flags & LISTENING:
        return hook(*arguments)
    event = begin_event(state, "range" if getattr(hook, "pure", False) else "hook",
                        getattr(hook, "__qualname__", type(hook).__name__), arguments, node)
    try:
        result = hook(*arguments)
    except BaseException as error:
        end_event(state, event, None, error)
        raise
    end_event(state, event, result, None)
    return result


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


def set_array(TensorBase tensor, ndarray array):
    """Give a tensor of `shell` an array for values of a different shape.

    Parameters
    ----------
    tensor : Tensor
    array : numpy.ndarray
    """
    tensor.array = array


def array_of(TensorBase tensor):
    """The array of a tensor, for listeners: regardless of its history or tangents.

    Parameters
    ----------
    tensor : Tensor

    Returns
    -------
    numpy.ndarray
    """
    return tensor.array


def tell_of_callback(str name, callback, tuple args, dict keywords):
    """Call a function that the program calls back, between the two halves of its event.

    Parameters
    ----------
    name : str
    callback : callable
        Takes the arguments as a tuple and a dictionary.
    args, keywords

    Returns
    -------
    object
        The result.
    """
    cdef ThreadState* state = thread_state()
    cdef Event event
    if not state.flags & LISTENING:
        return callback(args, keywords)
    event = begin_event(state, "callback", name, (callback, args, keywords), None)
    try:
        outputs = callback(args, keywords)
    except BaseException as error:
        end_event(state, event, None, error)
        raise
    end_event(state, event, outputs, None)
    return outputs
