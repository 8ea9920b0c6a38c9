"""Playing: the steps of a tape, one after the other."""

from .executable cimport Tape

cdef list run(Tape tape, list given)
