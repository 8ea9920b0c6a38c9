"""Elementwise formulas as straight lines of inner loops, run block by block in cache.

Owns programs, each a formula over operators that are ufuncs, and the two ways to run one, whose results are the same to the
bit.  In blocks: where all arrays are plain and of one shape, or one element for all, each inner loop runs over a few thousand
elements at a time, and what is half done stays in cache; large arrays take several threads, without the GIL.  Step by step: each
ufunc on whole arrays; so is everything else computed, and again what raised a floating-point flag, so that NumPy warns as
`numpy.errstate` says.  Knows nothing of autograd.
"""

from cpython.ref cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.stdlib cimport free, malloc

import re

from .. cimport capi as cnp
from ..capi cimport PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp
from .deferred cimport Deferred, deferred_among
from .flags cimport fp_clear, fp_raised
from .memory cimport empty
from .numbers cimport Number, store_number
from .plain cimport is_plain, is_spread, item_size, same_shape, slot_or_bool
from .plan cimport (
    ABSENT, ARITY, COMPUTED, FLOAT, INPUT, INT, KNOWN, MOST, NUMBER, RESULT, SCRATCH, UNIFORM, Plan, Register, Step, make_plan,
)
from .threads cimport GRAIN, parallel
from .ufunc cimport Ufunc, offered

cnp.import_array()

cdef enum:
    BLOCK = 2048            # elements that an inner loop takes at a time
    CHUNK = 1 << 16         # elements of one step that are worth a thread
    NEAR = 8192             # bytes of scratch memory that are taken from the stack

cdef npy_intp block_size = BLOCK

cdef int[5] TYPES = [cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128, cnp.NPY_BOOL]

cdef struct Frame:
    Step* steps
    Register* registers
    int step_count, register_count, scratch
    unsigned int wanted
    char* base[MOST]        # of each register but those of scratch memory
    bint raised             # a floating-point flag, or no memory


