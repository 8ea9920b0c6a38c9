/* An array over memory that a different object owns. */
#ifndef GRADSPEC_FRAMES_H
#define GRADSPEC_FRAMES_H

#include <Python.h>
#include <numpy/arrayobject.h>

static PyObject* gradspec_look(PyObject* dtype, int ndim, npy_intp* dims, npy_intp* strides, void* data, PyObject* owner) {
    Py_INCREF(dtype);
    PyObject* array = PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr*) dtype, ndim, dims, strides, data,
                                           NPY_ARRAY_WRITEABLE, NULL);
    if (array == NULL) return NULL;
    Py_INCREF(owner);
    if (PyArray_SetBaseObject((PyArrayObject*) array, owner) < 0) {
        Py_DECREF(array);
        return NULL;
    }
    PyArray_UpdateFlags((PyArrayObject*) array, NPY_ARRAY_UPDATE_ALL);
    return array;
}

#endif
