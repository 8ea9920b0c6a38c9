"""What the text of a program says."""

cdef tuple nodes_of(str text, tuple inputs, tuple results)
