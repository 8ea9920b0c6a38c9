# cython: boundscheck=False, wraparound=False
"""Caches of array memory: a fresh array costs more than small arithmetic, and its first pages more than large arithmetic.

Holds two caches.  A small array is kept whole for the next result of its dtype and shape if the library held the last reference
to it.  The memory of a large array returns to a pool when the array is freed, by any code, through NumPy's memory handler.
Both caches are bounded, belong to the whole process, and are guarded by the GIL.
"""

from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from numpy.lib import tracemalloc_domain

from ...support cimport capi as cnp
from ...support.capi cimport (
    NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, PyArray_CheckExact, PyArray_DIMS,
    PyArray_EMPTY, PyArray_FLAGS, PyArray_NDIM, PyArray_TYPE, ndarray, npy_intp,
)
from . cimport donated_buffer
from .plain cimport has_shape, item_size, slot_of

cnp.import_array()

cdef extern from "gradspec/kernels/loops/memory.h":
    int PyTraceMalloc_Track(unsigned int, uintptr_t, size_t) noexcept
    void gradspec_huge_pages(void*, size_t) noexcept nogil
    bint gradspec_is_alone(ndarray, PyObject*) noexcept
    object gradspec_around(void*, int, npy_intp*, object, object)

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyDataMemAllocator:
        void* ctx
        void* (*malloc)(void*, size_t) noexcept
        void* (*calloc)(void*, size_t, size_t) noexcept
        void* (*realloc)(void*, void*, size_t) noexcept
        void (*free)(void*, void*, size_t) noexcept
    ctypedef struct PyDataMem_Handler:
        char[127] name
        unsigned char version
        PyDataMemAllocator allocator


# Small arrays, whole.

cdef enum:
    SMALL = 4096        # bytes of the largest array that is kept whole
    BINS = 128
    BIN_BYTES = 1 << 18  # bytes kept by a bin, including the arrays' headers: a thousand operations' worth of the smallest arrays
    HEADER = 128

cdef struct Bin:
    int count
    int room
    PyObject** arrays   # all of one dtype and shape

cdef Bin[BINS] bins
cdef PyObject* descrs[4]
cdef list _descrs = [cnp.PyArray_DescrFromType(_i)
                     for _i in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128)]
for _i in range(4):
    descrs[_i] = <PyObject*> _descrs[_i]  # NumPy's own, one for the process


cdef inline bint is_like(ndarray array, int ndim, npy_intp* dims, int type_num) noexcept:
    return PyArray_TYPE(array) == type_num and has_shape(array, ndim, dims)


cdef inline Bin* bin_of(int slot, int ndim, npy_intp* dims) noexcept nogil:
    cdef size_t key = slot + 4 * ndim
    cdef int i
    for i in range(ndim):
        key = key * 31 + <size_t> dims[i]
    return &bins[(key ^ (key >> 8)) % BINS]


cdef ndarray empty(int ndim, npy_intp* dims, int type_num):
    """A new C-contiguous array, not initialised; the offered array, if it has this dtype and shape."""
    cdef int slot = slot_of(type_num), i
    cdef npy_intp nbytes
    cdef Bin* bin
    cdef ndarray array
    if donated_buffer.offered != NULL and is_like(<ndarray> donated_buffer.offered, ndim, dims, type_num) and (
            donated_buffer.is_mine()):
        array = <ndarray> donated_buffer.offered
        donated_buffer.offered = NULL
        return array
    if slot >= 0:
        nbytes = item_size(slot)
        for i in range(ndim):
            nbytes *= dims[i]
        if nbytes <= SMALL:
            bin = bin_of(slot, ndim, dims)
            if bin.count and is_like(<ndarray> bin.arrays[bin.count - 1], ndim, dims, type_num):
                bin.count -= 1
                array = <ndarray> bin.arrays[bin.count]
                Py_DECREF(array)  # the bin's reference becomes the caller's
                return array
        elif nbytes >= LARGE:
            return large_array(ndim, dims, slot, nbytes)
    return PyArray_EMPTY(ndim, dims, type_num, 0)


