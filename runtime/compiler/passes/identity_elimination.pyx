# cython: boundscheck=False, wraparound=False
"""Identity elimination: remove operators that return an operand unchanged, such as the product by the ones in a sum's gradient.

Decides when that is safe.  One operand is a constant 1, and the operator, run once, returns numbers of every kind unchanged to
the bit and without a warning.  None of the three values may be returned or written to, and the result must have no views.  The
operand has to come from a loop that gives no signalling NaN, because arithmetic would warn about it.
"""

from functools import cache

from ...core.grad_mode import no_grad
from ...core.conversion import asarray
from ..tracing.calling import by_entry
from ..tracing.instructions cimport Instruction, renamed, written_memory
from ..tracing.values cimport Value, memory_of
from ..execute.executable import loop_of

import numpy as np

SIGNALLING = {
    np.dtype("float32"): np.array([0x7FA00000], np.uint32).view(np.float32),
    np.dtype("float64"): np.array([0x7FF4 << 48], np.uint64).view(np.float64),
}


def eliminate_identities(list lines, returned):
    """The instructions, without arithmetic that returns one of its operands."""
    cdef Instruction line
    cdef Value value, other
    cdef dict found = {}, makers = {}, names = {}
    cdef set kept, looked
    for line in lines:
        other = given_back(line)
        if other is not None:
            found[line] = other
    if not found:
        return lines
    kept, looked = written_memory(lines), set()
    for value in returned:
        kept.add(memory_of(value))
    for line in lines:
        for value in line.read:
            looked.add(value.shared)
        for value in line.made:
            looked.add(value.shared)
            makers.setdefault(value, line)  # only the first: a later one, as `conj` of reals, returns it
    for line, other in list(found.items()):
        if line.outputs in looked or touches(line, kept) or other not in makers or not is_quiet(makers[other]):
            found.pop(line)
        else:
            names[line.outputs] = names.get(other, other)
    return renamed([line for line in lines if line not in found], names) if found else lines


cdef bint touches(Instruction line, set memory) except -1:
    """Whether an instruction reads or computes a value in some memory."""
    cdef Value value
    for value in (*line.read, *line.made):
        if memory_of(value) in memory:
            return True
    return False


cdef Value given_back(Instruction line):
    """The operand that arithmetic returns unchanged; None for any other instruction."""
    cdef Value out, other
    cdef int place
    if len(<tuple> line.given) != 2 or line.target is not None or type(line.outputs) is not Value:
        return None
    out = line.outputs
    if out.shared is not None:
        return None
    for place in range(2):
        if type(line.given[1 - place]) is Value and is_one(line.given[place]):
            other = line.given[1 - place]
            if other.shared is None and other.layout is out.layout and is_neutral(line.name, dtypes_of(line.given), place):
                return other
    return None


cdef bint is_one(object item) except -1:
    """Whether all elements of an operand are 1."""
    cdef Value memory
    if type(item) is not Value:
        return type(item) in (int, float) and item == 1
    memory = memory_of(item)
    if memory.kind != "constant" or memory.data is None:
        return False
    return memory.layout.count == 1 and memory.dtype == (<Value> item).dtype and memory.data.item() == 1


cdef tuple dtypes_of(tuple operands):
    """The dtypes of operands, as `loop_of` expects them."""
    return tuple([(<Value> item).dtype if type(item) is Value else None for item in operands])


@cache
def is_neutral(name, dtypes, place):
    """Whether arithmetic with 1 as the operand at `place` returns the other operand unchanged, for these dtypes."""
    loop, function, dtype = loop_of(name, dtypes), by_entry(name, 2), dtypes[1 - place]
    if loop is None or not loop[2] or function is None or dtype not in SIGNALLING:
        return False
    limits = np.finfo(dtype)
    sizes = np.array([0, 1, 0.1, 3, limits.smallest_subnormal, limits.tiny, limits.eps, limits.max, np.inf, np.nan], dtype)
    others = np.concatenate([sizes, -sizes])
    operands = [asarray(others), asarray(others)]
    operands[place] = 1 if dtypes[place] is None else asarray(np.ones((), dtype))
    try:
        with no_grad(), np.errstate(all="raise"):
            given = function(*operands).numpy()
    except FloatingPointError:
        return False
    return given.dtype == dtype and given.tobytes() == others.tobytes()


cdef bint is_quiet(Instruction line) except -1:
    """Whether an instruction is a loop that returns no signalling NaN."""
    for item in <tuple> line.given:
        if type(item) not in (Value, int, float):
            return False
    return makes_quiet(line.name, dtypes_of(line.given))


@cache
def makes_quiet(name, dtypes):
    """Whether a loop returns no signalling NaN even for such operands, so that arithmetic on its result does not warn."""
    function = by_entry(name, len(dtypes))
    if loop_of(name, dtypes) is None or function is None:
        return False
    operands = [1.0 if dtype is None else asarray(SIGNALLING.get(dtype, np.ones(1, dtype))) for dtype in dtypes]
    with no_grad(), np.errstate(all="ignore"):
        given = function(*operands).numpy()
    try:
        with np.errstate(invalid="raise"):
            given * given.dtype.type(1)
    except FloatingPointError:
        return False
    return True
