"""Matrix products straight to BLAS: what `np.matmul` gives, its warnings and its refusals."""

import itertools
import threading
import time

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from tests.asked import each

SHAPES = [((3, 4), (4, 2)), ((1, 1), (1, 1)), ((17, 33), (33, 9)), ((64, 64), (64, 64)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)),
          ((2, 3, 4), (4, 5)), ((2, 3, 4), (4,)), ((2, 1, 3, 4), (5, 4, 2)), ((4,), (2, 4, 5)), ((0, 3), (3, 2)), ((3, 0), (0, 2)),
          ((2, 0, 3), (3, 2)), ((3, 4), (2, 4, 1)), ((3, 4), (2, 5, 4, 1)), ((3, 4), (2, 0, 4, 1)), ((1, 4), (3, 4, 1)),
          ((3, 4, 1), (3, 1, 5)), ((2, 3, 4, 1), (3, 1, 5)), ((2, 0, 1), (2, 1, 3)), ((3, 2, 4), (3, 4, 1)), ((2, 3, 5, 4), (2, 3, 4, 1)),
          ((2, 3, 4), (1, 4, 1)), ((16, 64), (64, 256)), ((40, 10), (10, 70)), ((4, 5, 30), (30, 40)),
          ((8, 4, 32, 16), (8, 4, 16, 32)), ((4, 1, 40, 24), (30, 24, 40)), ((40, 24), (90, 24, 40)), ((300, 6, 5), (1, 300, 5, 7)),
          ((3, 1, 2, 1, 33, 17), (5, 1, 4, 17, 40)), ((130, 300), (300, 70)), ((600, 33), (33, 90)), ((3, 200, 64), (64, 37)),
          ((9, 700), (700, 301)), ((900,), (900, 700))]  # fmt: skip
LAYOUTS = {
    "plain": lambda x: x,
    "transposed": lambda x: np.ascontiguousarray(np.swapaxes(x, -1, -2)).swapaxes(-1, -2) if x.ndim > 1 else x,
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "part of wider": lambda x: np.concatenate([x, x], -1)[..., : x.shape[-1]],
    "part of higher": lambda x: np.swapaxes(np.concatenate([np.swapaxes(x, -1, -2)] * 2, -1), -1, -2)[..., : x.shape[-2], :]
    if x.ndim > 1
    else x,
    "reversed": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "one in all places": lambda x: np.broadcast_to(x[:1], x.shape) if x.ndim > 2 and x.shape[0] else x,
    "read-only": lambda x: (x.flags.__setattr__("writeable", False), x)[1],
}


def some(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) + (1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else 0)).astype(dtype)


@each("dtype", ["f4", "f8", "c8", "c16"])
@each("a, b", SHAPES, ids=str)
def test_products_are_those_of_matmul(a, b, dtype):
    for left, right in itertools.product(LAYOUTS.values(), LAYOUTS.values()):
        x, y = left(some(a, dtype, 0)), right(some(b, dtype, 1))
        found, expected = np.asarray(kernels.matmul(x, y)), np.asarray(np.matmul(x, y))
        assert found.shape == expected.shape and found.dtype == expected.dtype
        scale = np.asarray(np.matmul(abs(x), abs(y)))
        assert np.all(abs(found - expected) <= 8 * np.finfo(dtype).eps * scale)


@each("shape", [(4, 3), (40, 32), (70, 64), (130, 10)])
def test_a_matrix_times_its_transpose_is_symmetric(shape):
    x = some(shape, "f4", 0)
    np.testing.assert_array_equal(kernels.matmul(x, x.T), kernels.matmul(x, x.T).T)


@pytest.mark.parametrize("x, y", [("f4", "f8"), ("f8", "c16"), ("i8", "f8"), ("i8", "i4"), ("?", "?"), ("f2", "f2")])
def test_other_dtypes_are_numpys(x, y):
    a, b = np.arange(6).reshape(2, 3).astype(x), np.arange(6).reshape(3, 2).astype(y)
    found, expected = kernels.matmul(a, b), np.matmul(a, b)
    assert found.dtype == expected.dtype and (found == expected).all()


@pytest.mark.parametrize("a, b", [((2, 3), (2, 3)), ((3,), (2,)), ((), (3,)), ((3, 3), ()), ((3, 3), (5, 2, 1))])
def test_what_does_not_fit_is_refused(a, b):
    with pytest.raises(ValueError, match="matmul"):
        kernels.matmul(np.ones(a), np.ones(b))


