# cython: boundscheck=False, wraparound=False
"""Interpreter: run the steps of an executable, one after the other.

Calls inner loops by their addresses, kernels that write their results into given memory, other operators by their forwards on
arrays or by their wrappers, and guards that compare bytes.  Knows neither graphs nor how an executable is built.
"""

from cpython.pycapsule cimport PyCapsule_CheckExact, PyCapsule_GetName, PyCapsule_GetPointer
from cpython.ref cimport PyObject
from libc.string cimport memcmp, memcpy, memset

import numpy as np

from ...core.events cimport call_wrapper
from ...core.grad_mode cimport FORWARD_DISABLED, GRAD_DISABLED, ThreadState, thread_state
from ...core.tensor cimport TensorBase, is_tensor
from ...kernels.loops.flags cimport fp_clear, fp_raised
from ...kernels.loops.memory cimport empty
from ...kernels.loops.donated_buffer cimport offer, take_back
from ...kernels.loops.donated_buffer import Overwritten
from ...kernels.fusion_engine.by_name cimport as_array
from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, ndarray, npy_intp
from ..tracing.instructions import CALLBACK
from .blocked_loops cimport complain, run_blocks, run_rows, run_sum
from .frames cimport Frame, drop, return_offered, is_as_planned, laid_out, new_frame, put, taken
from .executable cimport (
    ALLOCATE, CALL, COPY, FORWARD, FREE, GUARD, INTO, LOOP, MOVE, NATIVE, OFFERED, OPERANDS, ROWS, SUM, Executable, Piece, Save,
    Slot, Step, gradspec_run_short,
)

cnp.import_array()

cdef extern from "gradspec/core/wrapper_call.h":
    object gradspec_call_address(void*, PyObject**, Py_ssize_t)

cdef enum:
    ARGUMENTS = 10          # of a forward


ctypedef void (*Native)(char** base) noexcept nogil


class GuardFailed(Exception):
    """A guard did not hold: the call needs a different recording."""


class Flagged(Exception):
    """A native step raised a floating-point flag that is not ignored: the loops say which, and warn or raise."""


cdef list run(Executable executable, list given):
    """Run an executable with these arrays in its external slots.

    Returns
    -------
    list of Tensor

    Raises
    ------
    GuardFailed
        A guard did not hold, or an operator returned an array with a different layout.
    """
    cdef ThreadState* state = thread_state()
    cdef unsigned int flags = state.flags
    cdef Frame frame = executable.frames.pop() if executable.frames else new_frame(executable)
    cdef list results
    cdef int place
    state.flags |= GRAD_DISABLED | FORWARD_DISABLED
    try:
        for place, array in zip(executable.externals, given):
            put(executable, frame, place, array, None)
        try:
            interpret(executable, frame)
        except Overwritten:  # the plan ensures that nothing else has changed
            executable.careful = True
            return run(executable, given)
        except Flagged:  # only the frame has changed
            for place in executable.passing:
                drop(executable, frame, place)
            executable.frames.append(frame)
            return run(executable.otherwise, given)
        results = [taken(executable, frame, slot) for slot in executable.results]
        for place in executable.passing:
            drop(executable, frame, place)
    finally:
        state.flags = state.flags & ~<unsigned int> (GRAD_DISABLED | FORWARD_DISABLED) | (
            flags & (GRAD_DISABLED | FORWARD_DISABLED))
    executable.frames.append(frame)  # after an error the frame is dropped
    return results


# Steps.

