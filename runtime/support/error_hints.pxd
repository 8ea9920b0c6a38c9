"""What a compiled module does with a call whose arguments do not fit.

A module that cimports this file reads keywords of other libraries as the parameters that they mean (`keywords.h`).  Cython
words the errors itself, with PyErr_Format, which asks `gradspec.support.error_hints` to finish the message (`error_hints.h`).  Calls
that fit pay nothing.
"""

cdef extern from "gradspec/support/error_hints.h":
    void answer_calls "gradspec_answer_calls"()
