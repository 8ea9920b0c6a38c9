"""Triangular systems of every size, layout and dtype: what they leave over, and what a zero on the diagonal takes away."""

import subprocess
import sys

import numpy as np

from gradspec.kernels import solve_triangular
from tests.asked import each

LAYOUTS = {
    "plain": lambda a: a,
    "fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(np.repeat(a, 2, 0), 2, 1)[::2, ::2],
    "within": lambda a: np.pad(a, 2)[2 : len(a) + 2, 2 : len(a) + 2],
    "reversed": lambda a: np.flip(np.flip(a).copy()),
}


@each("layout", LAYOUTS)
@each("dtype", "fdFD")
@each("n", [0, 1, 2, 5, 16, 17, 40, 64, 65, 129, 520])
def test_systems_are_solved(n, dtype, layout):
    rng = np.random.default_rng(n)
    parts = rng.normal(size=(2, n, n)) / (20 + n)
    a = LAYOUTS[layout](((parts[0] + 1j * parts[1] if dtype in "FD" else parts[0]) + 3 * np.eye(n)).astype(dtype))
    for shape in ((n, 0), (n, 1), (n, 3), (n, 50)):
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


@each("dtype", "fdFD")
@each("n", [4, 20, 150])
@each("shape", [(1,), (6,)])
def test_nothing_is_known_beyond_a_zero(n, dtype, shape):
    a, b = (np.eye(n) + np.triu(np.ones((n, n))) / n).astype(dtype), np.ones((n, *shape), dtype)
    a[2, 2] = a[1, 1] = 0
    lost = np.isnan(solve_triangular(a, b, False, False))
    assert lost[:3].all() and not lost[3:].any()
    lost = np.isnan(solve_triangular(a.T, b, True, False))
    assert lost[1:].all() and not lost[:1].any()
    assert not np.isnan(solve_triangular(a, b, False, True)).any()
    whole = np.eye(n) + np.tril(np.full((n, n), 0.5), -1)
    stack = np.stack([whole, whole, whole]).astype(dtype)
    stack[1, 1, 1] = 0
    with np.errstate(all="ignore"):
        for given, lower, first in ((stack, True, 1), (stack[:, ::-1, ::-1], False, None)):
            lost = np.isnan(solve_triangular(given, np.broadcast_to(b, (3, *b.shape)), lower, False))
            assert not lost[[0, 2]].any() and (lost[1, 1:].all() and not lost[1, :1].any() if first else lost[1, :-1].all() and not lost[1, -1:].any())


@each("dtype", "fdFD")
@each("n", [33, 200])
@each("lower", [True, False])
def test_residuals_are_those_of_one_division_a_row(n, dtype, lower):
    """Backward error: |a| |y| bounds what is left over, in units of eps, however the blocks lie and however many sides there are."""
    rng = np.random.default_rng(n)
    a = (np.tril if lower else np.triu)(rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n)) * (dtype in "FD")).astype(np.complex128)
    a = a + np.diag(np.sign(np.diag(a).real)) * np.sqrt(n)
    a = (a if dtype in "FD" else a.real).astype(dtype)
    for sides in (1, 2, 7, 64, 65, 130):
        for matrix in (a, np.asfortranarray(a)):
            b = rng.normal(size=(n, sides)).astype(dtype)
            y = solve_triangular(matrix, b, lower, False)
            exact = a.astype(np.complex256) @ y.astype(np.complex256)
            bound = n * np.finfo(dtype).eps * (np.abs(a) @ np.abs(y))
            assert (np.abs(exact - b) <= 4 * bound).all()


def test_no_second_blas_is_called():
    """The threads of SciPy's BLAS and those of NumPy's wait for one another: milliseconds at each change between them."""
    code = """
import sys, numpy as np, gradspec as gs
x = gs.tensor(np.eye(200) * 3 + 1, requires_grad=True)
gs.linalg.cholesky(x).sum().backward()
gs.linalg.solve_triangular(x, gs.tensor(np.ones((200, 3)))).sum().backward()
gs.linalg.qr(x)[1].sum().backward()
assert "scipy.linalg" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
