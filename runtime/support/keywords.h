/* Read the keywords of a compiled function by the tables of gradspec.support.keywords.  The macro redirects Cython's calls of
 * __Pyx_ParseKeywords(__pyx_kwds, ...); its declaration and definition begin with a different word, PyObject, and are unchanged. */
#ifndef CYTHON_UNUSED
#define CYTHON_UNUSED
#endif
#ifndef GRADSPEC_KEYWORDS_H
#define GRADSPEC_KEYWORDS_H

#include <Python.h>

#define __Pyx_ParseKeywords(first, ...) GRADSPEC_KEYWORDS_##first, __VA_ARGS__)
#define GRADSPEC_KEYWORDS_PyObject __Pyx_ParseKeywords(PyObject
#define GRADSPEC_KEYWORDS___pyx_kwds GRADSPEC_READ(__pyx_kwds
#define GRADSPEC_READ(kwds, kwvalues, names, others, values, given, count, function, ignored)                              \
    (others || ignored || !PyTuple_Check(kwds)                                                                              \
         ? __Pyx_ParseKeywords(kwds, kwvalues, names, others, values, given, count, function, ignored)                      \
         : gradspec_read(kwds, kwvalues, names, values, given, count, function))

static PyObject *gradspec_renamed, *gradspec_converted, *gradspec_idle, *gradspec_unlike; /* the tables; NULL before answer_calls() */

static inline int gradspec_same(PyObject *one, PyObject *other) {
    return one == other || (PyUnicode_GET_LENGTH(one) == PyUnicode_GET_LENGTH(other) && PyUnicode_Compare(one, other) == 0);
}

/* Position of the parameter with that name, or -1; with `beside`, only if that parameter exists too. */
static Py_ssize_t gradspec_place(PyObject *name, PyObject *beside, PyObject **const names[]) {
    Py_ssize_t place = -1;
    int found = beside == NULL || beside == Py_None;
    for (Py_ssize_t i = 0; names[i]; i++) {
        if (gradspec_same(*names[i], name)) place = i;
        if (!found && gradspec_same(*names[i], beside)) found = 1;
    }
    return found ? place : -1;
}

/* The parameter that another library's keyword means. */
static Py_ssize_t gradspec_meant(PyObject *key, PyObject **const names[]) {
    PyObject *meant = gradspec_renamed ? PyDict_GetItemWithError(gradspec_renamed, key) : NULL;
    for (Py_ssize_t i = 0; meant && i < PyTuple_GET_SIZE(meant); i++) {
        PyObject *one = PyTuple_GET_ITEM(meant, i);
        Py_ssize_t place = gradspec_place(PyTuple_GET_ITEM(one, 0), PyTuple_GET_ITEM(one, 1), names);
        if (place >= 0) return place;
    }
    return -1;
}

/* Whether a keyword with that value has no effect. */
static int gradspec_is_idle(PyObject *key, PyObject *value) {
    PyObject *idle = gradspec_idle ? PyDict_GetItemWithError(gradspec_idle, key) : NULL;
    for (Py_ssize_t i = 0; idle && i < PyTuple_GET_SIZE(idle); i++) {
        PyObject *one = PyTuple_GET_ITEM(idle, i);
        if (value == one) return 1;
        if (PyUnicode_Check(one) && PyUnicode_Check(value) && gradspec_same(one, value)) return 1;
    }
    return 0;
}

/* Refuse PyTorch's spelling of a call that has a different meaning there. */
static int gradspec_check_unlike(const char *function, PyObject **const names[], PyObject *values[]) {
    PyObject *unlike = gradspec_unlike ? PyDict_GetItemString(gradspec_unlike, function) : NULL;
    if (unlike == NULL) return 0;
    Py_ssize_t decided = gradspec_place(PyTuple_GET_ITEM(unlike, 0), NULL, names);
    if (decided >= 0 && values[decided]) return 0;
    PyErr_Format(PyExc_TypeError, "%s(): %U", function, PyTuple_GET_ITEM(unlike, 1));
    return -1;
}

/* Refuse dtype=True and out=True: only by position is a truth value there PyTorch's keepdim. */
static int gradspec_check_truth(PyObject *key, PyObject *value, const char *function, PyObject **const names[]) {
    if (value != Py_True && value != Py_False) return 0;
    if (PyUnicode_CompareWithASCIIString(key, "dtype") && PyUnicode_CompareWithASCIIString(key, "out")) return 0;
    const char *way = "";
    for (Py_ssize_t i = 0; names[i]; i++)
        if (!PyUnicode_CompareWithASCIIString(*names[i], "keepdims")) way = "; write keepdims=";
    PyErr_Format(PyExc_TypeError, "%s(): argument '%U' must not be a truth value%s", function, key, way);
    return -1;
}

/* Read the keywords from the first one that does not match a name of the function by its address.  Each value is set once: a
 * second keyword for the same parameter, or a keyword for a positional argument, is refused. */
static Py_NO_INLINE int gradspec_read_rest(PyObject *kwds, PyObject *const *kwvalues, PyObject **const names[], PyObject *values[],
                                           Py_ssize_t at, Py_ssize_t count, const char *function) {
    int renamed = 0;
    for (; at < count; at++) {
        PyObject *key = PyTuple_GET_ITEM(kwds, at), *value = kwvalues[at];
        if (gradspec_check_truth(key, value, function, names)) return -1;
        Py_ssize_t place = gradspec_place(key, NULL, names);
        if (place < 0) {
            place = gradspec_meant(key, names);
            if (place < 0) {
                if (gradspec_is_idle(key, value)) continue;
                PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function, key);
                return -1;
            }
            renamed = 1;
        }
        if (values[place]) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for keyword argument '%U'", function, *names[place]);
            return -1;
        }
        PyObject *convert = gradspec_converted ? PyDict_GetItemWithError(gradspec_converted, key) : NULL;
        if (convert && key != *names[place])
            value = PyObject_CallOneArg(convert, value);
        else
            Py_INCREF(value);
        if (value == NULL) return -1;
        values[place] = value;
    }
    return renamed ? gradspec_check_unlike(function, names, values) : 0;
}

static CYTHON_UNUSED Py_NO_INLINE int gradspec_read(PyObject *kwds, PyObject *const *kwvalues, PyObject **const names[], PyObject *values[],
                                                    Py_ssize_t given, Py_ssize_t count, const char *function) {
    for (Py_ssize_t at = 0; at < count; at++) {
        PyObject *key = PyTuple_GET_ITEM(kwds, at), **const *name = names + given;
        while (*name && **name != key) name++;
        if (*name == NULL) return gradspec_read_rest(kwds, kwvalues, names, values, at, count, function);
        if (gradspec_check_truth(key, kwvalues[at], function, names)) return -1;
        Py_INCREF(kwvalues[at]);
        values[name - names] = kwvalues[at];
    }
    return 0;
}

/* Called once by each module that includes this, when it is imported. */
static inline void gradspec_answer_calls(void) {
    PyObject *module = PyImport_ImportModule("gradspec.support.keywords");
    if (module == NULL) return PyErr_Clear();
    gradspec_renamed = PyObject_GetAttrString(module, "RENAMED");
    gradspec_converted = PyObject_GetAttrString(module, "CONVERTED");
    gradspec_idle = PyObject_GetAttrString(module, "IDLE");
    gradspec_unlike = PyObject_GetAttrString(module, "UNLIKE");
    Py_DECREF(module);
}

#endif
