# cython: boundscheck=False, wraparound=False
"""The form of a leaf's gradient: its dtype, its memory layout, and rows that are added only when `.grad` is read.

Defines `grad_dtype`, which a user may set independently of the leaf's dtype, and the layout contract of `.grad`.
`accumulate_grad` decides when a gradient is added to `.grad`.
"""

from libc.stdint cimport uint64_t

import numpy as np

from ..support cimport capi as cnp
from ..support.capi cimport (
    NPY_ARRAY_C_CONTIGUOUS, PyArray_DIMS, PyArray_FLAGS, PyArray_ITEMSIZE, PyArray_NDIM, PyArray_STRIDES, PyArray_TYPE, ndarray,
    npy_intp,
)
from ..kernels.indexing.scattering import take_backward
from .grad_mode cimport ANOMALY, BATCHED, BY_OPERATOR, DUAL, GRAD_DISABLED, LISTENING, thread_state
from .node cimport Node, NodeHooks
from .tensor cimport MOVED, REQUIRES_GRAD, TensorBase, is_tensor, wrap
from .non_operator_events cimport tell_of_copy

cnp.import_array()

cdef str WAITING = "_waiting_rows"


cdef object grad_dtype_of(TensorBase leaf, ndarray array):
    """The dtype that gradients of a leaf with the array `array` are cast to; None if they keep their own dtype."""
    own = (<object> array).dtype
    if leaf.extra is None or leaf.extra.attributes is None:
        return own
    wanted = leaf.extra.attributes.get("grad_dtype", own)
    return own if wanted is not None and own.kind == "c" and wanted.kind == "f" else wanted  # complex data came later


cdef int set_grad_dtype(TensorBase leaf, object dtype) except -1:
    """Cast the gradients that arrive at a leaf to `dtype` from now on; None keeps their own dtype."""
    own = (<object> leaf.array).dtype
    if dtype is not None:
        try:
            dtype = np.dtype(dtype)
        except TypeError:
            raise RuntimeError(f"grad_dtype must be a dtype or None, but got {dtype!r}") from None
        if dtype.kind not in "fc" or (own.kind == "c" and dtype.kind == "f"):
            raise RuntimeError(f"grad_dtype {dtype} cannot hold the gradient of a tensor of dtype {own}: floating point and "
                               "complex dtypes can, of complex numbers complex ones alone")
    if leaf.grad_ is not None and dtype is not None and leaf.grad_.dtype != dtype:
        raise RuntimeError(f"Cannot set grad_dtype to {dtype} because there is already a gradient with dtype {leaf.grad_.dtype}. "
                           "Set .grad to None first.")
    if leaf.ensure_extra().attributes is None:
        leaf.extra.attributes = {}
    leaf.extra.attributes["grad_dtype"] = dtype
    if leaf.accumulator != NULL:
        (<Node> leaf.accumulator).describe(0, leaf.array)
    return 0


cdef int type_of_gradient(TensorBase leaf, ndarray array) except? -2:
    """The type number of gradients that end at a leaf with the array `array`; ANY_TYPE if any dtype is allowed."""
    if leaf.extra is None or leaf.extra.attributes is None:
        return PyArray_TYPE(array)
    wanted = grad_dtype_of(leaf, array)
    return ANY_TYPE if wanted is None else wanted.num


cdef bint has_layout_of(ndarray grad, ndarray leaf) noexcept:
    """Whether `grad` has the memory layout of a gradient of `leaf`: the leaf's if it is dense, else C order."""
    cdef int i
    if PyArray_FLAGS(grad) & PyArray_FLAGS(leaf) & NPY_ARRAY_C_CONTIGUOUS:
        return True
    if not is_dense(leaf):
        return PyArray_FLAGS(grad) & NPY_ARRAY_C_CONTIGUOUS != 0
    for i in range(PyArray_NDIM(leaf)):
        if (PyArray_DIMS(leaf)[i] > 1
                and PyArray_STRIDES(grad)[i] * PyArray_ITEMSIZE(leaf) != abs(PyArray_STRIDES(leaf)[i]) * PyArray_ITEMSIZE(grad)):
            return False
    return True


cdef bint is_dense(ndarray array) noexcept:
    """Whether the elements fill one block of memory, in any order of the axes."""
    cdef npy_intp expected = PyArray_ITEMSIZE(array)
    cdef int _, axis, found, ndim = PyArray_NDIM(array)
    cdef uint64_t seen = 0
    for _ in range(ndim):  # find the axis with the next stride, once for each axis
        found = -1
        for axis in range(ndim):
            if PyArray_DIMS(array)[axis] == 0:
                return True
            if not (seen >> axis) & 1 and (PyArray_DIMS(array)[axis] == 1 or abs(PyArray_STRIDES(array)[axis]) == expected):
                found = axis
                break
        if found < 0:
            return False
        seen |= <uint64_t> 1 << found
        expected *= PyArray_DIMS(array)[found]
    return True


