"""Arrays that come back: where new arrays are taken from, and where those that nobody holds any more go."""

from ...support.capi cimport ndarray, npy_intp

from cpython.ref cimport PyObject

cdef ndarray empty(int ndim, npy_intp* dims, int type_num)
cdef void keep(ndarray array) noexcept

# Memory that nodes left for the next ones, and how it goes back to the system; set by their module.
cdef size_t (*node_bytes)() noexcept
cdef void (*drop_nodes)() noexcept

cdef inline void give_back(PyObject* array) noexcept:
    """Offer an array whose holder lets go of it now: kept for the next result where that holder was the only one."""
    if array.ob_refcnt == 1 and array != <PyObject*> None:
        keep(<ndarray> array)
