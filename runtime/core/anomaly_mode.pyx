"""Anomaly mode: check backward passes for NaN, and show the forward pass in errors.

Holds the mode and the test for NaN.  `provenance` keeps the record of the forward pass and displays it.
"""

import warnings

import numpy as np

from ..support.capi cimport ndarray
from .grad_mode cimport ANOMALY, NAN_ALLOWED, thread_state
from .grad_mode import _Mode, _Switch
from .node cimport Node
from .tensor cimport TensorBase


cdef int check_nan(Node node, object results) except -1:
    """Refuse NaN among the gradients that a node returned."""
    cdef ndarray array
    for i, grad in enumerate(results if isinstance(results, (tuple, list)) else (results,)):
        if grad is None:
            continue
        array = (<TensorBase> grad).array if isinstance(grad, TensorBase) else grad
        if np.isnan(array).any():
            raise RuntimeError(f"Function '{type(node).__name__}' returned nan values in its {i}th output.")
    return 0


def is_anomaly_enabled():
    """Whether anomaly mode is on in this thread."""
    return bool(thread_state().flags & ANOMALY)


def is_anomaly_check_nan_enabled():
    """Whether anomaly mode, if it is on, looks for NaN."""
    return not thread_state().flags & NAN_ALLOWED


cdef unsigned int bits_of(object mode, object check_nan) except? 0:
    return (ANOMALY if mode else 0) | (0 if check_nan else NAN_ALLOWED)


class detect_anomaly(_Mode):
    """Keep the traceback of every recorded operation, show it when backward fails there, and let backward fail on NaN.

    For debugging: it costs many times the work itself.  Errors name the line that recorded an operation even without this mode.

    Parameters
    ----------
    check_nan : bool
        Whether a gradient that is NaN is an error.

    Examples
    --------
    >>> x = gs.tensor([0.0], requires_grad=True)
    >>> with gs.autograd.detect_anomaly():
    ...     y = gs.sqrt(x) * 0
    ...     y.backward()
    Traceback (most recent call last):
    RuntimeError: Function 'SqrtBackward' returned nan values in its 0th output.
    The error arose in the backward of SqrtBackward, which was recorded by
    ...
    """

    _mask = ANOMALY | NAN_ALLOWED

    def __init__(self, check_nan=True):
        self.check_nan, self._bits = bool(check_nan), bits_of(True, check_nan)

    def __enter__(self):
        warnings.warn("Anomaly Detection has been enabled: it slows down every operation and is meant for debugging only.",
                      stacklevel=1)
        super().__enter__()

    def _clone(self):
        return type(self)(self.check_nan)


class set_detect_anomaly(_Switch):
    """Switch anomaly mode on or off immediately, without a warning; as a context manager it restores the mode on exit.

    Parameters
    ----------
    mode : bool
    check_nan : bool
        As for `detect_anomaly`.
    """

    _mask = ANOMALY | NAN_ALLOWED

    def __init__(self, mode, check_nan=True):
        self.check_nan, self._choices = bool(check_nan), {bool(mode): bits_of(mode, check_nan)}
        super().__init__(bool(mode))

    def _clone(self):
        return type(self)(self.mode, self.check_nan)
