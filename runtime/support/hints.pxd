"""What a compiled module does with a call whose arguments do not fit.

Cython words such errors itself, with PyErr_Format: a module that cimports this file asks `gradspec.support.hints` to finish the message.
Calls that fit pay nothing.
"""

cdef extern from "gradspec/support/hints.h":
    void answer_calls "gradspec_answer_calls"()
