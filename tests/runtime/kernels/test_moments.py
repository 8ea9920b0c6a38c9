"""Variances, deviations and norms by rows against NumPy in longer numbers: scales, layouts, offsets, lengths."""

import itertools

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from gradspec.kernels.row_wise import moments
from tests.asked import each

SHAPES = [(5,), (1, 7), (3, 40), (2, 3, 90), (4, 1), (1, 2000), (70, 80), (0, 3), (3, 0)]
DTYPES = [np.float32, np.float64, np.float16, np.complex64, np.complex128, ">f8", np.int64]
LAYOUTS = {
    "plain": lambda x: x,
    "fortran": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, -1)[..., ::2],
    "reversed": lambda x: np.flip(np.flip(x).copy()),
}


def longer(x):
    return x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)


def close(found, exact, dtype, scale):
    found = np.asarray(found)
    assert found.shape == exact.shape
    real = np.zeros((), dtype).real.dtype if np.dtype(dtype).kind != "i" else np.dtype(float)
    assert found.dtype == real.newbyteorder("=")
    np.testing.assert_allclose(found, exact.astype(found.dtype), rtol=32 * np.finfo(found.dtype).eps, atol=scale)


@each("layout", LAYOUTS)
@each("dtype", DTYPES)
@each("shape", SHAPES)
def test_moments_are_those_of_longer_numbers(shape, dtype, layout):
    rng = np.random.default_rng(len(shape))
    parts = rng.normal(size=(2, *shape))
    x = LAYOUTS[layout]((3 * (parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]) + 1).astype(dtype))
    exact = longer(x)
    for axis in (None, -1, 0, tuple(range(len(shape)))):
        for keepdims in (True, False):
            if x.size:
                centre = exact.mean(axis=axis, keepdims=True)
                close(kernels.var(x, axis, 0, keepdims), exact.var(axis=axis, keepdims=keepdims), dtype, 0)
                close(kernels.std(x, axis, 0, keepdims), exact.std(axis=axis, keepdims=keepdims), dtype, 0)
                tiny = 32 * np.finfo(np.asarray(x, np.result_type(dtype, np.float16)).dtype).eps
                assert np.abs(kernels.centred(x, axis) - (exact - centre)).max() <= tiny * np.abs(exact).max()
            norm = np.sqrt((np.abs(exact) ** 2).sum(axis=axis, keepdims=keepdims))
            close(kernels.euclidean_norm(x, axis, keepdims), norm, dtype, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_scale_and_offset(dtype):
    limits = np.finfo(dtype)
    x = np.array([[1, 2, 4, 7.5]], dtype)
    for scale in (limits.tiny, limits.tiny**0.5, limits.eps, 1, 1 / limits.eps, limits.max**0.5, limits.max / 64):
        y = (x * dtype(scale)).astype(dtype)
        exact = longer(y)
        close(kernels.euclidean_norm(y, -1, False), np.sqrt((exact * exact).sum(-1)), dtype, 0)
        close(kernels.std(y, -1, 1, False), exact.std(-1, ddof=1), dtype, 0)
    for offset in (1e3, 1e6, 1 / limits.eps / 64):
        y = (x + dtype(offset)).astype(dtype)
        close(kernels.var(y, -1, 1, False), longer(y).var(-1, ddof=1), dtype, 0)
    for alike in (0, 1, 1e15, limits.max / 64):
        y = np.full((2, 5), alike, dtype)
        assert kernels.var(y, 1, 0, False).tolist() == [0, 0]


def test_a_count_of_nothing_is_numpys():
    with np.errstate(all="ignore"):
        assert kernels.var(np.array([1.0, 3.0]), None, 2, False) == np.inf
        assert np.isnan(kernels.var(np.array([2.0]), None, 1, False))
    assert np.isnan(kernels.var(np.array([1.0, np.nan]), None, 0, False))
    assert kernels.euclidean_norm(np.array([np.inf, 1.0]), None, False) == np.inf


@each("dtype", [np.float32, np.float64, np.complex128])
@each("of", [kernels, moments])
def test_a_norm_of_large_and_of_small_numbers_warns_of_nothing(of, dtype):
    limits = np.finfo(dtype)
    for size in (limits.max / 4, limits.tiny * 4):
        x = np.array([[3, 0], [0, 4]], dtype) * limits.dtype.type(size / 5)
        with np.errstate(all="raise"):
            found = [of.euclidean_norm(x, axis, False) for axis in (None, 0)]
        for norm, exact in zip(found, (size, [0.6 * size, 0.8 * size])):
            np.testing.assert_allclose(norm, exact, rtol=8 * limits.eps, atol=0)


@pytest.mark.parametrize("axis", [None, 0, (0, 2)])
@pytest.mark.parametrize("keepdims", [True, False])
def test_pairs_are_the_single_ones(axis, keepdims):
    x = np.random.default_rng(5).normal(size=(2, 3, 4))
    for pair, single in ((kernels.var_mean, kernels.var), (kernels.std_mean, kernels.std)):
        spread, mean = pair(x, axis, 0.5, keepdims)
        np.testing.assert_array_equal(spread, single(x, axis, 0.5, keepdims))
        np.testing.assert_array_equal(mean, np.mean(x, axis=axis, keepdims=keepdims))


@each("dtype", [np.float32, np.float64])
@each("shape, axis", [((300, 71), 0), ((5, 300, 130), 1), ((300, 700), -1), ((4, 30, 200), (0, 1)), ((8193, 4), 0), ((64, 3000), -1)])
def test_large_arrays_have_the_same_bits_on_any_number_of_threads(shape, axis, dtype):
    """Of columns, the bits of the expressions; a column of equal numbers and one out of range are left to these."""
    before = gs.get_num_threads()
    x = (np.random.default_rng(3).normal(size=shape) + 3).astype(dtype)
    equal, far = x.copy(), x.copy()
    equal[..., 0] = 1e4
    far[..., -1] *= np.finfo(dtype).max ** 0.5
    try:
        for a, ours, rest in itertools.product((x, equal, far), ("var", "std", "euclidean_norm", "centred"), ((0, True), (1, False))):
            rest = {"centred": (), "euclidean_norm": rest[1:]}.get(ours, rest)
            found = []
            for threads in (1, 2, 3, 7):
                gs.set_num_threads(threads)
                with np.errstate(all="ignore"):
                    found.append(np.array(getattr(kernels, ours)(a, axis, *rest)))
            with np.errstate(all="ignore"):
                expected = np.asarray(getattr(moments, ours)(a, axis, *rest))
            assert all(y.tobytes() == found[0].tobytes() for y in found) and found[0].shape == expected.shape
            if axis != -1:
                assert found[0].tobytes() == expected.tobytes()
    finally:
        gs.set_num_threads(before)
