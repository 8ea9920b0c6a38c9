"""Plans: the steps of a program for given kinds of operands, as a table of steps over registers.

Decides which loop each step calls, which values are computed once for all elements, and which block of scratch memory holds each
intermediate value.  Loops follow NumPy's promotion: a Python number takes the dtype of the array beside it, and a narrower
operand is cast as the ufunc would cast it.  Operands without a plan are computed by NumPy, step by step.  Handles no arrays.
"""

from math import frexp

import numpy as np

from ...support cimport capi as cnp
from .numbers cimport store_number
from ..loops.plain cimport BOOL_SLOT, item_size, slot_or_bool
from .ufunc cimport PyUFuncGenericFunction, Ufunc, cast_loop

cnp.import_array()

cdef list DTYPES = [np.dtype(name) for name in ("float32", "float64", "complex64", "complex128", "bool")]


cdef Ufunc _multiply = Ufunc(np.multiply, "multiply")


class _Unplanned(Exception):
    """The operands need NumPy."""


cdef class _Planner:
    """The registers and steps of a plan under construction."""
    cdef Plan plan
    cdef list kinds         # of each node: a slot, INT, FLOAT or ABSENT
    cdef list registers     # of each node: its register, or its number
    cdef list inputs        # of each node: the input that is a number, or -1
    cdef dict converted     # (node, slot) -> the register of that node in that dtype
    cdef list last          # of each register: the last step that reads it

    cdef int register(self, Place place, int index, int slot, bint uniform) except -1:
        cdef Plan plan = self.plan
        cdef int number = plan.register_count
        if number == MOST:
            raise _Unplanned
        plan.register_count += 1
        plan.registers[number] = Register(place, index, slot, KNOWN, 0, 0 if uniform else item_size(slot))
        self.last.append(-1)
        return number

    cdef int step(self, PyUFuncGenericFunction function, void* data, list operands, int out_slot) except -1:
        """Append a step; returns the register of its result."""
        cdef Plan plan = self.plan
        cdef Step* step = &plan.steps[plan.step_count]
        cdef int i, operand, result
        step.function, step.data, step.count, step.serves, step.uniform = function, data, len(operands) + 1, 0, True
        for i, operand in enumerate(operands):
            step.registers[i] = operand
            self.last[operand] = plan.step_count
            step.uniform = step.uniform and plan.registers[operand].step == 0
        # A block of scratch memory; `finish` changes it to a result if it is one.
        result = self.register(NUMBER if step.uniform else SCRATCH, 0, out_slot, step.uniform)
        plan.registers[result].given = COMPUTED
        plan.has_uniform = plan.has_uniform or step.uniform
        step.registers[len(operands)] = result
        plan.step_count += 1
        plan.cost += 1
        return result

    cdef int typed(self, int node, int slot) except -1:
        """The register that contains a node in the dtype of `slot`."""
        cdef int kind = self.kinds[node], number
        if kind == slot:
            return self.registers[node]
        if (node, slot) in self.converted:
            return self.converted[node, slot]
        if kind == INT or kind == FLOAT:
            if slot == BOOL_SLOT:
                raise _Unplanned
            number = self.register(NUMBER, 0, slot, True)
            self.plan.registers[number].given = self.inputs[node]
            if self.inputs[node] < 0 and not store_number(self.registers[node], slot, &self.plan.numbers[number]):
                raise _Unplanned
        else:
            if slot == BOOL_SLOT or cast_loop(kind, slot) == NULL:
                raise _Unplanned
            number = self.step(cast_loop(kind, slot), NULL, [self.registers[node]], slot)
        self.converted[node, slot] = number
        return number

    cdef int slot_for(self, Ufunc ufunc, list operands) except -1:
        """The slot of the dtype that NumPy would compute in."""
        cdef int slot
        kinds = {self.kinds[node] for node in (operands[1:] if ufunc.masks else operands)}
        arrays = kinds - {INT, FLOAT}
        if ufunc.masks and self.kinds[operands[0]] != BOOL_SLOT:
            raise _Unplanned
        if arrays:
            slot = next(iter(arrays)) if len(arrays) == 1 else slot_or_bool(
                np.result_type(*[DTYPES[kind] for kind in arrays]).num)
        elif ufunc.masks and FLOAT in kinds:
            slot = slot_or_bool(cnp.NPY_FLOAT64)
        else:
            raise _Unplanned
        if slot < 0 or ufunc.loops[slot] == NULL or slot_or_bool(ufunc.out_types[slot]) < 0:
            raise _Unplanned
        return slot

    cdef int inverse_of(self, Ufunc ufunc, list operands, int slot) except -2:
        """The register of 1 / c if a number is divided by a known power of two c: the product has the same bits; else -1."""
        cdef int number
        if ufunc.function is not np.divide or slot > 1 or self.inputs[operands[1]] >= 0:
            return -1
        if self.kinds[operands[1]] != INT and self.kinds[operands[1]] != FLOAT:
            return -1
        divisor = float(self.registers[operands[1]])
        if not 2.0**-60 <= abs(divisor) <= 2.0**60 or abs(frexp(divisor)[0]) != 0.5:
            return -1
        number = self.register(NUMBER, 0, slot, True)
        store_number(1 / divisor, slot, &self.plan.numbers[number])
        return number

    cdef int add(self, tuple node) except -1:
        """Append the next node of the program."""
        cdef Ufunc ufunc
        cdef int slot, number
        cdef list operands, registers
        if node[0] is None:
            self.kinds.append(FLOAT if type(node[1]) is float else INT)
            self.registers.append(node[1])
            self.inputs.append(-1)
            return 0
        ufunc, operands = node[0], list(node[1:])
        self.inputs.append(-1)
        if ABSENT in [self.kinds[operand] for operand in operands]:
            self.kinds.append(ABSENT)
            self.registers.append(None)
            return 0
        slot = self.slot_for(ufunc, operands)
        if ufunc.keeps_reals and slot != 2 and slot != 3:
            self.kinds.append(self.kinds[operands[0]])
            self.registers.append(self.registers[operands[0]])
            return 0
        number = self.inverse_of(ufunc, operands, slot)
        if number >= 0:
            ufunc, registers = _multiply, [self.typed(operands[0], slot), number]
        else:
            registers = [self.registers[operands[0]]] if ufunc.masks else []
            registers += [self.typed(operand, slot) for operand in operands[len(registers):]]
        self.kinds.append(slot_or_bool(ufunc.out_types[slot]))
        self.registers.append(self.step(ufunc.loops[slot], ufunc.loop_data[slot], registers, self.kinds[-1]))
        self.plan.cost += ufunc.cost - 1
        self.plan.last = node[0]
        return 0

    cdef int finish(self, tuple results) except -1:
        """Assign the results to registers, and the other registers to blocks of scratch memory."""
        cdef Plan plan = self.plan
        cdef Step* step
        cdef Register* register
        cdef int i, j, node, number
        cdef dict spare = {}  # bytes of an element -> blocks without further readers
        for i, node in enumerate(results):
            if self.kinds[node] == ABSENT:
                continue
            if self.kinds[node] > BOOL_SLOT:
                raise _Unplanned
            register = &plan.registers[<int> self.registers[node]]
            if register.place == INPUT or register.place == RESULT:
                raise _Unplanned
            register.place, register.index = RESULT, i
        for i in range(plan.step_count):
            step = &plan.steps[i]
            register = &plan.registers[step.registers[step.count - 1]]
            if register.place == SCRATCH:
                blocks = spare.setdefault(register.step, [])
                if blocks:
                    register.index = blocks.pop()
                else:
                    register.index = plan.scratch
                    plan.scratch += register.step
            for number in {step.registers[j] for j in range(step.count - 1)}:
                if plan.registers[number].place == SCRATCH and self.last[number] == i:
                    spare[plan.registers[number].step].append(plan.registers[number].index)
        for i in range(plan.step_count - 1, -1, -1):
            step = &plan.steps[i]
            register = &plan.registers[step.registers[step.count - 1]]
            if register.place == RESULT:
                step.serves |= 1u << register.index
                register.serves = step.serves
            for j in range(i):
                for number in range(step.count - 1):
                    if plan.steps[j].registers[plan.steps[j].count - 1] == step.registers[number]:
                        plan.steps[j].serves |= step.serves
        return 0


cdef Plan make_plan(int inputs, list nodes, tuple results, unsigned long long key):
    """The plan of a program.

    A node is `(None, number)` or `(ufunc, *operands)`.  Operands and results are positions in the list of the inputs followed by
    the nodes.  `key` has four bits for the kind of each input.
    """
    cdef _Planner planner = _Planner()
    cdef Plan plan = Plan()
    cdef int i, code
    planner.plan, planner.kinds, planner.registers, planner.inputs = plan, [], [], []
    planner.converted, planner.last = {}, []
    plan.key, plan.works = key, True
    try:
        for i in range(inputs):
            code = (key >> 4 * i) & 15
            planner.inputs.append(i)
            planner.kinds.append(code & ~UNIFORM)
            planner.registers.append(
                planner.register(INPUT, i, code & ~UNIFORM, code & UNIFORM) if code & ~UNIFORM <= BOOL_SLOT else None)
        for node in nodes:
            planner.add(node)
        planner.finish(results)
    except _Unplanned:
        plan.works = False
    return plan
