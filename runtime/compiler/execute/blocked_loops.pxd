"""Blocked loops: run loops over many elements block by block, together with a sum of their results."""

from ...support.capi cimport npy_intp
from .frames cimport Frame
from .executable cimport Executable

cdef int complain(Executable executable, int i, int flags) except -1
cdef int run_blocks(Executable executable, Frame frame, int first) except -1
cdef int run_rows(Executable executable, Frame frame, int i) except -1
cdef int run_sum(Executable executable, Frame frame, int first, int loops, npy_intp room) except -1
