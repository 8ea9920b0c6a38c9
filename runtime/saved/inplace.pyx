"""In-place writes and `out=`: check the write, keep the old value if a formula needs it, and write.

Defines how a value is stored in existing memory.  If nothing is recorded, a ufunc computes directly into it.  Otherwise the
operator runs on the old value, and the target takes the result's value, history and tangents.  Operators are passed in as
functions.
"""

from libc.stdint cimport uint32_t
from libc.string cimport memmove

import numpy as np

from ..core.accumulate_grad cimport any_needs_grad, needs_grad, set_history
from ..support cimport capi as cnp
from ..support.capi cimport (
    NPY_ARRAY_WRITEABLE, PyArray_BYTES, PyArray_FLAGS, PyArray_ITEMSIZE, PyArray_SIZE, PyArray_TYPE, ndarray,
)
from .copy_slices cimport pass_by, rebase
from ..core.non_operator_events cimport tell_of_copy, tell_of_write
from ..core.forward_ad cimport has_tangent, take_tangents
from ..core.grad_mode cimport DUAL, FORWARD_DISABLED, GRAD_DISABLED, INFERENCE, LISTENING, ThreadState, thread_state
from ..kernels.loops.copying cimport copy_alike, copy_into, is_apart
from ..kernels.loops.plain cimport is_plain, same_shape
from ..kernels.loops.threads cimport GRAIN
from ..kernels.fusion_engine.program cimport Program, program_of
from ..kernels.fusion_engine.ufunc cimport EVERY, Ufunc
from ..core.node cimport Node
from ..core.conversion cimport REALS, Claim, array_of, as_operand, as_real_operand, claimed_operand
from .copy_on_write cimport begin_write
from ..core.tensor cimport (
    IN_NO_GRAD, INFERENCE_TENSOR, PLAIN, PURE_VIEW, REQUIRES_GRAD, TANGENT, VIEW, Creation, TensorBase, TensorExtra, wrap,
)
from .modes cimport put_back
from ..support.keywords import multiplied
from .view cimport ViewStep, adopt, check_inplace, note_writes, replayed

cnp.import_array()

cdef inline object operand(Ufunc ufunc, int i, object value, str op):
    """Operand `i` converted for the operator; an error names `op`."""
    if ufunc.claim == EVERY:
        return as_operand(value, op, ufunc.operands[i])
    if ufunc.claim == REALS:
        return as_real_operand(value, op, ufunc.operands[i])
    return claimed_operand(value, <Claim> ufunc.claim, op, ufunc.operands[i])


cdef dict _programs = {}  # a ufunc -> the program whose only step it is
cdef dict _times = {}     # a ufunc -> the program that multiplies its second operand by a third
cdef Ufunc _multiply = Ufunc(np.multiply, "multiply")


cdef bint in_one_pass(ThreadState* state, TensorBase target, object function, tuple operands) except -1:
    """Compute a program or a ufunc into a large target, which may be an operand; False if it has to be computed otherwise.

    Nothing is recorded.
    """
    cdef Program program
    if PyArray_SIZE(target.array) < GRAIN or state.flags & LISTENING or not is_plain(target.array):
        return False
    if isinstance(function, Ufunc):
        if function not in _programs:
            _programs[function] = program_of(len(operands), [(function, *range(len(operands)))], (len(operands),))
        function = _programs[function]
    program = function
    begin_write(state, target, False)
    if program.into(operands, target.array):
        return True
    if target.counter is not None:
        target.counter.value -= 1
    return False


cdef TensorBase write(ThreadState* state, Ufunc ufunc, TensorBase target, tuple operands, str op):
    """Compute into the target; nothing is recorded."""
    if in_one_pass(state, target, ufunc, operands):
        return target
    begin_write(state, target, False)
    try:
        ufunc.into(operands, target.array, op)
    except (TypeError, ValueError):  # shapes and dtypes are checked before the first number is written
        if target.counter is not None:
            target.counter.value -= 1
        raise
    return target


