"""Fusion: defer calls of programs and compute them as one program.

Holds the program that grows with each call of a ufunc or program on deferred values of one shape.  It runs when a value is
needed, or when it has reached the size limit of a plan.  Every element has the same bits as with separate calls, because the
loops and their operands are the same.  A repeated expression is computed once; a value without references is neither computed nor
stored. The order of a result in memory may differ from the order with separate calls.  A sum over the result then adds in a
different order, which may change its last bit.  Does not depend on autograd.
"""

from cpython.list cimport PyList_GET_ITEM
from cpython.ref cimport PyObject

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_CheckExact, PyArray_NDIM, PyArray_TYPE
from ..loops.plain cimport has_shape, is_plain, is_spread, same_shape, slot_or_bool
from .plan cimport ABSENT, FLOAT, INT, RESULT, UNIFORM, Plan
from .program cimport Program, program_of
from .ufunc cimport Ufunc

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject*)

cnp.import_array()

cdef enum:
    MOST_INPUTS = 16
    MOST_NODES = 32     # and results
    MOST_PROGRAMS = 512

cdef npy_intp large = 3 << 16  # elements that make fusion worthwhile: about the size that exceeds a core's own cache

cdef int[5] TYPES = [cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128, cnp.NPY_BOOL]

cdef dict programs = {}     # (number of inputs, nodes, results) -> Program
cdef dict single = {}       # Ufunc -> a program that consists of one call of it


cdef class Fused(Deferred):
    """A value of a fusion, or an array that is one of its inputs."""

    cdef ndarray computed(self):
        if self.array is None:
            self.fusion.compute()
        return self.array

    cdef object call(self, object function, tuple operands, unsigned int wanted):
        for item in operands:
            if isinstance(item, Fused) and (<Fused> item).fusion is not None:
                return (<Fused> item).fusion.apply(function, operands, wanted)
        return eager(function, operands, wanted)

    cdef bint fits(self, int ndim, npy_intp* dims, int type_num) noexcept:
        """Whether the array has this shape and dtype."""
        return TYPES[self.slot] == type_num and has_shape(self.fusion.like, ndim, dims)


