"""Elementwise formulas as straight-line programs of inner loops, run block by block in cache.

A program is a formula over operators that are ufuncs.  It runs in one of two ways, with bitwise equal results.  In blocks: each
inner loop processes a few thousand elements at a time, and intermediate values stay in cache; large arrays use several threads,
without the GIL.  This way requires plain arrays of one shape; an array may also be a single element, a row or a column, broadcast
to that shape.  Step by step: each ufunc processes whole arrays.  This way is for all other operands, and for a block that raised
a floating-point flag, so that NumPy warns as `numpy.errstate` says.  Does not depend on autograd.
"""

from cpython.ref cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.stdlib cimport free, malloc

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp,
)
from .broadcast cimport Rows, find_rows
from .deferred cimport Deferred, deferred_among
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.memory cimport empty
from .numbers cimport Number, store_number
from ..loops.plain cimport is_plain, is_spread, item_size, same_shape, slot_or_bool
from .plan cimport (
    ABSENT, ARITY, COMPUTED, FLOAT, INPUT, INT, KNOWN, MOST, NUMBER, RESULT, SCRATCH, UNIFORM, Plan, Register, Step, make_plan,
)
from .program_text cimport nodes_of
from ..loops.threads cimport GRAIN, parallel
from .ufunc cimport Ufunc

cnp.import_array()

cdef extern from "numpy/arrayobject.h" nogil:
    bint PyArray_ISBEHAVED_RO(ndarray)

cdef enum:
    BLOCK = 512             # elements per call of an inner loop
    CHUNK = 3 << 13         # additions per task of a thread
    NEAR = 8192             # bytes of scratch memory taken from the stack
    SHORT = 16              # elements of a row; with shorter rows whole arrays are faster

cdef npy_intp block_size = BLOCK

cdef int[5] TYPES = [cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128, cnp.NPY_BOOL]

cdef struct Frame:
    Step* steps
    Register* registers
    int step_count, register_count, scratch
    unsigned int wanted
    char* base[MOST]        # of each register except in scratch memory
    npy_intp length         # of a row, if some operand is broadcast to rows; else 0
    npy_intp repeats[MOST]  # for such an operand: number of consecutive rows that are equal,
    npy_intp strides[MOST]  # bytes between distinct rows,
    npy_intp periods[MOST]  # number of distinct rows, after which it repeats; 0 for other registers
    bint raised             # a floating-point flag was raised, or there is no memory


