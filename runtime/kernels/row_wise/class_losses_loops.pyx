# cython: cdivision=True
"""Cross entropies of class targets with an ignored class, their mean over the counted targets, and the adjoints.

Handles logits along one axis in the layouts of `softmax_rows`, and plain losses with a class for each.  The expressions of
`class_losses` handle all other arrays, and arrays that raised a floating-point flag.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp,
)
from . import class_losses as expressions
from .softmax_rows cimport CROSS_ENTROPY, CROSS_ENTROPY_BACKWARD, compute, plain
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain, same_shape
from ..loops.span cimport Span, empty_reduced, find_span
from ..loops.wide cimport real, total

__all__ = ["class_losses", "cross_entropies", "cross_entropies_backward", "kept_mean", "kept_mean_backward"]

cnp.import_array()


def class_losses(x, target, axis, ignore_index):
    """The negative of the element at the class, 0 for an ignored class, as `class_losses.class_losses`."""
    cdef ndarray x_ = plain(x), y, classes
    cdef npy_intp ignored = 0
    cdef npy_intp* places
    cdef Span span
    if x_ is not None and find_span(x_, axis, &span) and span.first == span.last and PyArray_SIZE(x_):
        classes = find_classes(target, x_, &span, ignore_index, &ignored)
        if classes is not None:
            y = empty_reduced(x_, &span, False)
            places = <npy_intp*> PyArray_BYTES(classes)
            if PyArray_TYPE(x_) == cnp.NPY_FLOAT32:
                take_losses(<float*> PyArray_BYTES(x_), <float*> PyArray_BYTES(y), &span, places, ignored)
            else:
                take_losses(<double*> PyArray_BYTES(x_), <double*> PyArray_BYTES(y), &span, places, ignored)
            return y
    return expressions.class_losses(x, target, axis, ignore_index)


cdef void take_losses(real* x, real* y, Span* span, npy_intp* classes, npy_intp ignored) noexcept:
    cdef npy_intp o, k, at, place
    for o in range(span.outer):
        for k in range(span.inner):
            at = o * span.inner + k
            place = classes[at]
            if place == ignored:
                y[at] = 0
            else:
                y[at] = -x[(o * span.length + (place if place >= 0 else place + span.length)) * span.inner + k]


def cross_entropies(x, target, axis, ignore_index):
    """Log-sum-exp along `axis` minus the element at the class, as `class_losses.cross_entropies`, and softmax."""
    found = losses_and_weights(x, target, axis, ignore_index)
    return expressions.cross_entropies(x, target, axis, ignore_index) if found is None else found


def cross_entropies_backward(grad, weight, target, axis, ignore_index):
    """The adjoint of the losses: `weight`, which is softmax, minus one at the class, times `grad`."""
    y = adjoint(grad, weight, target, axis, ignore_index)
    return expressions.cross_entropies_backward(grad, weight, target, axis, ignore_index) if y is None else y


def kept_mean(x, target, ignore_index):
    """The mean of the losses `x` whose class is counted; the loop requires losses of 0 for an ignored class."""
    y = mean_of(x, target, ignore_index) if are_plain(x, target) and same_shape(x, target) else None
    return expressions.kept_mean(x, target, ignore_index) if y is None else y


def kept_mean_backward(x, target, ignore_index):
    """The number `x` divided by the count of counted classes, 0 for an ignored class."""
    y = shares_of(x, target, ignore_index) if are_plain(x, target) and PyArray_NDIM(x) == 0 else None
    return expressions.kept_mean_backward(x, target, ignore_index) if y is None else y


cdef ndarray mean_of(ndarray x, ndarray target, npy_intp ignored):
    """The mean; None if the loss of an ignored class is not 0."""
    cdef npy_intp count = count_of(target, ignored)
    cdef npy_intp* places = <npy_intp*> PyArray_BYTES(target)
    cdef bint found
    cdef ndarray y
    if count == 0:
        return None
    y = empty(0, NULL, PyArray_TYPE(x))
    fp_clear()
    if PyArray_TYPE(y) == cnp.NPY_FLOAT32:
        found = mean(<float*> PyArray_BYTES(x), <float*> PyArray_BYTES(y), places, PyArray_SIZE(x), ignored, count)
    else:
        found = mean(<double*> PyArray_BYTES(x), <double*> PyArray_BYTES(y), places, PyArray_SIZE(x), ignored, count)
    return y if found and not fp_raised() else None


cdef ndarray shares_of(ndarray x, ndarray target, npy_intp ignored):
    cdef npy_intp count = count_of(target, ignored)
    cdef npy_intp* places = <npy_intp*> PyArray_BYTES(target)
    cdef ndarray y
    if count == 0:
        return None
    y = empty(PyArray_NDIM(target), PyArray_DIMS(target), PyArray_TYPE(x))
    fp_clear()
    if PyArray_TYPE(y) == cnp.NPY_FLOAT32:
        spread(<float*> PyArray_BYTES(x), <float*> PyArray_BYTES(y), places, PyArray_SIZE(y), ignored, count)
    else:
        spread(<double*> PyArray_BYTES(x), <double*> PyArray_BYTES(y), places, PyArray_SIZE(y), ignored, count)
    return None if fp_raised() else y


cdef bint are_plain(object x, object target) noexcept:
    return (PyArray_CheckExact(x) and PyArray_CheckExact(target) and PyArray_TYPE(target) == cnp.NPY_INTP
            and PyArray_TYPE(x) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) and is_plain(x) and is_plain(target))


cdef npy_intp count_of(ndarray target, npy_intp ignored):
    """The number of counted classes."""
    cdef npy_intp* places = <npy_intp*> PyArray_BYTES(target)
    cdef npy_intp i, count = 0
    for i in range(PyArray_SIZE(target)):
        count += places[i] != ignored
    return count


cdef bint mean(real* x, real* y, npy_intp* places, npy_intp size, npy_intp ignored, npy_intp count) noexcept:
    cdef npy_intp i
    if count != size:
        for i in range(size):
            if places[i] == ignored and x[i] != 0:
                return False
    y[0] = total(x, size) / <real> count
    return True


cdef void spread(real* x, real* y, npy_intp* places, npy_intp size, npy_intp ignored, npy_intp count) noexcept:
    cdef npy_intp i
    cdef real share = x[0] / <real> count
    for i in range(size):
        y[i] = share if places[i] != ignored else 0


cdef ndarray find_classes(object target, ndarray x, Span* span, object ignore_index, npy_intp* ignored):
    """The class of each row; None if one is neither ignored nor in range, or their number differs from that of rows."""
    cdef ndarray classes = np.asarray(target)
    cdef npy_intp* place
    cdef npy_intp i
    cdef int j
    try:
        ignored[0] = ignore_index
    except OverflowError:
        return None
    if PyArray_NDIM(classes) != PyArray_NDIM(x) - 1 or (<object> classes).dtype.kind not in "iu":
        return None
    for j in range(PyArray_NDIM(classes)):
        if PyArray_DIMS(classes)[j] != PyArray_DIMS(x)[j + (j >= span.first)]:
            return None
    if PyArray_TYPE(classes) != cnp.NPY_INTP or not is_plain(classes):
        classes = np.array(classes, np.intp, order="C")
    place = <npy_intp*> PyArray_BYTES(classes)
    for i in range(PyArray_SIZE(classes)):
        if place[i] != ignored[0] and not -span.length <= place[i] < span.length:
            return None
    return classes


cdef tuple losses_and_weights(object x, object target, object axis, object ignore_index):
    """The results of cross_entropies; None if NumPy has to compute them."""
    cdef ndarray x_ = plain(x), y, weight, classes
    cdef npy_intp ignored = 0
    cdef Span span
    if x_ is None or not find_span(x_, axis, &span) or span.first != span.last or PyArray_SIZE(x_) == 0:
        return None
    classes = find_classes(target, x_, &span, ignore_index, &ignored)
    if classes is None:
        return None
    y = empty_reduced(x_, &span, False)
    weight = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    return (y, weight) if compute(CROSS_ENTROPY, &span, x_, weight, None, None, y, classes, ignored) else None


cdef ndarray adjoint(object grad, object weight, object target, object axis, object ignore_index):
    """The result of cross_entropies_backward; None if NumPy has to compute it."""
    cdef ndarray x_ = plain(weight), y, grad_, classes
    cdef npy_intp ignored = 0
    cdef Span span
    if x_ is None or not find_span(x_, axis, &span) or PyArray_SIZE(x_) == 0:
        return None
    grad_ = plain(grad, PyArray_TYPE(x_))
    if grad_ is None or PyArray_SIZE(grad_) * span.length != PyArray_SIZE(x_):
        return None
    classes = find_classes(target, x_, &span, ignore_index, &ignored)
    if classes is None:
        return None
    y = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    return y if compute(CROSS_ENTROPY_BACKWARD, &span, x_, y, None, grad_, None, classes, ignored) else None
