"""Calls of compiled functions: accept other libraries' keywords, and complete the errors of calls that do not fit.

A module that cimports this file reads other libraries' keywords as the parameters that they mean (`keywords.h`).  Cython raises
errors with PyErr_Format; here the macro of that name asks `gradspec.support.error_hints` to complete the message
(`error_hints.h`).  Calls that fit have no overhead.
"""

cdef extern from "gradspec/support/error_hints.h":
    void answer_calls "gradspec_answer_calls"()