cdef int interpret(Executable executable, Frame frame) except -1:
    """Run all steps in order."""
    cdef char* args[OPERANDS]
    cdef char** base = frame.base
    cdef Step* step
    cdef npy_intp size
    cdef int i = 0, j, alone = 0
    try:
        fp_clear()
        while i < executable.step_count:
            step = &executable.steps[i]
            if step.together and i >= alone:
                alone = i + step.together
                if run_together(executable, frame, i):
                    i = alone
                continue
            if step.kind == LOOP:
                for j in range(step.count):
                    args[j] = base[step.slots[j]]
                size = step.size
                step.function(args, &size, step.strides, step.data)
                if fp_raised():
                    complain(executable, i, fp_raised())
            elif step.kind == ROWS:
                run_rows(executable, frame, i)
            elif step.kind == MOVE:
                move(base, step)
            elif step.kind == SUM:
                run_sum(executable, frame, i, 0, 0)
            elif step.kind == INTO:
                call_into(frame, step)
                fp_clear()
            elif step.kind == FORWARD:
                call_forward(executable, frame, i)
                fp_clear()
            elif step.kind == CALL:
                call(executable, frame, i)
                fp_clear()
            elif step.kind == ALLOCATE:
                allocate(executable, frame, step.slots[0])
            elif step.kind == FREE:
                drop(executable, frame, step.slots[0])
            elif step.kind == COPY:
                memcpy(base[step.slots[0]], base[step.slots[1]], step.size)
            elif step.kind == NATIVE:
                (<Native> step.forward)(base)
                if fp_raised():
                    fp_clear()
                    if set(np.geterr().values()) != {"ignore"}:
                        raise Flagged
            elif step.kind == GUARD:
                if not holds(executable, frame, i):
                    raise GuardFailed(i)
            else:
                run_blocks(executable, frame, i)
                i += step.count
            i += 1
    except (GuardFailed, Overwritten, Flagged):
        raise
    except Exception as error:
        name, line = executable.planned[i].name, executable.planned[i].line
        if name == CALLBACK:
            error._of_a_callback = True
        error.add_note(f"in {name}" + ("" if line is None else f", called at {line[0]}:{line[1]}") + ", which was replayed")
        raise
    return 0


cdef inline int allocate(Executable executable, Frame frame, int place) except -1:
    """Allocate new memory for a slot."""
    cdef Slot* slot = &executable.slots[place]
    put(executable, frame, place, empty(slot.ndim, slot.dims, slot.type_num), None)
    return 0


cdef bint run_together(Executable executable, Frame frame, int first) except -1:
    """Run some short steps together; False if a flag was raised, with memory restored."""
    cdef Step* step = &executable.steps[first]
    cdef Save* save
    cdef int i = first
    while True:
        if executable.steps[i].kind == ALLOCATE:
            allocate(executable, frame, executable.steps[i].slots[0])
        if executable.steps[i].next_allocation == 0:
            break
        i = executable.steps[i].next_allocation
    for i in range(step.saves, step.last_save):
        save = &executable.saves[i]
        memcpy(frame.saved + save.place, frame.base[save.slot], save.size)
    gradspec_run_short(executable.shorts + step.shorts, step.last_short - step.shorts, frame.base)
    if not fp_raised():
        return True
    fp_clear()
    for i in range(step.saves, step.last_save):
        save = &executable.saves[i]
        memcpy(frame.base[save.slot], frame.saved + save.place, save.size)
    return False


cdef inline void move(char** base, Step* step) noexcept nogil:
    """Copy pieces of memory to a slot."""
    cdef char* out = base[step.slots[0]]
    cdef Piece* piece
    cdef int i
    for i in range(step.count):
        piece = &step.pieces[i]
        if piece.slot < 0:
            memset(out + piece.to, 0, piece.size)
        else:
            memcpy(out + piece.to, base[piece.slot] + piece.start, piece.size)


cdef bint holds(Executable executable, Frame frame, int i) except -1:
    """Whether a slot contains the bytes of the recording."""
    cdef Step* step = &executable.steps[i]
    cdef bytes wanted = (<tuple> executable.parts[i])[1]
    cdef int place = step.slots[0]
    if executable.slots[place].size == 1:
        return memcmp(frame.base[place], <char*> wanted, len(wanted)) == 0
    return bool((<object> (<TensorBase> frame.tensors[place]).array).tobytes() == wanted)


