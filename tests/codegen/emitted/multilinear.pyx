# generated/kernels/emitted.pyx

cdef object forward_rowwise(object a, object b):
    try:
        return as_array(np.sum(forward_multiply(a, b), axis=-1))
    except Exception as error_:
        raise explain(error_, "rowwise", a=a, b=b) from None


# generated/functions/emitted.pyx

cdef class RowwiseBackward(Node):
    """rowwise(a, b) -> y

    multilinear in a, b
    grad_a = expand_dims(grad, -1) * conj(b)
    grad_b = expand_dims(grad, -1) * conj(a)
    """
    saves = ("b", "a")

    cdef object apply(self, object grad, Wanted wanted_):
        grad_a = grad_b = None
        if wanted_ & 1:
            b = saved_array(self, self.saved_b, self.version_b, "b")
            grad_a = forward_multiply(forward_expand_dims(grad, -1), forward_conj(b))
        if wanted_ & 2:
            a = saved_array(self, self.saved_a, self.version_a, "a")
            grad_b = forward_multiply(forward_expand_dims(grad, -1), forward_conj(a))
        return grad_a, grad_b

    cdef object apply_recorded(self, object grad, Wanted wanted_):
        grad_a = grad_b = None
        if wanted_ & 1:
            b = saved_tensor(self, self.saved_b, self.version_b, "b")
            grad_a = ops.expand_dims(grad, -1) * conj_of(b)
        if wanted_ & 2:
            a = saved_tensor(self, self.saved_a, self.version_a, "a")
            grad_b = ops.expand_dims(grad, -1) * conj_of(a)
        return grad_a, grad_b

    cdef void release_variables(self):
        self.released, self.saved_b, self.saved_a = True, None, None


# generated/variable_type/emitted.pyx

cdef object op_rowwise(object a, object b):
    cdef ThreadState* state_ = thread_state()
    cdef RowwiseBackward node_ = None
    cdef TensorBase y
    if state_.flags & LISTENING and is_heard(state_):
        return listened(state_, "rowwise", <void*> op_rowwise, (a, b))
    a = as_operand(a, "rowwise", "a")
    b = as_operand(b, "rowwise", "b")

    if needs_grad(state_, a) or needs_grad(state_, b):
        node_ = RowwiseBackward.__new__(RowwiseBackward)
        connect_two(node_, state_, a, b)
        if node_.needs(0):
            node_.saved_b = save_input(state_, b, &node_.version_b)
        if node_.needs(1):
            node_.saved_a = save_input(state_, a, &node_.version_a)

    y = wrap_forward(forward_rowwise(array_of(a), array_of(b)))

    if node_ is not None:
        set_history(y, node_, 0)
    if state_.flags & DUAL and (has_tangent(a) or has_tangent(b)):
        push_forward(jvp_rowwise, (y,), (a, b))
    return y

cdef tuple jvp_rowwise(tuple outputs_, tuple inputs_, tuple tangents_):
    a_t, b_t, a, b = tangents_[0], tangents_[1], inputs_[0], inputs_[1]
    y_t = None if a_t is None else ops.rowwise(a_t, b)
    if b_t is not None:
        y_t = plus(y_t, ops.rowwise(a, b_t))
    return (y_t,)

def rowwise(a, b):
    """Products of the rows of two matrices, y[i] = sum(a[i, j] * b[i, j])."""
    return op_rowwise(a, b)