cdef void keep(ndarray array) noexcept:
    """Keep a small array for the next result if only the caller holds it; the caller's own reference is not stolen."""
    cdef int wanted = NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE | NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED
    cdef int slot = slot_of(PyArray_TYPE(array)), i, ndim = PyArray_NDIM(array)
    cdef npy_intp* dims = PyArray_DIMS(array)
    cdef npy_intp nbytes
    cdef Bin* bin
    if slot < 0 or PyArray_FLAGS(array) & wanted != wanted or not PyArray_CheckExact(array):
        return
    nbytes = item_size(slot)
    for i in range(ndim):
        nbytes *= dims[i]
    if nbytes > SMALL or nbytes == 0 or not gradspec_is_alone(array, descrs[slot]):
        return
    bin = bin_of(slot, ndim, dims)
    if bin.count and not is_like(<ndarray> bin.arrays[0], ndim, dims, PyArray_TYPE(array)):
        drop(bin)
    if bin.count * (nbytes + HEADER) >= BIN_BYTES or (bin.count == bin.room and not grow(bin)):
        return
    Py_INCREF(array)
    bin.arrays[bin.count] = <PyObject*> array
    bin.count += 1


cdef bint grow(Bin* bin) noexcept:
    """Make room for more arrays in a bin; False if there is no memory."""
    cdef int room = 2 * bin.room if bin.room else 16
    cdef PyObject** arrays = <PyObject**> realloc(bin.arrays, room * sizeof(PyObject*))
    if arrays == NULL:
        return False
    bin.arrays, bin.room = arrays, room
    return True


cdef int drop(Bin* bin) noexcept:
    """Release the arrays of a bin."""
    cdef ndarray array
    while bin.count:
        bin.count -= 1
        array = <ndarray> bin.arrays[bin.count]
        Py_DECREF(array)
        array = None
    return 0


# The memory of large arrays.
#
# Processors compare the lowest 12 bits of addresses to find out whether a load needs an earlier store.  If a result begins some
# bytes behind an operand in these bits, each load waits for a store that it does not need, and a loop takes twice as long.  So all
# arrays begin at the same bits.

cdef enum:
    LARGE = 1 << 16         # bytes; larger arrays take their memory from the pool
    HUGE = 1 << 22          # bytes; larger blocks request large pages from the system
    HEADER_BYTES = 64       # before the data
    PAGE = 4096             # alignment of the data
    CLASSES = 8 * 48        # eight sizes between one power of two and the next
    MOST_LARGE = 1 << 28    # bytes that the pool keeps

cdef struct Header:
    void* memory            # the pointer returned by malloc
    size_t capacity
    Header* following       # the next header in the pool

cdef Header* pool[CLASSES]
cdef size_t large_bytes = 0, large_count = 0
memset(pool, 0, sizeof(pool))


cdef inline int class_of(size_t nbytes) noexcept nogil:
    """The smallest class that has room for `nbytes`."""
    cdef int power = 3
    while (nbytes - 1) >> (power + 1):
        power += 1  # until 2**power <= nbytes - 1 < 2**(power + 1)
    return 8 * power + <int> ((nbytes - 1) >> (power - 3)) - 8


