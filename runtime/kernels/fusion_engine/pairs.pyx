"""Pairs: one loop that computes two inner loops over one operand, such as a function and its slope.

Holds the pairs, which their kernels register.  A pair is an inner loop with one operand and two results, all contiguous, that
share no memory.  It computes the bits of the two loops and raises the floating-point flags of the first; the second must raise
none.  Loops are identified by their functions, so that every operator with these loops has the pair, whatever its name.
"""

from libc.stdint cimport uintptr_t

from .ufunc cimport offered

cdef dict _pairs = {}


cdef tuple key_of(Ufunc first, Ufunc second, int slot):
    return (
        <uintptr_t> first.loops[slot], <uintptr_t> first.loop_data[slot],
        <uintptr_t> second.loops[slot], <uintptr_t> second.loop_data[slot])


cdef int offer_pair(Ufunc first, Ufunc second, int slot, PyUFuncGenericFunction both) except -1:
    """Register a loop that computes two loops."""
    _pairs[key_of(first, second, slot)] = <uintptr_t> both
    return 0


cdef PyUFuncGenericFunction pair_of(str first, str second, int slot) noexcept:
    """The pair of two operators' loops, or NULL."""
    return <PyUFuncGenericFunction> <uintptr_t> _pairs.get(key_of(offered(first), offered(second), slot), 0)


def is_pair(str first, str second, int slot):
    """Whether two operators' loops have a pair, in this order."""
    return pair_of(first, second, slot) != NULL
