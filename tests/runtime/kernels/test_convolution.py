"""Convolutions over many places, which the samples of operators are too small for: the sums written out, infinities, NaN."""

import itertools

import numpy as np
import pytest

from gradspec import get_num_threads, set_num_threads
from gradspec.kernels.convolution import convolution
from tests.asked import each

CASES = [  # shape of x, of the weight, stride, padding, dilation, groups
    ((2, 3, 200), (4, 3, 3), (1,), (1,), (1,), 1),
    ((2, 4, 15, 14), (6, 2, 3, 2), (1, 1), (1, 0), (1, 1), 2),
    ((2, 2, 19, 17), (3, 2, 2, 3), (1, 1), (2, 1), (3, 2), 1),
    ((1, 2, 7, 8, 9), (2, 2, 2, 2, 2), (1, 1, 1), (0, 1, 0), (1, 1, 2), 1),
    ((2, 2, 30, 31), (3, 2, 3, 3), (2, 1), (1, 1), (1, 1), 1),
    ((2, 2, 15, 13), (3, 2, 1, 1), (1, 1), (0, 0), (1, 1), 1),
]


def terms(case):
    """The padded input, and (index of the weight's element, what it meets) for each; the channels apart."""
    shape, kernel, stride, padding, dilation, groups = case
    sizes = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(shape[2:], kernel[2:], stride, padding, dilation)]
    for place in itertools.product(*map(range, kernel[2:])):
        where = tuple(slice(k * d, k * d + (n - 1) * s + 1, s) for k, d, n, s in zip(place, dilation, sizes, stride))
        yield place, (slice(None), slice(None), *where), sizes


def written_out(case, x, weight, grad):
    shape, kernel, stride, padding, dilation, groups = case
    padded = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in padding)))
    inside = (slice(None), slice(None), *(slice(p, p + n) for p, n in zip(padding, shape[2:])))
    y, to_x, to_weight = 0, np.zeros_like(padded), np.zeros_like(weight)
    outer, inner = kernel[0] // groups, kernel[1]
    for place, where, _ in terms(case):
        for o in range(kernel[0]):
            for c in range(inner):
                channel = o // outer * inner + c
                at = (o, c, *place)
                term = np.zeros_like(grad)
                term[:, o] = weight[at] * padded[where][:, channel]
                y = y + term
                to_x[where][:, channel] += weight[at] * grad[:, o]
                to_weight[at] += (padded[where][:, channel] * grad[:, o]).sum()
    return y, to_x[inside], to_weight


def made(case, dtype=np.float64):
    shape, kernel, *_ = case
    random = np.random.default_rng(0)
    sizes = next(terms(case))[2]
    arrays = [random.normal(size=s) for s in (shape, kernel, (shape[0], kernel[0], *sizes))]
    return [a + 1j * random.normal(size=a.shape) if dtype is np.complex128 else a.astype(dtype) for a in arrays]


def kernels(case, x, weight, grad):
    _, _, *rest = case
    return (convolution.convolve(x, weight, None, *rest), convolution.convolve_input(grad, weight, x.shape, *rest),
            convolution.convolve_weight(grad, x, weight.shape, *rest))  # fmt: skip


@each("dtype", [np.float64, np.float32, np.complex128])
@each("case", CASES)
def test_many_places(case, dtype):
    arrays = made(case, dtype)
    kept = [a.copy() for a in arrays]
    for found, expected in zip(kernels(case, *arrays), written_out(case, *arrays), strict=True):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=0, atol=(3e-4 if dtype is np.float32 else 1e-11))
    for a, before in zip(arrays, kept):
        np.testing.assert_array_equal(a, before)


@each("bad", [np.nan, np.inf])
@each("which", range(3))
@each("case", CASES[:4])
def test_what_is_no_number_stays_where_it_is_met(case, which, bad):
    arrays = made(case)
    arrays[which].flat[-1] = arrays[which].flat[len(arrays[which].flat) // 3] = bad
    with np.errstate(invalid="ignore"):
        for found, expected in zip(kernels(case, *arrays), written_out(case, *arrays), strict=True):
            np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))


