"""SciPy's sparse arrays with tensors: have SciPy leave an operator to its right operand, a tensor.

If an operand converts to an ndarray with a single object, SciPy does not recognise it and returns NotImplemented.
`gradspec.sparse` is a higher layer, and is imported when such an operand occurs.
"""

import sys
from importlib import import_module

import numpy as np

ABOVE = __name__.partition(".")[0] + ".sparse.foreign"
METHODS = __name__.partition(".")[0] + ".methods."
OPERATORS = frozenset(("__matmul__", "__rmatmul__", "__mul__", "__rmul__", "__truediv__"))
# SciPy's methods that request an ndarray, and that return NotImplemented for an array with a single object.
ASKING = frozenset(("_matmul_dispatch", "_multiply_2d_with_broadcasting", "_divide"))


def of_operator(op, a, b):
    """The result of an operator on a tensor and a value that is not an operand: NotImplemented, except for SciPy's arrays."""
    if is_scipys(a) or is_scipys(b):
        return import_module(ABOVE).of_operator(op, a, b)
    return NotImplemented


def is_scipys(value):
    return type(value).__module__.startswith("scipy.sparse")


def left_by_scipy(tensor):
    """An ndarray with the tensor as its single object, if an operator of SciPy's requests an ndarray; else None."""
    frame = sys._getframe(1)
    if frame.f_code.co_name not in ASKING:
        return None
    while frame is not None and (frame.f_globals.get("__name__") or "").startswith("scipy.sparse"):
        if frame.f_code.co_name in OPERATORS:
            found = np.empty((), object)
            found[()] = tensor
            return found
        frame = frame.f_back
    return None


def asked_by_solver():
    """Whether a solver of scipy.optimize is calling: those in C, such as L-BFGS-B, take a gradient only as an ndarray."""
    frame = sys._getframe(1)
    while frame is not None and (frame.f_globals.get("__name__") or "").startswith(METHODS):
        frame = frame.f_back
    return frame is not None and (frame.f_globals.get("__name__") or "").startswith("scipy.optimize.")
