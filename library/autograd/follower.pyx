"""Track which inputs of a custom forward its intermediate saved values were computed from.

A listener follows numbers from the inputs through the operators of the forward, by the memory that holds them.  A value has no
history in a forward, so a derivative through it would be a silent zero.  Numbers that pass through NumPy or Python are not
followed further: all numbers that come back later count as computed from them.
"""

from libc.stdint cimport uintptr_t

from weakref import ref

from numpy import inexact

from ..core.events cimport Event, Listener
from ..core.grad_mode cimport thread_objects
from ..core.tensor cimport TensorBase, is_inexact, is_tensor
from ..engine.intermediate_values import set_follower
from ..generated.series import SERIES
from ..support.capi cimport ndarray

cdef frozenset constants = frozenset([name for name, way in SERIES.items() if way[0] == "constant"])


cdef class Follower(Listener):
    """Which inputs of one forward each value depends on, as the bits of an integer.

    Parameters
    ----------
    tensors : tuple of Tensor
        Inputs of the forward.
    sources : list of int
        The bit of each input; 0 for an input without a derivative.
    """

    cdef dict inputs        # id of an input -> its bit
    cdef dict memory        # address of the owning array -> weak reference to it, bits
    cdef object every
    cdef object left        # bits of the numbers that went to NumPy or Python
    cdef object passed      # bits of the values that an inner pass may have stored in `.grad`
    cdef bint failed        # if set, every value counts as computed from all inputs

    def __init__(self, tuple tensors, list sources):
        self.inputs, self.memory = {}, {}
        self.every = self.left = self.passed = 0
        for tensor, source in zip(tensors, sources):
            self.inputs[id(tensor)] = source
            self.every |= source
            self.put(tensor, source)

    def of(self, value):
        """The bits of one value."""
        return self.every if self.failed else self.bits(value)

    cpdef end(self, Event event):
        self.failed = True  # until this is done: a follower that raised hears no further events
        self.follow(event)
        self.failed = False

    cpdef note(self, Event event):
        self.failed = True
        if event.kind == "left":
            self.left |= self.bits(event.inputs)
        elif event.kind == "made":
            self.put(event.outputs, self.bits(event.inputs))
        elif event.kind == "write":
            self.put(event.inputs[0], self.bits(event.inputs[1]))
        self.failed = False

    cdef int follow(self, Event event) except -1:
        cdef object found
        if event.kind == "operator" and event.name.removesuffix(".out").rstrip("_") in constants:
            found = self.left if any([isinstance(value, float) for value in event.inputs]) else 0  # a number passed to `full`
        elif event.kind == "pass":  # it does not say where it starts; leaves may have got a `.grad`
            found = self.passed = self.every
        else:
            found = self.bits(event.inputs)
        return self.put(event.outputs, found)

    cdef object bits(self, object value):
        """The bits of a value, or of all values in a pytree."""
        cdef object found = 0
        cdef ndarray owner
        if is_tensor(value) and (found := self.inputs.get(id(value))) is not None:
            return found
        if is_tensor(value) or isinstance(value, ndarray):
            owner = self.owner_of(value)
            if owner is None:
                return 0
            kept = self.memory.get(<uintptr_t> <void*> owner)
            if kept is not None and kept[0]() is owner:
                return kept[1]
            return self.passed if is_tensor(value) else self.left
        if isinstance(value, (tuple, list)):
            found = 0
            for item in value:
                found |= self.bits(item)
            return found
        if isinstance(value, dict):
            return self.bits(list(value.values()))
        return self.left if isinstance(value, (float, complex, inexact)) else 0

    cdef int put(self, object value, object source) except -1:
        """Add bits to a value, or to all values in a pytree."""
        cdef ndarray owner
        if not source or value is None:
            return 0
        if is_tensor(value) or isinstance(value, ndarray):
            owner = self.owner_of(value)
            if owner is not None:
                kept = self.memory.get(<uintptr_t> <void*> owner)
                if kept is not None and kept[0]() is owner:
                    source |= kept[1]
                self.memory[<uintptr_t> <void*> owner] = ref(owner), source
        elif isinstance(value, (tuple, list)):
            for item in value:
                self.put(item, source)
        elif isinstance(value, dict):
            self.put(list(value.values()), source)
        return 0

    cdef ndarray owner_of(self, object value):
        """The array that owns the value's memory, for a row the whole batch; None for dtypes without derivatives."""
        cdef ndarray array
        cdef object mapping = thread_objects().mapping
        if is_tensor(value):
            array = (<TensorBase> (value if mapping is None else mapping.insides((value,))[0])).array
        else:
            array = value
        if not is_inexact(array):
            return None
        while array.base != NULL and isinstance(<object> array.base, ndarray):
            array = <ndarray> array.base
        return array


set_follower(Follower)
