"""Searched: the order of a short program's lines that needs least memory, as far as a search comes across it."""

cdef class Line:
    """A line, and what it waits for."""

    cdef Py_ssize_t number, bytes, pending
    cdef Py_ssize_t place       # among the lines, while an order is searched
    cdef list before, behind    # lines
    cdef list rooms             # that it uses, each once
    cdef bint alike             # whether its result may lie where an operand lay
    cdef bint done
    cdef bint gate              # it is none of the program's: what follows it waits for what it follows

cdef class Room:
    """Memory of values."""

    cdef Py_ssize_t bytes       # that the program makes
    cdef Py_ssize_t last, other  # the last line that uses it, and the last but one
    cdef Py_ssize_t users, left
    cdef Py_ssize_t place       # among the rooms, while an order is searched
    cdef Line writer
    cdef list readers           # since it was written to

cdef list search_orders(list lines, list gates, list rooms)