cdef object inplace_unary(Unary function, Ufunc ufunc, object x, unsigned int readers, str op):
    """`x.f_()` for a ufunc."""
    cdef ThreadState* state = thread_state()
    cdef TensorBase target = operand(ufunc, 0, writable(x, op), op)
    cdef bint recording = needs_grad(state, x)
    check_inplace(state, target, recording, op)
    if recording or state.flags & DUAL:
        return overwrite(target, function(value_before(target, readers != 0)), op)
    return write(state, ufunc, target, (target.array,), op)


cdef object inplace_binary(Binary function, Ufunc ufunc, object a, object b, unsigned int readers, str op):
    """`a.f_(b)` for a ufunc."""
    cdef ThreadState* state = thread_state()
    cdef TensorBase target = operand(ufunc, 0, writable(a, op), op)
    cdef bint recording
    b = operand(ufunc, 1, b, op)
    recording = needs_grad(state, a) or needs_grad(state, b)
    check_inplace(state, target, recording, op)
    if recording or state.flags & DUAL:
        return overwrite(target, function(value_before(target, is_read(state, (a, b), readers)), b), op)
    return write(state, ufunc, target, (target.array, array_of(b)), op)


cdef object inplace_times(Binary function, Ufunc ufunc, object a, object b, object factor, str op):
    """`a.f_(b * factor)` for a ufunc."""
    cdef ThreadState* state = thread_state()
    cdef TensorBase target
    if isinstance(a, TensorBase) and isinstance(b, TensorBase) and type(factor) in (int, float) and (
            not state.flags & (DUAL | LISTENING)) and not (
            needs_grad(state, a) or needs_grad(state, b)):
        target = writable(a, op)
        check_inplace(state, target, False, op)
        if ufunc not in _times:
            _times[ufunc] = program_of(3, [(_multiply, 1, 2), (ufunc, 0, 3)], (4,))
        if in_one_pass(state, target, _times[ufunc], (target.array, (<TensorBase> b).array, factor)):
            return target
    return function(a, multiplied(b, factor))


cdef TensorBase prepare_inplace(object target, tuple operands, unsigned int readers, str op):
    """The operand that an in-place operator reads: the target, or its old value if a graph or tangents need it."""
    cdef ThreadState* state = thread_state()
    cdef TensorBase written = writable(target, op)
    cdef bint recording = any_needs_grad(state, operands)
    check_inplace(state, written, recording, op)
    if recording or state.flags & DUAL:
        return value_before(written, is_read(state, operands, readers))
    return written


cdef bint is_read(ThreadState* state, tuple operands, unsigned int readers) except -1:
    """Whether a graph or a tangent will read the value that is overwritten."""
    cdef Py_ssize_t i
    if readers and state.flags & DUAL:
        return True
    for i in range(len(operands)):
        if (readers >> i) & 1 and needs_grad(state, operands[i]):
            return True
    return False


cdef TensorBase writable(object target, str op):
    """The target of an in-place operator; an error says why it cannot be written to."""
    cdef TensorBase tensor = place(target, op)
    if tensor.flags & INFERENCE_TENSOR:
        check_inplace(thread_state(), tensor, False, op)
    return tensor


cdef TensorBase place(object target, str op):
    """The target as a tensor with writable memory."""
    cdef TensorBase tensor
    if not isinstance(target, TensorBase):
        raise TypeError(f"{op}: the first argument is written to and must be a Tensor, got {type(target).__name__}")
    tensor = target
    if not PyArray_FLAGS(tensor.array) & NPY_ARRAY_WRITEABLE:
        raise ValueError(f"{op}: the tensor's array is read-only; use the out-of-place operator, or copy() first")
    return tensor


cdef TensorBase value_before(TensorBase target, bint copy):
    """The target's old value: with its history, and its own memory if the formula needs the old values."""
    cdef TensorBase old = target.alias_with_history()
    if target.flags & VIEW and target.grad_fn_ is not None and (
            target.grad_fn_.hooks is not None or target.extra.creation == PURE_VIEW):
        pass_by(thread_state(), target, old)
    if copy:
        old.array, old.counter = tell_of_copy(target.array, copy_alike(target.array)), None
    if has_tangent(target):
        take_tangents(old, target)
    return old


