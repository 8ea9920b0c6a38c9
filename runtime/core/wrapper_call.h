/* A wrapper that is called by its address: it takes Python objects, as many as the tuple has, and gives one. */
#ifndef GRADSPEC_WRAPPER_CALL_H
#define GRADSPEC_WRAPPER_CALL_H

#include <Python.h>

static PyObject* gradspec_call_wrapper(void* wrapper, PyObject* arguments) {
    typedef PyObject* o;
    o* a = ((PyTupleObject*) arguments)->ob_item;
    switch (PyTuple_GET_SIZE(arguments)) {
        case 0: return ((o (*)(void)) wrapper)();
        case 1: return ((o (*)(o)) wrapper)(a[0]);
        case 2: return ((o (*)(o, o)) wrapper)(a[0], a[1]);
        case 3: return ((o (*)(o, o, o)) wrapper)(a[0], a[1], a[2]);
        case 4: return ((o (*)(o, o, o, o)) wrapper)(a[0], a[1], a[2], a[3]);
        case 5: return ((o (*)(o, o, o, o, o)) wrapper)(a[0], a[1], a[2], a[3], a[4]);
        case 6: return ((o (*)(o, o, o, o, o, o)) wrapper)(a[0], a[1], a[2], a[3], a[4], a[5]);
        case 7: return ((o (*)(o, o, o, o, o, o, o)) wrapper)(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
        case 8: return ((o (*)(o, o, o, o, o, o, o, o)) wrapper)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
        case 9: return ((o (*)(o, o, o, o, o, o, o, o, o)) wrapper)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]);
        case 10:
            return ((o (*)(o, o, o, o, o, o, o, o, o, o)) wrapper)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]);
    }
    PyErr_Format(PyExc_NotImplementedError, "a wrapper of %zd arguments cannot be called by its address",
                 PyTuple_GET_SIZE(arguments));
    return NULL;
}

#endif