cdef inline size_t capacity_of(int number) noexcept nogil:
    return <size_t> (8 + (number & 7) + 1) << (number // 8 - 3)


cdef inline Header* header_of(void* data) noexcept nogil:
    return <Header*> (<char*> data - HEADER_BYTES)


cdef void* obtain(size_t nbytes) noexcept:
    """Memory for `nbytes`, from the pool or else from the system, or NULL."""
    global large_bytes, large_count
    cdef int number = class_of(nbytes)
    cdef Header* header = pool[number]
    cdef size_t capacity = capacity_of(number)
    cdef void* memory
    if header != NULL:
        pool[number] = header.following
        large_bytes -= capacity
        large_count -= 1
        return <char*> header + HEADER_BYTES
    memory = malloc(capacity + PAGE + HEADER_BYTES)
    if memory == NULL:
        return NULL
    header = header_of(<void*> ((<uintptr_t> memory + HEADER_BYTES + PAGE - 1) & ~<uintptr_t> (PAGE - 1)))
    header.memory, header.capacity = memory, capacity
    if capacity >= HUGE:
        gradspec_huge_pages(<char*> header + HEADER_BYTES, capacity)
    return <char*> header + HEADER_BYTES


cdef void put_back(void* data) noexcept:
    global large_bytes, large_count
    cdef Header* header = header_of(data)
    cdef int number
    if large_bytes + header.capacity > MOST_LARGE:
        free(header.memory)
        return
    number = class_of(header.capacity)
    header.following = pool[number]
    pool[number] = header
    large_bytes += header.capacity
    large_count += 1


# Functions that NumPy calls for an array whose memory belongs to the pool.

cdef void* handler_malloc(void* ctx, size_t nbytes) noexcept:
    return obtain(nbytes if nbytes > LARGE else LARGE)


cdef void* handler_calloc(void* ctx, size_t count, size_t size) noexcept:
    cdef void* data = handler_malloc(ctx, count * size)
    if data != NULL:
        memset(data, 0, count * size)
    return data


cdef void* handler_realloc(void* ctx, void* data, size_t nbytes) noexcept:
    """Called by `ndarray.resize` for an array of the pool."""
    cdef void* other
    if data != NULL and nbytes <= header_of(data).capacity:
        return data
    other = handler_malloc(ctx, nbytes)
    if other != NULL and data != NULL:
        memcpy(other, data, header_of(data).capacity)
        put_back(data)
    return other


cdef void handler_free(void* ctx, void* data, size_t nbytes) noexcept:
    if data != NULL:
        put_back(data)


cdef PyDataMem_Handler handler
memset(&handler, 0, sizeof(handler))
memcpy(handler.name, b"gradspec", 8)
handler.version = 1
handler.allocator.malloc, handler.allocator.calloc = handler_malloc, handler_calloc
handler.allocator.realloc, handler.allocator.free = handler_realloc, handler_free
cdef unsigned int traced = tracemalloc_domain
cdef object capsule = PyCapsule_New(&handler, "mem_handler", NULL)


cdef ndarray large_array(int ndim, npy_intp* dims, int slot, npy_intp nbytes):
    cdef void* data = obtain(nbytes)
    if data == NULL:
        raise MemoryError(f"no memory for an array of {nbytes} bytes")
    try:
        array = gradspec_around(data, ndim, dims, _descrs[slot], capsule)
    except BaseException:
        put_back(data)
        raise
    PyTraceMalloc_Track(traced, <uintptr_t> data, nbytes)  # NumPy reports the end of the block
    return array


# Functions for users.

def memory_stats():
    """The amount of memory that is kept for later results.

    Returns
    -------
    dict
        "small_arrays" and "small_bytes": arrays of up to 4096 bytes, kept whole.  "large_buffers" and "large_bytes": memory of
        arrays of 64 KiB and more.  "limit_bytes": the upper limit of both kinds together.  "node_bytes": memory of graph nodes;
        at most 64 MiB are kept.
    """
    cdef npy_intp count = 0
    cdef npy_intp nbytes = 0
    cdef int i, j
    for i in range(BINS):
        count += bins[i].count
        for j in range(bins[i].count):
            nbytes += (<object> bins[i].arrays[j]).nbytes
    return {"small_arrays": count, "small_bytes": nbytes, "large_buffers": large_count, "large_bytes": large_bytes,
            "limit_bytes": MOST_LARGE + BINS * BIN_BYTES, "node_bytes": node_bytes()}


def empty_cache():
    """Return the memory that is kept for later results to the system."""
    global large_bytes, large_count
    cdef Header* header
    cdef int i
    for i in range(BINS):
        drop(&bins[i])
        free(bins[i].arrays)
        bins[i].arrays, bins[i].room = NULL, 0
    for i in range(CLASSES):
        while pool[i] != NULL:
            header = pool[i]
            pool[i] = header.following
            free(header.memory)
    large_bytes = large_count = 0
    drop_nodes()
