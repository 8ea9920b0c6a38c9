"""Attention by blocks against the NumPy expressions: shapes, masks, layouts, dtypes, threads, memory, and what NumPy warns of."""

import tracemalloc

import numpy as np
import pytest

from gradspec import get_num_threads, kernels, nn, set_num_threads, tensor
from gradspec.kernels.row_wise import attention as expressions
from tests.asked import each

SHAPES = [  # the axes in front of each operand, queries, keys, components, components of a value
    ((), (), (), 3, 5, 4, 2), ((2, 3), (2, 3), (2, 3), 70, 300, 16, 8), ((2, 1), (3,), (), 33, 40, 7, 3),
    ((1,), (2,), (2,), 20, 1100, 65, 64),
    ((), (4,), (2, 1), 1, 1, 1, 1), ((2,), (2,), (2,), 0, 3, 2, 2), ((2,), (2,), (2,), 3, 0, 2, 2),
]  # fmt: skip


def operands(shape, dtype=np.float32, seed=0):
    of_query, of_key, of_value, n, m, k, c = shape
    rng = np.random.default_rng(seed)
    lead = np.broadcast_shapes(of_query, of_key, of_value)
    sizes = (*lead, n, c), (*of_query, n, k), (*of_key, m, k), (*of_value, m, c)
    return [rng.normal(size=size).astype(dtype) for size in sizes]


def masks(shape, dtype):
    n, m, rng = *shape[3:5], np.random.default_rng(1)
    some = rng.random((n, m)) < 0.6
    some[:1] = False  # a query without keys
    yield from (None, some, some[:, :1], np.asfortranarray(some), rng.random((*shape[1], 1, m)) < 0.6)
    yield np.where(some, rng.normal(size=(n, m)), -np.inf).astype(dtype)


def compare(found, expected, dtype):
    assert isinstance(found, np.ndarray) and found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=0, atol=40 * np.finfo(dtype).eps * max(1, np.abs(expected).max(initial=0)))


@each("dtype", [np.float32, np.float64])
@each("shape", SHAPES)
def test_results_are_those_of_the_expressions(shape, dtype):
    grad, *others = operands(shape, dtype)
    for mask in masks(shape, dtype):
        compare(kernels.attention(*others, mask), expressions.attention(*others, mask), dtype)
        expected = expressions.attention_backward(grad, *others, mask)
        for laid in (np.ascontiguousarray, np.asfortranarray, lambda x: np.repeat(x, 2, -2)[..., ::2, :]):
            for a, b in zip(kernels.attention_backward(*map(laid, (grad, *others)), mask), expected, strict=True):
                compare(a, b, dtype)


@each("dtypes", ["ffd", "eee", "dff"])
def test_other_dtypes_are_left_to_the_expressions(dtypes):
    _, *others = operands(SHAPES[0])
    others = [x.astype(dtype) for x, dtype in zip(others, dtypes, strict=True)]
    compare(kernels.attention(*others, None), expressions.attention(*others, None), np.float16)
    compare(kernels.attention(*others, np.ones(5)), expressions.attention(*others, np.ones(5)), np.float16)


def test_shapes_that_do_not_fit_are_refused():
    grad, query, key, value = operands(SHAPES[0])
    for wrong in ((query, key[:, 1:], value), (query, key, value[1:]), (np.ones((2, 3, 4), "f"), np.ones((3, 5, 4), "f"), value)):
        with pytest.raises(ValueError):
            kernels.attention(*wrong, None)
    with pytest.raises(ValueError):
        kernels.attention(query, key, value, np.ones((3, 4), bool))
    with pytest.raises(ValueError):
        kernels.attention_backward(grad[1:], query, key, value, None)


def test_numpy_warns_as_errstate_says():
    _, query, key, value = operands(SHAPES[1])
    query[1, 2, 69], key[1, 2] = 1e30, 1e30
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        kernels.attention(query, key, value, None)
    with np.errstate(all="ignore"):
        found, expected = (module.attention(query, key, value, None) for module in (kernels, expressions))
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        assert np.isnan(found).any()


def test_threads_change_no_bits():
    grad, *others = operands(SHAPES[1])
    mask, threads, found = np.tri(70, 300, dtype=bool), get_num_threads(), []
    try:
        for number in (1, 2, 5):
            set_num_threads(number)
            found.append([kernels.attention(*others, mask), *kernels.attention_backward(grad, *others, mask)])
    finally:
        set_num_threads(threads)
    for a, b, c in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


def test_no_array_holds_all_weights():
    _, *others = operands(((4,), (4,), (4,), 512, 512, 8, 8))
    query, key, value = (tensor(x, requires_grad=True) for x in others)
    tracemalloc.start()
    try:
        nn.scaled_dot_product_attention(query, key, value, is_causal=True).sum().backward()
        assert tracemalloc.get_traced_memory()[1] < 4 * 512 * 512 * 4 / 2
    finally:
        tracemalloc.stop()


def test_masks_of_every_layout():
    """One key, a stride of its own, another byte order, and an odd address."""
    rng = np.random.default_rng(0)
    for keys in (1, 6):
        query, key, value = rng.normal(size=(5000, 4)), rng.normal(size=(keys, 4)), rng.normal(size=(keys, 3))
        chosen, numbers = rng.random((keys, 5000)) > 0.5, rng.normal(size=(keys, 5000))
        odd = np.zeros(numbers.nbytes + 1, np.uint8)[1:].view("f8").reshape(5000, keys)
        odd[...] = numbers.T
        for mask in (chosen.T, numbers.T, numbers.T.astype(">f8"), odd):
            plain = np.array(mask, mask.dtype.newbyteorder("="), order="C")
            found, expected = kernels.attention(query, key, value, mask), expressions.attention(query, key, value, plain)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
            weights = rng.normal(size=expected.shape)
            ours = kernels.attention_backward(weights, query, key, value, mask)
            for one, other in zip(ours, expressions.attention_backward(weights, query, key, value, plain), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
