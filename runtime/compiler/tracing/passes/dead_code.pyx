# cython: boundscheck=False, wraparound=False
"""Dead code: remove instructions that no result, guard, random draw, callback or write to an input depends on."""

from ..instructions cimport Instruction, draws
from ..instructions import GUARD, does_something
from ..values cimport Value, memory_of


def eliminate_dead_code(list lines, returned):
    """The instructions that results, guards, draws and writes to inputs need."""
    cdef Instruction line
    cdef Value value, owner
    cdef set live = set(returned), memory = set()
    cdef list kept = []
    cdef Py_ssize_t i
    cdef bint wanted
    for value in returned:
        memory.add(memory_of(value))
    for i in range(len(lines) - 1, -1, -1):
        line = lines[i]
        wanted = False
        for value in line.made:
            if value in live:
                wanted = True
                break
        if not wanted and line.target is not None:
            owner = memory_of(line.target)
            wanted = owner in memory or owner.kind == "input"
        if wanted or line.name == GUARD or draws(line) or does_something(line):
            kept.append(line)
            for value in line.read:
                live.add(value)
                memory.add(memory_of(value))
    kept.reverse()
    return kept
