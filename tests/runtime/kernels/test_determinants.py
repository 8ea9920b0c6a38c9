"""Cofactors: by an inverse where that keeps the digits, and by singular values where it does not."""

import numpy as np
import pytest

from gradspec import kernels
from gradspec.kernels.matrices import determinants


@pytest.mark.parametrize("n", [3, 8, 32, 64, 150, 256])
def test_large_matrices_need_no_singular_values(n, monkeypatch):
    """A bound by all elements grows with the matrix; so does the size of the cofactors, whose squares may overflow."""
    rng = np.random.default_rng(n)
    rotation, _ = np.linalg.qr(rng.normal(size=(n, n)))
    x = rotation * rng.uniform(1, 30, n)
    by_values = determinants._cofactor_of_any(x)
    monkeypatch.setattr(np.linalg, "svd", None)
    np.testing.assert_allclose(kernels.cofactor(x), by_values, rtol=1e-10, atol=1e-12 * np.abs(by_values).max())


def test_singular_matrices_have_their_cofactors():
    x = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    np.testing.assert_allclose(kernels.cofactor(x), [[4, 4, -4], [-2, -2, 2], [0, 0, 0]], atol=1e-14)
