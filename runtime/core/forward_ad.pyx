"""Forward mode: nested dual levels and the tangents that tensors carry at each.

Holds the tangents of each tensor at each level.  An operator computes its result once.  Then, from the outermost level to
the innermost, it evaluates its jvp formula on operands that carry only the tangents of the outer levels.  So a tangent can itself
have tangents and a graph, and levels cannot be confused.  At a batched level each tensor has many tangents at once, the rows of
a leading axis.  A formula that acts on each row independently takes all rows at once, any other formula takes them row by row.
"""

cimport cython
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM

from ..support cimport capi as cnp
from ..support.dispatch import ops
from .events cimport Event, begin_event, end_event
from .grad_mode cimport BATCHED, FORWARD_DISABLED, LISTENING, ThreadState, thread_objects, thread_state
from ..kernels.loops.axes cimport row_view
from .tensor cimport REQUIRES_GRAD, TANGENT, VIEW, TensorBase, TensorExtra, is_inexact, wrap

cnp.import_array()
formulas = {}  # DualLevel that asks for the formula instead of tangents -> the formula

cdef class DualLevel:
    """One open level; it drops its tangents when it is left."""

    cdef void leave(self):
        cdef ForwardGrad grad
        while self.first != NULL:
            grad = <ForwardGrad> self.first
            grad.unlink()
            grad.tangent = None


@cython.no_gc_clear  # `__dealloc__` unlinks it from its level and needs to know the level
cdef class ForwardGrad:
    """The tangent of one tensor at one level."""

    cdef void link(self, DualLevel owner):
        self.owner, self.level = owner, owner.index
        self.following = owner.first
        if owner.first != NULL:
            (<ForwardGrad> owner.first).previous = <void*> self
        owner.first = <void*> self

    cdef void unlink(self):
        if self.owner is None:
            return
        if self.previous != NULL:
            (<ForwardGrad> self.previous).following = self.following
        else:
            self.owner.first = self.following
        if self.following != NULL:
            (<ForwardGrad> self.following).previous = self.previous
        self.previous = self.following = NULL
        self.owner = None

    def __dealloc__(self):
        if self.owner is not None:
            self.unlink()


cdef ForwardGrad find(object operand, int level):
    """The tangent of `operand` at `level`, or None."""
    cdef ForwardGrad grad
    if not has_tangent(operand):
        return None
    grad = (<TensorBase> operand).extra.tangents
    while grad is not None:
        if grad.level == level and grad.owner is not None:
            check_owner(grad)
            return grad
        grad = grad.outer
    return None


cdef int check_owner(ForwardGrad grad) except -1:
    """A level has an index in each thread: refuse a tangent that belongs to another thread's level."""
    cdef list levels = thread_objects().dual_levels
    if grad.level > len(levels) or levels[grad.level - 1] is not grad.owner:
        raise RuntimeError(f"a tensor has a tangent at dual level {grad.level} of another thread, which cannot be used in this "
                           "thread: unpack_dual() it there, and make_dual() again here")
    return 0


cdef TensorBase tangent_of(object operand, int level):
    cdef ForwardGrad grad = find(operand, level)
    return None if grad is None else grad.tangent


cdef list levels_of(tuple operands):
    """The levels that hold a tangent of some operand, outermost first."""
    cdef ForwardGrad grad
    cdef set found = set()
    if thread_state().flags & FORWARD_DISABLED:
        return []
    for operand in operands:
        if isinstance(operand, (tuple, list)):
            found.update(levels_of(tuple(operand)))
        elif has_tangent(operand):
            grad = (<TensorBase> operand).extra.tangents
            while grad is not None:
                if grad.owner is not None:
                    check_owner(grad)
                    found.add(grad.level)
                grad = grad.outer
    return sorted(found)


