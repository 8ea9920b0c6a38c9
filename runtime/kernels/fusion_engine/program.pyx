"""Elementwise formulas as straight-line programs of inner loops, run block by block in cache.

A program is a formula over operators that are ufuncs.  It runs in one of two ways, with bitwise equal results.  In blocks: each
inner loop processes a few thousand elements at a time, and intermediate values stay in cache; large arrays use several threads,
without the GIL.  This way requires plain arrays of one shape; an array may also be a single element, a row or a column, broadcast
to that shape.  Step by step: each ufunc processes whole arrays.  This way is for all other operands, and for a block that raised
a floating-point flag, so that NumPy warns as `numpy.errstate` says.  Does not depend on autograd.
"""

from cpython.ref cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ITEMSIZE, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray,
    npy_intp,
)
from .broadcast cimport Rows, find_rows
from .deferred cimport Deferred, deferred_among
from ..loops.flags cimport fp_as_numpys, fp_clear, fp_raised
from ..loops.copying cimport is_apart
from ..loops.memory cimport empty
from .numbers cimport Number, store_number
from ..loops.plain cimport is_plain, is_spread, item_size, same_shape, slot_or_bool
from .plan cimport (
    ABSENT, ARITY, COMPUTED, FLOAT, INPUT, INT, KNOWN, MOST, NUMBER, RESULT, SCRATCH, UNIFORM, Plan, Register, Step, make_plan,
)
from .program_text cimport nodes_of
from ..loops.scratch cimport LINE, NEAR, room_of, scratch_of
from ..loops.threads cimport GRAIN, parallel
from .ufunc cimport Ufunc, tell_flags

cnp.import_array()

cdef extern from "numpy/arrayobject.h" nogil:
    bint PyArray_ISBEHAVED_RO(ndarray)

cdef enum:
    BLOCK = 512             # elements per call of an inner loop
    CHUNK = 3 << 13         # additions per task of a thread
    SHORT = 16              # elements of a row; with shorter rows whole arrays are faster
    BY_ITSELF = 16          # blocks that a step without others takes at once, if an array is written that exists,
    FEW_STEPS = 2           # and several steps

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
    cdef char[NEAR + LINE] near
    cdef void* owned
    cdef char* at[MOST]
    cdef npy_intp longest = stop - start if frame.length == 0 else frame.length
    cdef npy_intp room = room_of(min(longest, block_size)), row
    cdef char* scratch = scratch_of(frame.scratch * room, near, &owned)
    cdef Register* register
    cdef int i
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
    free(owned)


cdef inline int run_block(Frame* frame, char** at, npy_intp count) noexcept nogil:
    """All steps for the elements of one block, up to a step that raised a floating-point flag; the number of steps before it."""
    cdef char* args[ARITY]
    cdef npy_intp[ARITY] strides
    cdef Step* step
    cdef int i, j
    for i in range(frame.step_count):
        step = &frame.steps[i]
        if step.uniform or not step.serves & frame.wanted:
            continue
        for j in range(step.count):
            args[j], strides[j] = at[step.registers[j]], frame.registers[step.registers[j]].step
        step.function(args, &count, strides, step.data)
        if fp_raised():  # some loops clear flags that others have raised
            return i
    return frame.step_count


cdef inline void run_blocks(Frame* frame, char** at, npy_intp size) noexcept nogil:
    """All steps for contiguous elements."""
    cdef npy_intp count
    cdef int i
    while size > 0:
        count = min(size, block_size)
        if run_block(frame, at, count) < frame.step_count:
            frame.raised = True
            return
        size -= count
        if size > 0:
            for i in range(frame.register_count):
                if frame.registers[i].place != SCRATCH:
                    at[i] += count * frame.registers[i].step


cdef enum:
    LEFT = 1                # state of a block that was not written; else its flags as NumPy numbers them, shifted
    FLAGS = 1

cdef struct Target:
    Frame* frame
    char* base              # of the array that receives the result
    npy_intp item           # bytes of its elements
    int scratch             # bytes of all blocks but the result's, per element
    bint straight           # the last step writes into the array itself
    npy_intp block
    char* states            # of the blocks


