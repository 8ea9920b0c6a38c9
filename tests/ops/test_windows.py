"""Convolution, pooling and attention where samples do not look: many places and few, ties, NaN, narrow dtypes, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels, nn
from gradspec.autograd import grad


def convolved(x, weight, stride, padding, dilation, groups):
    """The definition: each element of a kernel times what stands under it, at all places."""
    x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in padding)))
    sizes = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], weight.shape[2:], stride, dilation)]
    y = np.zeros((len(x), len(weight), *sizes), np.result_type(x, weight))
    inner, outer = weight.shape[1], len(weight) // groups
    for o, c, *k in np.ndindex(*weight.shape):
        under = tuple(slice(j * d, j * d + n * s, s) for j, d, n, s in zip(k, dilation, sizes, stride))
        y[:, o] += x[(slice(None), o // outer * inner + c, *under)] * weight[(o, c, *k)]
    return y


@pytest.mark.parametrize("length", [(5, 4), (3, 150)])  # one product of several examples, and one of each
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("stride, padding, dilation", [((1, 1), (0, 0), (1, 1)), ((2, 1), (1, 2), (1, 2)), ((3, 2), (2, 1), (2, 1))])
def test_convolution_is_its_definition(length, groups, stride, padding, dilation):
    random = np.random.default_rng(0)
    x = random.integers(-4, 5, (3, 4, *length)).astype(float)
    weight = random.integers(-4, 5, (6, 4 // groups, 2, 3)).astype(float)
    leaves = gs.tensor(x, requires_grad=True), gs.tensor(weight, requires_grad=True)
    y = nn.conv2d(*leaves, None, stride, padding, dilation, groups)
    np.testing.assert_array_equal(y.detach().numpy(), convolved(x, weight, stride, padding, dilation, groups))
    cotangent = random.integers(-4, 5, y.shape).astype(float)
    by_x, by_weight = grad(y, leaves, gs.tensor(cotangent))
    # y is linear in each: <cotangent, conv(e, w)> is <gradient, e>, exactly, of integers.
    for _ in range(3):
        e, w = random.integers(-4, 5, x.shape).astype(float), random.integers(-4, 5, weight.shape).astype(float)
        assert (by_x.numpy() * e).sum() == (cotangent * convolved(e, weight, stride, padding, dilation, groups)).sum()
        assert (by_weight.numpy() * w).sum() == (cotangent * convolved(x, w, stride, padding, dilation, groups)).sum()


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "complex64", "longdouble"])
def test_convolution_keeps_the_dtype(dtype):
    x, weight = np.ones((1, 2, 5), dtype), np.ones((3, 2, 2), dtype)
    assert nn.conv1d(x, weight).dtype == x.dtype
    assert nn.conv_transpose1d(x, np.ones((2, 3, 2), dtype)).dtype == x.dtype


@pytest.mark.parametrize("bad", [{"stride": 0}, {"padding": -1}, {"dilation": 0}, {"groups": 2}, {"groups": 0}, {"stride": 2**40}])
def test_convolution_refuses(bad):
    with pytest.raises(ValueError):
        nn.conv2d(np.ones((1, 3, 5, 5)), np.ones((3, 3, 2, 2)), **bad)


def test_the_first_of_equal_maxima_gets_the_gradient():
    x = gs.tensor(np.zeros((1, 2, 4)), requires_grad=True)
    assert grad(nn.max_pool2d(x, 2).sum(), [x])[0].tolist() == [[[1, 0, 1, 0], [0, 0, 0, 0]]]


def test_nan_is_the_largest():
    x = np.array([[1.0, np.nan, 3.0, 2.0]])
    np.testing.assert_array_equal(nn.max_pool1d(x, 2).numpy(), [[np.nan, 3]])
    np.testing.assert_array_equal(nn.max_pool1d(np.full((1, 2), -np.inf), 2).numpy(), [[-np.inf]])


@pytest.mark.parametrize("dtype", ["float16", "float32", "longdouble", "int8", "uint64"])
def test_pooling_keeps_the_dtype(dtype):
    x = np.array([[1, 7, 3, 5]], dtype)
    y = nn.max_pool1d(x, 2)
    assert y.dtype == x.dtype and y.tolist() == [[7, 5]]
    if x.dtype.kind == "f":
        assert nn.avg_pool1d(x, 2).dtype == x.dtype


def test_the_kernel_refuses_steps_that_never_end():
    """Callers are refused by the formula of the result's length, before the kernel is called; this is for formulas that err."""
    with pytest.raises(ValueError, match="do not go through a window"):
        kernels.max_pool(np.zeros((1, 4)), (2,), (3,), (1,), (0,), (0,))


def test_a_window_in_the_padding_is_refused():
    with pytest.raises(ValueError, match="holds no element"):
        nn.max_pool1d(np.ones((1, 1)), 2, 1, 1, 2)
    with pytest.raises(ValueError, match="at most half"):
        nn.max_pool1d(np.ones((1, 4)), 2, 1, 2)


def test_indices_of_a_plane_are_in_range():
    for index in (-1, 4):
        with pytest.raises(IndexError):
            nn.max_unpool2d(np.ones((1, 1, 1)), [[[index]]], 2)


def test_attention_without_keys_to_see():
    query, key, value = (gs.tensor(np.random.default_rng(i).normal(size=(3, 4)), requires_grad=True) for i in range(3))
    mask = np.array([[True, False, True], [False, False, False], [True, True, True]])
    y = nn.scaled_dot_product_attention(query, key, value, mask)
    assert y[1].tolist() == [0, 0, 0, 0]
    added = nn.scaled_dot_product_attention(query, key, value, np.where(mask, 0, -np.inf))
    np.testing.assert_allclose(added.detach().numpy(), y.detach().numpy(), rtol=1e-15)
    assert all(np.isfinite(g.numpy()).all() for g in grad((y * y).sum(), [query, key, value]))
    with pytest.raises(ValueError, match="is_causal"):
        nn.scaled_dot_product_attention(query, key, value, mask, is_causal=True)


def test_whole_channels_are_dropped():
    y = nn.dropout2d(np.ones((8, 5, 3, 4)), 0.5, generator=0).numpy()
    assert set(np.unique(y)) == {0, 2} and (y == y[:, :, :1, :1]).all()


def test_contiguous_is_the_array_itself_or_a_copy():
    x = gs.tensor(np.arange(6.0).reshape(2, 3))
    assert np.shares_memory(x.contiguous().numpy(), x.numpy())
    assert x.T.contiguous().numpy().flags.c_contiguous and not np.shares_memory(x.T.contiguous().numpy(), x.numpy())


def test_scatter_reads_all_before_it_writes():
    x = gs.tensor(np.arange(4.0))
    x.scatter_(0, [1, 2, 3], x[:3])
    assert x.tolist() == [0, 0, 1, 2]
