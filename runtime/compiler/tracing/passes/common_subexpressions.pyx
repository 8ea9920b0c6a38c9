# cython: boundscheck=False, wraparound=False
"""Common subexpressions: compute equal instructions once.

Decides which instructions are equal.  Memory written in place is excluded, and each result keeps its own array.
"""

from ..instructions cimport Instruction, NAMES, draws, other_values, signature, written_memory
from ..values cimport Value, memory_of


def share_subexpressions(list lines, returned):
    """The instructions, without repetitions of an equal instruction."""
    cdef Instruction line, first
    cdef Value value
    cdef set alone = written_memory(lines)
    cdef set looked_at = set()  # memory that has views; instructions that allocate it stay
    cdef dict found = {}, names = {}
    cdef list kept = []
    for value in returned:
        alone.add(memory_of(value))
    for line in lines:
        for value in line.read:
            if value.shared is not None:
                looked_at.add(value.shared)
        for value in line.made:
            if value.shared is not None:
                looked_at.add(value.shared)
    for line in lines:
        if names and reads_any(line, names):
            line = line.replaced(other_values(line.given, names))
        kept.append(line)
        if line.target is not None or not line.made or draws(line) or not is_alone(line, alone, looked_at):
            continue
        try:
            key = line.name, signature(line.given, NAMES)
        except TypeError:  # an argument is a function or a user's object
            continue
        first = found.setdefault(key, line)
        if first is not line and len(first.made) == len(line.made):
            kept.pop()
            for value, other in zip(line.made, first.made):
                names[value] = other
    return kept


cdef bint reads_any(Instruction line, dict values) except -1:
    for value in line.read:
        if value in values:
            return True
    return False


cdef bint is_alone(Instruction line, set alone, set looked_at) except -1:
    """Whether an instruction allocates its results, and no memory that it uses is written to or returned."""
    cdef Value value
    for value in line.made:
        if value.shared is not None or value in alone or value in looked_at:
            return False
    for value in line.read:
        if memory_of(value) in alone:
            return False
    return True