cdef object primal_of(object operand, int level):
    """`operand` without its tangents at `level` and inner levels; history and memory are shared."""
    cdef TensorBase tensor, primal
    cdef ForwardGrad grad
    if type(operand) is tuple or type(operand) is list:
        return type(operand)([primal_of(item, level) for item in operand])
    if not has_tangent(operand):
        return operand
    tensor = operand
    grad = tensor.extra.tangents
    if grad.level < level:
        return tensor
    while grad is not None and grad.level >= level:
        grad = grad.outer
    primal = tensor.alias_with_history()
    if grad is not None:
        primal.ensure_extra().tangents = grad
        primal.flags |= TANGENT
    return primal


cdef object tangents_of(object operands, int level, bint fill):
    """The tangent of one operand, or a list of tangents; absent ones are None, or zeros if `fill` is set."""
    if isinstance(operands, (tuple, list)):
        if not fill and all([find(item, level) is None for item in operands]):
            return None
        return [tangents_of(item, level, True) for item in operands]
    tangent = tangent_of(operands, level)
    if tangent is None and fill:
        return defined_tangent(None, operands)
    return tangent


cdef int push_forward(Jvp jvp, tuple outputs, tuple inputs) except -1:
    """Attach the tangents of an operator's outputs, outermost level first.

    At each level `jvp` receives the operator's results and arguments, in order, without the tangents of this and the inner
    levels.  It also receives the tangents of the inputs, None for an input without one, and returns the outputs' tangents.
    """
    return push(jvp, NULL, outputs, inputs, False)


cdef int push_linear(Jvp jvp, tuple outputs, tuple inputs) except -1:
    """`push_forward` for an operator that is linear in all differentiable inputs: `jvp` reads tangents and statics only."""
    return push(jvp, NULL, outputs, inputs, True)


cdef int push_whole(Jvp jvp, Jvp whole, bint linear, tuple outputs, tuple inputs) except -1:
    """`push_forward` for an operator whose formula `whole` takes whole batches of tangents.

    If `whole` is `jvp` itself, the formula is elementwise: axes of length 1 align operands that have fewer axes.
    """
    return push(jvp, whole, outputs, inputs, linear)


cdef int push(Jvp jvp, Jvp whole, tuple outputs, tuple inputs, bint linear) except -1:
    cdef ThreadState* state = thread_state()
    cdef int level
    cdef Py_ssize_t i
    cdef tuple tangents, results
    if state.flags & FORWARD_DISABLED:
        return 0
    for level in range(1, state.dual_level + 1):
        tangents = tangents_at(inputs, level)
        if tangents is None:
            continue
        if state.flags & BATCHED and batch_of(level) < 0:
            formulas[thread_objects().dual_levels[level - 1]] = told(jvp, primals_at(outputs, level), primals_at(inputs, level))
            continue
        if state.flags & LISTENING:
            results = push_heard(state, jvp, whole, outputs, inputs, tangents, linear, level)
        else:
            results = push_level(state, jvp, whole, outputs, inputs, tangents, linear, level)
        for i in range(len(outputs)):
            output, tangent = outputs[i], results[i]
            if type(output) is list:
                for item, item_t in zip(output, tangent):
                    set_tangent(item, level, item_t)
            else:
                set_tangent(output, level, tangent)
    return 0


cdef class Formula:
    """The jvp formula of a call, and the operator's results and arguments, converted and without tangents."""
    cdef Jvp jvp
    cdef readonly tuple outputs, inputs

    def __call__(self, tuple outputs, tuple inputs, tuple tangents):
        return self.jvp(outputs, inputs, tangents)


cdef Formula told(Jvp jvp, tuple outputs, tuple inputs):
    cdef Formula found = Formula()
    found.jvp, found.outputs, found.inputs = jvp, outputs, inputs
    return found


