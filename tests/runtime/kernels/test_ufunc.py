"""Operands that are broadcast to the other one, row by row: NumPy's results to the bit, and its warnings."""

import itertools
import tracemalloc

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each

OPS = {"add": np.add, "subtract": np.subtract, "divide": np.divide, "maximum": np.maximum, "pow": np.power, "remainder": np.remainder,
       "less": np.less}  # fmt: skip
SLOW = ("pow", "remainder")  # which go through large arrays as the others do
REAL = ("maximum", "remainder", "less")
WHOLE = ((3, 4), (1, 4), (3, 1), (2, 3, 4), (5, 1, 3, 2), (2, 3, 2, 2, 3), (6, 5, 70, 20), (70, 100), (3, 70000), (2, 0, 3))


def some(rng, shape, dtype):
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else np.abs(x) + 0.5).astype(dtype)


def parts(rng, shape, dtype):
    """Operands that are broadcast to `shape`: each choice of its axes, with or without the leading ones; strided and expanded."""
    for kept in itertools.product((True, False), repeat=len(shape)):
        part = tuple(n if keep else 1 for n, keep in zip(shape, kept))
        x = some(rng, part, dtype)
        yield x
        for drop in range(1, len(part) + 1):
            if all(n == 1 for n in part[:drop]):
                yield x.reshape(part[drop:])
        yield np.broadcast_to(x, shape)
        if part[-1] > 1:
            yield np.repeat(x, 2, axis=-1)[..., ::2]
            yield x[..., ::-1]
        yield x.astype(x.dtype.newbyteorder())


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", WHOLE, ids=str)
def test_results_are_numpys_to_the_bit(shape, dtype):
    rng = np.random.default_rng(0)
    whole = some(rng, shape, dtype)
    for part in parts(rng, shape, dtype):
        for name, function in OPS.items():
            if np.dtype(dtype).kind == "c" and name in REAL or whole.size > 10_000 and name in SLOW:
                continue
            for a, b in ((whole, part), (part, whole), (part, whole.T)):
                try:
                    expected = function(a, b)
                except ValueError:
                    continue
                found = getattr(gs, name)(gs.asarray(a), gs.asarray(b)).numpy()
                assert found.shape == expected.shape and found.dtype == expected.dtype
                assert found.tobytes() == expected.tobytes(), (name, a.shape, b.shape, a.strides, b.strides)


@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 3, 2, 4), (4, 1, 70), (3, 5, 40, 8)], ids=str)
def test_two_operands_of_which_neither_has_the_shape_of_the_result(shape):
    rng = np.random.default_rng(1)
    choices = list(itertools.product((True, False), repeat=len(shape)))
    for kept, other in itertools.product(choices, choices):
        a, b = (some(rng, tuple(n if keep else 1 for n, keep in zip(shape, each)), "f8") for each in (kept, other))
        expected = a / b
        assert (gs.asarray(a) / gs.asarray(b)).numpy().tobytes() == expected.tobytes(), (a.shape, b.shape)
        while b.ndim > 1 and b.shape[0] == 1:
            b = b[0]
        assert (gs.asarray(a) / gs.asarray(b)).numpy().tobytes() == expected.tobytes(), (a.shape, b.shape)


def test_pieces_of_a_row_that_comes_again_are_no_matter_of_numpys():
    """Rows against columns, whose product has three axes, are multiplied in rows: NumPy's iterator would take buffers."""
    a, b = gs.ones((256, 1, 64)), gs.ones((16, 64))
    tracemalloc.start()
    try:
        product = a * b
        assert tracemalloc.get_traced_memory()[1] < product.nbytes + 10_000
    finally:
        tracemalloc.stop()


def cut(x):
    """Views of an array of three axes: rows that lie equally far apart, rows that do not, and none."""
    yield from (x, x[:, 1:], x[:, :, 1:], x[1:], x[::2], x[:, ::2], x[::-1], x[:, ::-1, 1:], x[..., ::2], x.transpose(1, 0, 2), x.T)
    yield from (x[:1], x[:, :1], x[:, :, :1], x[0], x[:, 0], x[0, 0], x[:, 0, :1], np.broadcast_to(x[0], x.shape), x[:1, :, :1], x[0:0])


@pytest.mark.parametrize("shape", [(6, 7, 8), (3, 40, 500)], ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_what_is_cut_out_of_an_array_has_numpys_bits_and_strides(dtype, shape):
    x = some(np.random.default_rng(0), shape, dtype)
    for a, b in itertools.product(cut(x), repeat=2):
        for name in ("subtract", "divide"):
            try:
                expected = OPS[name](a, b)
            except ValueError:
                continue
            found = getattr(gs, name)(gs.from_numpy(a), gs.from_numpy(b)).numpy()
            assert found.shape == expected.shape and found.dtype == expected.dtype
            assert found.tobytes() == expected.tobytes(), (name, a.shape, b.shape, a.strides, b.strides)
            assert found.strides == expected.strides or found.size <= 1, (name, a.shape, b.shape, a.strides, b.strides)


def test_threads_change_nothing():
    rng, before = np.random.default_rng(0), gs.get_num_threads()
    a, row, column, block, each = (gs.tensor(rng.normal(size=shape)) for shape in ((600, 700), (700,), (600, 1), (60, 10, 700), (60, 1, 700)))
    results = []
    try:
        for number in (1, 2, 5):
            gs.set_num_threads(number)
            results.append([(a * row).numpy().tobytes(), (column / a).numpy().tobytes(), (each - block).numpy().tobytes()])
    finally:
        gs.set_num_threads(before)
    assert results[0] == results[1] == results[2]


def test_flags_warn_as_numpy_does():
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        gs.ones((3, 4)) / gs.tensor([1.0, 0.0, 2.0, 3.0])
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="overflow"):
        gs.full((3, 4), 1e300) * gs.full((3, 1), 1e300)


@each("dtype", ["f2", "f4", "f8", "c8", "c16", "i4"])
@each("shape", [(4095,), (4096,), (70, 90), (300, 701), (3, 0)])
def test_functions_of_one_number_everywhere_are_numpys(shape, dtype):
    """The gradient of a sum is such an array; its function is computed once, and is an array of its own."""
    before = gs.get_num_threads()
    values = (0, 2.5) if dtype == "i4" else (0, -0.0, 2.5, np.inf, np.nan)
    try:
        for value, threads, name in itertools.product(values, (1, 3), ("negative", "absolute", "isnan", "square")):
            gs.set_num_threads(threads)
            with np.errstate(all="ignore"):
                x = np.broadcast_to(np.array(value).astype(dtype), shape)
                found, expected = getattr(gs, name)(gs.asarray(x)).numpy(), getattr(np, name)(x)
            np.testing.assert_array_equal(found, expected, strict=True)
            assert found.tobytes() == expected.tobytes()
            assert found.flags.writeable and found.flags.c_contiguous
    finally:
        gs.set_num_threads(before)


def test_a_function_of_one_number_everywhere_warns_as_numpys_does():
    x = gs.asarray(np.broadcast_to(np.array(-1.0), (70, 90)))
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        gs.sqrt(x)
