# cython: boundscheck=False, wraparound=False
"""Values: the names of a program, known by the memory that they look at.

Owns identity.  Saved variables, `detach()` and views make other objects of the same array, so a value is an address, a shape,
strides and a dtype, among arrays that are kept alive while a trace is taken.  What nobody has computed is a constant, of which
the trace keeps a copy.  Knows nothing of operators.
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
    KEPT = 1 << 14      # layouts that are remembered

cdef dict layouts = {}  # (dtype's number, shape, strides) -> Layout


cdef class Layout:
    """How the elements of an array lie in memory.  Equal ones are the same object, as long as it is remembered.

    Attributes
    ----------
    dtype : numpy.dtype
    shape, strides : tuple of int
    count : int
        Elements.
    dense : bool
        Whether they fill one block of memory, from the first on.
    c_contiguous : bool
    boolean : bool
        Whether they are masks.
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
        Where it lay in memory, in bytes.
    layout : Layout
        All three as they were when it was met.
    memory : Value
        The first value that was seen of the memory that it shares: a write to one of them is seen through all.
    data : ndarray or None
        A constant's numbers, as they were when they were first seen.
    line : tuple or None
        The user's line that brought a constant.
    hosts : list of Call
        What was going on when a constant was first seen.
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
        """Dtype and shape, as they are printed."""
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"


class Source:
    """A generator of random numbers: a parameter of the program.

    Attributes
    ----------
    name : str
    state : numpy.random.Generator
        A copy of it as it was before the first draw.
    path : str
        Where it stands among the arguments of the call, if it does: `generator`, `options['rng']`.
    """

    def __init__(self, generator, name):
        self.name, self.generator, self.path = name, generator, ""
        self.state = deepcopy(generator)

    def __repr__(self):
        return self.name


cdef bint same_place(ndarray a, ndarray b) noexcept:
    """Whether two arrays of one address are one value; the strides of axes of one element say nothing."""
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
    """Every array that a program has met, and the value that each one is.  It keeps them alive.

    Attributes
    ----------
    values : list of Value
    sources : dict of int to Source
        By the identities of the generators.
    """

    def __init__(self):
        self.places, self.values, self.sources, self.reserved, self.owners = {}, [], {}, set(), []

    def __dealloc__(self):
        free(self.blocks)

    cpdef Value known(self, ndarray array):
        """The value that an array is, if the program has it."""
        cdef list found = self.places.get(<uintptr_t> PyArray_BYTES(array))
        cdef Py_ssize_t i
        if found is None:
            return None
        for i in range(0, len(found), 2):
            if same_place(<ndarray> found[i], array):
                return <Value> found[i + 1]
        return None

    cpdef Value enter(self, ndarray array, str kind):
        """A new value for an array that is not known."""
        cdef uintptr_t address = <uintptr_t> PyArray_BYTES(array)
        cdef Value value = Value.__new__(Value)
        cdef list found = self.places.get(address)
        value.fill(kind, array, None, "")
        if PyArray_SIZE(array):  # without elements it would be taken for the memory of its base
            self.settle(array, value)
        value.address = address
        if found is None:
            self.places[address] = [array, value]
        else:
            found += (array, value)
        self.values.append(value)
        return value

    cdef int settle(self, ndarray array, Value value) except -1:
        """Find the memory that a value lies in, as far as the owner of its array reaches; known pieces of it are one."""
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
        """Let what was the memory of some values be part of another."""
        cdef Value value
        for value in self.values:
            if value is part or value.shared is part:
                value.shared = memory
        return 0

    cdef Py_ssize_t behind(self, uintptr_t low) noexcept:
        """The place behind all blocks that begin there or before."""
        cdef Py_ssize_t first = 0, last = self.block_count, middle
        while first < last:
            middle = (first + last) // 2
            if low < self.blocks[middle].low:
                last = middle
            else:
                first = middle + 1
        return first

    cpdef tuple block(self, ndarray array):
        """The known memory that an array lies in: where it ends, the first value seen of it, and that one's array."""
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
        """The parameter that a generator is; of that name, where an argument is one."""
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
    """The same numbers at the same strides, in memory of their own."""
    if array.size == 0 or array.flags.forc:
        return array.copy(order="K")
    low, high = bounds(array)
    first = array.__array_interface__["data"][0] - low
    result = np.ndarray(array.shape, array.dtype, np.zeros(high - low, np.uint8), first, array.strides)
    result[...] = array
    return result


def same_bits(a, b):
    """Whether two arrays have the same dtype, shape and bits; NaN is NaN."""
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
    """Whether a value lies between the first and the last byte of another."""
    cdef uintptr_t low, high, first, last
    ends(value, &low, &high)
    ends(whole, &first, &last)
    return first <= low and high <= last


cdef int ends(Value value, uintptr_t* low, uintptr_t* high) except -1:
    """Where a value began and ended, while the program was written down."""
    cdef Py_ssize_t reach
    low[0], high[0] = value.address, value.address + <Py_ssize_t> value.layout.dtype.itemsize
    for size, stride in zip(value.layout.shape, value.layout.strides):
        reach = (size - 1) * stride
        if reach < 0:
            low[0] += reach
        else:
            high[0] += reach
    return 0
