"""Running sums, products and recurrences: NumPy's results to the bit, layouts, warnings, any number of threads."""

import numpy as np
import pytest

from gradspec import get_num_threads, kernels, set_num_threads
from gradspec.kernels.reductions import scans
from tests.asked import each

SHAPES = [(7,), (3, 5), (9, 4), (2, 3, 4), (17, 6), (1, 3), (3, 1), (0, 3), (3, 0), (100, 90), (3, 50, 40)]
DTYPES = ["f4", "f8", "c16", "i8", ">f8", "f2"]


def numbers(shape, dtype):
    random = np.random.default_rng(0)
    x = random.normal(size=shape) * 1.5
    return (x + 1j * random.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def layouts(x):
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, -1)[..., ::2]
    yield x[::-1]


def same(found, expected):
    assert found.shape == expected.shape and found.dtype.newbyteorder("=") == expected.dtype.newbyteorder("=")
    assert found.tobytes() == np.ascontiguousarray(expected, found.dtype).tobytes()


@each("dtype", DTYPES)
@each("shape", SHAPES, ids=str)
def test_running_sums_and_products_are_numpys_to_the_bit(shape, dtype):
    for x in layouts(numbers(shape, dtype)):
        for axis in (None, *range(-len(shape), len(shape))):
            flat = x.ravel() if axis is None else x
            for name in ("cumsum", "cumprod"):
                same(getattr(kernels, name)(x, axis, False), getattr(np, name)(x, axis))
                back = np.flip(getattr(np, name)(np.flip(flat, axis or 0), axis or 0), axis or 0)
                same(getattr(kernels, name)(x, axis, True), back)


@each("dtype", DTYPES)
@each("shape", SHAPES, ids=str)
def test_recurrences_and_moved_rows(shape, dtype):
    for a, b in zip(layouts(numbers(shape, dtype)), layouts(numbers(shape, dtype)[..., ::-1])):
        for axis in range(-len(shape), len(shape)):
            for reverse in (False, True):
                y = np.zeros(shape, dtype)
                state, rows = 0, range(shape[axis])
                for i in reversed(rows) if reverse else rows:
                    at = (slice(None),) * (axis % len(shape)) + (i,)
                    state = y[at] = a[at] * state + b[at]
                found = kernels.linear_recurrence(a, b, axis, reverse)
                tolerance = {"e": 5e-2, "f": 1e-4}.get(np.dtype(dtype).char, 1e-9)
                np.testing.assert_allclose(found, y, rtol=tolerance, atol=tolerance * np.abs(y).max(initial=1))
            for n in (0, 1, -2, 100, -100):
                for fill in (0, 1, -np.inf) if np.dtype(dtype).kind == "f" else (0, 1):
                    same(kernels.shift(a, n, axis, fill), scans.shift(a, n, axis, fill))


@each("dtype", DTYPES)
@each("shape", SHAPES, ids=str)
def test_products(shape, dtype):
    for x in layouts(numbers(shape, dtype)):
        for axis in (None, (), *range(-len(shape), len(shape)), tuple(range(len(shape))), (0, -1)[: len(shape)]):
            for keepdims in (False, True):
                expected = np.prod(x, axis=axis, keepdims=keepdims)
                found = kernels.prod(x, axis, keepdims)
                assert np.shape(found) == np.shape(expected) and np.asarray(found).dtype == expected.dtype
                tolerance = {"e": 2e-2, "f": 1e-4}.get(np.dtype(dtype).char, 1e-10)
                np.testing.assert_allclose(found, expected, rtol=tolerance)


@each("dtype", DTYPES)
@each("shape", SHAPES, ids=str)
def test_products_of_all_others_are_the_expressions_to_the_bit(shape, dtype):
    for x in layouts(numbers(shape, dtype)):
        for axis in range(-len(shape), len(shape)):
            same(kernels.product_of_others(x, axis), scans.product_of_others(x, axis))


def test_what_overflows_is_said():
    x = np.full((3, 400), 1e10)
    with np.errstate(over="raise"):
        for call in (lambda: kernels.cumprod(x, 1, False), lambda: kernels.prod(x, 1, False), lambda: kernels.cumsum(x * 1e298, 1, True),
                     lambda: kernels.product_of_others(x, 1), lambda: kernels.linear_recurrence(x, x, 1, False), lambda: kernels.linear_recurrence(x[0], x[0], 0, True)):  # fmt: skip
            with pytest.raises(FloatingPointError):
                call()


