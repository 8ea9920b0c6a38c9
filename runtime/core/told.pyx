"""What is done without an operator, told to listeners.

Owns the words for it: a copy that the runtime makes of an array, a write by which a composite operator, or a step of a backward
pass, stores what it has computed, a hook, and a function that the program calls back.  A listener that follows values finds
each of them so.
"""

from cpython.object cimport Py_TYPE, PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF

from .events cimport Event, begin_event, end_event, note_event
from .grad_mode cimport LISTENING, ThreadState, thread_state
from .node cimport Node
from ..support.capi cimport NPY_ARRAY_OWNDATA, PyArray_BASE, PyArray_FLAGS, ndarray
from .tensor cimport INFERENCE_TENSOR, REQUIRES_GRAD, RETAINS_GRAD, SAVED, VIEW, TensorBase, tensor_type

cdef extern from *:
    void Py_SET_TYPE(object, PyTypeObject*)
    Py_ssize_t references "Py_REFCNT" (PyObject*)  # of what is borrowed


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


cdef object call_hook(Node node, object hook, tuple arguments):
    """What a hook of a node returns."""
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
    """Give a tensor of `shell` the array of values of another shape.

    Parameters
    ----------
    tensor : Tensor
    array : numpy.ndarray
    """
    tensor.array = array


def base_of(TensorBase tensor):
    """The tensor that a view was taken from, also by an operator in place; the tensor itself where it is no view.

    Parameters
    ----------
    tensor : Tensor

    Returns
    -------
    Tensor
    """
    return tensor.extra.base if tensor.flags & VIEW else tensor


def may_turn(list tensors):
    """Whether tensors are all that knows of their memory, and no pass gives one of them a gradient.

    Parameters
    ----------
    tensors : list of Tensor
        A tensor and its views.

    Returns
    -------
    bool
        False where an array, a node, another tensor or a buffer looks at the same memory.
    """
    cdef TensorBase tensor
    cdef dict held = {}  # address of an array -> how many of the tensors, and of their arrays, hold it
    cdef list arrays = []
    cdef size_t address
    cdef PyObject* base
    cdef PyObject* array
    for tensor in tensors:
        if tensor.flags & (RETAINS_GRAD | INFERENCE_TENSOR) or tensor.grad_ is not None:
            return False
        if tensor.extra is not None and tensor.extra.leaf_hooks is not None or tensor.accumulator != NULL:
            return False
        if tensor.flags & REQUIRES_GRAD and tensor.grad_fn_ is None:
            return False
        address = <size_t> <PyObject*> tensor.array
        held[address] = held.get(address, 0) + 1
        if held[address] == 1:
            arrays.append(address)
    for address in arrays:  # grows
        array = <PyObject*> address
        base = PyArray_BASE(<ndarray> array)
        if base == NULL:
            if not PyArray_FLAGS(<ndarray> array) & NPY_ARRAY_OWNDATA:
                return False
            continue
        if not isinstance(<object> base, ndarray):
            return False
        held[<size_t> base] = held.get(<size_t> base, 0) + 1
        if held[<size_t> base] == 1:
            arrays.append(<size_t> base)
    for address in arrays:
        if references(<PyObject*> address) != held[address]:
            return False
    return True


def turn(TensorBase tensor, type cls, ndarray array, dict attributes):
    """Make a tensor one of a subclass without fields of its own: all who hold it meet that from now on.

    Parameters
    ----------
    tensor : Tensor
        Of no subclass.  A node that has saved it refuses it afterwards, as after any write.
    cls : type
    array : numpy.ndarray
        As that of `shell`.
    attributes : dict
        What the tensor has from now on, beside what the user has set.

    Raises
    ------
    TypeError
        The class has fields, or the tensor is of a subclass.
    """
    if Py_TYPE(tensor) != tensor_type or cls.__basicsize__ != type(tensor).__basicsize__:
        raise TypeError(f"turn: a {type(tensor).__name__} cannot become a {cls.__name__}")
    tensor.bump()
    if tensor.extra is not None:
        tensor.extra = tensor.extra.copy()
        tensor.extra.base = tensor.extra.steps = tensor.extra.dual_base = tensor.extra.before = tensor.extra.tangents = None
        tensor.extra.is_taken = False
    tensor.ensure_extra()
    tensor.extra.attributes = {**(tensor.extra.attributes or {}), **attributes}
    tensor.array, tensor.grad_fn_, tensor.output_nr_ = array, None, 0
    tensor.flags &= SAVED
    Py_INCREF(cls)
    Py_SET_TYPE(tensor, <PyTypeObject*> cls)
    tensor.track()


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
        What it gives.
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
