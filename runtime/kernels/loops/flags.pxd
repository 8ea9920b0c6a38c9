"""Floating-point flags: read after a loop, as NumPy does, to warn as `numpy.errstate` says."""

cdef extern from "gradspec/kernels/loops/flags.h":
    int fp_raised() noexcept nogil
    void fp_clear() noexcept nogil
    int fp_as_numpys(int raised) noexcept nogil
