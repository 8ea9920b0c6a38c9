# cython: boundscheck=False, wraparound=False
"""Instructions: flatten the tree of recorded calls to a list of operators.

Decides which operators stay whole.  An operator is replaced by its parts only if an outside instruction uses a value that exists
only inside it.  The tangents of an operator follow the operator.  `decompose` uses the same rule.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

import numpy as np

from .arrays cimport mapped
from .entries import entry_of
from .tracer cimport Call
from .tracer import STEPS
from .values import Source
from .values cimport Value, memory_of, values_in

CALLBACK = "callback"  # a function that the program calls back
GUARD = "guard"  # a value that Python reads: with a different value the call may take a different path

cdef dict drawing = {}  # name -> whether an argument is a generator
cdef dict entries = {}  # name of an operator in any of its forms -> its entry or None


cdef class Instruction:
    """One line of a program.

    Attributes
    ----------
    name : str
        Of the operator: `add`, `add_` for the in-place form, `add.out`.
    arguments : tuple
        In the order of the entry, with values for arrays.
    outputs : tree of Value
    line : tuple or None
        The user's line.
    read, made : list of Value
        The values among the arguments, and those among the outputs.
    target : Value or None
        The value that the instruction writes to, if it existed before.
    entry : OpInfo or None
        The spec's entry of the operator; None outside the spec.
    """

    def __init__(self, str name, tuple arguments, outputs, line):
        self.fill(name, arguments, outputs, line)

    cdef int fill(self, str name, tuple arguments, object outputs, object line) except -1:
        self.name, self.outputs, self.line = name, outputs, line
        self.made = values_in(outputs)
        entry = entries.get(name, self)
        if entry is self:
            entry = entries[name] = entry_of(name)
        self.entry = entry
        return self.take(arguments)

    def __repr__(self):
        return f"<Instruction {self.name}>"

    @property
    def arguments(self):
        return self.given

    @arguments.setter
    def arguments(self, tuple arguments):
        self.take(arguments)

    cdef int take(self, tuple arguments) except -1:
        self.given, self.read = arguments, values_in(arguments)
        if self.name.endswith(".out"):
            self.target = arguments[len(arguments) - 1]
        elif self.name.endswith("_"):
            self.target = arguments[0]
        return 0

    @property
    def reads_masks(self):
        """Whether the instruction reads booleans."""
        cdef Value value
        for value in self.read:
            if value.layout.boolean:
                return True
        return False

    cpdef Instruction replaced(self, tuple arguments, object outputs=None):
        """The same operator with different arguments."""
        return instruction(self.name, arguments, self.outputs if outputs is None else outputs, self.line)


cdef Instruction instruction(str name, tuple arguments, object outputs, object line):
    """`Instruction(...)` without the cost of a Python call."""
    cdef Instruction made = Instruction.__new__(Instruction)
    made.fill(name, arguments, outputs, line)
    return made


def straightened(Call root, results, apart=None):
    """The instructions of a program.

    Parameters
    ----------
    root : Call
    results : iterable of Value
        Values that are used after the program.
    apart : callable, optional
        Decides which operators to take apart in any case, from the call and the number of enclosing operators.
    """
    cdef list calls = [], lines = []
    cdef set opened = set()
    cdef Call call
    cdef Value value
    root.around = ()
    surround(root, (), calls)
    for call in calls:
        if call.kind == "operator" and call.inside is not None and composed(call):
            if apart is not None and apart(call, len(call.around)) or overtaken(call):
                opened.add(call)
    for call in calls:
        if call.kind in STEPS:
            for value in values_in(call.arguments):
                open_hosts(value, call, opened)
    for value in results:
        open_hosts(value, root, opened)
    for call in root.parts:
        place(call, opened, lines)
    return lines


cdef int surround(Call call, tuple hosts, list calls) except -1:
    """Note the operators around each call, up to an enclosing tangent, and collect all calls, the root first."""
    cdef Call part
    calls.append(call)
    if call.inside is None:
        return 0
    for part in call.inside:
        part.around = hosts
        if part.inside is None:
            calls.append(part)
        else:
            surround(part, () if part.kind == "tangent" else (*hosts, part) if part.kind == "operator" else hosts, calls)
    return 0


cdef int open_hosts(Value value, Call user, set opened) except -1:
    """Take apart the operators whose inside defines a value, unless they also enclose its user."""
    cdef Call host, definer = value.definer
    if definer is None or not definer.around:
        return 0
    for host in definer.around:
        if host is not user and host not in user.around and value not in values_in(host.outputs):
            opened.add(host)
    return 0


def within(Call call):
    """The calls inside an operator, without its tangents."""
    for part in call.parts:
        if part.kind != "tangent":
            yield part
            yield from within(part)


cdef bint composed(Call call) except -1:
    """Whether an operator's parts compute all of its results, so that they may replace it."""
    if call.inside is None:
        return False
    if call.writes:
        value = call.target
        if values_in(call.outputs) == [value] or call.name.endswith(".out"):
            for part in within(call):
                if part.writes and part.target.memory is value.memory:
                    return True
            return False
    for value in values_in(call.outputs):
        if value.definer is call:
            return False
    return True


