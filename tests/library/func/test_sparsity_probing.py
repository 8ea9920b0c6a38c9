"""The structure of linear maps, found out by running them: nothing is missed, and what can be told apart is."""

import numpy as np
import pytest

from gradspec.func import sparsity_probing
from gradspec.func.sparsity_probing import Places, Rows, boolean, structure

pytest.importorskip("scipy")


def matrix_of(answer, size):
    """The pattern that an answer says."""
    if isinstance(answer, Rows):
        return answer.sets[answer.cells].toarray()
    kept = answer.index >= 0
    return boolean(np.flatnonzero(kept), answer.index[kept], (len(answer.index), size)).toarray()


def product(*matrices):
    """The map whose results are products of matrices with the argument as a vector."""
    return lambda batch: [batch.reshape(len(batch), -1) @ a.T for a in matrices]


def test_what_puts_elements_elsewhere_takes_two_runs():
    calls = []

    def run(batch):
        calls.append(len(batch))
        return [np.flip(batch, 1)[:, :2].swapaxes(1, 2), np.zeros((len(batch), 3))]

    turned, nothing = structure(run, (3, 4), np.dtype(float))
    assert isinstance(turned, Places) and calls == [1, 1]
    assert turned.index.tolist() == np.arange(12).reshape(3, 4)[::-1][:2].T.ravel().tolist()
    assert nothing.index.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("direct", [1 << 25, 0], ids=["singly", "halving"])
@pytest.mark.parametrize("density", [0.0, 0.03, 0.3, 1.0])
def test_random_matrices(monkeypatch, direct, density):
    monkeypatch.setattr(sparsity_probing, "DIRECT", direct)
    random = np.random.default_rng(0)
    for rows, columns in ((5, 7), (40, 31), (1, 6), (6, 1)):
        a, b = ((random.random((n, columns)) < density) * random.normal(size=(n, columns)) for n in (rows, 3))
        for answer, matrix in zip(structure(product(a, b), (columns,), np.dtype(float)), (a, b)):
            assert np.array_equal(matrix_of(answer, columns), matrix != 0)


def test_bands_are_found_in_few_runs(monkeypatch):
    size, runs = 2000, []
    monkeypatch.setattr(sparsity_probing, "DIRECT", 0)

    def second_difference(batch):
        runs.extend(batch)
        return [np.pad(batch, ((0, 0), (1, 0)))[:, :-1] - 2 * batch + np.pad(batch, ((0, 0), (0, 1)))[:, 1:]]

    (answer,) = structure(second_difference, (size,), np.dtype(float))
    wanted = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) <= 1
    assert np.array_equal(matrix_of(answer, size), wanted) and len(runs) < 150


def test_what_is_too_dense_for_the_runs_that_are_left_has_too_many_elements(monkeypatch):
    monkeypatch.setattr(sparsity_probing, "DIRECT", 0)
    monkeypatch.setattr(sparsity_probing, "RUNS", 20)
    a = np.tril(np.ones((100, 100)))
    found = matrix_of(structure(product(a), (100,), np.dtype(float))[0], 100)
    assert found[a != 0].all() and not found.all()


def test_axes_along_which_nothing_is_mixed():
    a = np.random.default_rng(0).normal(size=(4, 5)) * (np.arange(20).reshape(4, 5) % 3 > 0)

    def run(batch):  # (6, 5, 3) -> (3, 6, 4): a product along one axis, the others change places
        return [np.einsum("zijk,lj->zkil", batch, a)]

    (answer,) = structure(run, (6, 5, 3), np.dtype(float))
    wanted = np.einsum("lj,iI,kK->kilIjK", a != 0, np.eye(6), np.eye(3)).reshape(72, 90) > 0
    assert np.array_equal(matrix_of(answer, 90), wanted)


def test_a_coefficient_of_any_size_breaks_an_axis():
    for small in (1e-3, 1e-30, 1e-200):
        a = np.eye(33)
        a[32, 0] = small
        a[3, 4] = 2.0
        assert np.array_equal(matrix_of(structure(product(a), (33,), np.dtype(float))[0], 33), a != 0)


def test_known_axes_are_all_that_is_asked():
    def run(batch):
        return [batch.sum(axis=2, keepdims=True) + 0 * batch]

    (answer,) = structure(run, (2, 3), np.dtype(float), [[(0, 0)]])
    assert np.array_equal(matrix_of(answer, 6), np.kron(np.eye(2), np.ones((3, 3))) > 0)
    (answer,) = structure(run, (2, 3), np.dtype(float), [[]])
    assert matrix_of(answer, 6).all()


def test_complex_numbers_and_nan():
    (answer,) = structure(lambda batch: [batch.imag[:, ::-1]], (3,), np.dtype(complex))
    assert np.array_equal(matrix_of(answer, 3), np.eye(3)[::-1] > 0)
    (answer,) = structure(lambda batch: [np.full((len(batch), 2), np.nan)], (3,), np.dtype(float))
    assert matrix_of(answer, 3).all()  # nothing is known of it
