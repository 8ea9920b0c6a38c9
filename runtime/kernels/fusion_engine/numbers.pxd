"""Python numbers as operands beside arrays."""

cdef union Number:
    float f
    double d
    float[2] F
    double[2] D

cdef bint store_number(object value, int slot, Number* number) except -1
cdef bint is_number(object value) noexcept
cdef object weak(object result)
