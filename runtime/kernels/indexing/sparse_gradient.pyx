"""Gradients that are zero except at some indices: the cotangents of reading part of an array.

A gradient becomes a whole array, or is added to an existing array at a cost that does not grow with that array.  Otherwise a loop
over the rows of an array would allocate and add a whole array for each row.  Independent of the engine.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_SIZE, ndarray
from ..loops.copying cimport zeros_of
from .basic_index import getitem_backward
from .gathering import axis_index
from .indexing import has_integers, normalize
from .scattering import add_at, take_backward

__all__ = ["getitem_placed", "take_placed"]

cnp.import_array()

cdef enum:
    WORTH = 512  # elements of an array of zeros that make placing worthwhile
    OF_PARTS = 4  # ratio of the sizes of the array and the part above which adding to the part is faster
    OF_REPEATED = 16  # the same if indices may repeat


cdef class Placed:
    """Zeros of a shape, with the dtype of `value`, and `value` added at `index`."""

    cdef ndarray computed(self):
        """The whole array, without other references to it."""
        cdef ndarray total = zeros_of(self.shape, self.value)
        if self.repeated:
            add_at(total, self.index, self.value)
        else:
            self.add_to(total)
        return total

    cdef int add_to(self, ndarray total) except -1:
        """Add to an array of this shape and dtype; values at a repeated index are summed first, as in the whole array."""
        if self.repeated:
            before = (<object> total)[self.index]
            (<object> total)[self.index] = 0
            add_at(total, self.index, self.value)
            (<object> total)[self.index] = before + (<object> total)[self.index]
        else:
            part = (<object> total)[self.index]
            np.add(part, self.value, out=part)
        return 0

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.computed(), dtype)


cdef bint pays(object x, object shape, Py_ssize_t parts):
    """Whether the array is large, and at least `parts` times as large as the part."""
    cdef Py_ssize_t size = 1
    if type(x) is not ndarray or type(shape) is not tuple:
        return False
    for n in <tuple> shape:
        size *= n
    return size >= WORTH and size >= parts * PyArray_SIZE(x)


cdef Placed placed(ndarray value, tuple index, tuple shape, bint repeated):
    cdef Placed found = Placed.__new__(Placed)
    found.value, found.index, found.shape, found.repeated = value, index, shape, repeated
    return found


def getitem_placed(x, index, shape):
    """Zeros of the given shape with `x` added at `index`, as getitem_backward; not materialised if the array is large.

    Parameters
    ----------
    x : ndarray
        Of the shape of ``y[index]``.
    index : int, slice, None, Ellipsis, ndarray, list, or a tuple of these
    shape : tuple of int

    Returns
    -------
    Placed or ndarray
    """
    if not pays(x, shape, OF_PARTS):
        return getitem_backward(x, index, shape)
    if type(index) is int:
        return placed(x, (index, ...), shape, False)
    index, basic = normalize(index)
    if basic:
        return placed(x, index if ... in index else (*index, ...), shape, False)
    if has_integers(index) and pays(x, shape, OF_REPEATED):
        return placed(x, index, shape, True)
    return getitem_backward(x, index, shape)


def take_placed(x, indices, shape, axis):
    """Zeros of the given shape with `x` added at the indices of `take`, as take_backward; a large array is not materialised."""
    if axis is None or not shape or not pays(x, shape, OF_REPEATED):
        return take_backward(x, indices, shape, axis)
    return placed(x, axis_index(indices, axis, len(shape)), shape, True)