def test_overflow_warns_as_numpy_does():
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="overflow"):
        kernels.matmul(np.full((2, 2), 1e200), np.full((2, 2), 1e200))
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="overflow"):
        kernels.matmul(np.full((40, 40), 1e200), np.full((64, 40), 1e200).T)
    for shape in ((99, 20, 20), (200, 200)):
        large = np.ones(shape)
        large[77, 5] = 1e200
        large[..., 5, 5] = 1e200
        with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="overflow"):
            kernels.matmul(large, large.copy())


@each("dtype", ["f4", "f8", "c8", "c16"])
@each("a, b", [shapes for shapes in SHAPES if np.prod(shapes[0]) * shapes[1][-1] > 10_000], ids=str)
def test_the_number_of_threads_changes_no_bit(a, b, dtype):
    before, found = gs.get_num_threads(), set()
    plain = LAYOUTS["plain"]
    for left, right in [(layout, plain) for layout in LAYOUTS.values()] + [(plain, layout) for layout in LAYOUTS.values()]:
        x, y = left(some(a, dtype, 0)), right(some(b, dtype, 1))
        try:
            for number in (1, 2, 5):
                gs.set_num_threads(number)
                z = np.asarray(kernels.matmul(x, y))
                out = np.asarray(gs.matmul(gs.asarray(x), gs.asarray(y), out=gs.asarray(np.empty_like(z))))
                found |= {z.tobytes(), out.tobytes()}
        finally:
            gs.set_num_threads(before)
        assert len(found) == 1, [name for name, layout in LAYOUTS.items() if layout in (left, right)]
        found.clear()


def test_a_product_does_not_alias_its_operands():
    x = np.ones((3, 3))
    y = kernels.matmul(x, x)
    assert not np.shares_memory(x, y) and y.flags.c_contiguous and y.flags.writeable


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i8", "?"])
@pytest.mark.parametrize("shapes", [((3,), (4,)), ((2, 3), (4, 1)), ((), (2,)), ((0,), (3,)), ((300,), (400,))], ids=str)
def test_outer_products_are_numpys(shapes, dtype):
    rng = np.random.default_rng(0)
    a, b = ((9 * rng.normal(size=shape)).astype(dtype) for shape in shapes)
    for left in (a, a.T, np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a):
        found, expected = kernels.outer(left, b), np.outer(left, b)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert found.tobytes() == expected.tobytes()


def test_whether_an_operand_may_be_written_to_changes_no_bit():
    """A replay's views of an array may be written to where those of eager code may not."""
    rng = np.random.default_rng(0)
    for a_shape, b_shape in (((13,), (2, 13)), ((4, 13), (2, 13)), ((3, 4, 13), (5, 13)), ((13,), (13,)), ((2, 13), (1, 13))):
        for _ in range(20):
            a, row = rng.normal(size=a_shape), rng.normal(size=13)
            views = [np.broadcast_to(row, b_shape).T, np.lib.stride_tricks.as_strided(row, b_shape, (0,) * (len(b_shape) - 1) + (8,)).T]
            a_only = a.copy()
            a_only.flags.writeable = False
            found = {np.asarray(kernels.matmul(x, y)).tobytes() for x in (a, a_only) for y in views}
            assert len(found) == 1, (a_shape, b_shape)


@each("dtype", ["f4", "f8"])
@each("rows, inner, columns", [((500, 8), 256, (5, 7)), ((300, 4), 16, (6, 9)), ((130,), 300, (70, 66)), ((8,), 100, (3, 5))], ids=str)
@each("turned", ["ab", "a", "b", ""])
def test_products_on_two_threads_at_one_time(rows, inner, columns, turned, dtype):
    """OpenBLAS's loop for two transposed matrices of floats may take the places of the last columns from the other thread."""
    *stack, height = rows
    wrong = []

    def work(width):
        x, y = some((*stack, height, inner), dtype, width), some((*stack, inner, width), dtype, width + 1)
        expected = np.einsum("...ij,...jk->...ik", x.astype("f8"), y.astype("f8"))
        x, y = (LAYOUTS["transposed"](z) if name in turned else z for name, z in (("a", x), ("b", y)))
        until = time.monotonic() + 0.1
        while time.monotonic() < until and not wrong:
            found = kernels.matmul(x, y)
            if not np.allclose(found, expected, rtol=0, atol=1e-3):
                wrong.append(np.argwhere(abs(found - expected) > 1e-3).tolist()[:9])

    threads = [threading.Thread(target=work, args=(width,)) for width in columns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