cdef inline tuple push_level(ThreadState* state, Jvp jvp, Jvp whole, tuple outputs, tuple inputs, tuple tangents, bint linear,
                             int level):
    """The tangents of the outputs at one level."""
    if state.flags & BATCHED and batch_of(level):
        return push_batch(jvp, whole, outputs, inputs, tangents, 0 if linear else level, batch_of(level))
    if linear:
        return jvp(outputs, inputs, tangents)
    return jvp(primals_at(outputs, level), primals_at(inputs, level), tangents)


cdef tuple push_heard(ThreadState* state, Jvp jvp, Jvp whole, tuple outputs, tuple inputs, tuple tangents, bint linear,
                      int level):
    """`push_level`, reported to listeners."""
    cdef Event event = begin_event(state, "tangent", f"level {level - 1}", tangents, None)
    try:
        results = push_level(state, jvp, whole, outputs, inputs, tangents, linear, level)
    except BaseException as error:
        end_event(state, event, None, error)
        raise
    end_event(state, event, results, None)
    return results


cdef tuple tangents_at(tuple inputs, int level):
    """The tangents of the inputs at a level; None if no input has one."""
    cdef Py_ssize_t i
    cdef bint found = False
    cdef tuple tangents = PyTuple_New(len(inputs))
    for i in range(len(inputs)):
        value = inputs[i]
        tangent = tangents_of(value, level, False) if has_tangent(value) or is_sequence(value) else None
        found = found or tangent is not None
        Py_INCREF(tangent)
        PyTuple_SET_ITEM(tangents, i, tangent)
    return tangents if found else None


cdef tuple primals_at(tuple values, int level):
    cdef Py_ssize_t i
    cdef tuple primals = PyTuple_New(len(values))
    for i in range(len(values)):
        value = values[i]
        if has_tangent(value) or is_sequence(value):
            value = primal_of(value, level)
        Py_INCREF(value)
        PyTuple_SET_ITEM(primals, i, value)
    return primals


cdef Py_ssize_t batch_of(int level) except -1:
    """How many tangents a tensor has at an open level, along a leading axis; 0 if there is no such axis."""
    return (<DualLevel> thread_objects().dual_levels[level - 1]).batch


cdef tuple push_batch(Jvp jvp, Jvp whole, tuple outputs, tuple inputs, tuple tangents, int level, Py_ssize_t count):
    """The batches of the outputs, by `whole` if possible, else row by row; `level` is 0 if `jvp` reads no primals."""
    cdef Py_ssize_t row, i
    cdef int ndim
    cdef list results = []
    if level:
        outputs, inputs = primals_at(outputs, level), primals_at(inputs, level)
    if whole != NULL and whole != jvp:
        return whole(outputs, inputs, tangents)
    if whole != NULL and isinstance(outputs[0], TensorBase):
        ndim = (<TensorBase> outputs[0]).array.ndim
        if all([(<TensorBase> value).array.ndim <= ndim for value in inputs if isinstance(value, TensorBase)]):
            return whole(outputs, inputs, tuple([aligned(tangent, ndim) for tangent in tangents]))
    for row in range(count):
        results.append(jvp(outputs, inputs, row_of(inputs, tangents, row)))
    return tuple([stacked_like(outputs[i], [result[i] for result in results]) for i in range(len(outputs))])


cdef object aligned(TensorBase batch, int ndim):
    """Rows of `ndim` axes; new axes come before the existing ones."""
    cdef tuple shape
    if batch is None or batch.array.ndim > ndim:
        return batch
    shape = batch.shape
    return ops.reshape(batch, shape[:1] + (1,) * (ndim + 1 - len(shape)) + shape[1:])


cdef object row_of(object operand, object tangent, Py_ssize_t row):
    """A row of the tangents of one operand, or of several; the zeros of an absent tangent have no rows."""
    cdef TensorBase batch
    if tangent is None:
        return None
    if is_sequence(operand):
        return type(tangent)([row_of(one, one_t, row) for one, one_t in zip(operand, tangent)])
    batch = tangent
    if not isinstance(operand, TensorBase) or batch.array.ndim == (<TensorBase> operand).array.ndim:
        return batch
    if batch.flags & (REQUIRES_GRAD | TANGENT | VIEW):
        return batch[row, ...]
    return wrap(row_view(batch.array, row))


