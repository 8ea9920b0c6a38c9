"""Maxima under windows and weighted sums against their definitions: windows of every kind, dtypes, layouts, any number of threads."""

import itertools

import numpy as np
import pytest

import gradspec as gs
from gradspec import get_num_threads, kernels, set_num_threads
from gradspec.kernels.convolution import pooling
from tests.asked import each

DTYPES = ["float32", "float64", "longdouble", "int64", "uint64", "float16", "int8", ">f8"]


@pytest.fixture(params=[1, 3])
def threads(request):
    before = get_num_threads()
    set_num_threads(request.param)
    yield request.param
    set_num_threads(before)


def largest(x, ranges):
    """The definition: in each window the first of the largest, a NaN before all."""
    lead = x.shape[: x.ndim - len(ranges)]
    y, indices = np.empty(lead + tuple(map(len, ranges)), x.dtype), np.empty(lead + tuple(map(len, ranges)), np.intp)
    for at in np.ndindex(lead):
        plane = x[at]
        for place in np.ndindex(*map(len, ranges)):
            window = list(itertools.product(*(axis[i] for axis, i in zip(ranges, place))))
            values = np.array([plane[p] for p in window])
            best = window[int(np.argmax(values))]  # as NumPy has it
            y[(*at, *place)], indices[(*at, *place)] = plane[best], np.ravel_multi_index(best, plane.shape)
    return y, indices


def numbers(random, shape, dtype):
    """Small integers, with ties; of floating-point numbers some NaN and infinities."""
    x = random.integers(0, 6, shape).astype(dtype)
    if x.dtype.kind == "f":
        x[random.random(shape) < 0.05] = np.nan
        x[random.random(shape) < 0.05] = -np.inf
    return x


CASES = [  # shape, kernel, stride, padding, dilation
    ((5, 4, 9), (2,), (2,), (0,), (1,)),
    ((2, 700), (3,), (2,), (1,), (1,)),  # more than a strip
    ((2, 3, 8, 9), (2, 2), (2, 2), (0, 0), (1, 1)),
    ((2, 3, 7, 9), (3, 3), (2, 2), (1, 1), (1, 1)),
    ((2, 7, 11), (3, 4), (1, 3), (1, 2), (2, 1)),
    ((2, 7, 11), (2, 3), (2, 1), (0, 1), (1, 2)),
    ((3, 4, 5, 6), (2, 1, 3), (1, 2, 1), (1, 0, 1), (1, 1, 2)),
    ((40, 16, 16), (2, 2), (2, 2), (0, 0), (1, 1)),  # on several threads
    ((1, 3, 1), (2, 1), (1, 1), (1, 0), (1, 1)),
]


@each("dtype", DTYPES)
@each("case", CASES, ids=str)
def test_maxima_are_their_definition(case, dtype, threads):
    shape, kernel, stride, padding, dilation = case
    x = numbers(np.random.default_rng(0), shape, dtype)
    lengths = shape[-len(kernel) :]
    size = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(lengths, kernel, stride, padding, dilation))
    ranges = [
        [[i for i in range(o * s - p, o * s - p + k * d, d) if 0 <= i < n] for o in range(m)]
        for n, m, k, s, p, d in zip(lengths, size, kernel, stride, padding, dilation)
    ]
    expected = largest(x, ranges)
    for given in (x, np.asfortranarray(x)):
        found = kernels.max_pool(given, kernel, size, stride, padding, dilation)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
        assert found[0].dtype == x.dtype


