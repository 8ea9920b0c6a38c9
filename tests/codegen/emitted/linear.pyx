# generated/kernels/emitted.pyx


cdef object forward_total(object x, object axis):
    try:
        return as_array(np.sum(x, axis))
    except Exception as error_:
        raise explain(error_, "total", x=x, axis=axis) from None


# generated/functions/emitted.pyx


cdef class TotalBackward(Node):
    """total(x, int axis) -> y; linear in x; grad_x = broadcast_to(expand_dims(grad, axis), x.shape)"""

    saves = ("axis", "x_shape", )

    cdef object apply(self, object grad):
        axis = self.saved_axis
        x_shape = self.saved_x_shape
        grad_x = forward_broadcast_to(forward_expand_dims(grad, axis), x_shape)
        return grad_x

    cdef object apply_recorded(self, object grad):
        axis = self.saved_axis
        x_shape = self.saved_x_shape
        grad_x = ops.broadcast_to(ops.expand_dims(grad, axis), x_shape)
        return grad_x


# generated/variable_type/emitted.pyx


cdef object op_total(object x, object axis):
    cdef ThreadState* state_ = thread_state()
    cdef TotalBackward node_ = None
    cdef PyObject* inputs_[1]
    cdef TensorBase y
    x = as_operand(x, "total", "x")
    axis = as_scalar(axis, "total", "axis")

    if needs_grad(state_, x):
        node_ = TotalBackward.__new__(TotalBackward)
        inputs_ = [<PyObject*> x]
        connect(node_, state_, inputs_, 1)
        node_.saved_axis = axis
        node_.saved_x_shape = shape_of(x)

    y = wrap_forward(forward_total(array_of(x), axis))

    if node_ is not None:
        set_history(y, node_, 0)
    if state_.flags & DUAL and (has_tangent(x)):
        jvp_total(y, x, axis)
    return y


cdef int jvp_total(object dual_y, object dual_x, object axis) except -1:
    """Attach the tangents of the outputs, outermost level first."""
    for level_ in levels_of((dual_x, )):
        x_t = tangents_of(dual_x, level_, False)
        if x_t is None:
            continue
        set_tangent(dual_y, level_, ops.total(x_t, axis))
    return 0


def total(x, axis):
    """Sum along `axis`.

    total(x, int axis) -> y; linear in x; grad_x = broadcast_to(expand_dims(grad, axis), x.shape)
    """
    return op_total(x, axis)
