"""Products with stored elements, against dense matrices and, in single precision, against the same in quadruple precision."""

import numpy as np
import pytest

from gradspec import kernels
from tests.asked import each

DTYPES = [np.float32, np.float64, np.complex64, np.complex128, np.float16, np.longdouble, np.clongdouble, np.int64]
RANDOM = np.random.default_rng(0)


def numbers(shape, dtype):
    found = 4 * RANDOM.normal(size=shape) + (4j * RANDOM.normal(size=shape) if np.dtype(dtype).kind == "c" else 0)
    return found.astype(dtype)


def dense(values, rows, columns, shape):
    exact = np.zeros(shape, np.result_type(values, np.longdouble))
    np.add.at(exact, (rows, columns), values)
    return exact


@each("dtype", DTYPES)
@each("k", [0, 1, 2, 7, 33])
@each("e", [0, 1, 40])
def test_the_product_is_that_of_the_dense_matrix(dtype, k, e):
    rows, columns = RANDOM.integers(0, 5, e).astype(np.int32), RANDOM.integers(0, 6, 2 * e)[::2]
    values, x = numbers(e, dtype), numbers((k, 6), dtype).T
    found = kernels.coo_matmul(values, rows, columns, x, 5)
    assert found.dtype == np.result_type(dtype, np.float16) and found.shape == (5, k)
    size = np.abs(dense(np.abs(values), rows, columns, (5, 6))) @ np.abs(x)
    eps = np.finfo(found.dtype).eps
    assert (np.abs(found - dense(values, rows, columns, (5, 6)) @ x) <= 20 * eps * size).all()

    a, b = numbers((5, k), dtype), numbers((6, k), dtype)
    found = kernels.coo_sampled_matmul(a, b, rows, columns)
    assert found.dtype == np.result_type(dtype, np.float16) and found.shape == (e,)
    exact = (a.astype(np.result_type(dtype, np.longdouble)) @ b.T)[rows, columns]
    assert (np.abs(found - exact) <= 20 * eps * (np.abs(a).astype(np.longdouble) @ np.abs(b).T)[rows, columns]).all()


def test_a_batch_is_its_rows():
    """Values, places and dense operands each with axes of a batch, which broadcast."""
    values, x = RANDOM.normal(size=(3, 1, 5)), RANDOM.normal(size=(2, 6, 4))
    rows, columns = RANDOM.integers(0, 5, (2, 5)), RANDOM.integers(0, 6, (3, 1, 5))
    found = kernels.coo_matmul(values, rows, columns, x, 5)
    sampled = kernels.coo_sampled_matmul(found, x, rows, columns)
    assert found.shape == (3, 2, 5, 4) and sampled.shape == (3, 2, 5)
    for i, j in np.ndindex(3, 2):
        one = kernels.coo_matmul(values[i, 0], rows[j], columns[i, 0], x[j], 5)
        assert (one == found[i, j]).all()
        assert (kernels.coo_sampled_matmul(one, x[j], rows[j], columns[i, 0]) == sampled[i, j]).all()


@each("shape", [(3, 6, 4), (2, 3, 6, 1), (0, 6, 4), (3, 6, 0)])
@each("dtype", [np.float32, np.complex128, np.float16])
def test_one_matrix_by_a_batch(shape, dtype):
    values, rows, columns = numbers(7, dtype), RANDOM.integers(0, 5, 7), RANDOM.integers(0, 6, 7)
    for x in (numbers(shape, dtype), numbers(shape[::-1], dtype).T):
        found = kernels.coo_matmul(values, rows, columns, x, 5)
        assert found.shape == (*shape[:-2], 5, shape[-1]) and found.flags.c_contiguous and found.flags.writeable
        for place in np.ndindex(shape[:-2]):
            assert (kernels.coo_matmul(values, rows, columns, x[place], 5) == found[place]).all()


REFUSED = {
    "a row beyond": (([1.0], [5], [0]), IndexError, "row 5 .* is not one of 5 rows"),
    "a negative row": (([1.0], [-1], [0]), IndexError, "row -1 .* is not one of 5 rows"),
    "a column beyond": (([1.0], [0], [6]), IndexError, "column 6 .* is not one of 6 columns"),
    "another number of places": (([1.0, 2.0], [0], [0, 1]), ValueError, "2 stored elements have rows of the shape"),
    "places that are no integers": (([1.0], [0.5], [0]), TypeError, "rows of stored elements are integers"),
    "a number": ((1.0, [0], [0]), ValueError, "at least 1 axes"),
}  # fmt: skip


@each("name", REFUSED)
def test_what_is_outside_is_refused(name):
    (values, rows, columns), error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        kernels.coo_matmul(np.array(values), np.array(rows), np.array(columns), np.ones((6, 2)), 5)


def test_rows_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="rows of length 2 have no product with rows of length 3"):
        kernels.coo_sampled_matmul(np.ones((5, 2)), np.ones((6, 3)), np.array([0]), np.array([0]))
