/* Calls of compiled functions that ask their operands for a result after a TypeError. */
#ifndef GRADSPEC_ANSWERED_H
#define GRADSPEC_ANSWERED_H

#include <Python.h>
#include <string.h>

typedef PyObject *(*gradspec_fast_call)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);

static PyObject *gradspec_asked; /* (function, args, keywords) -> a result, or NotImplemented */

static PyObject *gradspec_ask(PyObject *function, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    PyObject *kind, *error, *traceback, *answer = NULL;
    PyErr_Fetch(&kind, &error, &traceback);
    PyObject *given = PyTuple_New(count), *keywords = PyDict_New();
    for (Py_ssize_t i = 0; given && i < count; i++) PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; keywords && names && i < PyTuple_GET_SIZE(names); i++)
        if (PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), args[count + i])) Py_CLEAR(keywords);
    if (given && keywords) answer = PyObject_CallFunctionObjArgs(gradspec_asked, function, given, keywords, NULL);
    Py_XDECREF(given);
    Py_XDECREF(keywords);
    if (answer == Py_NotImplemented) {
        Py_CLEAR(answer);
        PyErr_Restore(kind, error, traceback);
    } else {
        Py_XDECREF(kind);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
    }
    return answer;
}

static PyObject *gradspec_call(PyObject *function, PyObject *const *args, size_t flags, PyObject *names) {
    PyCFunctionObject *own = (PyCFunctionObject *) function;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    PyObject *result = ((gradspec_fast_call) (void (*)(void)) own->m_ml->ml_meth)(own->m_self, args, count, names);
    return result || !PyErr_ExceptionMatches(PyExc_TypeError) ? result : gradspec_ask(function, args, count, names);
}

/* Have a function compiled by Cython called this way; 0 if it has another calling convention and is unchanged. */
static int gradspec_let_answer(PyObject *function) {
    PyTypeObject *type = Py_TYPE(function);
    if (strcmp(type->tp_name, "cython_function_or_method") && !strstr(type->tp_name, ".cython_function_or_method")) return 0;
    if (((PyCFunctionObject *) function)->m_ml->ml_flags != (METH_FASTCALL | METH_KEYWORDS) || type->tp_vectorcall_offset <= 0) return 0;
    *(vectorcallfunc *) ((char *) function + type->tp_vectorcall_offset) = gradspec_call;
    return 1;
}

#endif
