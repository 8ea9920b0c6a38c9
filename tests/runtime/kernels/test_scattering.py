"""Adding and taking at indices against np.add.at and plain indexing: every kind of index, over layouts and dtypes."""

import itertools

import numpy as np
import pytest

from gradspec import get_num_threads, kernels, set_num_threads
from gradspec.kernels.indexing import gathering_loops, scattering_loops
from gradspec.kernels.indexing.scattering import add_at
from tests.asked import each

DTYPES = [np.float32, np.float64, np.complex64, np.complex128, np.int64, np.int32, np.float16, np.bool_, ">f8"]


def numbers(shape, dtype, seed=0):
    """Small integers, whose sums are exact in any order and dtype."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-4, 5, size=shape)
    return (x + 1j * rng.integers(-4, 5, size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def integers(n, *shape, seed=0):
    return np.random.default_rng(seed).integers(-n, n, size=shape) if n else np.zeros((0,) * len(shape), int)


def layouts(x):
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, -1)[..., ::2] if x.ndim else x
    frozen = np.array(x)
    frozen.flags.writeable = False
    yield frozen


def indices_of(shape):
    n = shape[0]
    yield (integers(n, 50),)
    yield (integers(n, 4, 6),)
    yield (integers(n, 0),)
    yield (integers(n, 5).astype(np.int16), Ellipsis)
    yield (integers(n, 5) % n,)
    yield (np.arange(n) % 2 == 0,)
    if len(shape) > 1:
        m = shape[1]
        yield (slice(None), integers(m, 40))
        yield (slice(None, None, 2), integers(m, 40))
        yield (Ellipsis, integers(shape[-1], 7))
        yield (integers(n, 60), integers(m, 60))
        yield (integers(n, 5, 1), integers(m, 6))
        yield (1, integers(m, 30))
        yield (integers(n, 30), -1)
        yield (integers(n, 30), slice(1, None))
        yield (integers(n, 30), None, integers(m, 30))
        yield (slice(None), integers(m, 30), None)


@each("dtype", DTYPES)
@each("shape", [(7,), (5, 3), (4, 6, 5), (300, 16), (3, 1), (40, 0)])
def test_add_at_is_that_of_numpy(shape, dtype):
    for index in indices_of(shape):
        try:
            taken = np.zeros(shape)[index]
        except IndexError:
            continue
        for values in (numbers(taken.shape, dtype), numbers(taken.shape[-1:], dtype), numbers((), dtype)):
            for laid in layouts(values):
                for start in (numbers(shape, dtype, 1), np.asfortranarray(numbers(shape, dtype, 1))):
                    expected, found = start.copy(), start.copy(order="K")
                    np.add.at(expected, index, np.broadcast_to(values, taken.shape).copy())  # which it may read beyond
                    add_at(found, index, laid)
                    np.testing.assert_array_equal(found, expected)


@each("dtype", DTYPES)
@each("shape", [(7,), (5, 3), (4, 6, 5), (60, 40)])
def test_elements_are_taken_and_added_across_an_axis(shape, dtype):
    for axis in range(-len(shape), len(shape)):
        n = shape[axis]
        for count in (0, 1, n, 9):
            other = tuple(count if i == axis % len(shape) else length for i, length in enumerate(shape))
            indices = integers(n, *other)
            for x in layouts(numbers(shape, dtype)):
                expected = np.take_along_axis(x, indices, axis)
                for laid in layouts(indices):
                    np.testing.assert_array_equal(kernels.take_along_axis(x, laid, axis), expected)
                    np.testing.assert_array_equal(kernels.gather(x, axis, laid), expected)
            for values in (numbers(other, dtype), numbers((), dtype)):
                expected = numbers(shape, dtype, 1)
                places = [np.arange(k).reshape((-1,) + (1,) * (len(shape) - 1 - i)) for i, k in enumerate(other)]
                places[axis] = indices
                np.add.at(expected, tuple(places), np.broadcast_to(values, other).copy())
                for laid in layouts(values):
                    found = kernels.scatter_add(numbers(shape, dtype, 1), axis, indices, laid)
                    np.testing.assert_array_equal(found, expected)


@each("dtype", DTYPES)
@each("shape", [(40, 64), (300, 100), (9, 640), (2, 500, 80), (3, 7, 1100), (41, 1024)])
def test_threads_that_divide_slices_or_lines_add_as_one(shape, dtype):
    """By slices of the target, by whole lines of elements with positions of their own, and by what is before the axis."""
    before, axis = get_num_threads(), len(shape) - 2
    rows, values = integers(shape[axis], shape[axis] + 3), numbers((*shape[:axis], shape[axis] + 3, shape[-1]), dtype)
    across = integers(shape[axis], *values.shape, seed=1) % shape[axis]
    expected = [numbers(shape, dtype, 1) for _ in range(2)]
    np.add.at(expected[0], (slice(None),) * axis + (rows,), values)
    grid = list(np.indices(values.shape, sparse=True))
    np.add.at(expected[1], tuple([*grid[:axis], across, *grid[axis + 1 :]]), values)
    try:
        for threads in (1, 2, 5):
            set_num_threads(threads)
            np.testing.assert_array_equal(kernels.index_add_(numbers(shape, dtype, 1), axis, rows, values), expected[0])
            np.testing.assert_array_equal(kernels.scatter_add(numbers(shape, dtype, 1), axis, across, values), expected[1])
    finally:
        set_num_threads(before)


@pytest.mark.slow
@each("dtype", [*DTYPES, np.longdouble, "S3", object])
@each("shape", [(7,), (7, 3), (5, 40), (3, 2, 5), (1, 1), (4, 0), (0, 4)])
def test_rows_are_taken_as_numpy_takes_them(shape, dtype):
    x = numbers(shape, float).astype(dtype)
    before = get_num_threads()
    try:
        for threads in (1, 2, 3):
            set_num_threads(threads)
            for indices in (integers(shape[0], 5000), integers(shape[0], 60, 100), integers(shape[0], 3).astype(np.int16)):
                for laid in layouts(x):
                    for way in (indices, indices[::-1], np.asfortranarray(indices)):
                        np.testing.assert_array_equal(kernels.take(laid, way, 0), np.take(x, way, 0))
                        turned = np.moveaxis(laid, 0, -1)
                        np.testing.assert_array_equal(kernels.take(np.array(turned), way, -1), np.take(turned, way, -1))
    finally:
        set_num_threads(before)
    for wrong in (shape[0], -shape[0] - 1):
        with pytest.raises(IndexError):
            kernels.take(x, np.full(20000, wrong), 0)
    with pytest.raises(TypeError):
        kernels.take(x, np.zeros(20000), 0)


def test_the_order_of_additions_is_that_of_the_indices():
    x = np.random.default_rng(0).normal(size=(5000, 3))
    indices = integers(7, 5000)
    expected, found = np.zeros((7, 3)), np.zeros((7, 3))
    np.add.at(expected, (indices,), x)
    assert scattering_loops.add_along(found, 0, indices, x)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("wrong", [7, -8])
def test_an_index_out_of_range_writes_nothing(wrong):
    y, indices = np.zeros((7, 3)), np.array([0, 1, wrong])
    for work in (
        lambda: kernels.index_add_(y, 0, indices, np.ones((3, 3))),
        lambda: kernels.scatter_add_(y, 0, np.stack([indices] * 3, 1), np.ones((3, 3))),
        lambda: kernels.take_along_axis(y, np.stack([indices] * 3, 1), 0),
        lambda: kernels.gather(y, 0, np.stack([indices] * 3, 1)),
        lambda: kernels.take_backward(np.ones((3, 3)), indices, (7, 3), 0),
        lambda: kernels.getitem_backward(np.ones(3), (indices, indices % 3), (7, 3)),
    ):
        with pytest.raises(IndexError):
            work()
        assert not y.any()


def test_shapes_that_do_not_fit_are_refused():
    for shape in ((2, 3), (3, 4), (3, 3, 3)):
        with pytest.raises((ValueError, IndexError)):
            kernels.index_add(np.zeros((7, 3)), 0, np.array([0, 1, 2]), np.ones(shape))


SHAPES = [(), (1,), (2,), (3,), (1, 1), (2, 1), (1, 2), (3, 1), (1, 3), (2, 3), (2, 1, 1), (1, 2, 1), (1, 1, 1), (4, 2, 3)]


@pytest.mark.parametrize("dtype", [np.float64, np.float16, object])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (2, 3, 2)])
def test_sources_of_every_shape_are_added_or_refused(shape, dtype):
    """`np.add.at` itself reads out of bounds at some of these, and may end the process."""
    added = 0
    for axis, places, source in itertools.product(range(max(len(shape), 1)), (0, [0], [0, 0], [[0]], [[0], [0]]), SHAPES):
        places, values = np.array(places), np.arange(np.prod(source, dtype=int)).reshape(source).astype(dtype)
        x = np.ones(shape, dtype)
        index = (slice(None),) * axis + (places.reshape(1) if places.ndim == 0 and len(source) == len(shape) else places,)
        target = x.reshape(shape or 1)
        try:
            there = np.broadcast_to(values, np.shape(target[index]))
        except ValueError:
            with pytest.raises((ValueError, IndexError)):
                kernels.index_add(x, axis, places, values)
            continue
        wanted = target.copy()
        np.add.at(wanted, index, np.array(there))
        np.testing.assert_array_equal(kernels.index_add(x, axis, places, values), wanted.reshape(shape))
        added += 1
    assert added > 5


@pytest.mark.parametrize("axis", [2, -3, 1000, -1000])
def test_an_axis_out_of_range_is_refused(axis):
    x, indices = np.zeros((3, 3)), np.zeros((3, 3), int)
    for work in (kernels.gather, lambda x, axis, i: kernels.take_along_axis(x, i, axis)):
        with pytest.raises((ValueError, IndexError)):
            work(x, axis, indices)
    with pytest.raises((ValueError, IndexError)):
        kernels.scatter_add_(x, axis, indices, x)
    assert not scattering_loops.add_along(x, axis, indices, x)


def test_a_frozen_target_is_refused():
    y = np.zeros((7, 3))
    y.flags.writeable = False
    with pytest.raises(ValueError):
        kernels.index_add_(y, 0, np.array([0, 1]), np.ones((2, 3)))
    assert not y.any()


def test_empty_lists_are_indices():
    """NumPy makes float64 of them."""
    x, none = numbers((3, 2), np.float64), np.zeros((0, 2))
    for axis, empty in ((0, none), (None, none[:, 0])):
        assert kernels.take_along_axis(x, empty, axis).shape == empty.shape
        np.testing.assert_array_equal(kernels.take_along_axis_backward(empty, empty, x.shape, axis), 0 * x)
    np.testing.assert_array_equal(kernels.take_backward(none, [], x.shape, 0), 0 * x)
    np.testing.assert_array_equal(kernels.index_add(x, 0, [], none), x)
    assert kernels.gather(x, 0, none).shape == (0, 2)
    for function in (kernels.scatter, kernels.scatter_add, lambda *given: kernels.scatter_extreme(*given, True, True)):
        np.testing.assert_array_equal(function(x, 0, none, none), x)
    assert kernels.takes_part(none, 0, x.shape, False).all()
    assert kernels.last_written(none, 0, x.shape).shape == (0, 2)


def test_values_that_lie_in_the_target_are_read_first():
    y = np.arange(12.0).reshape(4, 3)
    expected = y.copy()
    np.add.at(expected, [0, 0, 1, 1], y.copy())
    kernels.index_add_(y, 0, np.array([0, 0, 1, 1]), y)
    np.testing.assert_array_equal(y, expected)


def test_the_quick_way_is_taken():
    """Where it is not, everything above holds and nothing is gained."""
    for dtype in (np.float32, np.float64, np.complex64, np.complex128, np.int64):
        y = np.zeros((5, 4), dtype)
        assert scattering_loops.add_along(y, 0, np.array([0, -1]), np.ones((2, 4), dtype))
        assert scattering_loops.add_along(y, -1, np.array([[0], [1]]), np.ones((5, 2, 1), dtype))
        assert scattering_loops.add_across(y, 1, np.zeros((5, 2), int), np.ones((5, 2), dtype))
        if y.itemsize <= 8:
            assert gathering_loops.take_across(y, 1, np.zeros((5, 2), int)) is not None
    assert scattering_loops.joined_places([np.array([1, -1]), np.array([0, 2])], (3, 4)).tolist() == [4, 10]


@pytest.fixture(params=[1, 3])
def threads(request):
    before = get_num_threads()
    set_num_threads(request.param)
    yield request.param
    set_num_threads(before)


@each("dtype", DTYPES)
@each(
    "shape, axis", [((7,), 0), ((5, 4), 0), ((5, 4), 1), ((3, 4, 5), 1), ((300, 200), 1), ((200, 300), 0), ((1, 70000), 1)]
)
def test_across_an_axis_as_one_after_the_other(shape, axis, dtype, threads):
    lengths = list(shape)
    lengths[axis] = 2 * lengths[axis] + 1
    random = np.random.default_rng(4)
    indices = random.integers(-shape[axis], shape[axis], lengths)
    x, source = numbers(shape, dtype), numbers(lengths, dtype, 1)
    at = list(np.indices(lengths, sparse=True))
    at[axis] = indices
    at = tuple(at)
    expected = x.copy()
    expected[at] = source
    np.testing.assert_array_equal(kernels.scatter(x, axis, indices, source), expected)
    expected = x.copy()
    np.add.at(expected, at, source)
    np.testing.assert_array_equal(kernels.scatter_add(x, axis, indices, source), expected)
    np.testing.assert_array_equal(kernels.take_along_axis(x, indices, axis), x[at])
    turns, last = np.arange(indices.size).reshape(lengths), np.empty(shape, int)
    last[at] = turns
    np.testing.assert_array_equal(kernels.last_written(indices, axis, shape), last[at] == turns)


@pytest.mark.parametrize("far", [5, -6, 2**62, -(2**63), 2**63 - 1])
def test_what_is_out_of_range_is_refused_and_nothing_written(far):
    y, indices = np.zeros((5, 3)), np.zeros((4, 3), int)
    indices[2, 1] = far
    for write in (kernels.scatter_, kernels.scatter_add_):
        with pytest.raises(IndexError):
            write(y, 0, indices, np.ones((4, 3)))
    for call in (lambda: kernels.take_along_axis(y, indices, 0), lambda: kernels.index_add_(y, 0, indices[:, 1], np.ones((4, 3))),
                 lambda: kernels.take(np.zeros((5, 3000)), indices[:, 1], 0)):  # fmt: skip
        with pytest.raises(IndexError):
            call()
    assert not y.any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_no_sum_depends_on_the_number_of_threads(dtype):
    random, before, found = np.random.default_rng(5), get_num_threads(), []
    cases = [((50, 64), 0, 4000), ((1, 40, 300), 1, 900), ((9, 50), 1, 9000), ((60, 7), 0, 30000)]
    arrays = [
        (random.normal(size=shape).astype(dtype), axis, random.integers(0, shape[axis], count)) for shape, axis, count in cases
    ]
    arrays = [
        (x, axis, i, random.normal(size=(*x.shape[:axis], len(i), *x.shape[axis + 1 :])).astype(dtype)) for x, axis, i in arrays
    ]
    for number in (1, 2, 7):
        set_num_threads(number)
        found.append([kernels.index_add(*case).tobytes() for case in arrays])
        for x, axis, i, source in arrays:
            shape = [1] * x.ndim
            shape[axis] = -1
            found[-1].append(
                kernels.scatter_add(x, axis, np.broadcast_to(i.reshape(shape), source.shape).copy(), source).tobytes()
            )
    set_num_threads(before)
    assert found[0] == found[1] == found[2]
