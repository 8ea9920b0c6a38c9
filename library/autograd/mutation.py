"""In-place writes to saved values: allowed within a context that copies a saved value before it is overwritten.

Holds which saved values are still unchanged in memory, and which are copies.  Does not depend on the graph.
"""

import weakref
from _thread import _local

import numpy as np

from ..core.conversion import asarray
from ..saved.copy_on_write import watch_writes
from ..saved.saved_tensors_hooks import saved_tensors_hooks

OUTSIDE = (
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally recorded."
)

_watching = []  # SavedValues that may be overwritten, in all threads
_thread = _local()


class _Handle:
    """Represents one saved value in all nodes that save it; it is freed with the last such node."""

    __slots__ = ("__weakref__",)


class SavedValues:
    """Saved values that survive writes to their memory: `pack` and `unpack` for saved-tensor hooks.

    Attributes
    ----------
    cloned : mapping
        Handles of values that were overwritten, and their copies.
    original : mapping
        Handles of values that are unchanged since they were saved, and their tensors.
    tid_to_weakhandle : mapping
        Memory location of each unchanged saved value, and its handle.
    """

    def __init__(self):
        self.cloned, self.original = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()
        self.tid_to_weakhandle = weakref.WeakValueDictionary()
        self.places = {}  # id of the owner of memory -> its saved values, as keys of `tid_to_weakhandle`

    def clear(self):
        for values in (self.cloned, self.original, self.tid_to_weakhandle, self.places):
            values.clear()

    def pack(self, tensor):
        array = tensor.numpy()
        place = (id(_owner_of(array)), array.ctypes.data, array.shape, array.strides, array.dtype.str)
        handle = self.tid_to_weakhandle.get(place)
        if handle is None:
            handle = _Handle()
            self.tid_to_weakhandle[place] = handle
            self.original[handle] = tensor.detach() if tensor.requires_grad else tensor  # itself, as a graph keeps it
            self.places.setdefault(place[0], set()).add(place)
            weakref.finalize(handle, self.forget, place).atexit = False
        return handle

    def forget(self, place):
        """Remove a memory location that no node needs any more, unless a newer value is saved there."""
        if place not in self.tid_to_weakhandle:
            there = self.places.get(place[0])
            if there is not None:
                there.discard(place)
                if not there:
                    del self.places[place[0]]

    def unpack(self, handle):
        found = self.cloned.get(handle)
        if found is None:
            found = self.original.get(handle)
        if found is None:
            raise AssertionError(OUTSIDE)
        return found

    def about_to_write(self, tensor):
        """Copy the saved values in a tensor's memory, once."""
        for place in self.places.pop(id(_owner_of(_array_of(tensor))), ()):
            handle = self.tid_to_weakhandle.pop(place, None)
            if handle is not None:
                self.cloned[handle] = asarray(_array_of(self.original.pop(handle)).copy(order="K"))


def _array_of(tensor):
    return tensor.data.numpy()


def _owner_of(array):
    """The object that owns an array's memory: the last one in NumPy's chain of bases."""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return array


def _about_to_write(tensor):
    for values in tuple(_watching):
        values.about_to_write(tensor)


class watching:
    """Preserve some SavedValues inside the block.

    Parameters
    ----------
    values : SavedValues
    """

    def __init__(self, values):
        self.values = values

    def __enter__(self):
        _watching.append(self.values)
        watch_writes(_about_to_write)

    def __exit__(self, *exc_info):
        _watching.remove(self.values)
        if not _watching:
            watch_writes(None)


class allow_mutation_on_saved_tensors:
    """Allow in-place writes to saved values: a saved value is copied before it is overwritten.

    Graphs that are recorded inside the block must be used inside.  Yields an object whose `cloned` holds the copies.

    Examples
    --------
    >>> x = gs.ones((3,), requires_grad=True)
    >>> with gs.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x * 2
    ...     z = (y * y).sum()
    ...     with gs.no_grad():
    ...         _ = y.zero_()
    ...     z.backward()
    """

    def __enter__(self) -> "SavedValues":
        if getattr(_thread, "inside", False):
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        _thread.inside = True
        self._values = values = SavedValues()
        self._hooks, self._watching = saved_tensors_hooks(values.pack, values.unpack), watching(values)
        self._hooks.__enter__()
        self._watching.__enter__()
        return values

    def __exit__(self, *exc_info: object) -> None:
        _thread.inside = False
        self._watching.__exit__(*exc_info)
        self._hooks.__exit__(*exc_info)
        self._values.clear()