cdef int call(Executable executable, Frame frame, int i) except -1:
    """Call an operator, and put its results where they belong."""
    cdef tuple part = executable.parts[i], arguments = part[1], filled
    cdef object function = part[0], places = part[2], results, found
    cdef int place, j
    if type(places) is tuple:
        given = list(arguments)
        for j, place in <tuple> places:
            given[j] = frame.tensors[place]
        filled = tuple(given)
    else:
        filled = places(arguments, frame.tensors)
    if PyCapsule_CheckExact(function):
        results = call_wrapper(PyCapsule_GetPointer(function, PyCapsule_GetName(function)), filled)
    else:
        results = function(*filled)
    outputs = part[3]
    if type(outputs) is int:
        keep(executable, frame, outputs, results)
    elif outputs is not None:
        flat = part[4](results)
        for place, found in zip(outputs, flat, strict=True):
            if place >= 0:
                keep(executable, frame, place, found)
    return 0


cdef int call_forward(Executable executable, Frame frame, int i) except -1:
    """Call an operator's forward on arrays, offering it the memory that is planned for its result."""
    cdef Step* step = &executable.steps[i]
    cdef PyObject* arguments[ARGUMENTS]
    cdef ndarray home = None, array
    cdef int j, place = step.slots[0]
    cdef bint spoilt = False    # whether the result has overwritten an operand
    cdef object results, found
    for j in range(step.count):
        arguments[j] = step.arguments[j]
        if arguments[j] == NULL:
            arguments[j] = <PyObject*> (<TensorBase> frame.tensors[step.places[j]]).array
    if place >= 0 and executable.slots[place].place == OFFERED and not (step.over and executable.careful):
        home = (<TensorBase> frame.homes[place]).array
        offer(home)
        try:
            results = gradspec_call_address(step.forward, arguments, step.count)
        except Exception:
            if not take_back(home) and step.over:
                raise Overwritten
            raise
        except BaseException:
            take_back(home)
            raise
        spoilt = not take_back(home) and step.over
    else:
        results = gradspec_call_address(step.forward, arguments, step.count)
    if place < 0:
        for place, found in zip((<tuple> executable.parts[i])[3], results):  # hidden outputs come last
            if place >= 0:
                keep(executable, frame, place, found)
        return 0
    array = as_array(results[0] if type(results) is tuple else results)
    if home is not None and PyArray_BYTES(array) == PyArray_BYTES(home) and is_as_planned(&executable.slots[place], array):
        return return_offered(executable, frame, place)
    if spoilt:
        raise Overwritten
    return keep(executable, frame, place, array)


cdef int call_into(Frame frame, Step* step) except -1:
    """Call a kernel on arrays."""
    cdef PyObject* operands[OPERANDS]
    cdef int i
    for i in range(step.count - 1):
        operands[i] = <PyObject*> (<TensorBase> frame.tensors[step.slots[i]]).array
    step.into(operands, (<TensorBase> frame.tensors[step.slots[step.count - 1]]).array)
    return 0


cdef int keep(Executable executable, Frame frame, int place, object found) except -1:
    cdef ndarray array = (<TensorBase> found).array if is_tensor(found) else as_array(found)
    if not is_as_planned(&executable.slots[place], array):
        # An operand's layout differs from the recording.  A callback or a write may have run, so the call cannot restart.
        found = array = laid_out(&executable.slots[place], array)
        if array is None:
            raise GuardFailed(-1)
    put(executable, frame, place, array, <TensorBase> found if is_tensor(found) else None)
    return 0


def run_executable(Executable executable, list given):
    """Run an executable with these arrays in its external slots.

    Returns
    -------
    list of Tensor

    Raises
    ------
    GuardFailed
        A guard did not hold, or an operator returned an array with a different layout.
    """
    return run(executable, given)
