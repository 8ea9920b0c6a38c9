# cython: boundscheck=False, wraparound=False
"""Values: identify the names of a program by the memory that they refer to.

Saved variables, `detach()` and views create different objects of the same array.  A value is therefore an address, a shape,
strides and a dtype, among arrays that are kept alive during a trace.  An array that no operator computed is a constant, and the
trace keeps a copy.  Does not depend on operators.
"""

from libc.stdlib cimport free
from libc.string cimport memmove

from copy import deepcopy

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE
from ...support.room cimport more
from ...support.generator import Holder
from .arrays import bounds, held, key_of, mapped, owner_of
from .arrays cimport collect, ends_of, last_owner

cnp.import_array()

__all__ = ["Layout", "Memory", "Source", "Value", "bounds", "copied", "held", "held_generator", "key_of", "mapped", "owner_of",
           "same_bits", "values_in"]  # fmt: skip

cdef enum:
    KEPT = 1 << 14      # cached layouts

cdef dict layouts = {}  # (dtype's number, shape, strides) -> Layout


cdef class Layout:
    """The placement of an array's elements in memory.  Equal layouts are the same object while they are cached.

    Attributes
    ----------
    dtype : numpy.dtype
    shape, strides : tuple of int
    count : int
        Number of elements.
    dense : bool
        Whether the elements fill one block of memory that begins with the first element.
    c_contiguous : bool
    boolean : bool
        Whether the elements are booleans.
    """


cdef Layout layout_of(ndarray array):
    """The layout of an array."""
    cdef int i, j, ndim = PyArray_NDIM(array)
    cdef cnp.npy_intp* dims = PyArray_DIMS(array)
    cdef cnp.npy_intp* strides = PyArray_STRIDES(array)
    cdef Layout found
    shape, steps = tuple([dims[i] for i in range(ndim)]), tuple([strides[i] for i in range(ndim)])
    key = (PyArray_TYPE(array), shape, steps)
    known = layouts.get(key)
    dtype = array.dtype
    if known is not None and ((<Layout> known).dtype is dtype or (<Layout> known).dtype == dtype):
        return <Layout> known
    found = Layout.__new__(Layout)
    found.dtype, found.shape, found.strides = dtype, shape, steps
    found.boolean = PyArray_TYPE(array) == cnp.NPY_BOOL
    found.count, found.c_contiguous = 1, True
    step = dtype.itemsize
    for i in range(ndim - 1, -1, -1):
        found.count *= dims[i]
        if dims[i] > 1 and strides[i] != step:
            found.c_contiguous = False
        step *= dims[i]
    found.dense, step = True, dtype.itemsize
    for stride, size in sorted([(strides[j], dims[j]) for j in range(ndim) if dims[j] > 1]):
        if stride != step:
            found.dense = False
        step *= size
    if len(layouts) > KEPT:
        layouts.clear()
    layouts[key] = found
    return found


cdef class Value:
    """A name in a program.

    Attributes
    ----------
    name : str
    kind : str
        "input", "constant" or "result".
    shape : tuple of int
    dtype : numpy.dtype
    strides : tuple of int
        Strides in bytes.
    layout : Layout
        Dtype, shape and strides at the first use.
    memory : Value
        The first value seen in the memory that this value shares: all values of one memory see a write to any of them.
    data : ndarray or None
        The numbers of a constant when it was first seen.
    line : tuple or None
        The user's line that introduced a constant.
    hosts : list of Call
        The calls that were running when a constant was first seen.
    """

    def __init__(self, str kind, ndarray array, Value memory=None, str name=""):
        self.fill(kind, array, memory, name)

    cdef int fill(self, str kind, ndarray array, Value memory, str name) except -1:
        self.kind, self.name, self.shared = kind, name, memory
        self.layout = layout_of(array)
        self.shape, self.dtype, self.strides = self.layout.shape, self.layout.dtype, self.layout.strides
        self.hosts = ()
        return 0

    def __repr__(self):
        return self.name or "<value>"

    @property
    def memory(self):
        return memory_of(self)

    @property
    def type(self):
        """Dtype and shape as text."""
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"


class Source:
    """A generator of random numbers: a parameter of the program.

    Attributes
    ----------
    name : str
    state : numpy.random.Generator
        A copy of the generator from before the first draw.
    path : str
        Its place among the arguments of the call, if any: `generator`, `options['rng']`.
    """

    def __init__(self, generator, name):
        self.name, self.generator, self.path = name, generator, ""
        self.state = deepcopy(generator)

    def __repr__(self):
        return self.name


cdef bint same_place(ndarray a, ndarray b) noexcept:
    """Whether two arrays at one address are one value; strides of axes of length one are ignored."""
    cdef int i, ndim = PyArray_NDIM(a)
    if PyArray_NDIM(b) != ndim or PyArray_TYPE(a) != PyArray_TYPE(b):
        return False
    for i in range(ndim):
        if PyArray_DIMS(a)[i] != PyArray_DIMS(b)[i]:
            return False
    if PyArray_SIZE(a) == 0:
        return True
    for i in range(ndim):
        if PyArray_DIMS(a)[i] > 1 and PyArray_STRIDES(a)[i] != PyArray_STRIDES(b)[i]:
            return False
    return True