cdef void run_part(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """All steps for some of the elements, or for some of the rows if an operand is a row or a column."""
    cdef Frame* frame = <Frame*> context
    cdef char[NEAR] near
    cdef char* scratch = near
    cdef char* at[MOST]
    cdef npy_intp longest = stop - start if frame.length == 0 else frame.length
    cdef npy_intp room = (min(longest, block_size) + 15) & ~15, row
    cdef Register* register
    cdef int i
    if frame.scratch * room > NEAR:
        scratch = <char*> malloc(frame.scratch * room)
        if scratch == NULL:
            frame.raised = True
            return
    fp_clear()
    for row in range(start, start + 1 if frame.length == 0 else stop):
        for i in range(frame.register_count):
            register = &frame.registers[i]
            if register.place == SCRATCH:
                at[i] = scratch + register.index * room
            elif frame.length == 0:
                at[i] = frame.base[i] + start * register.step
            elif frame.periods[i]:
                at[i] = frame.base[i] + row // frame.repeats[i] % frame.periods[i] * frame.strides[i]
            else:
                at[i] = frame.base[i] + row * frame.length * register.step
        run_blocks(frame, at, longest)
        if frame.raised:
            break
    if scratch != near:
        free(scratch)


cdef inline void run_blocks(Frame* frame, char** at, npy_intp size) noexcept nogil:
    """All steps for contiguous elements."""
    cdef char* args[ARITY]
    cdef npy_intp[ARITY] strides
    cdef npy_intp count
    cdef Step* step
    cdef int i, j
    while size > 0:
        count = min(size, block_size)
        for i in range(frame.step_count):
            step = &frame.steps[i]
            if step.uniform or not step.serves & frame.wanted:
                continue
            for j in range(step.count):
                args[j], strides[j] = at[step.registers[j]], frame.registers[step.registers[j]].step
            step.function(args, &count, strides, step.data)
            if fp_raised():  # some loops clear flags that others have raised
                frame.raised = True
                return
        size -= count
        if size > 0:
            for i in range(frame.register_count):
                if frame.registers[i].place != SCRATCH:
                    at[i] += count * frame.registers[i].step


cdef void run_uniform(Frame* frame) noexcept nogil:
    """The steps that compute one element for all."""
    cdef char* args[ARITY]
    cdef npy_intp[ARITY] strides
    cdef npy_intp one = 1
    cdef Register* register
    cdef Step* step
    cdef int i, j
    fp_clear()
    for i in range(frame.step_count):
        step = &frame.steps[i]
        if step.uniform and step.serves & frame.wanted:
            for j in range(step.count):
                register = &frame.registers[step.registers[j]]
                args[j] = frame.base[step.registers[j]]
                strides[j] = 0 if register.place == NUMBER and register.given != COMPUTED else item_size(register.slot)
            step.function(args, &one, strides, step.data)
            if fp_raised():
                frame.raised = True


cdef class Program:
    """A formula over operators that are ufuncs.

    Parameters
    ----------
    signature : str
        Names of inputs and of results, as in "grad, x -> grad_x".
    text : str
        A line `name = value` for each intermediate value that others use and for each result.  Values are names, numbers and
        calls of operators.
    """

    def __init__(self, str signature, str text):
        inputs, _, results = signature.partition(" -> ")
        self.names, self.made, self.text = tuple(inputs.split(", ")), tuple(results.split(", ")), text
        self.nodes, self.plans = None, []
        if len(self.names) > 16:
            raise ValueError(f"a program of more than 16 inputs: {signature}")

    def __call__(self, *inputs):
        return self.run(inputs)

    def some(self, unsigned int wanted, *inputs):
        """The selected results: bit i of `wanted` is result i."""
        return self.run(inputs, wanted)

    cdef object run(self, tuple inputs, unsigned int wanted=0xFFFFFFFF):
        """The result of the formula, or a tuple of results; None for a result whose bit is not set in `wanted`."""
        cdef unsigned long long key = 0
        cdef Frame frame
        cdef PyObject* item
        cdef ndarray lead = None, spread = None
        cdef Plan plan
        cdef int i, code, count = PyTuple_GET_SIZE(inputs)
        for i in range(count):
            item = PyTuple_GET_ITEM(inputs, i)
            if PyArray_CheckExact(<object> item):
                code = slot_or_bool(PyArray_TYPE(<ndarray> item))
                if code < 0:
                    return self.step_by_step(inputs, wanted)
                if not is_plain(<ndarray> item):
                    if not is_spread(<ndarray> item) or spread is not None and not same_shape(spread, <ndarray> item):
                        return self.step_by_step(inputs, wanted)
                    spread = <ndarray> item
                    code += UNIFORM
                elif PyArray_NDIM(<ndarray> item) == 0:
                    code += UNIFORM
                elif lead is None:
                    lead = <ndarray> item
                elif not same_shape(lead, <ndarray> item):
                    return self.by_rows(inputs, wanted)
            elif type(<object> item) is float:
                code = FLOAT
            elif type(<object> item) is int:
                code = INT
            elif item == <PyObject*> None:
                code = ABSENT
            else:
                return self.step_by_step(inputs, wanted)
            key |= <unsigned long long> code << 4 * i
        if spread is not None and (lead is None or not same_shape(spread, lead)):
            return self.step_by_step(inputs, wanted)
        if lead is None:  # numbers and 0-d arrays
            key &= <unsigned long long> 0x7777777777777777
            for i in range(count):
                if PyArray_CheckExact(inputs[i]):
                    lead = inputs[i]
                    break
            else:
                return self.step_by_step(inputs, wanted)
        plan = self.plan
        if plan is None or plan.key != key:
            plan = self.find(key)
        if not plan.works or spread is not None and plan.has_uniform:  # NumPy uses other loops for broadcast operands
            return self.step_by_step(inputs, wanted)

        frame.length = 0
        return computed(self, &frame, plan, inputs, lead, wanted)

    cdef object by_rows(self, tuple inputs, unsigned int wanted):
        """The same if some operands are rows or columns that are broadcast to the shape of another."""
        cdef Frame frame
        cdef Rows rows
        cdef npy_intp[16] strides
        cdef npy_intp[16] repeats
        cdef npy_intp[16] periods
        cdef bint[MOST] whole
        cdef unsigned long long key = 0
        cdef ndarray lead = None
        cdef Register* register
        cdef Plan plan
        cdef int i, j, code
        for item in inputs:
            if PyArray_CheckExact(item) and is_plain(item) and (lead is None or PyArray_SIZE(item) > PyArray_SIZE(lead)):
                lead = item
        frame.length = 0
        for i, item in enumerate(inputs):
            code, periods[i], repeats[i] = INT if type(item) is int else FLOAT if type(item) is float else ABSENT, 0, 1
            if PyArray_CheckExact(item):
                code = slot_or_bool(PyArray_TYPE(item))
                if code < 0 or not PyArray_ISBEHAVED_RO(item):
                    return self.step_by_step(inputs, wanted)
                if PyArray_NDIM(item) == 0 or is_spread(item) and same_shape(lead, item):
                    code += UNIFORM
                elif not (is_plain(item) and same_shape(lead, item)):
                    if not find_rows(item, PyArray_NDIM(lead), PyArray_DIMS(lead), item_size(code), &rows):
                        return self.step_by_step(inputs, wanted)
                    if frame.length not in (0, rows.length):
                        return self.step_by_step(inputs, wanted)
                    repeats[i], strides[i], periods[i] = rows.repeat, rows.stride, rows.period
                    frame.length = rows.length
                    if rows.step == 0:
                        code += UNIFORM
            elif code == ABSENT and item is not None:
                return self.step_by_step(inputs, wanted)
            key |= <unsigned long long> code << 4 * i
        plan = self.find(key)
        if not plan.works or plan.has_uniform or frame.length < SHORT:  # NumPy uses other loops for columns alone
            return self.step_by_step(inputs, wanted)
        for i in range(plan.register_count):
            register = &plan.registers[i]
            frame.periods[i] = periods[register.index] if register.place == INPUT else 0
            frame.repeats[i] = repeats[register.index] if register.place == INPUT else 1
            frame.strides[i] = strides[register.index] if register.place == INPUT else 0
            whole[i] = register.place == INPUT and frame.periods[i] == 0 and register.step != 0
        for i in range(plan.step_count):
            for j in range(plan.steps[i].count - 1):
                whole[plan.steps[i].registers[plan.steps[i].count - 1]] |= whole[plan.steps[i].registers[j]]
        for i in range(plan.register_count):
            if plan.registers[i].place == RESULT and not whole[i]:  # it has the shape of a row or a column
                return self.step_by_step(inputs, wanted)
        return computed(self, &frame, plan, inputs, lead, wanted)

    cdef Plan find(self, unsigned long long key):
        """The plan for the kinds of operands that `key` encodes."""
        cdef Plan plan
        for plan in self.plans:
            if plan.key == key:
                self.plan = plan
                return plan
        if self.nodes is None:
            self.read()
        plan = make_plan(len(self.names), self.nodes, self.results, key)
        self.plans.append(plan)
        self.plan = plan
        return plan

    cdef int read(self) except -1:
        """Parse the text into nodes."""
        self.nodes, self.results = nodes_of(self.text, self.names, self.made)
        return 0

    cdef object step_by_step(self, tuple inputs, unsigned int wanted):
        """Apply each ufunc to whole arrays."""
        cdef list values, last
        cdef int i, operand
        cdef Deferred waiting = deferred_among(inputs)
        if waiting is not None:
            return waiting.call(self, inputs, wanted)
        if self.nodes is None:
            self.read()
        values = [*inputs, *([None] * len(self.nodes))]
        needed = {node for i, node in enumerate(self.results) if wanted >> i & 1}
        last = [0] * len(values)
        for i in range(len(values) - 1, len(inputs) - 1, -1):
            node = self.nodes[i - len(inputs)]
            if i in needed and node[0] is not None:
                for operand in node[1:]:
                    needed.add(operand)
                    last[operand] = last[operand] or i
        for i in range(len(inputs), len(values)):
            node = self.nodes[i - len(inputs)]
            if i not in needed:
                continue
            if node[0] is None:
                values[i] = node[1]
                continue
            self.computing = i
            values[i] = (<Ufunc> node[0]).apply(tuple([values[operand] for operand in node[1:]]))
            for operand in node[1:]:
                if last[operand] == i and operand not in self.results:
                    values[operand] = None
        results = [values[node] if wanted >> i & 1 else None for i, node in enumerate(self.results)]
        return results[0] if len(results) == 1 else tuple(results)


cdef object computed(Program program, Frame* frame, Plan plan, tuple inputs, ndarray lead, unsigned int wanted):
    """The results of a plan for operands of its kinds: one, or a tuple, with the shape of `lead`."""
    cdef Number[MOST] numbers
    cdef Register* register
    cdef list results = None
    cdef ndarray single = None, y
    cdef npy_intp size, chunk
    cdef int i
    if PyTuple_GET_SIZE(program.made) > 1:
        results = [None] * PyTuple_GET_SIZE(program.made)
    for i in range(plan.register_count):
        register = &plan.registers[i]
        if register.place == INPUT:
            frame.base[i] = PyArray_BYTES(<ndarray> PyTuple_GET_ITEM(inputs, register.index))
        elif register.place == NUMBER:
            frame.base[i] = <char*> &numbers[i]
            if register.given == KNOWN:
                numbers[i] = plan.numbers[i]
            elif register.given >= 0 and not store_number(inputs[register.given], register.slot, &numbers[i]):
                return program.step_by_step(inputs, wanted)
        elif register.place == RESULT and register.serves & wanted:
            y = empty(0 if register.step == 0 else PyArray_NDIM(lead), PyArray_DIMS(lead), TYPES[register.slot])
            frame.base[i] = PyArray_BYTES(y)
            if results is None:
                single = y
            else:  # a result that is not wanted, but needed by another, stays alive until the end
                results[register.index] = y
        else:
            frame.base[i] = NULL
    frame.steps, frame.step_count = plan.steps, plan.step_count
    frame.registers, frame.register_count = plan.registers, plan.register_count
    frame.scratch, frame.wanted, frame.raised = plan.scratch, wanted, False
    size = PyArray_SIZE(lead)
    if plan.has_uniform:
        run_uniform(frame)
    chunk = max(<npy_intp> 4 * BLOCK, <npy_intp> (CHUNK // plan.cost) & ~<npy_intp> (BLOCK - 1))
    if frame.length:  # count in rows
        size, chunk = size // frame.length, max(<npy_intp> 1, chunk // frame.length)
    if PyArray_SIZE(lead) < GRAIN:
        run_part(frame, 0, size)
    else:
        with nogil:
            if size < 2 * chunk:
                run_part(frame, 0, size)
            else:
                parallel(run_part, frame, size, chunk)
    if frame.raised:
        return program.step_by_step(inputs, wanted)
    if results is None:
        return single
    return tuple([y if wanted >> i & 1 else None for i, y in enumerate(results)])


cdef Program program_of(int count, list nodes, tuple results):
    """The program of `count` inputs with the given nodes, in the form of `make_plan`."""
    cdef Program program = Program.__new__(Program)
    program.names, program.made, program.text = ("",) * count, ("",) * len(results), ""
    program.nodes, program.results, program.plans = nodes, results, []
    return program


def set_block_size(npy_intp size):
    """Set the number of elements per call of an inner loop; results do not depend on it."""
    global block_size
    block_size = size
