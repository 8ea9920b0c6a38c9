"""Softmax, log-softmax, log-sum-exp, cross entropy of classes, and their adjoints, along one axis or some that lie together.

Owns which arrays the loops of `exponentials` take: contiguous ones of float32 and float64; others are copied to be so.  The
NumPy expressions in `reductions` and `losses` take other dtypes, axes apart from each other, and whatever raised a
floating-point flag, so that NumPy warns as `numpy.errstate` says.  Knows nothing of autograd.
"""

cimport numpy as cnp
from numpy cimport ndarray, npy_intp

import numpy as np

from ..capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ISNOTSWAPPED, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE,
)
from . import losses, reductions
from .exponentials cimport (
    CROSS_ENTROPY, CROSS_ENTROPY_BACKWARD, LOG_SOFTMAX, LOG_SOFTMAX_BACKWARD, LOGSUMEXP, LOGSUMEXP_BACKWARD, SOFTMAX,
    SOFTMAX_BACKWARD, Task, compute,
)
from .memory cimport empty
from .plain cimport is_plain
from .span cimport Span, empty_reduced, find_span

cnp.import_array()


cdef ndarray plain(object x, int type_num=-1):
    """`x` as a contiguous array of the given type, of float32 or float64 without one; None where it is of another."""
    if not PyArray_CheckExact(x) or not PyArray_ISNOTSWAPPED(x):
        return None
    if PyArray_TYPE(x) != type_num if type_num >= 0 else PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        return None
    return x if is_plain(x) else np.array(x, order="C")


cdef ndarray find_classes(object target, ndarray x, Span* span):
    """The class of each row, counted from 0; None where one is out of range, or they are not as many as the rows."""
    cdef ndarray classes = np.asarray(target)
    cdef npy_intp* place
    cdef npy_intp i
    if classes.dtype.kind not in "iu" or (<object> classes).shape != tuple(
            [n for i, n in enumerate((<object> x).shape) if i != span.first]):
        return None
    classes = np.array(classes, np.intp, order="C")
    place = <npy_intp*> PyArray_BYTES(classes)
    for i in range(PyArray_SIZE(classes)):
        if place[i] < 0:
            place[i] += span.length
        if not 0 <= place[i] < span.length:
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
    return y if compute(task, &span, x_, y, other, None, None) else None


cdef ndarray reduced(Task task, object x, object axis, bint keepdims, object target=None):
    """What has the axes of `x` but those of the reduction; None where NumPy has to do it."""
    cdef ndarray x_ = plain(x), y, classes = None
    cdef Span span
    if x_ is None or not find_span(x_, axis, &span) or PyArray_SIZE(x_) == 0:
        return None
    if task == CROSS_ENTROPY:
        classes = find_classes(target, x_, &span)
        if classes is None:
            return None
    y = empty_reduced(x_, &span, keepdims)
    return y if compute(task, &span, x_, y, None, None, classes) else None


cdef ndarray spread(Task task, object grad, object x, object axis, object target=None):
    """The adjoint of a reduction of `x`, at its cotangent; None where NumPy has to do it."""
    cdef ndarray x_ = plain(x), y, grad_, classes = None
    cdef Span span
    if x_ is None or not find_span(x_, axis, &span) or PyArray_SIZE(x_) == 0:
        return None
    grad_ = plain(grad, PyArray_TYPE(x_))
    if grad_ is None or PyArray_SIZE(grad_) * span.length != PyArray_SIZE(x_):
        return None
    if task == CROSS_ENTROPY_BACKWARD:
        classes = find_classes(target, x_, &span)
        if classes is None:
            return None
    y = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    return y if compute(task, &span, x_, y, None, grad_, classes) else None


def cross_entropy(x, target, axis):
    """Log-sum-exp along `axis` less the element at the class in `target`, as `losses.cross_entropy`."""
    y = reduced(CROSS_ENTROPY, x, axis, False, target)
    return losses.cross_entropy(x, target, axis) if y is None else y


def cross_entropy_backward(grad, x, target, axis):
    """The adjoint of cross_entropy at `x`: softmax less one at the class, times `grad`."""
    y = spread(CROSS_ENTROPY_BACKWARD, grad, x, axis, target)
    return losses.cross_entropy_backward(grad, x, target, axis) if y is None else y


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


def softmax_backward(grad, y, axis):
    """The adjoint of softmax at its result `y`."""
    z = mapped(SOFTMAX_BACKWARD, grad, axis, y)
    return reductions.softmax_backward(grad, y, axis) if z is None else z
