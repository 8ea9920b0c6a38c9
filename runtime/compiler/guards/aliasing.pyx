# cython: boundscheck=False, wraparound=False
"""Aliasing: do the arrays of a call share memory as in the recording?

Compares addresses, and finds arrays that are written to and overlap others.
"""

from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free, qsort

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_SIZE, ndarray
from ..tracing.arrays cimport ends_of

cnp.import_array()


def differences(inputs):
    """The memory shared between a call's arrays: for each array the number of its group, and pairs with their distance in bytes.

    The third result is the order of the arrays by address, which `apart` updates.
    """
    numbers = {}
    groups = [numbers.setdefault(value.memory, len(numbers)) for value in inputs]
    first = {}
    pairs = []
    for i, (value, group) in enumerate(zip(inputs, groups)):
        j = first.setdefault(group, i)
        if j != i:
            pairs.append((j, i, value.address - inputs[j].address))
    return groups, pairs, list(range(len(inputs)))


cdef struct Span:
    # The address range of an array, and its role in the executable.
    uintptr_t start
    uintptr_t end
    int number
    int group
    bint written


cdef int by_start(const void* a, const void* b) noexcept nogil:
    return ((<Span*> a).start > (<Span*> b).start) - ((<Span*> a).start < (<Span*> b).start)


cdef struct Reach:
    # The farthest end of the spans that begin before a position, and the farthest end among the other groups.
    uintptr_t end
    uintptr_t other_end
    int group


cdef void extend(Reach* reach, Span* span) noexcept nogil:
    if span.group == reach.group:
        reach.end = max(reach.end, span.end)
    elif span.end > reach.end:
        reach.other_end, reach.end, reach.group = reach.end, span.end, span.group
    else:
        reach.other_end = max(reach.other_end, span.end)


cdef bint runs_into(Reach* reach, Span* span) noexcept nogil:
    return (reach.end if reach.group != span.group else reach.other_end) > span.start


cdef bint apart(list arrays, list groups, list order, tuple written) except -1:
    """Whether no written array overlaps an array of a different group.

    The spans are visited by start address.  `order` is the order of the last call, which is usually still sorted.
    """
    cdef Py_ssize_t i, number = len(arrays)
    cdef Span* spans = <Span*> calloc(2 * number + 1, sizeof(Span))
    cdef Span* sorted_spans = spans + number
    cdef Span* span
    cdef Reach all_spans = Reach(0, 0, -1), those_written = Reach(0, 0, -1)
    cdef bint found = True, is_sorted = True
    cdef ndarray array
    if spans == NULL:
        raise MemoryError
    for i in range(number):
        array = <ndarray> arrays[i]
        span = &spans[i]
        ends_of(array, &span.start, &span.end)
        span.number, span.group = i, groups[i] if PyArray_SIZE(array) else -1  # an empty array has no memory
    for i in written:
        spans[i].written = True
    for i in range(number):
        sorted_spans[i] = spans[<Py_ssize_t> order[i]]
        is_sorted = is_sorted and (i == 0 or sorted_spans[i - 1].start <= sorted_spans[i].start)
    if not is_sorted:
        qsort(sorted_spans, number, sizeof(Span), by_start)
        for i in range(number):
            order[i] = sorted_spans[i].number
    for i in range(number):
        span = &sorted_spans[i]
        if span.group < 0:
            continue
        if runs_into(&all_spans if span.written else &those_written, span):
            found = False
            break
        extend(&all_spans, span)
        if span.written:
            extend(&those_written, span)
    free(spans)
    return found


cdef bint same_places(list arrays, tuple groups, tuple written) except -1:
    """Whether the arrays share memory as at the recording; new overlaps matter only if one of the arrays is written to."""
    cdef ndarray a, b
    cdef Py_ssize_t distance
    cdef int i, j
    for pair in <list> groups[1]:
        i, j, distance = pair
        a, b = arrays[i], arrays[j]
        if PyArray_BYTES(b) - PyArray_BYTES(a) != distance:
            return False
    return apart(arrays, groups[0], groups[2], written) if written else True
