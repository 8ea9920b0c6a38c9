/* Call a function by its address: it takes some Python objects and returns one. */
#ifndef GRADSPEC_WRAPPER_CALL_H
#define GRADSPEC_WRAPPER_CALL_H

#include <Python.h>

static PyObject* gradspec_call_address(void* wrapper, PyObject** a, Py_ssize_t count) {
    typedef PyObject* o;
    switch (count) {
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
    PyErr_Format(PyExc_NotImplementedError, "a function of %zd arguments cannot be called by its address", count);
    return NULL;
}

static inline PyObject* gradspec_call_wrapper(void* wrapper, PyObject* arguments) {
    return gradspec_call_address(wrapper, ((PyTupleObject*) arguments)->ob_item, PyTuple_GET_SIZE(arguments));
}

#endif
