"""scipy.sparse.linalg with derivatives: those of dense solves, by matrices of all kinds."""

import numpy as np
import pytest

import gradspec as gs
from tests.later import later

theirs = later("scipy.sparse", "SciPy is not installed")
solvers = later("scipy.sparse.linalg", "SciPy is not installed")
ours = gs.scipy.sparse.linalg
rng = np.random.default_rng(2)
S = (lambda a: a @ a.T + 6 * np.eye(6))(rng.normal(size=(6, 6)))
A = rng.normal(size=(6, 6)) * 0.4 + 4 * np.eye(6)
T = rng.normal(size=(8, 6))
B, C = rng.normal(size=6), rng.normal(size=8)
SYSTEMS = {"cg": S, "minres": S, "bicgstab": A, "cgs": A, "gmres": A}


def derivatives(f, a, b):
    """Of a function of a matrix and a vector: value, gradients, tangents, and a second derivative in both ways."""
    v = np.resize([0.3, -1.0, 0.7], b.shape)
    u = np.resize([0.2, 0.1, -0.3, 0.4], a.shape)
    g = lambda a, b: (f(a, b) ** 3).sum()  # noqa: E731
    along = lambda a, b: gs.jvp(g, (a, b), (u + u.T if u.shape[0] == u.shape[1] else u, v))[1]  # noqa: E731
    return [f(a, b), *gs.grad(g, (0, 1))(a, b), along(a, b), *gs.grad(along, (0, 1))(a, b), gs.jvp(along, (a, b), (a, b))[1]]


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_have_the_derivatives_of_dense_ones(name):
    solve, a = getattr(ours, name), SYSTEMS[name]
    x, info = solve(a, B, rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(x, getattr(solvers, name)(a, B, rtol=1e-12)[0], rtol=1e-9)
    half = lambda m: (m + m.T) / 2 if name in ("cg", "minres") else m  # noqa: E731
    expected = derivatives(lambda a, b: gs.linalg.solve(half(a), b), a, B)
    for way in (lambda a, b: solve(half(a), b, rtol=1e-11)[0], lambda a, b: solve(lambda x: half(a) @ x, b, rtol=1e-11)[0]):
        for k, (found, wanted) in enumerate(zip(derivatives(way, a, B), expected)):
            np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9, err_msg=str(k))


@pytest.mark.parametrize("name", ["lsqr", "lsmr"])
def test_least_squares_have_the_derivatives_of_the_normal_equations(name):
    solve = getattr(ours, name)
    for damp in (0.0, 0.7):
        found = solve(T, C, damp, 1e-14, 1e-14, 1e9, 50)
        assert len(found) == len(getattr(solvers, name)(T, C))
        dense = lambda a, b, damp=damp: gs.linalg.solve(a.T @ a + damp**2 * np.eye(6), a.T @ b)  # noqa: E731
        way = lambda a, b, damp=damp: solve(a, b, damp, 1e-14, 1e-14, 1e9, 50)[0]  # noqa: E731
        for k, (found, wanted) in enumerate(zip(derivatives(way, T, C), derivatives(dense, T, C))):
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8, err_msg=str(k))


def test_matrices_of_all_kinds():
    expected = gs.jacrev(lambda b: gs.linalg.solve(S, b))(B)
    sparse = theirs.csr_array(S)
    for a in (
        S.tolist(),
        gs.asarray(S),
        sparse,
        gs.sparse.from_scipy(sparse),
        solvers.aslinearoperator(S),
        lambda x: gs.asarray(S) @ x,
    ):
        f = lambda b, a=a: ours.cg(a, b, rtol=1e-13)[0]  # noqa: E731
        np.testing.assert_allclose(gs.jacobian(f)(B), expected, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(gs.jvp(f, (B,), (B,))[1], expected.numpy() @ B, rtol=1e-8, atol=1e-10)
    by_values = lambda v: ours.cg(gs.sparse.csr(v, sparse.indices, sparse.indptr, sparse.shape), B, rtol=1e-13)[0].sum()  # noqa: E731
    dense = gs.grad(lambda a: gs.linalg.solve(a, B).sum())(S)
    np.testing.assert_allclose(gs.grad(by_values)(sparse.data), dense.numpy().ravel(), rtol=1e-8)
    np.testing.assert_allclose(ours.spsolve(sparse, B), np.linalg.solve(S, B))
    np.testing.assert_allclose(gs.vmap(lambda b: ours.gmres(A, b, rtol=1e-12)[0])(np.stack([B, 2 * B])),
                               np.linalg.solve(A, np.stack([B, 2 * B], 1)).T)  # fmt: skip


def test_what_did_not_converge_has_no_derivative():
    with pytest.warns(RuntimeWarning, match="cg: did not converge"):
        gradient = gs.grad(lambda b: ours.cg(S, b, rtol=1e-14, maxiter=1)[0].sum())(B)
    assert np.isnan(gradient.numpy()).all()
    with pytest.warns(RuntimeWarning, match="lsqr: did not converge"):
        gradient = gs.grad(lambda b: ours.lsqr(T, b, atol=0, btol=0, iter_lim=1)[0].sum())(C)
    assert np.isnan(gradient.numpy()).all()


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: ours.cg(3.0, B), TypeError, "got float"),
    (lambda: ours.cg(S, S), ValueError, "one axis"),
    (lambda: ours.minres(S, B, shift=1.0), NotImplementedError, "shift"),
    (lambda: ours.lsqr(lambda x: x, B), TypeError, "something with a shape"),
])  # fmt: skip
def test_what_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