cdef void run_part(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """All steps on some of the elements."""
    cdef Frame* frame = <Frame*> context
    cdef char[NEAR] near
    cdef char* scratch = near
    cdef char* at[MOST]
    cdef char* args[ARITY]
    cdef npy_intp[ARITY] strides
    cdef npy_intp count = min(stop - start, block_size), room = (count + 15) & ~15
    cdef Register* register
    cdef Step* step
    cdef int i, j
    if frame.scratch * room > NEAR:
        scratch = <char*> malloc(frame.scratch * room)
        if scratch == NULL:
            frame.raised = True
            return
    for i in range(frame.register_count):
        register = &frame.registers[i]
        at[i] = scratch + register.index * room if register.place == SCRATCH else frame.base[i] + start * register.step
    fp_clear()
    while start < stop and not frame.raised:
        count = min(stop - start, block_size)
        for i in range(frame.step_count):
            step = &frame.steps[i]
            if step.uniform or not step.serves & frame.wanted:
                continue
            for j in range(step.count):
                args[j], strides[j] = at[step.registers[j]], frame.registers[step.registers[j]].step
            step.function(args, &count, strides, step.data)
            if fp_raised():  # some loops clear what others have raised
                frame.raised = True
                break
        start += count
        if start < stop:
            for i in range(frame.register_count):
                if frame.registers[i].place != SCRATCH:
                    at[i] += count * frame.registers[i].step
    if scratch != near:
        free(scratch)


cdef void run_uniform(Frame* frame) noexcept nogil:
    """The steps whose operands are of one element for all."""
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
        A line `name = value` for each value that others read and for each result; values are names, numbers and calls of
        operators.
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
        """Some of the results: bit i of `wanted` is result i."""
        return self.run(inputs, wanted)

    cdef object run(self, tuple inputs, unsigned int wanted=0xFFFFFFFF):
        """The result of the formula, or a tuple of results; None for a result whose bit is not set in `wanted`."""
        cdef unsigned long long key = 0
        cdef Frame frame
        cdef Number[MOST] numbers
        cdef PyObject* item
        cdef ndarray lead = None, spread = None, single = None, y
        cdef list results = None
        cdef Register* register
        cdef Plan plan
        cdef npy_intp size, chunk
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
                    return self.step_by_step(inputs, wanted)
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
        if not plan.works or spread is not None and plan.has_uniform:  # NumPy's loops for what is spread are others
            return self.step_by_step(inputs, wanted)

        if PyTuple_GET_SIZE(self.made) > 1:
            results = [None] * PyTuple_GET_SIZE(self.made)
        for i in range(plan.register_count):
            register = &plan.registers[i]
            if register.place == INPUT:
                frame.base[i] = PyArray_BYTES(<ndarray> PyTuple_GET_ITEM(inputs, register.index))
            elif register.place == NUMBER:
                frame.base[i] = <char*> &numbers[i]
                if register.given == KNOWN:
                    numbers[i] = plan.numbers[i]
                elif register.given >= 0 and not store_number(inputs[register.given], register.slot, &numbers[i]):
                    return self.step_by_step(inputs, wanted)
            elif register.place == RESULT and register.serves & wanted:
                y = empty(0 if register.step == 0 else PyArray_NDIM(lead), PyArray_DIMS(lead), TYPES[register.slot])
                frame.base[i] = PyArray_BYTES(y)
                if results is None:
                    single = y
                else:  # one that only another is made of is kept so long
                    results[register.index] = y
            else:
                frame.base[i] = NULL
        frame.steps, frame.step_count = plan.steps, plan.step_count
        frame.registers, frame.register_count = plan.registers, plan.register_count
        frame.scratch, frame.wanted, frame.raised = plan.scratch, wanted, False
        size = PyArray_SIZE(lead)
        if plan.has_uniform:
            run_uniform(&frame)
        if size < GRAIN:
            run_part(&frame, 0, size)
        else:
            chunk = max(<npy_intp> 4 * BLOCK, <npy_intp> (CHUNK // plan.step_count) & ~<npy_intp> (BLOCK - 1))
            with nogil:
                if size < 2 * chunk:
                    run_part(&frame, 0, size)
                else:
                    parallel(run_part, &frame, size, chunk)
        if frame.raised:
            return self.step_by_step(inputs, wanted)
        if results is None:
            return single
        return tuple([y if wanted >> i & 1 else None for i, y in enumerate(results)])

    cdef Plan find(self, unsigned long long key):
        """The plan for operands of these kinds."""
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
        """The nodes that the text describes; what stands twice is computed once."""
        places, nodes = {name: i for i, name in enumerate(self.names)}, []
        known = {}

        def value(tokens):
            token = next(tokens)
            if tokens.ahead == "(":
                operands = []
                next(tokens)
                while tokens.ahead != ")":
                    operands.append(value(tokens))
                next(tokens)
                node = (offered(token), *operands)
            elif token in places:
                return places[token]
            else:
                node = (None, float(token) if re.search("[.n]|e", token) else int(token))
            if (type(node[1]), node) not in known:
                known[type(node[1]), node] = len(self.names) + len(nodes)
                nodes.append(node)
            return known[type(node[1]), node]

        tokens = _Tokens(self.text)
        while tokens.ahead:
            name = next(tokens)
            next(tokens)
            places[name] = value(tokens)
        self.results = tuple([places[name] for name in self.made])
        self.nodes = nodes
        return 0

    cdef object step_by_step(self, tuple inputs, unsigned int wanted):
        """Each ufunc on whole arrays."""
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


cdef Program program_of(int count, list nodes, tuple results):
    """The program of `count` inputs that nodes describe, as `make_plan` takes them."""
    cdef Program program = Program.__new__(Program)
    program.names, program.made, program.text = ("",) * count, ("",) * len(results), ""
    program.nodes, program.results, program.plans = nodes, results, []
    return program


class _Tokens:
    """The words of a formula, with the next one in sight."""

    def __init__(self, text):
        self.words = re.findall(r"-?\d[\d.]*(?:e[+-]?\d+)?|-?inf\b|\w+|[()=]", text)
        self.place = -1
        self.ahead = ""
        next(self)

    def __next__(self):
        self.place += 1
        word, self.ahead = self.ahead, self.words[self.place] if self.place < len(self.words) else ""
        return word


def set_block_size(npy_intp size):
    """Say how many elements an inner loop takes at a time; results do not depend on it."""
    global block_size
    block_size = size
