"""Kernel calls: call the forwards of operators on arrays, as their wrappers do.

Decides which instructions may be called this way.  Arguments that are not arrays are converted once, with the wrapper's
conversions.  Composite operators, operators that draw, and in-place operators keep their wrappers.
"""

from ...core.arguments cimport as_bool, as_dtype, as_float, as_int, as_ints, as_scalar, as_str
from ...core.conversion cimport as_index, index_of
from ..tracing.entries import compiled_in
from ..tracing.instructions cimport Instruction
from ..tracing.values cimport Value, values_in

MOST = 10  # arguments of a function called by its address
BOUND = object()  # marks an argument that each call fills in

cdef dict capsules = {}  # name of an operator -> its forward, or None


def forward_from(Instruction line):
    """The call of an instruction's forward.

    Returns
    -------
    (capsule, tuple, tuple, tuple) or None
        The function, its arguments with None in place of arrays, the positions and values of the arrays, and the positions of
        arrays that it may overwrite with its result.
    """
    cdef list given = [], filled = [], over = []
    cdef int i
    entry = line.entry
    if entry is None or line.target is not None or entry.form == "composite" or len(entry.arguments) != len(line.given):
        return None
    if line.name != entry.name or len(line.given) > MOST:
        return None
    capsule = forward_named(entry)
    if capsule is None:
        return None
    for i, (argument, kind, _, _) in enumerate(entry.arguments):
        item = line.given[i]
        try:
            found = converted(item, kind, line.name, argument)
        except (TypeError, ValueError, OverflowError):
            return None
        if found is BOUND:
            filled.append((i, item))
            if argument in entry.over:
                over.append(i)
        given.append(None if found is BOUND else found)
    return capsule, tuple(given), tuple(filled), tuple(over)


def forward_named(entry):
    """The capsule of an operator's forward."""
    if entry.name not in capsules:
        capsules[entry.name] = compiled_in(entry, "kernels", f"forward_{entry.name.rpartition('.')[2]}")
    return capsules[entry.name]


cdef object converted(object item, str kind, str op, str argument):
    """An argument in the form that the forward takes; BOUND for an array.

    Raises
    ------
    TypeError
        Only the wrapper can handle this argument.
    """
    cdef str base = kind.rstrip("?").partition("|")[0]
    cdef str plain = base.partition("[")[0], length
    if base == "Generator":  # None means the default generator
        raise TypeError
    if item is None or isinstance(item, str) and "|" in kind:
        return item
    if type(item) is Value:
        if base == "Array" or base == "Index" or base == "Mask" and (<Value> item).dtype.kind == "b":
            return BOUND
        raise TypeError
    if values_in(item):
        raise TypeError
    if base == "Array" and type(item) in (int, float, complex, bool):
        return item
    if base == "Index":
        return index_of(as_index(item, op, argument))
    if plain == "int":
        length = base[4:-1]
        return as_int(item, op, argument) if base == "int" else as_ints(item, op, argument, int(length) if length else -1)
    if base == "bool":
        return as_bool(item, op, argument)
    if base == "float":
        return as_float(item, op, argument)
    if base == "Scalar":
        return as_scalar(item, op, argument)
    if base == "DType":
        return as_dtype(item, op, argument)
    if base == "str":
        return as_str(item, op, argument)
    raise TypeError
