# generated/kernels/emitted.pyx

cdef object forward_logcosh(object x):
    try:
        return as_array(np.logaddexp(x, forward_negative(x)) - 0.6931471805599453)
    except Exception as error_:
        raise explain(error_, "logcosh", x=x) from None


# generated/functions/emitted.pyx

cdef Program logcosh_grad_x = Program("grad, x -> grad_x", "grad_x = multiply(grad, tanh(x))")

cdef class LogcoshBackward(Node):
    """logcosh(x) -> y; dy/dx = tanh(x)"""
    saves = ("x",)

    cdef object apply(self, object grad, Wanted wanted_):
        x = saved_array(self, self.saved_x, self.version_x, "x")
        return logcosh_grad_x.run((grad, x))

    cdef object apply_recorded(self, object grad, Wanted wanted_):
        x = saved_tensor(self, self.saved_x, self.version_x, "x")
        return grad * ops.tanh(x)

    cdef bint takes_batch(self):
        return True

    cdef bint takes_deferred(self):
        return True

    cdef void release_variables(self):
        self.released, self.saved_x = True, None


# generated/variable_type/emitted.pyx

cdef object op_logcosh(object x):
    cdef ThreadState* state_ = thread_state()
    cdef LogcoshBackward node_ = None
    cdef TensorBase y
    if state_.flags & LISTENING and is_heard(state_):
        return listened(state_, "logcosh", <void*> op_logcosh, (x,))
    x = as_real_operand(x, "logcosh", "x")

    if needs_grad(state_, x):
        node_ = LogcoshBackward.__new__(LogcoshBackward)
        connect_one(node_, state_, x)
        node_.saved_x = save_input(state_, x, &node_.version_x)

    y = wrap_forward(forward_logcosh(array_of(x)))

    if node_ is not None:
        set_history(y, node_, 0)
    if state_.flags & DUAL and has_tangent(x):
        push_whole(jvp_logcosh, jvp_logcosh, False, (y,), (x,))
    return y

cdef tuple jvp_logcosh(tuple outputs_, tuple inputs_, tuple tangents_):
    x_t, x = tangents_[0], inputs_[0]
    return (x_t * ops.tanh(x),)

cdef object op_logcosh_(object x):
    cdef ThreadState* state_ = thread_state()
    if state_.flags & LISTENING and is_heard(state_):
        return listened(state_, "logcosh_", <void*> op_logcosh_, (x,))
    x = as_real_operand(writable(x, "logcosh_"), "logcosh_", "x")
    old_ = prepare_inplace(x, (x,), 0b1, "logcosh_")
    return overwrite(x, op_logcosh(old_), "logcosh_")

cdef object into_logcosh(object x, object out):
    cdef ThreadState* state_ = thread_state()
    if state_.flags & LISTENING and is_heard(state_):
        return listened(state_, "logcosh.out", <void*> into_logcosh, (x, out))
    target_ = prepare_out(out, (x,), "logcosh")
    return write_out(target_, op_logcosh(x), "logcosh")

def logcosh(x, *, out=None):
    """log(cosh(x)) without overflow."""
    if out is not None:
        return into_logcosh(x, out)
    return op_logcosh(x)
