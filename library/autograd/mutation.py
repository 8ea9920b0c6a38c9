"""In-place writes to what backward needs: allowed within a context, which copies a saved value before it is written over.

Owns which saved values are still in memory as they were, and which are copies.  Knows nothing of the graph.
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

_watching = []  # those whose values may be written over, in all threads
_thread = _local()


class _Handle:
    """Stands for one saved value in all nodes that save it, and dies with the last of them."""

    __slots__ = ("__weakref__",)


class SavedValues:
    """Saved values that stay what they are while their memory is written over: `pack` and `unpack` of saved-tensor hooks.

    Attributes
    ----------
    cloned : mapping
        Handles of values that were written over, and their copies.
    original : mapping
        Handles of values that still are as they were saved, and the tensors.
    tid_to_weakhandle : mapping
        Where a value that still is as it was saved stands in memory, and its handle.
    """

    def __init__(self):
        self.cloned, self.original = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()
        self.tid_to_weakhandle = weakref.WeakValueDictionary()
        self.places = {}  # id of the owner of memory -> what is saved of it, as keys of `tid_to_weakhandle`

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
        """No node needs what was saved at a place; something newer may be there."""
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
        """Copy what is saved of a tensor's memory, once."""
        for place in self.places.pop(id(_owner_of(_array_of(tensor))), ()):
            handle = self.tid_to_weakhandle.pop(place, None)
            if handle is not None:
                self.cloned[handle] = asarray(_array_of(self.original.pop(handle)).copy(order="K"))


def _array_of(tensor):
    return tensor.data.numpy()


def _owner_of(array):
    """The object that owns an array's memory: the end of NumPy's chain of bases."""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return array


def _about_to_write(tensor):
    for values in tuple(_watching):
        values.about_to_write(tensor)


class watching:
    """Keep some SavedValues what they are, inside the block.

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
    """Allow in-place writes to what backward needs: a saved value is copied before it is written over.

    The graphs that are recorded inside the block have to be used inside.  Yields an object whose `cloned` holds the copies.

    Examples
    --------
    >>> x = gs.ones((3,), requires_grad=True)
    >>> with gs.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x * 2
    ...     z = (y * y).sum()
    ...     with gs.no_grad():
    ...         y.zero_()
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
