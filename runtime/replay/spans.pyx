# cython: boundscheck=False, wraparound=False
"""Spans: whether the arrays of a call share memory as those of a recording did.

Owns the comparison of addresses, and the search for arrays that are written to and reach into others.
"""

from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free, qsort

from ..support cimport capi as cnp
from ..support.capi cimport PyArray_BYTES, PyArray_SIZE, ndarray
from ..tracing.arrays cimport ends_of

cnp.import_array()


def differences(inputs):
    """Which arrays of a call share memory: for each the number of its group, and pairs with their distance in bytes."""
    numbers = {}
    groups = [numbers.setdefault(value.memory, len(numbers)) for value in inputs]
    first = {}
    pairs = []
    for i, (value, group) in enumerate(zip(inputs, groups)):
        j = first.setdefault(group, i)
        if j != i:
            pairs.append((j, i, value.address - inputs[j].address))
    return groups, pairs


cdef struct Span:
    # The memory from the first byte of an array to the last, and what the array is to the tape.
    uintptr_t start
    uintptr_t end
    int group
    bint written


cdef int by_start(const void* a, const void* b) noexcept nogil:
    return ((<Span*> a).start > (<Span*> b).start) - ((<Span*> a).start < (<Span*> b).start)


cdef struct Reach:
    # How far the spans reach that begin before a place: the farthest one, and the farthest one of another group.
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


cdef bint apart(list arrays, list groups, tuple written) except -1:
    """Whether no array that is written to reaches into the memory of one of another group.

    The spans are gone through in the order of their starts, so that many arrays cost little more than their sorting.
    """
    cdef Py_ssize_t count = 0, i, number = len(arrays)
    cdef Span* spans = <Span*> calloc(number + 1, sizeof(Span))
    cdef Span* span
    cdef Reach all_spans = Reach(0, 0, -1), those_written = Reach(0, 0, -1)
    cdef bint found = True
    cdef ndarray array
    if spans == NULL:
        raise MemoryError
    for i in range(number):
        array = arrays[i]
        span = &spans[i]
        ends_of(array, &span.start, &span.end)
        span.group = groups[i] if PyArray_SIZE(array) else -1  # without elements it has no memory
    for i in written:
        spans[i].written = True
    for i in range(number):
        if spans[i].group >= 0:
            spans[count] = spans[i]
            count += 1
    qsort(spans, count, sizeof(Span), by_start)
    for i in range(count):
        span = &spans[i]
        if runs_into(&all_spans if span.written else &those_written, span):
            found = False
            break
        extend(&all_spans, span)
        if span.written:
            extend(&those_written, span)
    free(spans)
    return found


cdef bint same_places(list arrays, tuple groups, tuple written) except -1:
    """Whether the arrays share memory as those that the tape was made of; of others only where it writes to one."""
    cdef ndarray a, b
    cdef Py_ssize_t distance
    cdef int i, j
    for pair in <list> groups[1]:
        i, j, distance = pair
        a, b = arrays[i], arrays[j]
        if PyArray_BYTES(b) - PyArray_BYTES(a) != distance:
            return False
    return apart(arrays, groups[0], written) if written else True