cdef class Fusion:
    """A growing program over operands of one shape."""

    cdef Fused leaf(self, ndarray array):
        """An array as a value, for use as an operand of deferred calls."""
        cdef Fused value = Fused.__new__(Fused)
        value.fusion, value.array, value.slot = self, array, slot_or_bool(PyArray_TYPE(array))
        return value

    cdef bint takes(self, ndarray array) noexcept:
        """Whether an array may be a leaf."""
        return slot_or_bool(PyArray_TYPE(array)) >= 0 and same_shape(self.like, array) and (is_plain(array) or is_spread(array))

    cdef object apply(self, object function, tuple operands, unsigned int wanted):
        """The result of a ufunc or a program: deferred values, or arrays if some operand is not supported."""
        cdef Program program
        cdef Plan plan
        cdef Fused value
        cdef unsigned long long key = 0
        cdef bint spread = False
        cdef list given = list(operands), places, results
        cdef int i, j, code
        if isinstance(function, Ufunc):
            if (<Ufunc> function).keeps_reals and (<Fused> operands[0]).slot < 2:
                return operands[0]
            program = single.get(function)
            if program is None:
                program = single[function] = program_of(
                    len(operands), [(function, *range(len(operands)))], (len(operands),))
        else:
            program = function
        if program.nodes is None:
            program.read()
        if len(self.nodes) + len(program.nodes) > MOST_NODES or len(self.inputs) + len(operands) > MOST_INPUTS:
            self.compute()
        for i, item in enumerate(operands):
            if isinstance(item, Fused):
                value = item
                if value.fusion is self and value.array is None:
                    key |= <unsigned long long> value.slot << 4 * i
                    continue
                given[i] = item = value.computed()
            if PyArray_CheckExact(item):
                code = slot_or_bool(PyArray_TYPE(<ndarray> item))
                if code < 0:
                    return eager(function, operands, wanted)
                if is_plain(<ndarray> item) and PyArray_NDIM(<ndarray> item) == 0:
                    code += UNIFORM
                elif not self.takes(<ndarray> item):
                    return eager(function, operands, wanted)
                elif not is_plain(<ndarray> item):
                    code += UNIFORM
                    spread = True
            elif type(item) is float:
                code = FLOAT
            elif type(item) is int:
                code = INT
            elif item is None:
                code = ABSENT
            else:
                return eager(function, operands, wanted)
            key |= <unsigned long long> code << 4 * i
        plan = program.find(key)
        if not plan.works:
            return eager(function, operands, wanted)
        if plan.has_uniform and (self.has_spread or spread) or spread and self.has_uniform:
            self.compute()  # broadcast operands go through the loops, 0-d operands are computed before them
            return eager(function, operands, wanted)
        results = [None] * len(program.results)
        for i in range(plan.register_count):
            if plan.registers[i].place == RESULT:
                if plan.registers[i].step == 0:
                    return eager(function, operands, wanted)
                if wanted >> plan.registers[i].index & 1:
                    value = results[plan.registers[i].index] = Fused.__new__(Fused)
                    value.fusion, value.slot = self, plan.registers[i].slot
        if not self.nodes or self.labels[len(self.labels) - 1][1] is not self.label:
            self.labels.append((len(self.nodes), self.label))
        self.has_spread, self.has_uniform = self.has_spread or spread, self.has_uniform or plan.has_uniform
        places = [self.place_of(item) for item in given]
        for node in program.nodes:
            if node[0] is not None:
                node = (node[0], *[places[j] for j in node[1:]])
            name = (type(node[1]), node)  # 1 and 1.0 are different numbers
            if name not in self.known:
                self.known[name] = len(self.nodes)
                self.nodes.append(node)
            places.append(self.known[name])
        for i, item in enumerate(results):
            if item is not None:
                value = item
                value.place = places[program.results[i]]
                self.values.append(value)
        return results[0] if len(results) == 1 else tuple(results)

    cdef int place_of(self, object operand) except? -9999:
        """The position of an operand among inputs and nodes."""
        cdef Fused value
        if isinstance(operand, Fused):
            value = operand
            return value.place
        place = self.places.get(id(operand))
        if place is None:
            place = self.places[id(operand)] = ~<int> len(self.inputs)
            self.inputs.append(operand)
        return place

    cdef int compute(self) except -1:
        """Compute the values that have references, and start a new program."""
        cdef list held = [], places
        cdef dict found
        cdef Py_ssize_t i, count = len(self.inputs)
        cdef Program program
        cdef Fused value
        for i in range(len(self.values)):
            if Py_REFCNT(PyList_GET_ITEM(self.values, i)) > 1:
                held.append(self.values[i])
        if held:
            places = sorted({(<Fused> item).place for item in held})
            name = (count, tuple(self.nodes), tuple(places))
            program = programs.get(name)
            if program is None:
                if len(programs) >= MOST_PROGRAMS:
                    programs.clear()
                program = programs[name] = program_of(
                    count, [node if node[0] is None else (node[0], *[~p if p < 0 else count + p for p in node[1:]])
                            for node in self.nodes], tuple([count + p for p in places]))
            try:
                results = program.run(tuple(self.inputs))
            except Exception:
                self.failed = self.label_of(program.computing - count)
                raise
            found = dict(zip(places, (results,) if len(places) == 1 else results))
            results = None
            for item in held:
                value = item
                value.array, found[value.place] = found[value.place], None
                if value.array is None:  # an expression that separate calls would have computed twice
                    value.array = next(iter([
                        (<Fused> other).array for other in held if (<Fused> other).place == value.place])).copy()
                value.fusion = None
                if self.computed is not None:
                    self.computed.append(value.array)
        return self.clear()

    cdef object label_of(self, Py_ssize_t node):
        """The label of the call that a node belongs to."""
        return next(iter([label for before, label in reversed(self.labels) if before <= node]), self.label)

    cdef int clear(self) except -1:
        """Forget all calls."""
        self.inputs, self.places, self.nodes, self.known, self.values, self.labels = [], {}, [], {}, [], []
        self.has_spread = self.has_uniform = False
        return 0


cdef object eager(object function, tuple operands, unsigned int wanted):
    """Apply the function to arrays, computing deferred operands first."""
    operands = tuple([(<Fused> item).computed() if isinstance(item, Fused) else item for item in operands])
    if isinstance(function, Ufunc):
        return (<Ufunc> function).apply(operands)
    return (<Program> function).run(operands, wanted)


cdef Fusion start_fusion(ndarray array):
    """A fusion for values of the array's shape."""
    cdef Fusion fusion = Fusion.__new__(Fusion)
    fusion.like = np.broadcast_to(np.empty(()), (<object> array).shape)
    fusion.clear()
    return fusion


cdef npy_intp large_size() noexcept:
    """The least number of elements for deferred calls."""
    return large


def set_large(npy_intp size):
    """Set the least number of elements for deferred calls, and return the old one.  Results do not depend on it."""
    global large
    before, large = large, size
    return before
