"""Products with a sparse matrix in coordinate format: stored values, and the row and column of each.

Checks the arguments, loops over batches, and has NumPy expressions for dtypes without compiled loops.
"""

import math

import numpy as np

from . import coo_loops

__all__ = ["coo_matmul", "coo_sampled_matmul"]


def coo_matmul(values, rows, columns, x, m):
    """The product of a matrix with `m` rows, whose stored elements are `values`, and a dense matrix.

    Parameters
    ----------
    values : (..., e) ndarray
    rows, columns : (..., e) ndarray of int
        Not negative; elements stored twice at one place are summed.
    x : (..., n, k) ndarray
    m : int

    Returns
    -------
    (..., m, k) ndarray
    """
    values, x = _at_least(values, 1), _at_least(x, 2)
    rows, columns = _places(values.shape[-1], rows, columns, m, x.shape[-2])
    dtype = np.result_type(values, x, np.float16)
    lead = np.broadcast_shapes(values.shape[:-1], rows.shape[:-1], columns.shape[:-1], x.shape[:-2])
    if x.ndim > 2 and values.ndim == rows.ndim == columns.ndim == 1:  # one matrix for all: put their columns side by side
        beside = np.moveaxis(x, -2, 0)
        y = coo_matmul(values, rows, columns, beside.reshape(len(beside), math.prod(beside.shape[1:])), m)
        return np.ascontiguousarray(np.moveaxis(y.reshape(m, *beside.shape[1:]), 0, -2))
    y = np.zeros((*lead, m, x.shape[-1]), dtype)
    for place, row, column, value, part in _batch(lead, rows, columns, (values, 1, dtype), (x, 2, dtype)):
        if dtype.char in "fdFD":
            coo_loops.add_stored(value, row, column, part, y[place])
        else:
            add_stored(value, row, column, part, y[place])
    return y


def coo_sampled_matmul(a, b, rows, columns):
    """Elements of the product of `a` and the transpose of `b`, at given rows and columns.

    Parameters
    ----------
    a : (..., m, k) ndarray
    b : (..., n, k) ndarray
    rows, columns : (..., e) ndarray of int
        Not negative.

    Returns
    -------
    (..., e) ndarray
    """
    a, b = _at_least(a, 2), _at_least(b, 2)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"rows of length {a.shape[-1]} have no product with rows of length {b.shape[-1]}")
    rows, columns = _places(_at_least(rows, 1).shape[-1], rows, columns, a.shape[-2], b.shape[-2])
    dtype = np.result_type(a, b, np.float16)
    lead = np.broadcast_shapes(rows.shape[:-1], columns.shape[:-1], a.shape[:-2], b.shape[:-2])
    values = np.empty((*lead, rows.shape[-1]), dtype)
    for place, row, column, left, right in _batch(lead, rows, columns, (a, 2, dtype), (b, 2, dtype)):
        if dtype.char in "fdFD":
            coo_loops.sample_stored(values[place], row, column, left, right)
        else:
            sample_stored(values[place], row, column, left, right)
    return values


def add_stored(values, rows, columns, x, y):
    """``y[rows[e]] += values[e] * x[columns[e]]`` for each e."""
    np.add.at(y, rows, values[:, None] * x[columns])


def sample_stored(values, rows, columns, a, b):
    """``values[e] = sum(a[rows[e]] * b[columns[e]])`` for each e."""
    values[...] = (a[rows] * b[columns]).sum(-1)


def outside(places, size):
    """Position of the first element of `places` outside [0, size), or -1."""
    wrong = np.flatnonzero((places < 0) | (places >= size))
    return wrong[0] if wrong.size else -1


def _at_least(x, ndim):
    x = np.asarray(x)
    if x.ndim < ndim:
        raise ValueError(f"expected an array of at least {ndim} axes, got the shape {x.shape}")
    return x


def _places(count, rows, columns, m, n):
    """Rows and columns as intp, checked to be inside an m by n matrix."""
    found = []
    for name, places, size in (("row", rows, m), ("column", columns, n)):
        places = _at_least(places, 1)
        if places.dtype.kind not in "iu" and places.size:
            raise TypeError(f"the {name}s of stored elements are integers, got {places.dtype}")
        if places.shape[-1] != count:
            raise ValueError(f"{count} stored elements have {name}s of the shape {places.shape}")
        places = np.ascontiguousarray(places, np.intp)
        if (wrong := coo_loops.outside(places, size)) >= 0:
            raise IndexError(f"the {name} {places.flat[wrong]} of a stored element is not one of {size} {name}s")
        found.append(places)
    return found


def _batch(lead, rows, columns, *operands):
    """For each element of the batch: its index, its rows and columns, and its contiguous parts of the operands.

    An operand is given as an array, its number of axes without the batch, and a dtype.
    """
    whole = []
    for array, own, dtype in ((rows, 1, np.intp), (columns, 1, np.intp), *operands):
        whole.append(np.broadcast_to(np.ascontiguousarray(array, dtype), lead + array.shape[array.ndim - own :]))
    for place in np.ndindex(lead):
        yield place, *(array[place] for array in whole)
