/* The current instruction of a thread's Python code, by the private interface of each version of CPython. */
#ifndef GRADSPEC_PROVENANCE_H
#define GRADSPEC_PROVENANCE_H

#include <Python.h>

#if PY_VERSION_HEX < 0x030C0000
#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1
#endif
#include "internal/pycore_frame.h"
#undef Py_BUILD_CORE
#endif
/* The code object of the calling Python function, borrowed, and the offset of its instruction; NULL outside of all
   functions.  No Python frame object is created. */
static inline PyObject* gradspec_instruction(unsigned int* offset) {
#if PY_VERSION_HEX < 0x030C0000
    _PyInterpreterFrame* frame = _PyThreadState_UncheckedGet()->cframe->current_frame;
    if (frame == NULL) return NULL;
    *offset = (unsigned int) ((char*) frame->prev_instr - (char*) _PyCode_CODE(frame->f_code));
    return (PyObject*) frame->f_code;
#else
    PyObject* code;
#if PY_VERSION_HEX < 0x030D0000
    struct _PyInterpreterFrame* frame = _PyThreadState_UncheckedGet()->cframe->current_frame;
#else
    struct _PyInterpreterFrame* frame = PyThreadState_GetUnchecked()->current_frame;
#endif
    if (frame == NULL) return NULL;
    code = PyUnstable_InterpreterFrame_GetCode(frame);
    if (code == NULL) return NULL;
    *offset = (unsigned int) PyUnstable_InterpreterFrame_GetLasti(frame);
    Py_DECREF(code);  /* the frame keeps it alive */
    return code;
#endif
}

#endif