cdef object stacked_like(object output, list rows):
    """The rows of the tangents of one output, or of several, stacked."""
    cdef Py_ssize_t i
    if rows[0] is None and not any([row is not None for row in rows]):
        return None
    if type(output) is list:
        return [stacked_like(item, [row[i] for row in rows]) for i, item in enumerate(output)]
    return stacked(rows, output)


cdef object stacked(list rows, TensorBase output):
    """Rows of tangents of `output`, stacked; None if all rows are None."""
    cdef list whole = []
    if not any([row is not None for row in rows]):
        return None
    for row in rows:
        if row is None:
            row = ops.zeros_like(output)
        whole.append(row if row.shape == output.shape else ops.broadcast_to(row, output.shape))
    return ops.stack(whole)


cdef inline bint is_sequence(object value) noexcept:
    return type(value) is tuple or type(value) is list


cdef object defined_tangent(object tangent, object primal):
    """The tangent of an input when another input has one: zeros if its own tangent is absent."""
    if tangent is not None:
        return tangent
    return ops.zeros_like(primal) if isinstance(primal, TensorBase) else 0  # a number may be infinite


cdef object plus(object total, object term):
    """The sum of two terms of a jvp; the first may be None."""
    return term if total is None else ops.add(total, term)


cdef object minus(object total, object term):
    """The difference of two terms; the first may be None."""
    return ops.negative(term) if total is None else ops.subtract(total, term)


cdef TensorBase fitted(TensorBase tangent, tuple shape, Py_ssize_t batch):
    """A tangent broadcast to its tensor's shape, after the batch axis if there is one."""
    if batch:
        tangent, shape = aligned(tangent, len(shape)), (batch,) + shape
    return tangent if tangent.shape == shape else ops.broadcast_to(tangent, shape)


cdef int set_tangent(TensorBase tensor, int level, TensorBase tangent) except -1:
    """Attach a tangent; it takes the tensor's shape and dtype."""
    cdef ForwardGrad grad, inner
    cdef TensorExtra extra
    if tangent is None or not is_inexact(tensor.array):
        return 0
    if tangent.shape != tensor.shape:
        tangent = fitted(tangent, tensor.shape, batch_of(level))
    if tangent.dtype != tensor.dtype:
        if tangent.dtype.kind == "c" and tensor.dtype.kind != "c":
            tangent = ops.real(tangent)
        tangent = ops.astype(tangent, tensor.dtype)
    extra = tensor.ensure_extra()
    grad = find(tensor, level)
    if grad is not None:
        grad.tangent = tangent
        return 0
    grad = ForwardGrad.__new__(ForwardGrad)
    grad.tangent = tangent
    grad.link(thread_objects().dual_levels[level - 1])
    # Innermost first.
    if extra.tangents is None or (<ForwardGrad> extra.tangents).level < level:
        grad.outer = extra.tangents
        extra.tangents = grad
    else:
        inner = extra.tangents
        while inner.outer is not None and inner.outer.level > level:
            inner = inner.outer
        grad.outer = inner.outer
        inner.outer = grad
    tensor.flags |= TANGENT
    return 0


cdef int take_tangents(TensorBase target, TensorBase source) except -1:
    """Give `target` the tangents of `source` instead of its own, after an in-place write."""
    cdef ForwardGrad grad
    if target.extra is not None:
        target.extra = target.extra.copy()  # holders of the saved old value keep the old tangents
        target.extra.tangents = None
    target.flags &= ~<unsigned int> TANGENT
    if source.flags & TANGENT:
        grad = source.extra.tangents
        while grad is not None:
            if grad.owner is not None:
                set_tangent(target, grad.level, grad.tangent)
            grad = grad.outer
    return 0
