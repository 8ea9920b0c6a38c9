"""Pairs: two inner loops over one operand as one loop that gives both results, as a function and its slope.

Owns which loops have one; the kernel that has them says so.  It is an inner loop of an operand and two results, all contiguous,
that share no memory.  It gives the bits of the two loops and raises the floating-point flags of the first; the second raises
none.  Loops are known by what is called, so that an operator of any name that has them has the pair.
"""

from libc.stdint cimport uintptr_t

from .ufunc cimport offered

cdef dict _pairs = {}


cdef tuple key_of(Ufunc first, Ufunc second, int slot):
    return (
        <uintptr_t> first.loops[slot], <uintptr_t> first.loop_data[slot],
        <uintptr_t> second.loops[slot], <uintptr_t> second.loop_data[slot])


cdef int offer_pair(Ufunc first, Ufunc second, int slot, PyUFuncGenericFunction both) except -1:
    """Say that two loops have such a loop."""
    _pairs[key_of(first, second, slot)] = <uintptr_t> both
    return 0


cdef PyUFuncGenericFunction pair_of(str first, str second, int slot) noexcept:
    """The loop for two operators' loops; NULL where there is none."""
    return <PyUFuncGenericFunction> <uintptr_t> _pairs.get(key_of(offered(first), offered(second), slot), 0)


def is_pair(str first, str second, int slot):
    """Whether two operators' loops have such a loop, in this order."""
    return pair_of(first, second, slot) != NULL
