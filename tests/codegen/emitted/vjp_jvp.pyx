# generated/kernels/emitted.pyx

cdef object forward_length(object x):
    try:
        return as_array(np.sqrt(np.sum(forward_multiply(x, x))))
    except Exception as error_:
        raise explain(error_, "length", x=x) from None


# generated/functions/emitted.pyx

cdef Program length_grad_x = Program("grad, x, y -> grad_x", """
    unit = divide(x, y)
    grad_x = multiply(grad, unit)""")

cdef class LengthBackward(Node):
    """length(x) -> y; grad_x = grad * unit; where unit = x / y"""
    saves = ("x", "y")

    cdef object apply(self, object grad, Wanted wanted_):
        x = saved_array(self, self.saved_x, self.version_x, "x")
        y = saved_array(self, self.saved_y, self.version_y, "y")
        return length_grad_x.run((grad, x, y))

    cdef object apply_recorded(self, object grad, Wanted wanted_):
        x = saved_tensor(self, self.saved_x, self.version_x, "x")
        y = saved_tensor(self, self.saved_y, self.version_y, "y")
        unit = x / y
        return grad * unit

    cdef bint takes_deferred(self):
        return True

    cdef void release_variables(self):
        self.released, self.saved_x, self.saved_y = True, None, None


# generated/variable_type/emitted.pyx

cdef object op_length(object x):
    cdef ThreadState* state_ = thread_state()
    cdef LengthBackward node_ = None
    cdef TensorBase y
    if state_.flags & LISTENING and is_heard(state_):
        return listened(state_, "length", <void*> op_length, (x,))
    x = as_real_operand(x, "length", "x")

    if needs_grad(state_, x):
        node_ = LengthBackward.__new__(LengthBackward)
        connect_one(node_, state_, x)
        node_.saved_x = save_input(state_, x, &node_.version_x)

    y = wrap_forward(forward_length(array_of(x)))

    if node_ is not None:
        set_history(y, node_, 0)
        node_.saved_y = save_output(y)
    if state_.flags & DUAL and has_tangent(x):
        push_forward(jvp_length, (y,), (x,))
    return y

cdef tuple jvp_length(tuple outputs_, tuple inputs_, tuple tangents_):
    x_t, x, y = tangents_[0], inputs_[0], outputs_[0]
    unit = x / y
    return (ops.sum(unit * x_t),)

def length(x):
    """Square root of the sum of squares."""
    return op_length(x)
