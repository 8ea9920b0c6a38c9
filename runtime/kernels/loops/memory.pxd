"""Caches of array memory: allocate new arrays from them, and return unused arrays to them."""

from ...support.capi cimport ndarray, npy_intp

from cpython.ref cimport Py_REFCNT, PyObject

cdef ndarray empty(int ndim, npy_intp* dims, int type_num)
cdef void keep(ndarray array) noexcept

# Memory that freed nodes left for new ones, and a function that returns it to the system; set by the module of nodes.
cdef size_t (*node_bytes)() noexcept
cdef void (*drop_nodes)() noexcept

cdef inline void give_back(PyObject* array) noexcept:
    """Return an array whose holder is about to drop its reference; without other references it is kept for the next result."""
    if Py_REFCNT(<object> array) == 1 and array != <PyObject*> None:
        keep(<ndarray> array)
