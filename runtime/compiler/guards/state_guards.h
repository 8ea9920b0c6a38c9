/* Properties of a class that show that it has not changed. */
#ifndef GRADSPEC_GUARDS_H
#define GRADSPEC_GUARDS_H

#include <Python.h>

/* Whether two classes have the same destructor: all classes made by a `class` statement share one that no other class has. */
static inline int gradspec_same_destructor(PyObject *a, PyObject *b) {
    return ((PyTypeObject *)a)->tp_dealloc == ((PyTypeObject *)b)->tp_dealloc;
}

/* The version of the dictionaries of a class and its bases; 0 if CPython has not assigned one. */
static inline unsigned int gradspec_version_of(PyObject *cls) { return ((PyTypeObject *)cls)->tp_version_tag; }

#endif
