# cython: boundscheck=False, wraparound=False
"""Constant folding: compute instructions with constant operands once.

Values that are written to in place, and values that share memory with others, are left alone.
"""

from ....core.grad_mode import no_grad
from ....core.conversion import asarray
from ..calling import by_entry
from ..instructions cimport Instruction, draws, other_values, signature, written_memory, SIZES_REFUSED
from ..arrays import held
from ..arrays cimport mapped
from ..values cimport Value

import numpy as np

LARGEST = 1 << 16  # bytes of a constant that is computed once for all


def fold_constants(list lines, returned):
    """The instructions, small ones of constants alone computed once for all, where nothing else looks at their memory."""
    cdef Instruction line
    cdef Value value, constant
    cdef set shared = set(returned)
    cdef dict constants = {}
    cdef list kept = []
    for line in lines:
        for value in line.read:
            if value.shared is not None:
                shared.add(value.shared)
        for value in line.made:
            if value.shared is not None:
                shared.add(value.shared)
    for value in returned:
        if value.shared is not None:
            shared.add(value.shared)
    shared |= written_memory(lines)
    for line in lines:
        if constants and reads_any(line, constants):
            line = line.replaced(other_values(line.given, constants))
        found = computed(line, shared)
        if found is None:
            kept.append(line)
            continue
        constant = Value("constant", found, None, (<Value> line.outputs).name)
        constant.data, constant.line = found, line.line
        constants[line.outputs] = constant
    return kept


cdef bint reads_any(Instruction line, dict values) except -1:
    for value in line.read:
        if value in values:
            return True
    return False


cdef object computed(Instruction line, set shared):
    """The result of an instruction of constants; None if an argument is not a constant."""
    cdef Value out, value
    for value in line.read:
        if value.kind != "constant" or value.data is None or value.shared is not None or value in shared:
            return None
    if type(line.outputs) is not Value or line.target is not None or line.entry is None or draws(line):
        return None
    out = line.outputs
    if out.shared is not None or out in shared:
        return None
    if out.layout.dtype.itemsize * out.layout.count > LARGEST or 0 in out.layout.strides:
        return None
    try:
        signature(line.arguments, SIZES_REFUSED)
    except TypeError:
        return None
    function = by_entry(line.name, len(line.arguments))
    return None if function is None else result_of(function, line.arguments, out)


def result_of(function, arguments, out):
    with no_grad(), np.errstate(all="ignore"):
        result = held(function(*mapped(arguments, lambda item: asarray(item.data) if type(item) is Value else item)))
    fits = result is not None and result.shape == out.shape and result.dtype == out.dtype and result.strides == out.strides
    return result.copy(order="K") if fits else None
