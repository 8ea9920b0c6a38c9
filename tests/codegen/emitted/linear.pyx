# generated/kernels/emitted.pyx

cdef object forward_total(object x, object axis):
    try:
        return as_array(np.sum(x, axis))
    except Exception as error_:
        raise explain(error_, "total", x=x, axis=axis) from None


# generated/functions/emitted.pyx

cdef class TotalBackward(Node):
    """total(x, int axis) -> y; linear in x; grad_x = broadcast_to(expand_dims(grad, axis), x.shape)"""
    saves = ("axis", "x_shape")

    cdef object apply(self, object grad, Wanted wanted_):
        axis = self.saved_axis
        x_shape = self.saved_x_shape
        return forward_broadcast_to(forward_expand_dims(grad, axis), x_shape)

    cdef object apply_recorded(self, object grad, Wanted wanted_):
        axis = self.saved_axis
        x_shape = self.saved_x_shape
        return ops.broadcast_to(ops.expand_dims(grad, axis), x_shape)

    cdef object apply_rows(self, object grad, Wanted wanted_):
        axis = self.saved_axis
        x_shape = self.saved_x_shape
        rows_0 = ops.expand_dims(grad, formulas.new_axes_of_rows(axis, ndim_of(grad) - 1))
        return ops.broadcast_to(
            ops.reshape(rows_0, formulas.shape_of_rows(shape_of(rows_0), shape_of(rows_0)[1:], formulas.len_of(x_shape))),
            formulas.shape_of_rows(shape_of(rows_0), x_shape)
        )


# generated/variable_type/emitted.pyx

cdef object op_total(object x, object axis):
    cdef ThreadState* state_ = thread_state()
    cdef TotalBackward node_ = None
    cdef TensorBase y
    if state_.flags & LISTENING and is_heard(state_):
        return listened(state_, "total", <void*> op_total, (x, axis))
    x = as_operand(x, "total", "x")
    axis = as_int(axis, "total", "axis")

    if needs_grad(state_, x):
        node_ = TotalBackward.__new__(TotalBackward)
        connect_one(node_, state_, x)
        node_.saved_axis = axis
        node_.saved_x_shape = shape_of(x)

    y = wrap_forward(forward_total(array_of(x), axis))

    if node_ is not None:
        set_history(y, node_, 0)
    if state_.flags & DUAL and has_tangent(x):
        push_linear(jvp_total, (y,), (x, axis))
    return y

cdef tuple jvp_total(tuple outputs_, tuple inputs_, tuple tangents_):
    x_t, axis = tangents_[0], inputs_[1]
    return (ops.total(x_t, axis),)

def total(x, axis):
    """Sum along `axis`."""
    return op_total(x, axis)


answer_calls()
