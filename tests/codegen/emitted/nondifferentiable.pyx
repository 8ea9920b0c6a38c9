# generated/kernels/emitted.pyx

cdef object forward_peak(object x, object axis):
    try:
        return as_array(np.argmax(x, axis))
    except Exception as error_:
        raise explain(error_, "peak", x=x, axis=axis) from None


# generated/variable_type/emitted.pyx

cdef object op_peak(object x, object axis):
    cdef ThreadState* state_ = thread_state()
    if state_.flags & LISTENING and is_heard(state_):
        return listened(state_, "peak", <void*> op_peak, (x, axis))
    x = as_real_operand(x, "peak", "x")
    axis = as_int(axis, "peak", "axis")

    return wrap_forward(forward_peak(array_of(x), axis))

def peak(x, axis):
    """Where the largest element along `axis` stands."""
    return op_peak(x, axis)
