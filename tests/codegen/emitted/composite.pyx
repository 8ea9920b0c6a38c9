# generated/kernels/emitted.pyx

cdef object forward_root_mean_square(object x):
    return forward_sqrt(forward_mean(forward_square(x), None, False))


# generated/variable_type/emitted.pyx

cdef object op_root_mean_square(object x):
    cdef ThreadState* state_ = thread_state()
    if state_.flags & LISTENING and is_heard(state_):
        return listened(state_, "root_mean_square", <void*> op_root_mean_square, (x,))
    x = as_real_operand(x, "root_mean_square", "x")

    try:
        if needs_grad(state_, x) or state_.flags & (DUAL | MAPPED | BY_OPERATOR):
            return ops.sqrt(ops.mean(ops.square(x)))
        return wrap_forward(forward_root_mean_square(array_of(x)))
    except Exception as error_:
        raise explain(error_, "root_mean_square", x=x) from None

def root_mean_square(x):
    """Root of the mean of squares."""
    return op_root_mean_square(x)
