/* The Python functions that run, as numbers: the address of each code object and the place in it, the innermost first. */
#ifndef GRADSPEC_STACK_H
#define GRADSPEC_STACK_H

#include <Python.h>
#include <stdint.h>

/* Fill at most `room` pairs; how many functions there are. */
static Py_ssize_t gradspec_stack(uint64_t* pairs, Py_ssize_t room) {
    PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
    Py_ssize_t count = 0;
    while (frame != NULL) {
        PyFrameObject* outer = PyFrame_GetBack(frame);
        if (count < room) {
            PyCodeObject* code = PyFrame_GetCode(frame);
            pairs[2 * count] = (uint64_t) (uintptr_t) code;
            pairs[2 * count + 1] = (uint64_t) (int64_t) PyFrame_GetLasti(frame);
            Py_DECREF(code); /* the frame keeps it */
        }
        count++;
        Py_DECREF(frame);
        frame = outer;
    }
    return count;
}

#endif
