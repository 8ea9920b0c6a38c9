"""Triangular systems of every size, layout and dtype: what they leave over, and what a zero on the diagonal takes away."""

import numpy as np
import pytest

from gradspec.kernels import solve_triangular

LAYOUTS = {
    "plain": lambda a: a,
    "fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(np.repeat(a, 2, 0), 2, 1)[::2, ::2],
    "within": lambda a: np.pad(a, 2)[2 : len(a) + 2, 2 : len(a) + 2],
    "reversed": lambda a: np.flip(np.flip(a).copy()),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize("n", [0, 1, 2, 5, 16, 17, 40, 64, 65, 129, 520])
def test_systems_are_solved(n, dtype, layout):
    rng = np.random.default_rng(n)
    parts = rng.normal(size=(2, n, n)) / (20 + n)
    a = LAYOUTS[layout](((parts[0] + 1j * parts[1] if dtype in "FD" else parts[0]) + 3 * np.eye(n)).astype(dtype))
    for shape in ((n,), (n, 0), (n, 1), (n, 3), (n, 50)):
        b = rng.normal(size=shape).astype(dtype)
        b = np.asfortranarray(b) if layout == "fortran" else b
        before = a.copy(), b.copy()
        for lower in (True, False):
            for unit_diagonal in (True, False):
                triangle = (np.tril if lower else np.triu)(a, -unit_diagonal if lower else int(unit_diagonal))
                triangle = triangle + np.eye(n, dtype=dtype) if unit_diagonal else triangle
                y = solve_triangular(a, b, lower, unit_diagonal)
                assert y.dtype == dtype and y.shape == shape
                assert np.abs(triangle @ y - b).max(initial=0) <= (n + 8) * 8 * np.finfo(dtype).eps
        assert np.array_equal(a, before[0]) and np.array_equal(b, before[1])


@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize("n", [4, 20, 150])
@pytest.mark.parametrize("shape", [(), (1,), (6,)])
def test_nothing_is_known_beyond_a_zero(n, dtype, shape):
    a, b = (np.eye(n) + np.triu(np.ones((n, n))) / n).astype(dtype), np.ones((n, *shape), dtype)
    a[2, 2] = a[1, 1] = 0
    lost = np.isnan(solve_triangular(a, b, False, False))
    assert lost[:3].all() and not lost[3:].any()
    lost = np.isnan(solve_triangular(a.T, b, True, False))
    assert lost[1:].all() and not lost[:1].any()
    assert not np.isnan(solve_triangular(a, b, False, True)).any()
