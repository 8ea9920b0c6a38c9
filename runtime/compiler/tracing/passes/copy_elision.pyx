# cython: boundscheck=False, wraparound=False
"""Copy elision: remove a copy that cannot be distinguished from its source.

Removes it if neither is written to afterwards, or the source is not used any more; if both have one layout in memory of their
own, without other views; and if not both are returned.  Gradients that a backward pass hands over are such copies.
"""

from ..instructions cimport Instruction, renamed
from ..values cimport Value


def elide_copies(list lines, returned):
    """The instructions, without such copies."""
    cdef Instruction line
    cdef Value value, source, out
    cdef dict writes = {}, names = {}, last = {}  # of memory: the last line that writes to it, and that uses it
    cdef set looked = set(), kept_back = set(returned)
    cdef list copies = []
    cdef Py_ssize_t number
    for number in range(len(lines)):
        line = lines[number]
        if line.target is not None:
            writes[line.target.memory] = last[line.target.memory] = number
        for value in line.read:
            last[value] = number
            if value.shared is not None:
                looked.add(value.shared)
        for value in line.made:
            last[value] = number
            if value.shared is not None:
                looked.add(value.shared)
        if line.name == "copy" and line.target is None and len(line.read) == 1 and type(line.outputs) is Value:
            copies.append(number)
    for value in returned:
        last[value] = len(lines)
        if value.shared is not None:
            looked.add(value.shared)
    gone = set()
    for number in copies:
        line = lines[number]
        source, out = line.read[0], line.outputs
        if source.kind != "result" or source.shared is not None or out.shared is not None or source.layout is not out.layout:
            continue
        if source in looked or out in looked:
            continue
        while source in names:
            source = names[source]
        if (out in writes or writes.get(source, -1) > number) and last[source] > number:
            continue
        if out not in kept_back:
            names[out], kept = source, source
        elif source not in kept_back:
            names[source], kept = out, out
        else:
            continue
        last[kept] = max(last[source], last[out])
        writes[kept] = max(writes.get(source, -1), writes.get(out, -1))
        gone.add(number)
    if not gone:
        return lines
    for value in list(names):
        source = names[value]
        while source in names:
            source = names[source]
        names[value] = source
    return renamed([line for number, line in enumerate(lines) if number not in gone], names)