def test_layouts_bias_and_one_example():
    case = CASES[1]
    x, weight, _ = made(case)
    expected = written_out(case, *made(case))[0] + np.arange(6.0)[:, None, None]
    for given in (np.asfortranarray(x), x[:, ::-1][:, ::-1], np.repeat(x, 2, -1)[..., ::2]):
        np.testing.assert_allclose(convolution.convolve(given, weight, np.arange(6.0), *case[2:]), expected, atol=1e-11)
    np.testing.assert_allclose(convolution.convolve(x[0], weight, np.arange(6.0), *case[2:]), expected[0], atol=1e-11)


@pytest.mark.parametrize("shape, kernel", [((0, 2, 15, 14), (3, 2, 2, 2)), ((2, 0, 15, 14), (3, 0, 2, 2))])
def test_nothing(shape, kernel):
    case = (shape, kernel, (1, 1), (1, 1), (1, 1), 1)
    for found, expected in zip(kernels(case, *made(case)), (made(case)[2] * 0, *map(np.zeros, (shape, kernel))), strict=True):
        np.testing.assert_array_equal(found, expected)


def drawn(number):
    """A case of any kind, with places enough for the loops that go without patches."""
    random = np.random.default_rng(number)
    axes = int(random.integers(1, 4))
    groups = int(random.integers(1, 4))
    kernel = random.integers(1, 5 if axes < 3 else 3, axes)
    stride, dilation, padding = random.integers(1, 4, axes), random.integers(1, 3, axes), random.integers(0, 3, axes)
    sizes = random.integers(*{1: (128, 300), 2: (12, 20), 3: (6, 9)}[axes], axes)
    lengths = np.maximum((sizes - 1) * stride + dilation * (kernel - 1) + 1 - 2 * padding + random.integers(0, 2, axes), 1)
    inner, outer = random.integers(1, 7, 2)
    shape = (int(random.integers(1, 10)), int(groups * inner), *lengths.tolist())
    weight = (int(groups * outer), int(inner), *kernel.tolist())
    return shape, weight, *(tuple(v.tolist()) for v in (stride, padding, dilation)), groups


@pytest.fixture
def counted(monkeypatch):
    """How often the loops without patches did the work."""
    done = []
    for name in ("correlate", "gather_products"):
        loop = getattr(convolution.direct, name)
        monkeypatch.setattr(convolution.direct, name, lambda *args, loop=loop: done.append(loop(*args)) or done[-1])
    return done


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_kind(dtype, counted):
    for number in range(60):
        case = drawn(number)
        arrays = made(case, dtype)
        for found, expected in zip(kernels(case, *arrays), written_out(case, *arrays), strict=True):
            scale = np.abs(expected).max() if expected.size else 1
            np.testing.assert_allclose(
                found, expected, rtol=0, atol=(2e-5 if dtype is np.float32 else 1e-13) * max(scale, 1), err_msg=str(case)
            )
    assert sum(counted) > 100 or not any(counted)  # a compiler without vectors


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_bit_depends_on_the_number_of_threads(dtype):
    before, found = get_num_threads(), []
    for threads in (1, 2, 5):
        set_num_threads(threads)
        found.append([y.tobytes() for number in (0, 3, 7) for y in kernels(drawn(number), *made(drawn(number), dtype))])
    set_num_threads(before)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("which", range(3))
def test_what_is_no_number_stays_where_it_is_met_of_any_kind(which, bad):
    for number in range(12):
        case = drawn(number)
        arrays = made(case)
        for i in range(3):
            arrays[which].flat[i * len(arrays[which].flat) // 3] = bad
        with np.errstate(invalid="ignore"):
            for found, expected in zip(kernels(case, *arrays), written_out(case, *arrays), strict=True):
                np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected), err_msg=str(case))


def test_what_overflows_is_said():
    case = CASES[0]
    x, weight, grad = made(case)
    with np.errstate(over="raise"):
        kernels(case, x, weight, grad)
        for scaled in ((x * 1e300, weight * 1e300, grad), (x, weight * 1e300, grad * 1e300)):
            with pytest.raises(FloatingPointError):
                kernels(case, *scaled)


def small(number):
    """A case of any kind with few places."""
    random = np.random.default_rng(number)
    axes, groups = (int(n) for n in random.integers(1, [4, 3]))
    kernel, stride, dilation, padding = (random.integers(low, 4, axes) for low in (1, 1, 1, 0))
    least = np.maximum(dilation * (kernel - 1) + 1 - 2 * padding, 1)
    lengths = least + random.integers(0, 4, axes)
    examples, inner, outer = (int(n) for n in random.integers(1, 4, 3))
    weight = (groups * outer, inner, *kernel.tolist())
    return (examples, groups * inner, *lengths.tolist()), weight, *(tuple(v.tolist()) for v in (stride, padding, dilation)), groups


