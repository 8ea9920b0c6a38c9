"""Softmax, log-softmax, log-sum-exp, cross entropy of classes, and their adjoints, along one axis or some that lie together.

Owns which arrays the loops of `softmax_loops` take: contiguous ones of float32 and float64; others are copied to be so.  The
NumPy expressions in `reductions` and `class_losses` take other dtypes, axes apart from each other, and whatever raised a
floating-point flag, so that NumPy warns as `numpy.errstate` says.  Knows nothing of autograd.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ISNOTSWAPPED, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE,
    ndarray, npy_intp,
)
from . import class_losses as expressions, normalisers
from ..reductions import reductions
from .softmax_loops cimport (
    CROSS_ENTROPY, CROSS_ENTROPY_BACKWARD, LOG_SOFTMAX, LOG_SOFTMAX_BACKWARD, LOGSUMEXP, LOGSUMEXP_BACKWARD, SOFTMAX,
    SOFTMAX_BACKWARD, Task, compute,
)
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain
from ..loops.span cimport Span, empty_reduced, find_span

cnp.import_array()


cdef ndarray plain(object x, int type_num=-1):
    """`x` as a contiguous array of the given type, of float32 or float64 without one; None where it is of another."""
    if not PyArray_CheckExact(x) or not PyArray_ISNOTSWAPPED(x):
        return None
    if PyArray_TYPE(x) != type_num if type_num >= 0 else PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        return None
    return x if is_plain(x) else np.array(x, order="C")


cdef ndarray find_classes(object target, ndarray x, Span* span, object ignore_index, npy_intp* ignored):
    """The class of each row; None where one is neither ignored nor in range, or they are not as many as the rows."""
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


cdef ndarray mapped(Task task, object x, object axis, object result=None):
    """What has the shape of `x`; None where NumPy has to do it."""
    cdef ndarray x_ = plain(x), y, other = None
    cdef Span span
    if x_ is None or not find_span(x_, axis, &span) or PyArray_SIZE(x_) == 0:
        return None
    if result is not None:
        other = plain(result, PyArray_TYPE(x_))
        if other is None or (<object> other).shape != (<object> x_).shape:
            return None
    y = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    return y if compute(task, &span, x_, y, other) else None


cdef ndarray reduced(Task task, object x, object axis, bint keepdims):
    """What has the axes of `x` but those of the reduction; None where NumPy has to do it."""
    cdef ndarray x_ = plain(x), y
    cdef Span span
    if x_ is None or not find_span(x_, axis, &span) or PyArray_SIZE(x_) == 0:
        return None
    y = empty_reduced(x_, &span, keepdims)
    return y if compute(task, &span, x_, y) else None


cdef ndarray spread(Task task, object grad, object x, object axis, object target=None, object ignore_index=0):
    """The adjoint of a reduction of `x`, at its cotangent; None where NumPy has to do it."""
    cdef ndarray x_ = plain(x), y, grad_, classes = None
    cdef npy_intp ignored = 0
    cdef Span span
    if x_ is None or not find_span(x_, axis, &span) or PyArray_SIZE(x_) == 0:
        return None
    grad_ = plain(grad, PyArray_TYPE(x_))
    if grad_ is None or PyArray_SIZE(grad_) * span.length != PyArray_SIZE(x_):
        return None
    if task == CROSS_ENTROPY_BACKWARD:
        classes = find_classes(target, x_, &span, ignore_index, &ignored)
        if classes is None:
            return None
    y = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    return y if compute(task, &span, x_, y, None, grad_, None, classes, ignored) else None


cdef tuple losses_and_weights(object x, object target, object axis, object ignore_index):
    """What cross_entropies gives; None where NumPy has to do it."""
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


def cross_entropies(x, target, axis, ignore_index):
    """Log-sum-exp along `axis` less the element at the class, as `classes.cross_entropies`, and softmax."""
    found = losses_and_weights(x, target, axis, ignore_index)
    return expressions.cross_entropies(x, target, axis, ignore_index) if found is None else found


def cross_entropies_backward(grad, weight, target, axis, ignore_index):
    """The adjoint of the losses: `weight`, which is softmax, less one at the class, times `grad`."""
    y = spread(CROSS_ENTROPY_BACKWARD, grad, weight, axis, target, ignore_index)
    return expressions.cross_entropies_backward(grad, weight, target, axis, ignore_index) if y is None else y


def log_softmax(x, axis):
    """``x - logsumexp(x)`` along `axis`."""
    y = mapped(LOG_SOFTMAX, x, axis)
    return reductions.log_softmax(x, axis) if y is None else y


def log_softmax_backward(grad, y, axis):
    """The adjoint of log_softmax at its result `y`."""
    z = mapped(LOG_SOFTMAX_BACKWARD, grad, axis, y)
    return reductions.log_softmax_backward(grad, y, axis) if z is None else z


def logsumexp(x, axis, keepdims):
    """``log(sum(exp(x)))`` without overflow; -inf where all of `x` is."""
    y = reduced(LOGSUMEXP, x, axis, keepdims)
    return reductions.logsumexp(x, axis, keepdims) if y is None else y


def logsumexp_backward(grad, x, axis, keepdims):
    """The adjoint of logsumexp at `x`: softmax times `grad`, 0 where all of `x` is -inf."""
    y = spread(LOGSUMEXP_BACKWARD, grad, x, axis)
    return reductions.logsumexp_backward(grad, x, axis, keepdims) if y is None else y


def softmax(x, axis):
    """``exp(x) / sum(exp(x))`` along `axis`, without overflow."""
    y = mapped(SOFTMAX, x, axis)
    return reductions.softmax(x, axis) if y is None else y


def softmax_or_zero(x):
    """softmax along the last axis, zeros where every element is -inf, as `normalisers.softmax_or_zero`."""
    y = mapped(SOFTMAX, x, -1)
    return normalisers.softmax_or_zero(x) if y is None else y


def softmax_backward(grad, y, axis):
    """The adjoint of softmax at its result `y`."""
    z = mapped(SOFTMAX_BACKWARD, grad, axis, y)
    return reductions.softmax_backward(grad, y, axis) if z is None else z
