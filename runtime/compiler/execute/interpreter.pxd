"""Playing: the steps of an executable, one after the other."""

from .executable cimport Executable

cdef list run(Executable executable, list given)
