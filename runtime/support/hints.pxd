"""What a compiled module does with a call whose arguments do not fit.

Cython words such errors itself, with PyErr_Format: a module that cimports this file asks `gradspec.support.hints` to finish the message.
Calls that fit pay nothing.
"""

cdef extern from *:
    """
    #ifndef GRADSPEC_HINTS
    #define GRADSPEC_HINTS
    #include <stdarg.h>
    #include <string.h>
    static PyObject *gradspec_format(PyObject *type, const char *format, ...) {
        va_list arguments;
        va_start(arguments, format);
        PyErr_FormatV(type, format, arguments);
        va_end(arguments);
        if (type == PyExc_TypeError && (strstr(format, "unexpected keyword") || strstr(format, "positional argument"))) {
            PyObject *kind, *value, *traceback, *module, *message = NULL;
            PyErr_Fetch(&kind, &value, &traceback);
            module = PyImport_ImportModule("gradspec.support.hints");
            if (module) message = PyObject_CallMethod(module, "of_call", "O", value);
            Py_XDECREF(module);
            if (message) {
                PyErr_SetObject(kind, message);
                Py_DECREF(message); Py_DECREF(kind); Py_DECREF(value); Py_XDECREF(traceback);
            } else {
                PyErr_Clear();
                PyErr_Restore(kind, value, traceback);
            }
        }
        return NULL;
    }
    #define PyErr_Format gradspec_format
    static CYTHON_INLINE void gradspec_answer_calls(void) {}
    #endif
    """
    void answer_calls "gradspec_answer_calls"()
