"""gs.scipy.linalg: values are SciPy's, derivatives those of differences, in both modes and to second order."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import gradcheck
from gradspec.scipy import linalg
from tests.asked import each
from tests.directional import assert_derivatives
from tests.later import later

scipy_linalg = later("scipy.linalg")

R = np.random.default_rng(5)
A = R.uniform(-0.4, 0.4, (3, 3)) + np.diag([1.0, 1.7, 2.6])
S, T = A @ A.T, np.eye(3) + 0.2 * (A + A.T)
B, Q, W = R.uniform(-1, 1, (3, 2)), T, np.array([[1.4, 0.2], [0.2, 0.8]])
V, C = np.array([1.3, 0.4, -0.2]), np.array([0.9, -0.7, 0.5, 0.3])
Z = 0.3 * A + 0.2j * T
UPPER = np.array([[0.0, 0.2, -0.3], [2.0, 2.4, 3.1]])
# A call: its name, arguments that are differentiated, others by name.
CALLS = [
    ("logm", (A[:2, :2],), {}), ("logm", ((Z + np.eye(3))[:2, :2],), {}), ("fractional_matrix_power", (A[:2, :2],), {"t": 0.3}), ("fractional_matrix_power", (A[:2, :2],), {"t": -1.7}),
    ("signm", (A - 1.3 * np.eye(3),), {}), ("cosm", (A,), {}), ("sinm", (A,), {}), ("tanm", (0.3 * A,), {}), ("coshm", (A,), {}), ("sinhm", (A,), {}), ("tanhm", (A,), {}),
    ("cosm", (Z,), {}), ("sinm", (Z,), {}), ("expm", (A,), {}), ("sqrtm", (A,), {}), ("expm_frechet", (A, S), {}),
    ("solve", (A, V), {}), ("solve", (A, B), {"transposed": True}), ("solve", (S, B), {"assume_a": "pos"}), ("solve", (A, V), {"assume_a": "sym", "lower": True}),
    ("inv", (A,), {}), ("det", (A,), {}), ("norm", (A,), {}), ("solve_triangular", (A, B), {"lower": True}), ("solve_triangular", (A, V), {"trans": 1}),
    ("solve_banded", (np.vstack([UPPER, [0.3, 0.1, 0.0]]), V), {"l_and_u": (1, 1)}), ("solveh_banded", (UPPER, V), {}), ("solveh_banded", (UPPER[::-1], V), {"lower": True}),
    ("toeplitz", (C,), {}), ("toeplitz", (C, V), {}), ("hankel", (C,), {}), ("hankel", (C, V), {}), ("circulant", (C,), {}), ("companion", (C,), {}),
    ("block_diag", (A, B), {}), ("khatri_rao", (B, W), {}), ("leslie", (C, V), {}), ("fiedler", (C,), {}), *(("convolution_matrix", (V,), {"n": 5, "mode": m}) for m in ("full", "valid", "same")),
    ("convolution_matrix", (C,), {"n": 2, "mode": "same"}), ("convolution_matrix", (C,), {"n": 2, "mode": "valid"}),
    ("cholesky", (S,), {}), ("cholesky", (S,), {"lower": True}), ("lu", (A,), {}), ("lu", (A,), {"permute_l": True}), ("qr", (A,), {}), ("qr", (B,), {"mode": "economic"}), ("qr", (A,), {"mode": "r"}),
    ("svd", (A,), {"compute_uv": False}), ("svdvals", (B,), {}), ("diagsvd", (V,), {"M": 4, "N": 3}), ("pinv", (B,), {}), ("pinvh", (S,), {}), ("eigvalsh", (S,), {}), ("eigvalsh", (S, T), {}),
    ("eigvalsh_tridiagonal", (C, V), {}), ("polar", (A,), {}), ("polar", (B,), {}), ("polar", (B.T,), {"side": "left"}), ("orthogonal_procrustes", (A, S), {}),
    ("solve_sylvester", (A, S, T), {}), ("solve_continuous_lyapunov", (A, T), {}), ("solve_lyapunov", (A, T), {}), ("solve_discrete_lyapunov", (0.3 * A, T), {}),
    ("solve_discrete_lyapunov", (0.3 * A, T), {"method": "bilinear"}), ("solve_continuous_are", (A, B, T, W), {}), ("solve_discrete_are", (0.5 * A, B, T, W), {}),
    ("solve_circulant", (C, C), {}), ("lstsq", (np.vstack([A, B.T @ A]), np.r_[V, 0.3, 0.1]), {}),
]  # fmt: skip
# Of these one triangle is read, or a symmetric matrix wanted: differences move both.
SYMMETRIC = {"cholesky", "pinvh", "eigvalsh"}
ORDER = {"solve_banded": ("l_and_u",)}


def parts(found):
    found = found if isinstance(found, tuple) else (found,)
    return [part for part in found if getattr(part, "dtype", np.dtype(int)).kind in "fc" and np.ndim(part) >= 0]


def symmetric(matrix):
    return (matrix + gs.mT(matrix)) / 2 if matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] else matrix


@each("name, arguments, keywords", CALLS)
def test_values_and_derivatives(name, arguments, keywords):
    keywords = dict(keywords)
    first = [keywords.pop(key) for key in ORDER.get(name, ())]
    found = getattr(linalg, name)(*first, *arguments, **keywords)
    expected = getattr(scipy_linalg, name)(*first, *arguments, **keywords)
    ours, theirs = ([found[0]], [expected[0]]) if name == "lstsq" else (parts(found), parts(expected))
    assert len(ours) == len(theirs) > 0
    for mine, its in zip(ours, theirs):
        np.testing.assert_allclose(mine.detach().numpy(), its, rtol=1e-9, atol=1e-11)

    def function(*values):
        values = [symmetric(v) for v in values] if name in SYMMETRIC or keywords.get("assume_a") == "pos" else values
        if name.endswith("_are"):
            values = [values[0], values[1], symmetric(values[2]), symmetric(values[3])]
        result = getattr(linalg, name)(*first, *values, **keywords)
        return result[0] if name == "lstsq" else result

    moves = [0.5 * R.uniform(-1, 1, v.shape) * (1 if v.dtype.kind == "f" else 1 + 0.5j) for v in arguments]
    assert_derivatives(function, list(arguments), moves)


@pytest.mark.filterwarnings("ignore:logm result may be inaccurate")
@each("name, arguments, keywords", CALLS)
def test_results_of_single_precision(name, arguments, keywords):
    keywords = dict(keywords)
    first = [keywords.pop(key) for key in ORDER.get(name, ())]
    single = [v.astype("F" if np.iscomplexobj(v) else "f") for v in arguments]
    for mine, its in zip(parts(getattr(linalg, name)(*first, *single, **keywords)), parts(getattr(linalg, name)(*first, *arguments, **keywords))):
        assert mine.dtype.char in "fFlq"
        assert np.abs(mine.numpy() - its.numpy()).max(initial=0) <= 2e-3 * np.abs(its.numpy()).max(initial=1)


def test_generalised_eigenvectors():
    w, v = linalg.eigh(S, T)
    expected, theirs = scipy_linalg.eigh(S, T)
    np.testing.assert_allclose(w.numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(np.abs(v.numpy()), np.abs(theirs), rtol=1e-10)
    assert gradcheck(lambda a, b: linalg.eigh(symmetric(a), symmetric(b))[1] ** 2, [gs.tensor(x, requires_grad=True) for x in (S, T)])
    np.testing.assert_allclose(linalg.eigh(S, lower=False, subset_by_index=(1, 2))[0].numpy(), scipy_linalg.eigh(S, subset_by_index=(1, 2))[0], rtol=1e-12)
    w, v = linalg.eig(A, T)
    np.testing.assert_allclose((A @ v.numpy()), T @ v.numpy() * w.numpy(), atol=1e-12)
    np.testing.assert_allclose(np.sort(linalg.eigvals(A, T).numpy()), np.sort(scipy_linalg.eigvals(A, T)), rtol=1e-10)
    w, v = linalg.eigh_tridiagonal(C, V)
    np.testing.assert_allclose(w.numpy(), scipy_linalg.eigh_tridiagonal(C, V)[0], rtol=1e-12)


def test_factors_solve():
    b = gs.asarray(B)
    for lower in (False, True):
        np.testing.assert_allclose(linalg.cho_solve(linalg.cho_factor(S, lower), b).numpy(), np.linalg.solve(S, B), rtol=1e-10)
    for trans, matrix in enumerate((Z, Z.T, Z.conj().T)):
        np.testing.assert_allclose(linalg.lu_solve(linalg.lu_factor(Z), V + 0j, trans).numpy(), np.linalg.solve(matrix, V), rtol=1e-10)
    np.testing.assert_allclose(linalg.solve_toeplitz((C, C[::-1]), C).numpy(), scipy_linalg.solve_toeplitz((C, C[::-1]), C), rtol=1e-9)
    np.testing.assert_allclose(linalg.matmul_toeplitz(C, C).numpy(), scipy_linalg.matmul_toeplitz(C, C), rtol=1e-12)
    np.testing.assert_array_equal(linalg.lu(A, p_indices=True)[0].numpy(), scipy_linalg.lu(A, p_indices=True)[0])
    for name, arguments in (("dft", (4,)), ("hadamard", (4,)), ("helmert", (4,)), ("hilbert", (3,)), ("invhilbert", (3,)), ("pascal", (4,))):
        np.testing.assert_array_equal(getattr(linalg, name)(*arguments).numpy(), getattr(scipy_linalg, name)(*arguments))


def test_batches_of_functions_of_matrices():
    batch = np.stack([A, S, T])
    np.testing.assert_allclose(linalg.logm(batch)[1].numpy(), scipy_linalg.logm(S), atol=1e-12)
    rows = gs.vmap(gs.grad(lambda a: linalg.logm(a).sum()))(batch)
    one = gs.grad(lambda a: linalg.logm(a).sum())(gs.asarray(S))
    np.testing.assert_allclose(rows[1].numpy(), one.numpy(), atol=1e-12)


def test_what_is_refused():
    for call, words in ((lambda: linalg.qr(A, pivoting=True), "pivoting is not offered"), (lambda: linalg.qr(B), "mode='economic'"), (lambda: linalg.eig(A, left=True), "left eigenvectors"),
                        (lambda: linalg.polar(B.T), "side='left'"), (lambda: linalg.solve_continuous_are(A, B, T, W, e=A), "e and s are not offered"),
                        (lambda: linalg.pinv(A, atol=0.1), "atol is not offered"), (lambda: linalg.eigh(S, T, type=2), "type=2")):  # fmt: skip
        with pytest.raises(NotImplementedError, match=words):
            call()
    for call, words in ((lambda: linalg.logm(B), "square matrix"), (lambda: linalg.polar(A, "up"), "side must be"), (lambda: linalg.companion([1.0]), "at least 2"),
                        (lambda: linalg.qr(A, mode="all"), "mode must be"), (lambda: linalg.convolution_matrix(V, 3, "x"), "mode must be"), (lambda: linalg.solve_discrete_lyapunov(A, A, "x"), "method must be")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            call()
