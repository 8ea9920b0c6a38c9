"""Numbers as rows of one element."""

from functools import wraps

import numpy as np


def number_as_row(kernel):
    """Have a kernel take a number for a row of one element, as PyTorch does; its results are numbers again.

    Other operands of the kernel have the first one's shape.
    """

    @wraps(kernel)
    def called(x, *arguments):
        if np.ndim(x):
            return kernel(x, *arguments)
        rows = (np.reshape(item, 1) if isinstance(item, (np.ndarray, np.generic)) else item for item in arguments)
        found = kernel(np.reshape(x, 1), *rows)
        return tuple(map(_number, found)) if isinstance(found, tuple) else _number(found)

    return called


def _number(row):
    return row.reshape(()) if row.size else row  # of topk, k may be 0
