/* Private and moving parts of CPython, for each version: frames, and the interpreter's stack. */
#ifndef GRADSPEC_CPYTHON_H
#define GRADSPEC_CPYTHON_H

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

/* The frame of the calling Python function, a new reference, or NULL; its caller's, a new reference, or NULL; its code object, borrowed. */
static inline PyObject* gradspec_frame(void) {
    return Py_XNewRef((PyObject*) PyEval_GetFrame());
}

static inline PyObject* gradspec_caller(PyObject* frame) {
    return (PyObject*) PyFrame_GetBack((PyFrameObject*) frame);
}

static inline PyObject* gradspec_code(PyObject* frame, int* offset) {
    PyObject* code = (PyObject*) PyFrame_GetCode((PyFrameObject*) frame);
    Py_DECREF(code);  /* the frame keeps it alive */
    *offset = PyFrame_GetLasti((PyFrameObject*) frame);
    return code;
}

/* Whether an argument of a Python call has no name: only the interpreter's stack and `holders` references of ours hold it.  Since
   3.14 the stack borrows the reference of a local variable, so a count cannot tell a variable from a temporary object. */
static inline int gradspec_is_temporary(PyObject* value, Py_ssize_t holders) {
#if PY_VERSION_HEX < 0x030E0000
    return Py_REFCNT(value) <= 1 + holders;
#else
    int answer = 0;
    if (Py_REFCNT(value) == 1 + holders) {
        Py_SET_REFCNT(value, 1);
        answer = PyUnstable_Object_IsUniqueReferencedTemporary(value);
        Py_SET_REFCNT(value, 1 + holders);
    }
    return answer;
#endif
}

#endif
