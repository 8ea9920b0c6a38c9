"""Beam search: find an order of a short program's lines that needs little memory."""

cdef class Line:
    """A line of a program, with the lines that it depends on."""

    cdef Py_ssize_t number, bytes, pending
    cdef Py_ssize_t place       # index among the lines, during a search
    cdef list before, behind    # lines
    cdef list rooms             # memory that it uses, each once
    cdef bint alike             # whether its result may overwrite an operand
    cdef bint done
    cdef bint gate              # an artificial line: its successors wait for its predecessors

cdef class Room:
    """Memory shared by values."""

    cdef Py_ssize_t bytes       # that the program allocates
    cdef Py_ssize_t last, other  # the last line that uses it, and the last but one
    cdef Py_ssize_t users, left
    cdef Py_ssize_t place       # index among the rooms, during a search
    cdef Line writer
    cdef list readers           # since the last write

cdef list search_orders(list lines, list gates, list rooms)