cdef void run_into(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """All steps for some of the elements, into an array that may be an operand."""
    cdef Target* target = <Target*> context
    cdef Frame* frame = target.frame
    cdef npy_intp room = room_of(target.block), count
    cdef char[NEAR + LINE] near
    cdef void* owned
    cdef char* scratch = scratch_of(frame.scratch * room, near, &owned)
    cdef char* at[MOST]
    cdef char* result = NULL
    cdef Register* register
    cdef int i, done
    if scratch == NULL:
        memset(target.states + start // target.block, LEFT, (stop - start + target.block - 1) // target.block)
        return
    while start < stop:
        count = min(stop - start, target.block)
        for i in range(frame.register_count):
            register = &frame.registers[i]
            if register.place == SCRATCH:
                at[i] = scratch + register.index * room
            elif register.place == RESULT:
                at[i] = result = target.base + start * target.item if target.straight else scratch + target.scratch * room
            else:
                at[i] = frame.base[i] + start * register.step
        fp_clear()
        done = run_block(frame, at, count)
        if done == frame.step_count:
            if not target.straight:
                memcpy(target.base + start * target.item, result, count * target.item)
        elif target.straight and done == frame.step_count - 1:
            target.states[start // target.block] = fp_as_numpys(fp_raised()) << FLAGS
        else:
            target.states[start // target.block] = LEFT
        start += count
    free(owned)


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
        cdef object results = self.in_blocks(inputs, wanted, None)
        return self.step_by_step(inputs, wanted) if results is None else results

    cdef bint into(self, tuple inputs, ndarray out) except -1:
        """Compute the one result into a large plain array, by one visit of each block.

        The array may be an operand.  NumPy warns or raises after everything has been written, as for a ufunc's `out=`.

        Returns
        -------
        bool
            False if that is not possible; nothing was written.
        """
        return self.in_blocks(inputs, 1, out) is not None

    cdef object in_blocks(self, tuple inputs, unsigned int wanted, ndarray out):
        """The result or results, in `out` if that is given; None if they have to be computed step by step."""
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
                    return None
                if not is_plain(<ndarray> item):
                    if not is_spread(<ndarray> item) or spread is not None and not same_shape(spread, <ndarray> item):
                        return None
                    spread = <ndarray> item
                    code += UNIFORM
                elif PyArray_NDIM(<ndarray> item) == 0:
                    code += UNIFORM
                elif lead is None:
                    lead = <ndarray> item
                elif not same_shape(lead, <ndarray> item):
                    return self.by_rows(inputs, wanted) if out is None else None
            elif type(<object> item) is float:
                code = FLOAT
            elif type(<object> item) is int:
                code = INT
            elif item == <PyObject*> None:
                code = ABSENT
            else:
                return None
            key |= <unsigned long long> code << 4 * i
        if spread is not None and (lead is None or not same_shape(spread, lead)):
            return None
        if lead is None:  # numbers and 0-d arrays
            key &= <unsigned long long> 0x7777777777777777
            for i in range(count):
                if PyArray_CheckExact(inputs[i]):
                    lead = inputs[i]
                    break
            else:
                return None
        plan = self.plan
        if plan is None or plan.key != key:
            plan = self.find(key)
        if not plan.works or spread is not None and plan.has_uniform:  # NumPy uses other loops for broadcast operands
            return None
        if out is not None:
            return computed_into(self, plan, inputs, out) if is_plain(out) and same_shape(lead, out) else None

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
                    return None
                if PyArray_NDIM(item) == 0 or is_spread(item) and same_shape(lead, item):
                    code += UNIFORM
                elif not (is_plain(item) and same_shape(lead, item)):
                    if not find_rows(item, PyArray_NDIM(lead), PyArray_DIMS(lead), item_size(code), &rows):
                        return None
                    if frame.length not in (0, rows.length):
                        return None
                    repeats[i], strides[i], periods[i] = rows.repeat, rows.stride, rows.period
                    frame.length = rows.length
                    if rows.step == 0:
                        code += UNIFORM
            elif code == ABSENT and item is not None:
                return None
            key |= <unsigned long long> code << 4 * i
        plan = self.find(key)
        if not plan.works or plan.has_uniform or frame.length < SHORT:  # NumPy uses other loops for columns alone
            return None
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
                return None
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


cdef bint bind(Frame* frame, Plan plan, tuple inputs, Number* numbers, unsigned int wanted) except -1:
    """Give the frame the steps of a plan, the memory of the inputs, and the numbers; False if a number does not fit its dtype."""
    cdef Register* register
    cdef int i
    for i in range(plan.register_count):
        register = &plan.registers[i]
        frame.base[i] = NULL
        if register.place == INPUT:
            frame.base[i] = PyArray_BYTES(<ndarray> PyTuple_GET_ITEM(inputs, register.index))
        elif register.place == NUMBER:
            frame.base[i] = <char*> &numbers[i]
            if register.given == KNOWN:
                numbers[i] = plan.numbers[i]
            elif register.given >= 0 and not store_number(inputs[register.given], register.slot, &numbers[i]):
                return False
    frame.steps, frame.step_count = plan.steps, plan.step_count
    frame.registers, frame.register_count = plan.registers, plan.register_count
    frame.scratch, frame.wanted, frame.raised = plan.scratch, wanted, False
    return True


cdef object computed(Program program, Frame* frame, Plan plan, tuple inputs, ndarray lead, unsigned int wanted):
    """The results of a plan for operands of its kinds: one, or a tuple, with the shape of `lead`; None if a flag was raised."""
    cdef Number[MOST] numbers
    cdef Register* register
    cdef list results = None
    cdef ndarray single = None, y
    cdef npy_intp size, chunk
    cdef int i
    if not bind(frame, plan, inputs, numbers, wanted):
        return None
    if PyTuple_GET_SIZE(program.made) > 1:
        results = [None] * PyTuple_GET_SIZE(program.made)
    for i in range(plan.register_count):
        register = &plan.registers[i]
        if register.place == RESULT and register.serves & wanted:
            y = empty(0 if register.step == 0 else PyArray_NDIM(lead), PyArray_DIMS(lead), TYPES[register.slot])
            frame.base[i] = PyArray_BYTES(y)
            if results is None:
                single = y
            else:  # a result that is not wanted, but needed by another, stays alive until the end
                results[register.index] = y
    size = PyArray_SIZE(lead)
    if plan.has_uniform:
        run_uniform(frame)
    chunk = task_of(plan)
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
        return None
    if results is None:
        return single
    return tuple([y if wanted >> i & 1 else None for i, y in enumerate(results)])


cdef inline npy_intp task_of(Plan plan) noexcept nogil:
    """Number of elements that are a task for a thread."""
    return max(<npy_intp> 4 * BLOCK, <npy_intp> (CHUNK // plan.cost) & ~<npy_intp> (BLOCK - 1))


cdef object computed_into(Program program, Plan plan, tuple inputs, ndarray out):
    """`out`, with the result of a plan for operands of its kinds; None if it has to be computed otherwise.

    A quick last step writes straight into it, for storing a block twice takes as long as computing it, and NumPy is told its flags.
     A block whose flags another step raised is left, and computed at the end.
    """
    cdef Frame frame
    cdef Target target
    cdef Number[MOST] numbers
    cdef Register* register
    cdef npy_intp size = PyArray_SIZE(out), i
    cdef int told = 0
    target.frame, target.base, target.item, target.scratch = &frame, PyArray_BYTES(out), PyArray_ITEMSIZE(out), plan.scratch
    target.straight = plan.last.writes_over
    target.block = block_size * (BY_ITSELF if target.straight and plan.step_count == 1 else FEW_STEPS)
    for i in range(plan.register_count):
        register = &plan.registers[i]
        if register.place == RESULT and (register.step == 0 or TYPES[register.slot] != PyArray_TYPE(out)):
            return None
        if register.place == INPUT and not is_apart(<ndarray> PyTuple_GET_ITEM(inputs, register.index), out):
            return None
    if not bind(&frame, plan, inputs, numbers, 1):
        return None
    frame.scratch, frame.length = plan.scratch + <int> target.item * (not target.straight), 0
    if plan.has_uniform:
        run_uniform(&frame)
    target.states = <char*> calloc(size // target.block + 1, 1)
    if frame.raised or target.states == NULL:
        free(target.states)
        return None
    try:
        with nogil:
            parallel(run_into, &target, size, (task_of(plan) + target.block - 1) // target.block * target.block)
            for i in range(size // target.block + 1):
                told |= target.states[i]
        if told & LEFT:
            finish(program, inputs, out, target.states[:size // target.block + 1], target.block)
        if told >> FLAGS:
            tell_flags(plan.last, told >> FLAGS)
    finally:
        free(target.states)
    return out


cdef int finish(Program program, tuple inputs, ndarray out, bytes states, npy_intp block) except -1:
    """Compute the blocks that were left step by step: write them first, then let NumPy warn or raise."""
    where = np.repeat(np.frombuffer(states, np.int8) == LEFT, block)[:PyArray_SIZE(out)]
    inputs = tuple([x.reshape(-1)[where] if isinstance(x, np.ndarray) and x.ndim else x for x in inputs])
    with np.errstate(all="ignore"):
        (<object> out).reshape(-1)[where] = program.step_by_step(inputs, 1)
    program.step_by_step(inputs, 1)
    return 0


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
