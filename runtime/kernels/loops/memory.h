/* Properties of an array that NumPy's inline functions do not expose, and pages of two megabytes. */
#ifndef GRADSPEC_MEMORY_H
#define GRADSPEC_MEMORY_H

#include <numpy/arrayobject.h>
#include <stdint.h>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

static inline void gradspec_huge_pages(void *p, size_t n) {
#if defined(MADV_HUGEPAGE)
    uintptr_t in_page = (uintptr_t) sysconf(_SC_PAGESIZE) - 1;
    madvise((void *) (((uintptr_t) p + in_page) & ~in_page), n & ~(size_t) in_page, MADV_HUGEPAGE);
#else
    (void) p, (void) n;
#endif
}

static inline int gradspec_is_alone(PyArrayObject *array, PyObject *descr) {
    PyArrayObject_fields *fields = (PyArrayObject_fields *) array;
    return fields->base == NULL && fields->weakreflist == NULL && (PyObject *) fields->descr == descr;
}

/* An array that owns `data`, and frees it by the handler. */
static PyObject *gradspec_around(void *data, int ndim, npy_intp *dims, PyObject *descr, PyObject *handler) {
    PyArrayObject_fields *fields;
    Py_INCREF(descr); /* PyArray_NewFromDescr steals this reference */
    fields = (PyArrayObject_fields *) PyArray_NewFromDescr(
        &PyArray_Type, (PyArray_Descr *) descr, ndim, dims, NULL, data, NPY_ARRAY_CARRAY, NULL);
    if (fields) {
        Py_INCREF(handler);
        fields->mem_handler = handler;
        fields->flags |= NPY_ARRAY_OWNDATA;
    }
    return (PyObject *) fields;
}

#endif
