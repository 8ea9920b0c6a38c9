# generated/kernels/emitted.pyx


cdef object forward_logcosh(object x):
    try:
        return as_array(np.logaddexp(x, forward_negative(x)) - 0.6931471805599453)
    except Exception as error_:
        raise explain(error_, "logcosh", x=x) from None


# generated/functions/emitted.pyx


cdef class LogcoshBackward(Node):
    """logcosh(x) -> y; dy/dx = tanh(x)"""

    saves = ("x", )

    cdef object apply(self, object grad):
        x = saved_array(self, self.saved_x, self.version_x, "x")
        grad_x = forward_multiply(grad, forward_tanh(x))
        return grad_x

    cdef object apply_recorded(self, object grad):
        x = saved_tensor(self, self.saved_x, self.version_x, "x")
        grad_x = grad * ops.tanh(x)
        return grad_x

    cdef void release_variables(self):
        self.released = True
        self.saved_x = None


# generated/variable_type/emitted.pyx


cdef object op_logcosh(object x):
    cdef ThreadState* state_ = thread_state()
    cdef LogcoshBackward node_ = None
    cdef PyObject* inputs_[1]
    cdef TensorBase y
    x = as_real_operand(x, "logcosh", "x")

    if needs_grad(state_, x):
        node_ = LogcoshBackward.__new__(LogcoshBackward)
        inputs_ = [<PyObject*> x]
        connect(node_, state_, inputs_, 1)
        node_.saved_x = save_input(state_, x, &node_.version_x)

    y = wrap_forward(forward_logcosh(array_of(x)))

    if node_ is not None:
        set_history(y, node_, 0)
    if state_.flags & DUAL and (has_tangent(x)):
        jvp_logcosh(y, x)
    return y


cdef int jvp_logcosh(object dual_y, object dual_x) except -1:
    """Attach the tangents of the outputs, outermost level first."""
    for level_ in levels_of((dual_x, )):
        x_t = tangents_of(dual_x, level_, False)
        x = primal_of(dual_x, level_)
        y_t = x_t * ops.tanh(x)
        set_tangent(dual_y, level_, y_t)
    return 0


cdef object op_logcosh_(object x):
    cdef ThreadState* state_ = thread_state()
    cdef TensorBase written_ = writable(x, "logcosh_")
    cdef bint recording_
    x = as_real_operand(x, "logcosh_", "x")
    recording_ = needs_grad(state_, x)
    check_inplace(state_, written_, recording_, "logcosh_")
    if recording_ or state_.flags & DUAL:
        return overwrite(written_, op_logcosh(value_before(written_, state_.flags & DUAL != 0 or needs_grad(state_, x))), "logcosh_")
    copy_into(written_.array, forward_logcosh(array_of(x)), "logcosh_")
    written_.bump()
    return written_


cdef object op_logcosh_out(object x, object out):
    cdef ThreadState* state_ = thread_state()
    cdef TensorBase written_ = writable(out, "logcosh")
    x = as_real_operand(x, "logcosh", "x")
    refuse_out(state_, written_, needs_grad(state_, x), "logcosh")
    return write_out(written_, forward_logcosh(array_of(x)), "logcosh")


def logcosh(x, *, out=None):
    """log(cosh(x)) without overflow.

    logcosh(x) -> y; dy/dx = tanh(x)
    """
    if out is not None:
        return op_logcosh_out(x, out)
    return op_logcosh(x)