cdef class Memory:
    """All arrays that a program has used, kept alive, and the value of each.

    Attributes
    ----------
    values : list of Value
    sources : dict of int to Source
        Keys are the identities of the generators.
    """

    def __init__(self):
        self.places, self.values, self.sources, self.reserved, self.owners = {}, [], {}, set(), []

    def __dealloc__(self):
        free(self.blocks)

    cpdef Value known(self, ndarray array):
        """The value of an array, or None if the program does not know it."""
        cdef list found = self.places.get(<uintptr_t> PyArray_BYTES(array))
        cdef Py_ssize_t i
        if found is None:
            return None
        for i in range(0, len(found), 2):
            if same_place(<ndarray> found[i], array):
                return <Value> found[i + 1]
        return None

    cpdef Value enter(self, ndarray array, str kind):
        """A new value for an unknown array."""
        cdef uintptr_t address = <uintptr_t> PyArray_BYTES(array)
        cdef Value value = Value.__new__(Value)
        cdef list found = self.places.get(address)
        value.fill(kind, array, None, "")
        if PyArray_SIZE(array):  # an empty array would be assigned to the memory of its base
            self.settle(array, value)
        value.address = address
        if found is None:
            self.places[address] = [array, value]
        else:
            found += (array, value)
        self.values.append(value)
        return value

    cdef int settle(self, ndarray array, Value value) except -1:
        """Find the memory block of a value, up to the bounds of its array's owner; known blocks inside it are merged."""
        cdef Block here
        cdef uintptr_t low, high
        cdef Py_ssize_t first, last, i
        ends_of(last_owner(array), &here.low, &here.high)
        ends_of(array, &low, &high)
        here.low, here.high = min(here.low, low), max(here.high, high)
        first = max(self.behind(here.low) - 1, 0)
        if first < self.block_count and self.blocks[first].high <= here.low:
            first += 1
        last = first
        while last < self.block_count and self.blocks[last].low < here.high:
            last += 1
        if first == last:
            if self.block_count == self.room:
                self.blocks = <Block*> more(self.blocks, &self.room, sizeof(Block), 64)
            self.owners.insert(first, (array, value))
            memmove(self.blocks + first + 1, self.blocks + first, (self.block_count - first) * sizeof(Block))
            self.block_count += 1
        else:
            value.shared = <Value> self.owners[first][1]
            here.low, here.high = min(here.low, self.blocks[first].low), max(here.high, self.blocks[last - 1].high)
            for i in range(first + 1, last):
                self.join(<Value> self.owners[i][1], value.shared)
            del self.owners[first + 1 : last]
            memmove(self.blocks + first + 1, self.blocks + last, (self.block_count - last) * sizeof(Block))
            self.block_count -= last - first - 1
        self.blocks[first] = here
        return 0

    cdef int join(self, Value part, Value memory) except -1:
        """Merge the memory `part` into another memory."""
        cdef Value value
        for value in self.values:
            if value is part or value.shared is part:
                value.shared = memory
        return 0

    cdef Py_ssize_t behind(self, uintptr_t low) noexcept:
        """The number of blocks that begin at or before this address."""
        cdef Py_ssize_t first = 0, last = self.block_count, middle
        while first < last:
            middle = (first + last) // 2
            if low < self.blocks[middle].low:
                last = middle
            else:
                first = middle + 1
        return first

    cpdef tuple block(self, ndarray array):
        """The known memory block of an array: its end, its first value, and that value's array."""
        cdef uintptr_t low, high
        cdef Py_ssize_t place, i
        if PyArray_SIZE(array) == 0:
            return None
        ends_of(array, &low, &high)
        place = self.behind(low) - 1
        for i in range(max(place, 0), min(place + 2, self.block_count)):
            if low < self.blocks[i].high and self.blocks[i].low < high:
                first, value = <tuple> self.owners[i]
                return self.blocks[i].high, value, first
        return None

    def source(self, generator, name=""):
        """The parameter for a generator; `name` is used if an argument is this generator."""
        found = self.sources.get(id(generator))
        if found is None:
            taken = self.reserved | {source.name for source in self.sources.values()}
            count = 1
            while not name:
                word = "generator" if count == 1 else f"generator_{count}"
                count, name = count + 1, "" if word in taken else word
            found = self.sources[id(generator)] = Source(generator, name)
        return found


def held_generator(value):
    """A generator of random numbers, or None."""
    if isinstance(value, Holder):
        return value.generator
    return value if type(value).__module__.startswith("numpy.random") and hasattr(value, "bit_generator") else None


def copied(array):
    """A copy with the same values and strides, in new memory."""
    if array.size == 0 or array.flags.forc:
        return array.copy(order="K")
    low, high = bounds(array)
    first = array.__array_interface__["data"][0] - low
    result = np.ndarray(array.shape, array.dtype, np.zeros(high - low, np.uint8), first, array.strides)
    result[...] = array
    return result


def same_bits(a, b):
    """Whether two arrays have the same dtype, shape and bits; all NaN are equal."""
    if a is None or a.dtype != b.dtype or a.shape != b.shape:
        return False
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if a.tobytes() == b.tobytes():
        return True
    return a.dtype.kind in "fc" and bool(np.all((a == b) & (np.signbit(a.real) == np.signbit(b.real)) | (a != a) & (b != b)))


cpdef list values_in(object tree):
    """The values among the leaves of a tree."""
    cdef list found = []
    collect(tree, Value, found)
    return found

cdef bint lies_in(Value value, Value whole) except -1:
    """Whether a value's bytes are within the bounds of `whole`."""
    cdef uintptr_t low, high, first, last
    ends(value, &low, &high)
    ends(whole, &first, &last)
    return first <= low and high <= last


cdef int ends(Value value, uintptr_t* low, uintptr_t* high) except -1:
    """The bounds of a value's memory during the recording."""
    cdef Py_ssize_t reach
    low[0], high[0] = value.address, value.address + <Py_ssize_t> value.layout.dtype.itemsize
    for size, stride in zip(value.layout.shape, value.layout.strides):
        reach = (size - 1) * stride
        if reach < 0:
            low[0] += reach
        else:
            high[0] += reach
    return 0
