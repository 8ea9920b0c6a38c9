"""Banded systems against dense ones; Sylvester's equation and square roots are held by their laws."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.kernels.matrices.matrix_functions import slant, solve_bands
from tests.asked import each

pytest.importorskip("scipy")


def dense(ab, lower, upper):
    """The matrix whose diagonals are the rows of `ab`."""
    n = ab.shape[-1]
    a = np.zeros((n, n), ab.dtype)
    for i in range(n):
        for j in range(max(0, i - lower), min(n, i + upper + 1)):
            a[i, j] = ab[upper + i - j, j]
    return a


def bands(lower, upper, n, dtype, seed=0):
    """Diagonals of which the main one is large, and NaN where no element of the matrix stands."""
    random = np.random.default_rng(seed)
    ab = random.normal(size=(lower + upper + 1, n)).astype(dtype)
    if np.dtype(dtype).kind == "c":
        ab += 1j * random.normal(size=ab.shape).astype(dtype)
    ab[upper] += 4 * (lower + upper + 1)
    row, column = np.indices(ab.shape)
    place = column + row - upper
    ab[(place < 0) | (place >= n)] = np.nan
    return ab


@each("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@each(("lower", "upper", "n"), [(0, 0, 3), (1, 1, 5), (2, 0, 4), (0, 3, 5), (2, 1, 2), (3, 3, 1)])
def test_a_banded_system_is_its_dense_one(lower, upper, n, dtype):
    ab = bands(lower, upper, n, dtype)
    b = np.random.default_rng(1).normal(size=(n, 2)).astype(dtype)
    x = solve_bands(ab, b, lower, upper)
    assert x.dtype == dtype
    close = {"rtol": 100 * np.finfo(dtype).eps, "atol": 100 * np.finfo(dtype).eps}
    np.testing.assert_allclose(x, np.linalg.solve(dense(ab, lower, upper), b), **close)


@pytest.mark.parametrize(("lower", "upper", "n"), [(1, 1, 4), (2, 0, 3), (0, 2, 5), (3, 3, 2)])
def test_gradients_are_those_of_the_dense_system(lower, upper, n):
    ab = gs.tensor(bands(lower, upper, n, float), requires_grad=True)
    b = gs.tensor(np.arange(1.0, n + 1), requires_grad=True)
    weights = gs.tensor(np.cos(np.arange(n)))
    found = gs.autograd.grad(gs.dot(gs.linalg.solve_banded((lower, upper), ab, b), weights), [ab, b])
    a = dense(ab.detach().numpy(), lower, upper)
    rest = np.linalg.solve(a.T, weights.numpy())
    by_a = -np.outer(rest, np.linalg.solve(a, b.detach().numpy()))
    np.testing.assert_allclose(dense(found[0].numpy(), lower, upper), dense_part(by_a, lower, upper), rtol=1e-12, atol=1e-14)
    assert not found[0].numpy()[np.isnan(ab.detach().numpy())].any()  # what is not read has no gradient
    np.testing.assert_allclose(found[1].numpy(), rest, rtol=1e-12)


def dense_part(a, lower, upper):
    return np.triu(np.tril(a, upper), -lower)


def test_batches_broadcast():
    ab = np.stack([bands(1, 1, 4, float, seed) for seed in range(3)])
    b = np.random.default_rng(3).normal(size=(2, 1, 4, 2))
    x = gs.linalg.solve_banded((1, 1), ab, b).numpy()
    assert x.shape == (2, 3, 4, 2)
    for i in range(2):
        for j in range(3):
            np.testing.assert_allclose(x[i, j], np.linalg.solve(dense(ab[j], 1, 1), b[i, 0]), rtol=1e-12)


def test_nothing_to_solve():
    assert gs.linalg.solve_banded((1, 1), np.ones((3, 0)), np.ones((0, 2))).shape == (0, 2)
    assert gs.linalg.solve_banded((1, 0), np.ones((2, 3)), np.ones((3, 0))).shape == (3, 0)


@pytest.mark.parametrize(("l_and_u", "shape"), [((1, 1), (2, 3)), ((-1, 3), (3, 3)), ((1, 0), (3,))])
def test_diagonals_of_another_number_are_refused(l_and_u, shape):
    with pytest.raises(ValueError, match="solve_banded: ab must hold l \\+ u \\+ 1 rows"):
        gs.linalg.solve_banded(l_and_u, np.ones(shape), np.ones(3))


def test_a_singular_matrix_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        gs.linalg.solve_banded((0, 0), np.zeros((1, 2)), np.ones(2))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_slant_moves_rows(sign):
    x = np.arange(1.0, 13.0).reshape(3, 4)
    padded = np.pad(x, ((0, 0), (4, 4)))
    wanted = [padded[d, 4 + sign * (d - 1) : 8 + sign * (d - 1)] for d in range(3)]
    np.testing.assert_array_equal(slant(x, 1, sign), wanted)
