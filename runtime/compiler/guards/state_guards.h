/* What of a class tells that it has not changed. */
#ifndef GRADSPEC_GUARDS_H
#define GRADSPEC_GUARDS_H

#include <Python.h>

/* Whether two classes have one destructor: all classes that a `class` statement makes have the same, and no other class has it. */
static inline int gradspec_same_destructor(PyObject *a, PyObject *b) {
    return ((PyTypeObject *)a)->tp_dealloc == ((PyTypeObject *)b)->tp_dealloc;
}

/* The version of a class's dictionary and of its bases'; 0 where CPython has given none. */
static inline unsigned int gradspec_version_of(PyObject *cls) { return ((PyTypeObject *)cls)->tp_version_tag; }

#endif