WAYS = {"few products": (False, True), "shifted images": (True, False), "patches": (False, False)}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_small_ones(way, dtype, monkeypatch):
    monkeypatch.setattr(convolution, "_ways", lambda *_: WAYS[way])
    done, loops = [], convolution.add_products
    monkeypatch.setattr(convolution, "add_products", lambda *args: done.append(loops(*args)) or done[-1])
    for number in range(60):
        case = small(number)
        arrays = made(case, dtype)
        kept = [a.copy() for a in arrays]
        for found, expected in zip(kernels(case, *arrays), written_out(case, *arrays), strict=True):
            assert found.dtype == dtype and found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=0, atol=(3e-5 if dtype is np.float32 else 1e-13), err_msg=str(case))
        for a, before in zip(arrays, kept):
            np.testing.assert_array_equal(a, before)
        x, weight, grad = arrays
        (y,), (to_x,), to_weight = kernels(case, x[:1], weight, grad[:1])
        for found, expected in zip(kernels(case, x[0], weight, grad[0]), (y, to_x, to_weight)):
            np.testing.assert_array_equal(found, expected, strict=True, err_msg=str(case))
    assert all(done) and len(done) == (540 if way == "few products" else 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("which", range(3))
def test_what_is_no_number_in_small_ones(which, bad):
    """Where a weight meets only zeros beside the image: as in larger ones."""
    case = ((1, 1, 2), (1, 1, 3), (1,), (1,), (1,), 1)
    arrays = made(case)
    arrays[which].flat[0] = bad
    with np.errstate(invalid="ignore"):
        for found, expected in zip(kernels(case, *arrays), written_out(case, *arrays), strict=True):
            np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))


def test_bias_views_and_mixed_dtypes_of_small_ones():
    case = small(3)
    x, weight, _ = made(case)
    bias = np.arange(float(len(weight)))
    expected = written_out(case, *made(case))[0] + bias.reshape(-1, *(1,) * (x.ndim - 2))
    for given in (np.asfortranarray(x), x[:, ::-1][:, ::-1], np.repeat(x, 2, -1)[..., ::2]):
        np.testing.assert_allclose(convolution.convolve(given, weight, bias, *case[2:]), expected, atol=1e-12)
    mixed = convolution.convolve(x.astype(np.float32), weight, bias, *case[2:])
    assert mixed.dtype == np.float64
    np.testing.assert_allclose(mixed, expected, atol=1e-6)


@each("name", ["stride", "padding", "dilation"])
@each("numbers", [(), (1,), (1, 1, 1)])
def test_a_number_for_each_axis(name, numbers):
    """The loops read as many as there are axes, whatever they are given."""
    x, weight, y = np.ones((1, 2, 4, 4)), np.ones((3, 2, 2, 2)), np.zeros((1, 3, 3, 3))
    given = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1)} | {name: numbers}
    with pytest.raises(ValueError):
        convolution.convolve(x, weight, None, *given.values(), 1)
    assert not convolution.add_products(x, weight, y, 0, *given.values(), 1)
    assert not y.any()


@pytest.mark.parametrize("shapes", [((1, 2, 4), (3, 2, 2, 2), (1, 3, 3, 3)), ((1, 2, 4, 4), (3, 1, 2, 2), (1, 3, 3, 3)),
                                    ((1, 2, 4, 4), (3, 2, 2, 2), (1, 2, 3, 3)), ((2, 2, 4, 4), (3, 2, 2, 2), (1, 3, 3, 3)),
                                    ((1, 2), (3, 2), (1, 3)), ((1, 2, 1, 1, 1, 1), (3, 2, 1, 1, 1, 1), (1, 3, 1, 1, 1, 1))])  # fmt: skip
def test_arrays_that_do_not_belong_together_are_left_alone(shapes):
    x, weight, y = map(np.ones, shapes)
    ways = ((1,) * (x.ndim - 2), (0,) * (x.ndim - 2), (1,) * (x.ndim - 2))
    assert not convolution.add_products(x, weight, y, 0, *ways, 1)
    assert not convolution.add_products(x, weight, y, 0, *ways, 0)
    assert (y == 1).all()