def test_what_is_no_number_goes_on_from_where_it_is_met():
    x = np.ones((2, 9))
    x[0, 4] = np.nan
    assert np.isnan(kernels.cumsum(x, 1, False)).tolist() == [[False] * 4 + [True] * 5, [False] * 9]
    assert np.isnan(kernels.cumprod(x, 1, True)).tolist() == [[True] * 5 + [False] * 4, [False] * 9]
    assert np.isnan(kernels.prod(x, 1, False)).tolist() == [True, False]


@each("dtype", ["f4", "f8"])
@each("odd", [np.nan, np.inf, -np.inf])
@each("shape", [(5,), (9, 4), (2, 3, 4), (17, 6)], ids=str)
def test_a_factor_that_is_no_number_shows(shape, odd, dtype):
    """The first one too, which multiplies the zero that stands before the first element."""
    for axis in range(len(shape)):
        for reverse in (False, True):
            for row in range(shape[axis]):
                a, b = np.full(shape, 0.5, dtype), np.ones(shape, dtype)
                a[(0,) * axis + (row,) + (0,) * (len(shape) - axis - 1)] = odd
                with np.errstate(invalid="ignore"):
                    found = kernels.linear_recurrence(a, b, axis, reverse)
                    expected, state = np.zeros(shape, dtype), 0
                    for i in range(shape[axis])[:: -1 if reverse else 1]:
                        at = (slice(None),) * axis + (i,)
                        state = expected[at] = a[at] * state + b[at]
                np.testing.assert_array_equal(found, expected)
                assert not np.isfinite(found).all()


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (1, 3)], ids=str)
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extremes(name, shape):
    """The last of equal ones, and NaN from the first one on."""
    better = {"cummax": lambda a, b: a >= b, "cummin": lambda a, b: a <= b}[name]
    plain = np.random.default_rng(0).integers(0, 4, shape).astype(float)
    for x in (plain, np.where(np.random.default_rng(1).random(shape) < 0.2, np.nan, plain)):
        for axis in range(-len(shape), len(shape)):
            values, indices = getattr(kernels, name)(x, axis)
            assert values.shape == indices.shape == x.shape and indices.dtype == np.intp
            for row, found, at in zip(*(np.moveaxis(a, axis, -1).reshape(-1, x.shape[axis]) for a in (x, values, indices))):
                best = 0
                for i, value in enumerate(row):
                    best = i if np.isnan(value) or (not np.isnan(row[best]) and better(value, row[best])) else best
                    assert at[i] == best and (found[i] == row[best] or np.isnan(found[i]) and np.isnan(row[best]))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_logarithms_of_running_sums(dtype):
    """Of complex numbers the principal value, that of the first one too."""
    for shape in ((6,), (3, 5), (2, 3, 4), (40, 7), (5, 7, 8)):
        x = numbers(shape, dtype) * (3 if np.dtype(dtype).kind == "c" else 1)
        for axis in range(-len(shape), len(shape)):
            found = kernels.logcumsumexp(x, axis)
            expected = np.log(np.cumsum(np.exp(x.astype("c16" if found.dtype.kind == "c" else "f8")), axis))
            assert found.dtype == x.dtype
            np.testing.assert_allclose(found, expected, rtol=2e-4 if np.dtype(dtype).itemsize // (1 + (found.dtype.kind == "c")) == 4 else 1e-11)
    assert np.isfinite(kernels.logcumsumexp(np.full(3, 1000.0, dtype), 0)).all()


def test_no_bit_depends_on_the_number_of_threads():
    x, before, found = numbers((90, 300, 5), "f4"), get_num_threads(), []
    with np.errstate(over="ignore"):
        for number in (1, 2, 5):
            set_num_threads(number)
            found.append(
                [kernels.cumsum(x, axis, axis == 1).tobytes() + kernels.prod(x, axis, False).tobytes() for axis in range(3)]
            )
            found[-1].append(kernels.linear_recurrence(x / 4, x, 1, False).tobytes())
            found[-1].append(kernels.cumsum(x.reshape(-1, 30), 1, False).tobytes())
    set_num_threads(before)
    assert found[0] == found[1] == found[2]
