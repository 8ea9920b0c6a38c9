/* Generated code is compiled for size, and a compiler that counts bytes calls what CPython declares inline.
 * A reference given back is on every operation's path, so these two stay inline: the same functions, asked for twice. */
#ifndef GRADSPEC_INLINE_DECREF_H
#define GRADSPEC_INLINE_DECREF_H
#include <Python.h>
static inline __attribute__((always_inline)) void (Py_DECREF)(PyObject *);
static inline __attribute__((always_inline)) void (Py_XDECREF)(PyObject *);
#endif
