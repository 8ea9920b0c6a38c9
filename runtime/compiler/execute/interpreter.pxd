"""Interpreter: run the steps of an executable in order."""

from .executable cimport Executable

cdef list run(Executable executable, list given)