cdef TensorBase overwrite(TensorBase target, TensorBase value, str op):
    """Write `value` into the target's memory, and give the target its history and its tangents."""
    cdef ThreadState* state = thread_state()
    cdef bint recording = needs_grad(state, value) or needs_grad(state, target)
    check_fit(target.array, value.array, op)
    begin_write(state, target, recording)
    tell_of_write(target.array, value.array)
    store(target.array, value.array)
    if recording or state.flags & DUAL:
        rebase(state, target, value, recording)
    return target


cdef TensorBase written_value(TensorBase target, Node node):
    """The value that a kernel has written into the target, as the output of `node`, if there is one."""
    cdef TensorBase value = wrap(target.array)
    if node is not None:
        set_history(value, node, 0)
    return value


cdef bint is_alike(ndarray target, ndarray value) noexcept:
    """Whether both have the same shape and dtype."""
    return PyArray_TYPE(target) == PyArray_TYPE(value) and same_shape(target, value)


cdef int store(ndarray target, ndarray value) except -1:
    """Copy the numbers of a value that fits."""
    if not (is_plain(target) and is_plain(value) and is_alike(target, value)):
        cnp.PyArray_CopyInto(target, value)
    elif PyArray_SIZE(target) < GRAIN or not is_apart(value, target):
        memmove(PyArray_BYTES(target), PyArray_BYTES(value), PyArray_SIZE(target) * PyArray_ITEMSIZE(target))
    else:
        copy_into(target, value)
    return 0


cdef int check_broadcast(ndarray target, tuple operands, str op) except -1:
    """Refuse operands of a kernel that together have another shape than the target."""
    for operand in operands:
        if isinstance(operand, np.ndarray) and not same_shape(operand, target):
            check_shape(target, np.broadcast_shapes((<object> target).shape, *map(np.shape, operands)), op)
    return 0


cdef int check_shape(ndarray target, tuple shape, str op) except -1:
    if shape != (<object> target).shape:
        raise RuntimeError(f"{op}: output with shape {list((<object> target).shape)} doesn't match the broadcast shape {list(shape)}")
    return 0


cdef int check_fit(ndarray target, ndarray value, str op) except -1:
    if is_alike(target, value):
        return 0
    check_shape(target, (<object> value).shape, op)
    if not np.can_cast(value.dtype, target.dtype, casting="same_kind"):
        raise TypeError(f"{op}: result type {value.dtype} can't be cast to the target's dtype {target.dtype}")
    return 0


cdef TensorBase before_view(object target, str op):
    """The operand of an in-place view operator: the target's old state, which remains the base of existing views."""
    cdef ThreadState* state = thread_state()
    cdef TensorBase tensor, source
    if not isinstance(target, TensorBase):
        raise TypeError(f"{op}: the first argument is changed and must be a Tensor, got {type(target).__name__}")
    tensor = target
    check_inplace(state, tensor, needs_grad(state, tensor), op)
    if tensor.counter is None and not tensor.flags & (REQUIRES_GRAD | VIEW | TANGENT):
        return wrap(tensor.array)
    source = value_before(tensor, False)
    source.flags |= tensor.flags & (VIEW | INFERENCE_TENSOR)
    if tensor.flags & VIEW:
        source.extra = tensor.extra.copy()
    return source


cdef TensorBase recorded_look(ThreadState* state, TensorBase target, TensorBase view):
    """Record the last step to `view`, if the thread's modes did not: its values are unchanged, and the target has a history."""
    cdef unsigned int flags = state.flags
    cdef ViewStep last = view.extra.steps
    state.flags = flags & ~<unsigned int> (GRAD_DISABLED | INFERENCE) | FORWARD_DISABLED
    try:
        return replayed(last, last.previous, value_before(target, False))
    finally:
        put_back(state, flags)