cdef bint overlaps(ndarray array) except -1:
    """Whether two elements share memory; broadcast and windowed arrays are the usual cases."""
    cdef npy_intp reach = 0
    if is_dense(array):
        return False
    for stride, size in sorted(zip([abs(s) for s in (<object> array).strides], (<object> array).shape)):
        if size == 0:
            return False
        if size > 1:
            if stride < reach + PyArray_ITEMSIZE(array):
                break
            reach += stride * (size - 1)
    else:
        return False
    # Interleaved strides: compare the offsets of the elements, which have equal sizes.
    offsets = np.zeros(1, np.intp)
    for stride, size in zip((<object> array).strides, (<object> array).shape):
        offsets = np.unique(np.add.outer(offsets, stride * np.arange(size)))
    return bool(len(offsets) < (<object> array).size or np.diff(offsets).min() < (<object> array).itemsize)


cdef ndarray copy_like(ndarray grad, ndarray leaf):
    """A copy in the leaf's memory order if the leaf is dense, else in C order."""
    cdef ndarray result = np.empty_like(leaf, dtype=grad.dtype, order="K" if is_dense(leaf) else "C", subok=False)
    result[...] = grad
    return tell_of_copy(grad, result)


class Rows:
    """Rows of a gradient that is zero elsewhere, as they arrived at a leaf: they are added only when `.grad` is read.

    Attributes
    ----------
    places : list of ndarray
        (e,), row indices.
    values : list of ndarray
        (e, ...), values to add to these rows.
    """

    def __init__(self):
        self.places, self.values = [], []

    def summed(self):
        """The row indices, sorted and unique, and the sum of the values for each."""
        if len(self.places) > 1:
            self.places, self.values = [np.concatenate(self.places)], [np.concatenate(self.values)]
        places, values = self.places[0], self.values[0]
        if not (np.diff(places) > 0).all():
            order = np.argsort(places, kind="stable")
            ordered = places[order]
            starts = np.flatnonzero(np.diff(ordered, prepend=-1))
            places, values = ordered[starts], np.add.reduceat(values[order], starts)
            self.places, self.values = [places], [values]
        return places, values

    def settle(self, TensorBase leaf):
        """Add all rows to the leaf's `.grad`, as a dense array."""
        places, values = self.summed()
        cdef tuple shape = (<object> leaf.array).shape
        if values.shape[1:] != shape[1:] or len(places) and places[len(places) - 1] >= shape[0]:
            raise RuntimeError(f"rows of a gradient wait at a leaf whose data was replaced by an array of shape {list(shape)}; "
                               "read .grad before, or set it to None")
        whole = take_backward(values, places, shape, 0)
        if leaf.grad_ is None:
            leaf.grad_ = wrap(whole if has_layout_of(whole, leaf.array) else copy_like(whole, leaf.array))
        else:
            (<object> leaf.grad_.detach()).add_(wrap(whole))


cdef unsigned int WATCHED = ANOMALY | BATCHED | BY_OPERATOR | DUAL | LISTENING


def may_wait(leaf):
    """Whether rows of a gradient could be deferred at `leaf` in a backward pass under the current modes."""
    if not is_tensor(leaf) or thread_state().flags & WATCHED:
        return False
    cdef TensorBase tensor = leaf
    return tensor.grad_fn_ is None and tensor.flags & (REQUIRES_GRAD | MOVED) == REQUIRES_GRAD


def put_off_rows(TensorBase leaf, ndarray places, ndarray values):
    """Defer rows of a gradient at a leaf until `.grad` is read.

    Parameters
    ----------
    leaf : Tensor
    places : ndarray of intp
        (e,), row indices, not negative.
    values : ndarray
        (e, ...), values to add to these rows.

    Returns
    -------
    bool
        False if the whole array has to arrive: a hook of the leaf takes it, the pass is recorded, or there are listeners.
    """
    cdef NodeHooks hooks = None if leaf.extra is None else leaf.extra.leaf_hooks
    if not thread_state().flags & GRAD_DISABLED or not may_wait(leaf):
        return False
    if PyArray_TYPE(values) != PyArray_TYPE(leaf.array) or PyArray_TYPE(values) != type_of_gradient(leaf, leaf.array):
        return False
    if hooks is not None and (hooks.tensor_pre or hooks.pre or hooks.post or hooks.post_accumulate):
        return False
    attributes = leaf.ensure_extra().attributes
    if attributes is None:
        attributes = leaf.extra.attributes = {}
    waiting = attributes.setdefault(WAITING, Rows())
    waiting.places.append(places)
    waiting.values.append(values)
    return True


def rows_of_gradient(leaf):
    """The gradient of a leaf as its rows that may be nonzero, without a dense array.

    Parameters
    ----------
    leaf : Tensor

    Returns
    -------
    tuple of ndarray or None
        The row indices, sorted and unique, and the rows; None if there is no gradient, or a dense one.
    """
    if not is_tensor(leaf):
        return None
    cdef TensorBase tensor = leaf
    if tensor.grad_ is not None or tensor.extra is None or tensor.extra.attributes is None:
        return None
    waiting = tensor.extra.attributes.get(WAITING)
    return None if waiting is None else waiting.summed()
