# cython: boundscheck=False, wraparound=False
"""Arrays of a trace: the identity and the bounds of an array, and the leaves of arguments.

These functions run several times for each argument of each operator and must be cheap.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport uintptr_t

from ...core.tensor cimport TensorBase, is_tensor
from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BASE, PyArray_BYTES, PyArray_DIMS, PyArray_ITEMSIZE, PyArray_NDIM, PyArray_STRIDES, PyArray_TYPE,
    ndarray, npy_intp,
)

cnp.import_array()


def held(value):
    """The array of a tensor, or an array itself; None for any other object."""
    if is_tensor(value):
        return (<TensorBase> value).array
    return value if isinstance(value, ndarray) and value.dtype.kind in "fciub" else None


def key_of(ndarray array not None):
    """The identity of an array as a value; strides of axes of length one are ignored."""
    cdef int i, ndim = PyArray_NDIM(array)
    cdef npy_intp size = 1
    cdef npy_intp* dims = PyArray_DIMS(array)
    cdef npy_intp* strides = PyArray_STRIDES(array)
    for i in range(ndim):
        size *= dims[i]
    shape = tuple([dims[i] for i in range(ndim)])
    steps = tuple([strides[i] if dims[i] > 1 and size else 0 for i in range(ndim)])
    return <size_t> PyArray_BYTES(array), shape, steps, PyArray_TYPE(array)


cdef int ends_of(ndarray array, uintptr_t* start, uintptr_t* end) noexcept:
    """The first address of an array's memory, and the address behind its end."""
    cdef int i
    cdef char* low = PyArray_BYTES(array)
    cdef char* high = low
    cdef npy_intp reach
    for i in range(PyArray_NDIM(array)):
        if PyArray_DIMS(array)[i] == 0:
            low = PyArray_BYTES(array)
            high = low
            break
        reach = (PyArray_DIMS(array)[i] - 1) * PyArray_STRIDES(array)[i]
        if reach < 0:
            low += reach
        else:
            high += reach
    start[0], end[0] = <uintptr_t> low, <uintptr_t> (high + PyArray_ITEMSIZE(array))
    return 0


def bounds(ndarray array not None):
    """The first address of an array's memory, and the address behind its end."""
    cdef uintptr_t low, high
    ends_of(array, &low, &high)
    return low, high


cdef ndarray last_owner(ndarray array):
    """The array at the end of NumPy's chain of bases."""
    cdef PyObject* base = PyArray_BASE(array)
    while base != NULL and isinstance(<object> base, ndarray):
        array = <ndarray> base
        base = PyArray_BASE(array)
    return array


def owner_of(ndarray array not None):
    """The array at the end of NumPy's chain of bases."""
    return last_owner(array)


cpdef object mapped(object tree, object leaf):
    """A tree of arguments with `leaf` applied to each leaf: tuples, lists, dictionaries and slices are branches."""
    if is_tensor(tree):
        return leaf(tree)
    if type(tree) is tuple:
        return tuple([mapped(item, leaf) for item in <tuple> tree])
    if type(tree) is list:
        return [mapped(item, leaf) for item in <list> tree]
    if isinstance(tree, dict):
        return {key: mapped(item, leaf) for key, item in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return tuple([mapped(item, leaf) for item in tree])
    if type(tree) is slice:
        return slice(mapped(tree.start, leaf), mapped(tree.stop, leaf), mapped(tree.step, leaf))
    return leaf(tree)


cdef int collect(object tree, object kind, list found) except -1:
    if type(tree) is kind:
        found.append(tree)
    elif type(tree) is tuple or type(tree) is list:
        for item in tree:
            collect(item, kind, found)
    elif isinstance(tree, (dict, tuple, list)):
        for item in (tree.values() if isinstance(tree, dict) else tree):
            collect(item, kind, found)
    elif type(tree) is slice:
        for item in (tree.start, tree.stop, tree.step):
            collect(item, kind, found)
    return 0


def instances_in(tree, kind):
    """The leaves of a tree with exactly this class, in order."""
    cdef list found = []
    collect(tree, kind, found)
    return found