cdef TensorBase become_view(TensorBase target, TensorBase view):
    """Give the target the array, the history and the view metadata of `view`, which was taken from the target's old state.

    The target's `creation` is unchanged: the current mode does not decide about later writes to it.
    """
    cdef ThreadState* state = thread_state()
    cdef TensorExtra extra
    cdef Creation creation = target.extra.creation if target.flags & VIEW else PLAIN
    cdef bint shared = target.counter is not None and target.counter is view.counter
    cdef TensorBase look = view
    cdef uint32_t writes
    begin_write(state, target, False)
    if shared and view.grad_fn_ is None and target.grad_fn_ is not None:
        look = recorded_look(state, target, view)
    target.replace_array(view.array)
    if look.grad_fn_ is not None:
        adopt(target, look)
    if shared:  # tensors that are views of the target follow its old state
        extra = target.ensure_extra()
        writes = extra.histories
        extra.hidden = extra.hidden or not target.flags & VIEW
        extra.base, extra.steps, extra.creation = view.extra.base, view.extra.steps, creation
        extra.dual_base, extra.owns_tangents = view.extra.dual_base, view.extra.owns_tangents
        if not target.flags & VIEW and target.grad_fn_ is None:  # a leaf: its old state has no gradient any more
            extra.base.grad_fn_ = None
            extra.base.flags &= ~<unsigned int> REQUIRES_GRAD
        target.flags |= VIEW
        note_writes(target)
        if creation >= IN_NO_GRAD:
            extra.histories = writes + 1  # of the writes that it is compared with, only its own look is excused
        if has_tangent(view):
            take_tangents(target, view)
    return target


cdef object out_unary(Ufunc ufunc, object x, object out, bint differentiable):
    """`f(x, out=out)` for a ufunc."""
    cdef ThreadState* state = thread_state()
    cdef TensorBase target = place(out, ufunc.name)
    x = operand(ufunc, 0, x, ufunc.name)
    if differentiable:
        refuse_out(state, target, needs_grad(state, x), ufunc.name)
    if target.flags & INFERENCE_TENSOR:
        check_inplace(state, target, False, ufunc.name)
    return write(state, ufunc, target, (array_of(x),), ufunc.name)


cdef object out_binary(Ufunc ufunc, object a, object b, object out, bint differentiable):
    """`f(a, b, out=out)` for a ufunc."""
    cdef ThreadState* state = thread_state()
    cdef TensorBase target = place(out, ufunc.name)
    a = operand(ufunc, 0, a, ufunc.name)
    b = operand(ufunc, 1, b, ufunc.name)
    if differentiable:
        refuse_out(state, target, needs_grad(state, a) or needs_grad(state, b), ufunc.name)
    if target.flags & INFERENCE_TENSOR:
        check_inplace(state, target, False, ufunc.name)
    return write(state, ufunc, target, (array_of(a), array_of(b)), ufunc.name)


cdef TensorBase prepare_out(object out, tuple operands, str op):
    """`out` as a tensor that can store the result of a differentiable operator."""
    cdef ThreadState* state = thread_state()
    cdef TensorBase target = place(out, op)
    refuse_out(state, target, any_needs_grad(state, operands), op)
    if target.flags & INFERENCE_TENSOR:
        check_inplace(state, target, False, op)
    return target


cdef int refuse_out(ThreadState* state, TensorBase target, bint recording, str op) except -1:
    """`out=` has no history: refuse it if one would be needed."""
    if recording or (target.flags & REQUIRES_GRAD and not state.flags & GRAD_DISABLED):
        raise RuntimeError(f"{op}: functions with out=... arguments don't support automatic differentiation, but one of the "
                           "arguments requires grad. Use the result instead of out=, or no_grad().")
    if state.flags & DUAL:
        raise RuntimeError(f"{op}: an out= function cannot be used in forward mode: it would drop the tangent")
    return 0


cdef TensorBase write_out(TensorBase target, TensorBase result, str op):
    """Store a result in `out=`."""
    check_fit(target.array, result.array, op)
    begin_write(thread_state(), target, False)
    tell_of_write(target.array, result.array)
    store(target.array, result.array)
    return target
