"""Softmax, log-softmax, log-sum-exp and their adjoints, along one axis or adjacent axes.

Handles the arrays of the loops in `softmax_rows`: contiguous, of float32 or float64; arrays of other layouts are copied.  The
NumPy expressions in `softmax` handle other dtypes, axes that are not adjacent, and arrays that raised a floating-point flag, so
that NumPy warns as `numpy.errstate` says.  Does not depend on autograd.
"""

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray
from . import softmax as expressions
from .softmax_rows cimport (
    LOG_SOFTMAX, LOG_SOFTMAX_BACKWARD, LOGSUMEXP, LOGSUMEXP_BACKWARD, SOFTMAX, SOFTMAX_BACKWARD, SOFTMAX_OR_ZERO, Task,
    compute, plain,
)
from ..loops.memory cimport empty
from ..loops.donated_buffer cimport give_up
from ..loops.span cimport Span, empty_reduced, find_span

__all__ = [
    "log_softmax", "log_softmax_backward", "logsumexp", "logsumexp_backward", "softmax", "softmax_backward",
    "softmax_or_zero",
]

cnp.import_array()


cdef ndarray mapped(Task task, object x, object axis, object result=None):
    """A result of the shape of `x`; None if NumPy has to compute it."""
    cdef ndarray x_ = plain(x), y, other = None
    cdef Span span
    if x_ is None or not find_span(x_, axis, &span) or PyArray_SIZE(x_) == 0:
        return None
    if result is not None:
        other = plain(result, PyArray_TYPE(x_))
        if other is None or (<object> other).shape != (<object> x_).shape:
            return None
    y = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    if compute(task, &span, x_, y, other):
        return y
    give_up(y, x_)
    if other is not None:
        give_up(y, other)
    return None


cdef ndarray reduced(Task task, object x, object axis, bint keepdims):
    """A result without the axes of the reduction; None if NumPy has to compute it."""
    cdef ndarray x_ = plain(x), y
    cdef Span span
    if x_ is None or not find_span(x_, axis, &span) or PyArray_SIZE(x_) == 0:
        return None
    y = empty_reduced(x_, &span, keepdims)
    return y if compute(task, &span, x_, y) else None


cdef ndarray spread(object grad, object x, object axis):
    """The adjoint of log-sum-exp of `x`, at its cotangent; None if NumPy has to compute it."""
    cdef ndarray x_ = plain(x), y, grad_
    cdef Span span
    if x_ is None or not find_span(x_, axis, &span) or PyArray_SIZE(x_) == 0:
        return None
    grad_ = plain(grad, PyArray_TYPE(x_))
    if grad_ is None or PyArray_SIZE(grad_) * span.length != PyArray_SIZE(x_):
        return None
    y = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    return y if compute(LOGSUMEXP_BACKWARD, &span, x_, y, None, grad_) else None


def log_softmax(x, axis):
    """``x - logsumexp(x)`` along `axis`."""
    y = mapped(LOG_SOFTMAX, x, axis)
    return expressions.log_softmax(x, axis) if y is None else y


def log_softmax_backward(grad, y, axis):
    """The adjoint of log_softmax at its result `y`."""
    z = mapped(LOG_SOFTMAX_BACKWARD, grad, axis, y)
    return expressions.log_softmax_backward(grad, y, axis) if z is None else z


def logsumexp(x, axis, keepdims):
    """``log(sum(exp(x)))`` without overflow; -inf if all of `x` is -inf."""
    y = reduced(LOGSUMEXP, x, axis, keepdims)
    return expressions.logsumexp(x, axis, keepdims) if y is None else y


def logsumexp_backward(grad, x, axis, keepdims):
    """The adjoint of logsumexp at `x`: softmax times `grad`, 0 if all of `x` is -inf."""
    y = spread(grad, x, axis)
    return expressions.logsumexp_backward(grad, x, axis, keepdims) if y is None else y


def softmax(x, axis):
    """``exp(x) / sum(exp(x))`` along `axis`, without overflow."""
    y = mapped(SOFTMAX, x, axis)
    return expressions.softmax(x, axis) if y is None else y


def softmax_or_zero(x, axis, shared):
    """softmax along `axis`, zeros if every element is -inf, as `softmax.softmax_or_zero`."""
    y = mapped(SOFTMAX_OR_ZERO, x, axis)
    return expressions.softmax_or_zero(x, axis, shared) if y is None else y


def softmax_backward(grad, y, axis):
    """The adjoint of softmax at its result `y`."""
    z = mapped(SOFTMAX_BACKWARD, grad, axis, y)
    return expressions.softmax_backward(grad, y, axis) if z is None else z