cdef bint overtaken(Call call) except -1:
    """Whether an operator overwrites values that the tangents inside it were computed from."""
    if call.writes:
        for part in call.below():
            if part.kind == "tangent":
                return True
    return False


cdef int place(Call call, set opened, list lines) except -1:
    """Emit a call, or its parts in its place."""
    cdef Call part
    cdef Py_ssize_t first
    if call.kind not in STEPS or call in opened and composed(call):
        for part in call.parts:
            place(part, opened, lines)
        return 0
    if call.inside is None:
        lines.append(instruction(call.name, call.arguments, call.outputs, call.line))
        return 0
    later = tangents(call)
    if call in opened:  # the operator computes its result itself: its parts go before it, tangents and later parts behind
        first = 0
        while first < len(call.inside) and (<Call> call.inside[first]).kind != "tangent":
            place(<Call> call.inside[first], opened, lines)
            first += 1
        later = call.inside[first:]
    lines.append(instruction(call.name, call.arguments, call.outputs, call.line))
    for part in later:
        place(part, opened, lines)
    return 0


cdef list tangents(Call call):
    """The tangents inside an operator that stays whole."""
    cdef Call part
    cdef list found = []
    if call.inside is not None:
        for part in call.inside:
            if part.kind == "tangent":
                found.append(part)
            else:
                found += tangents(part)
    return found


cdef object other_values(object tree, dict names):
    """A tree with some values replaced."""
    if type(tree) is Value:
        return names.get(tree, tree)
    if type(tree) is tuple:
        return tuple([other_values(item, names) for item in <tuple> tree])
    if type(tree) is list:
        return [other_values(item, names) for item in <list> tree]
    return other_leaves(tree, names) if isinstance(tree, (dict, slice, tuple)) else tree


def other_leaves(tree, names):
    return mapped(tree, lambda item: names.get(item, item) if type(item) is Value else item)


cpdef list renamed(list lines, dict names):
    """The instructions with some values replaced."""
    cdef Instruction line
    return [line.replaced(other_values(line.given, names), other_values(line.outputs, names)) if uses_any(line, names) else line
            for line in lines]


cdef bint uses_any(Instruction line, dict values) except -1:
    """Whether an instruction reads or makes some values."""
    cdef Value value
    for value in line.read:
        if value in values:
            return True
    for value in line.made:
        if value in values:
            return True
    return False


# Queries of passes.


def does_something(Instruction line):
    """Whether an instruction is a callback with side effects, which must run exactly once."""
    return line.name == CALLBACK and line.arguments[0].kind != "pure"


cdef bint draws(Instruction line) except -1:
    """Whether an instruction may draw random numbers."""
    found = drawing.get(line.name)
    if found is None:
        found = drawing[line.name] = line.entry is not None and any(
            [kind.startswith("Generator") for _, kind, _, _ in line.entry.arguments])
    return found


cdef set written_memory(list lines):
    """The memory that instructions write to in place."""
    cdef Instruction line
    cdef set found = set()
    for line in lines:
        if line.target is not None:
            found.add(memory_of(line.target))
    return found


cdef object signature(object item, Naming naming):
    """A hashable form of arguments: equal if they agree to the last bit and in their classes.

    Raises
    ------
    TypeError
        An argument is a function or an object of a user's class.
    """
    cdef uint64_t bits
    cdef double number
    kind = type(item)
    if kind is Value:
        return (<Value> item).layout if naming == LAYOUTS else item
    if item is None or kind is bool or kind is str or item is Ellipsis:
        return item if kind is not bool else (kind, item)
    if kind is int:
        return (kind, item)
    if kind is float:
        number = item
        memcpy(&bits, &number, sizeof(double))
        return (kind, bits)
    if kind is complex:
        return (kind, signature(item.real, naming), signature(item.imag, naming))
    if kind is tuple:
        return (kind, *[signature(part, naming) for part in <tuple> item])
    if kind is list:
        return (kind, *[signature(part, naming) for part in <list> item])
    if kind is slice:
        return (kind, signature(item.start, naming), signature(item.stop, naming), signature(item.step, naming))
    if isinstance(item, np.dtype) or isinstance(item, type) and (
            issubclass(item, np.generic) or item in (bool, int, float, complex)):
        return (kind, item)
    if isinstance(item, np.generic):
        return (kind, item.dtype, item.tobytes())
    if kind is bytes:
        return item
    if isinstance(item, Source):
        return id(item)
    if isinstance(item, int) and naming != SIZES_REFUSED:
        return (kind, str(item))
    raise TypeError(f"no signature of {kind.__name__}")


cpdef tuple layouts_of(Instruction line):
    """The operator, its other arguments, and the layouts of its arrays, as a cache key between calls; None if an argument has no
    signature."""
    try:
        return (line.name, signature(line.given, LAYOUTS), None if line.outputs is None else signature(line.outputs, LAYOUTS))
    except TypeError:
        return None