@pytest.mark.parametrize("size", [(3, 4), (1, 1), (7, 9), (5, 2)])
def test_adaptive_maxima_are_their_definition(size, threads):
    x = numbers(np.random.default_rng(1), (2, 3, 7, 9), "float64")
    ranges = [[list(range(i * n // m, -(-(i + 1) * n // m))) for i in range(m)] for n, m in zip(x.shape[-2:], size)]
    for found, expected in zip(kernels.adaptive_max_pool(x, size), largest(x, ranges)):
        np.testing.assert_array_equal(found, expected)


KINDS = [("windows", (3, 2, 1, 0, 0)), ("windows", (2, 2, 0, 1, 1)), ("area", ()), ("nearest", ()), ("nearest-exact", ()), ("cubic smooth", ()),
         ("linear", ()), ("cubic aligned", ())]  # fmt: skip


@each("dtype", ["float32", "float64", "longdouble", "complex64", "complex128", "float16", "int64", ">f8"])
@each("kind, window", KINDS, ids=str)
def test_weighted_sums_are_products_with_a_matrix(kind, window, dtype, threads):
    random = np.random.default_rng(2)
    for shape, axis in [((5, 9), -1), ((9, 5), 0), ((2, 9, 3), 1), ((9,), 0), ((67, 9), 1), ((0, 9), 1), ((300, 9, 40), 1)]:
        x = random.integers(-8, 9, shape)
        x = (x + 1j * random.integers(-8, 9, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)
        size = 5 if window else 6
        starts, places, weights = pooling._plan(9, size, kind, window, 1.5, "d")
        matrix = np.zeros((size, 9))
        for i in range(size):
            np.add.at(matrix[i], places[starts[i] : starts[i + 1]], weights[starts[i] : starts[i + 1]])
        tolerance = {"e": 2e-2, "f": 2e-5, "F": 2e-5}.get(x.dtype.char, 1e-12)
        for given in (x, np.asfortranarray(x)):
            y = kernels.resample(given, axis - x.ndim if axis >= 0 else axis, size, kind, window, 1.5)
            assert y.dtype == (x.dtype if x.dtype.kind in "fc" else float)
            expected = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
            np.testing.assert_allclose(y, expected, rtol=tolerance, atol=10 * tolerance)
            back = kernels.resample_backward(y, axis - x.ndim if axis >= 0 else axis, 9, kind, window, 1.5)
            expected = np.moveaxis(np.tensordot(matrix.T, y, (1, axis)), 0, axis)
            np.testing.assert_allclose(back, expected, rtol=tolerance, atol=10 * tolerance)


def test_means_are_those_of_the_elements_under_windows():
    """Of random windows, with both roundings of the number of windows and both ways to count the padding."""
    random = np.random.default_rng(0)
    for number in range(90):
        n = 1 + number % 3
        kernel = random.integers(1, 5, n)
        stride, padding, lengths = random.integers(1, 5, n), random.integers(0, kernel // 2 + 1), kernel + random.integers(0, 4, n)
        ceil, counted = bool(number & 4), bool(number & 8)
        x = random.normal(size=(2, *lengths))
        function = getattr(gs.nn, f"avg_pool{n}d")
        found = function(gs.tensor(x), *(tuple(v.tolist()) for v in (kernel, stride, padding)), ceil, counted).numpy()
        windows = []
        for k, s, p, length in zip(kernel, stride, padding, lengths):
            starts = range(-p, length + p - (0 if ceil else k - 1), s)
            if ceil:  # the last one begins inside, or in the padding before
                starts = [start for start in starts if start + k < length + p + s and start < length]
            windows.append([(start, min(start + k, length + p)) for start in starts])
        assert found.shape == (2, *map(len, windows))
        for place in np.ndindex(found.shape[1:]):
            ends = [axis[i] for axis, i in zip(windows, place)]
            inside = x[:, *(slice(max(a, 0), max(b, 0)) for a, b in ends)]
            count = np.prod([b - a for a, b in ends]) if counted else inside[0].size
            np.testing.assert_allclose(found[:, *place], inside.sum(tuple(range(1, n + 1))) / count, rtol=0, atol=1e-14)


def test_no_bit_depends_on_the_number_of_threads():
    x, before, found = np.random.default_rng(3).normal(size=(64, 31, 33)).astype(np.float32), get_num_threads(), []
    for number in (1, 2, 5):
        set_num_threads(number)
        y = kernels.resample(kernels.resample(x, -1, 47, "linear", (), 31 / 47), -2, 12, "area", (), 1.0)
        found.append((y, *kernels.max_pool(x, (3, 3), (15, 16), (2, 2), (0, 0), (1, 1))))
    set_num_threads(before)
    assert all(a.tobytes() == b.tobytes() for other in found[1:] for a, b in zip(found[0], other))


@pytest.mark.parametrize("name", ["adaptive_avg_pool", "adaptive_max_pool"])
def test_none_leaves_an_axis_as_long_as_it_is(name):
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 5, 6))
    pool = {n: getattr(gs.nn, f"{name}{n}d") for n in (1, 2, 3)}
    for asked, said in ((None, (6,)), ((None,), (6,)), (4, (4,))):
        np.testing.assert_array_equal(pool[1](x[0, 0], asked).numpy(), pool[1](x[0, 0], said).numpy())
    for asked, said in ((None, (5, 6)), ((None, 2), (5, 2)), ([3, None], (3, 6)), (np.array([3, 2]), (3, 2)), (2, (2, 2))):
        np.testing.assert_array_equal(pool[2](x[0], asked).numpy(), pool[2](x[0], said).numpy())
    np.testing.assert_array_equal(pool[3](x, (None, 2, None)).numpy(), pool[3](x, (4, 2, 6)).numpy())
    for asked in ((1, 2, 3), "ab", (1.5, 2), (True, 2), 2.0):
        with pytest.raises((TypeError, IndexError), match="output_size"):
            pool[2](x, asked)


def test_smooth_weights_are_those_of_a_stretched_filter():
    """Of a line they give the line, away from the ends; of a constant the constant; where nothing is left out, the interpolation."""
    line = np.linspace(-3.0, 5.0, 40)
    for kind, length in itertools.product(("linear smooth", "cubic smooth", "cubic smooth aligned"), (40, 17, 7, 3, 61)):
        step = 40 / length
        np.testing.assert_allclose(pooling.resample(np.ones(40), -1, length, kind, (), step), np.ones(length), rtol=1e-14)
        middle = slice(length // 3, length - length // 3)
        expected = np.interp((np.arange(length) + 0.5) * step - 0.5, np.arange(40), line)
        np.testing.assert_allclose(pooling.resample(line, -1, length, kind, (), step)[middle], expected[middle], atol=0.05)
    np.testing.assert_allclose(pooling.resample(line, -1, 61, "linear smooth", (), 40 / 61), pooling.resample(line, -1, 61, "linear", (), 40 / 61))
    # By hand: filters of the width 4 around 1 and 3, of the elements in the middles of [0, 1], [1, 2] and so on.
    found = pooling.resample(np.array([1.0, 3.0, 4.0, 6.0]), -1, 2, "linear smooth", (), 2.0)
    np.testing.assert_allclose(found, [(0.75 * 1 + 0.75 * 3 + 0.25 * 4) / 1.75, (0.25 * 3 + 0.75 * 4 + 0.75 * 6) / 1.75], rtol=1e-15)


@each("mode", ["bilinear", "bicubic"])
@each("align_corners", [False, True])
def test_antialiased_images_are_pytorchs(mode, align_corners):
    torch = pytest.importorskip("torch", reason="compares with PyTorch's interpolate, and PyTorch is not installed")
    for shape, size in [((7, 5), (3, 2)), ((4, 6), (9, 3)), ((5, 5), (5, 1)), ((1, 4), (1, 2)), ((8, 8), (3, 5))]:
        x = np.random.default_rng(0).normal(size=(2, 1, *shape))
        options = {"size": size, "mode": mode, "align_corners": align_corners, "antialias": True}
        a, b = gs.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
        found, expected = gs.nn.interpolate(a, **options), torch.nn.functional.interpolate(b, **options)
        np.testing.assert_allclose(found.detach(), expected.detach(), rtol=1e-12, atol=1e-12)
        (found * found).sum().backward(), (expected * expected).sum().backward()
        np.testing.assert_allclose(a.grad, b.grad, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="antialias is for the modes 'bilinear' and 'bicubic', got 'area'"):
        gs.nn.interpolate(gs.ones((1, 1, 4, 4)), 2, mode="area", antialias=True)
