"""SciPy's sparse arrays beside tensors: who asks a tensor for an ndarray, and where an operator between the two goes.

Owns the way by which SciPy leaves an operator to its right operand: one that becomes an ndarray of one object is none that it
knows.  `gradspec.sparse` stands far above, and is imported when there is something for it.
"""

import sys
from importlib import import_module

import numpy as np

ABOVE = __name__.partition(".")[0] + ".sparse.foreign"
OPERATORS = frozenset(("__matmul__", "__rmatmul__", "__mul__", "__rmul__", "__truediv__"))
# The methods of SciPy that ask for an ndarray and leave the operator alone where they get one object.
ASKING = frozenset(("_matmul_dispatch", "_multiply_2d_with_broadcasting", "_divide"))


def of_operator(op, a, b):
    """What an operator gives for a tensor and something that is no operand: NotImplemented, but of SciPy's arrays."""
    if is_scipys(a) or is_scipys(b):
        return import_module(ABOVE).of_operator(op, a, b)
    return NotImplemented


def is_scipys(value):
    return type(value).__module__.startswith("scipy.sparse")


def left_by_scipy(tensor):
    """An ndarray with the tensor as its one object, where an operator of SciPy's asks for an ndarray; else None."""
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
