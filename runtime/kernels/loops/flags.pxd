"""Floating-point flags: what NumPy looks at after a loop, and then warns of as `numpy.errstate` says."""

cdef extern from "gradspec/kernels/loops/flags.h":
    int fp_raised() noexcept nogil
    void fp_clear() noexcept nogil
