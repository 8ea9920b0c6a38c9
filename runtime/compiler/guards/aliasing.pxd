cdef bint same_places(list arrays, tuple groups, tuple written) except -1
