/* Freed objects, reused for new ones of the same type. Each module that includes this file has its own stores. */
#ifndef GRADSPEC_RECYCLING_H
#define GRADSPEC_RECYCLING_H

#include <Python.h>
#include <string.h>

/* Blanks: objects of one type, without references, untracked by the collector, with the fields of a new object. */
#ifdef __SANITIZE_ADDRESS__
enum { GRADSPEC_BLANKS = 0 };
#else
enum { GRADSPEC_BLANKS = 256 };
#endif
typedef struct { int count; PyObject *objects[GRADSPEC_BLANKS + 1]; } gradspec_blanks;

static inline int gradspec_keep_blank(gradspec_blanks *blanks, PyObject *self) {
    if (blanks->count == GRADSPEC_BLANKS) return 0;
    blanks->objects[blanks->count++] = self;
    return 1;
}
static inline PyObject *gradspec_take_blank(gradspec_blanks *blanks) {
    PyObject *self = blanks->objects[--blanks->count];
    _Py_NewReference(self);
    return self;
}
static inline int gradspec_has_weakrefs(PyObject *self) {
    return *(PyObject **) ((char *) self + Py_TYPE(self)->tp_weaklistoffset) != NULL;
}

/* A class that only adds methods: allocated from its base's freelist, freed by `dealloc`, without a call for each class
   in between. */
static newfunc gradspec_base_new = NULL;
static destructor gradspec_base_dealloc = NULL;
static inline void gradspec_adopt(PyTypeObject *type, PyTypeObject *base, destructor dealloc) {
    gradspec_base_new = base->tp_new;
    gradspec_base_dealloc = base->tp_dealloc;
    if (type->tp_basicsize == base->tp_basicsize) type->tp_dealloc = dealloc;
}
static inline PyObject *gradspec_new(PyTypeObject *type, PyObject *empty) {
    PyObject *self = gradspec_base_new(type, empty, NULL);
    if (self) PyObject_GC_UnTrack(self);
    return self;
}

/* Memory of objects by size, for a family of classes that inherit tp_alloc and tp_free from one base.  Such an object is
   untracked until it is tracked explicitly; an object of a class defined in Python is tracked immediately. */
/* Number of size classes, 8 bytes apart, and maximal bytes kept in all: enough for a graph of 200 000 nodes.  Otherwise the
   system would reclaim and return this memory, page by page, at every step. */
enum { GRADSPEC_SIZES = 64, GRADSPEC_MOST = 1 << 26 };
typedef struct gradspec_spare { PyObject head; struct gradspec_spare *next; } gradspec_spare;
static gradspec_spare *gradspec_spares[GRADSPEC_SIZES];
static size_t gradspec_spare_bytes = 0;

static inline int gradspec_recycles(PyTypeObject *type) {
    return type->tp_basicsize / 8 < GRADSPEC_SIZES && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE);
}
static PyObject *gradspec_alloc(PyTypeObject *type, Py_ssize_t items) {
    size_t size = (size_t) type->tp_basicsize;
    gradspec_spare *spare = gradspec_recycles(type) ? gradspec_spares[size / 8] : NULL;
    PyObject *self = (PyObject *) spare;
    if (spare == NULL) {
        self = PyType_GenericAlloc(type, items);
        if (self != NULL && gradspec_recycles(type)) PyObject_GC_UnTrack(self);
        return self;
    }
    gradspec_spares[size / 8] = spare->next;
    gradspec_spare_bytes -= size;
    memset(self, 0, size);
    PyObject_Init(self, type);
    return self;
}
static void gradspec_free(void *self) {
    PyTypeObject *type = Py_TYPE((PyObject *) self);
    size_t size = (size_t) type->tp_basicsize;
    gradspec_spare *spare = (gradspec_spare *) self;
    if (GRADSPEC_BLANKS == 0 || gradspec_spare_bytes >= GRADSPEC_MOST || !gradspec_recycles(type)) {
        PyObject_GC_Del(self);
        return;
    }
    spare->next = gradspec_spares[size / 8];
    gradspec_spares[size / 8] = spare;
    gradspec_spare_bytes += size;
}
static inline size_t gradspec_spare_size(void) { return gradspec_spare_bytes; }
static inline void gradspec_drop_spares(void) {
    for (int i = 0; i < GRADSPEC_SIZES; i++) {
        while (gradspec_spares[i] != NULL) {
            gradspec_spare *spare = gradspec_spares[i];
            gradspec_spares[i] = spare->next;
            PyObject_GC_Del(spare);
        }
    }
    gradspec_spare_bytes = 0;
}
static inline void gradspec_recycle(PyTypeObject *type) {
    type->tp_alloc = gradspec_alloc;
    type->tp_free = gradspec_free;
}

#endif
