"""Parse the text of a program."""

cdef tuple nodes_of(str text, tuple inputs, tuple results)
