# generated/kernels/emitted.pyx

cdef object forward_bessel(object x):
    try:
        return as_array(np.i0(x))
    except Exception as error_:
        raise explain(error_, "bessel", x=x) from None


# generated/variable_type/emitted.pyx

cdef object op_bessel(object x):
    cdef ThreadState* state_ = thread_state()
    cdef Node node_ = None
    cdef TensorBase y
    if state_.flags & LISTENING and is_heard(state_):
        return listened(state_, "bessel", <void*> op_bessel, (x,))
    x = as_real_operand(x, "bessel", "x")

    if needs_grad(state_, x):
        node_ = missing_rule(state_, "bessel", (x, ))

    y = wrap_forward(forward_bessel(array_of(x)))

    if node_ is not None:
        set_history(y, node_, 0)
    if state_.flags & DUAL and has_tangent(x):
        refuse_tangent("bessel")
    return y

cdef object into_bessel(object x, object out):
    cdef ThreadState* state_ = thread_state()
    if state_.flags & LISTENING and is_heard(state_):
        return listened(state_, "bessel.out", <void*> into_bessel, (x, out))
    target_ = prepare_out(out, (x,), "bessel")
    return write_out(target_, op_bessel(x), "bessel")

def bessel(x, *, out=None):
    """Modified Bessel function of the first kind, of order 0."""
    if out is not None:
        return into_bessel(x, out)
    return op_bessel(x)
