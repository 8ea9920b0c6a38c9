# cython: boundscheck=False, wraparound=False
"""Common subexpressions: compute equal expressions once.

Decides which instructions are equal.  Values that are written to in place are left alone, and each result stays a separate array.
"""

from ..instructions cimport Instruction, NAMES, draws, other_values, signature, written_memory
from ..values cimport Value, memory_of


def share_subexpressions(list lines, returned):
    """The instructions, each computed once where the same is asked for again."""
    cdef Instruction line, first
    cdef Value value
    cdef set alone = written_memory(lines)
    cdef set looked_at = set()  # memory that other values look at, which stay
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
            if made_by_others(line, names):  # the operand itself, as ravel of a vector: its other value is known
                continue
        kept.append(line)
        if line.target is not None or not line.made or draws(line) or not is_alone(line, alone, looked_at, names):
            continue
        try:
            key = line.name, signature(line.given, NAMES)
        except TypeError:  # of a function, or of an object of the user's
            continue
        first = found.setdefault(key, line)
        if first is not line and len(first.made) == len(line.made):
            kept.pop()
            for value, other in zip(line.made, first.made):
                if value is not other:
                    names[value] = other
    return kept


cdef bint reads_any(Instruction line, dict values) except -1:
    for value in line.read:
        if value in values:
            return True
    return False


cdef bint made_by_others(Instruction line, dict values) except -1:
    for value in line.made:
        if value not in values:
            return False
    return bool(line.made)


cdef bint is_alone(Instruction line, set alone, set looked_at, dict names) except -1:
    """Whether a line makes memory of its own, and nothing that it touches is written to or returned."""
    cdef Value value
    for value in line.made:
        if value.shared is not None or value in alone or value in looked_at or value in names:
            return False
    for value in line.read:
        if memory_of(value) in alone:
            return False
    return True
