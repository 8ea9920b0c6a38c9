/* PyErr_Format for Cython's modules: errors of keywords and positional arguments get a suggestion. */
#ifndef GRADSPEC_HINTS_H
#define GRADSPEC_HINTS_H

#include <Python.h>
#include <stdarg.h>
#include <string.h>

static PyObject *gradspec_format(PyObject *type, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(type, format, arguments);
    va_end(arguments);
    if (type == PyExc_TypeError &&
        (strstr(format, "unexpected keyword") || strstr(format, "positional argument") || strstr(format, "needs keyword-only"))) {
        PyObject *kind, *value, *traceback, *module, *message = NULL;
        PyErr_Fetch(&kind, &value, &traceback);
        module = PyImport_ImportModule("gradspec.support.error_hints");
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

#include "gradspec/support/keywords.h"

#endif
