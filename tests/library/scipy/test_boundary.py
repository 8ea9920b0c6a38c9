"""Boundary value problems: SciPy's solutions, derivatives against closed forms and differences."""

import tracemalloc

import numpy as np
import pytest

import gradspec as gs
from tests.later import later

scipy_integrate = later("scipy.integrate")

MESH = np.linspace(0, 1, 5)
PRECISE = {"tol": 1e-6}


def vibrating(k, length=1.0):
    """y'' = -k y from 0 to `length`, 0 at 0 and 1 at 1."""
    return gs.scipy.integrate.solve_bvp(lambda x, y: [y[1], -k * y[0]], lambda a, b: [a[0], b[0] - length], MESH, np.zeros((2, 5)), **PRECISE)


def middle(k, length=1.0):
    return vibrating(k, length).sol(0.5)[0]


def closed(k):
    return np.sin(np.sqrt(k) / 2) / np.sin(np.sqrt(k))


def test_derivatives_of_a_linear_problem():
    ours, theirs = vibrating(1.0), scipy_integrate.solve_bvp(lambda x, y: np.stack([y[1], -y[0]]), lambda a, b: np.array([a[0], b[0] - 1]), MESH,
                                                             np.zeros((2, 5)), **PRECISE)  # fmt: skip
    np.testing.assert_array_equal(ours.x, theirs.x)
    np.testing.assert_allclose(ours.y, theirs.y, rtol=1e-13)
    np.testing.assert_allclose(ours.sol([0.1, 0.7]), theirs.sol([0.1, 0.7]), rtol=1e-12)
    assert ours.status == 0 and ours.p is None and ours.niter == theirs.niter
    slope = (closed(1 + 1e-5) - closed(1 - 1e-5)) / 2e-5
    bend = (closed(1 + 1e-3) - 2 * closed(1.0) + closed(1 - 1e-3)) / 1e-6
    assert gs.grad(middle)(1.0).item() == pytest.approx(slope, rel=1e-6)
    assert gs.jvp(middle, (1.0,), (1.0,))[1].item() == pytest.approx(slope, rel=1e-6)
    assert gs.hessian(middle)(1.0).item() == pytest.approx(bend, rel=1e-4)
    assert gs.grad(lambda end: middle(1.0, end))(1.0).item() == pytest.approx(closed(1.0), rel=1e-6)  # by what bc closes over
    np.testing.assert_allclose(gs.vmap(gs.grad(middle))(np.ones(2)), [slope, slope], rtol=1e-6)


def test_an_eigenvalue_moves_with_the_equation():
    """-y'' - q x y = p**2 y, 0 at both ends, with y'(0) = p: p is pi at q = 0, and by perturbation dp/dq = -1 / (4 pi)."""

    def eigenvalue(q):
        found = gs.scipy.integrate.solve_bvp(
            lambda x, y, p, q: gs.stack([y[1], -(p[0] ** 2 + q * x) * y[0]]), lambda a, b, p, q: [a[0], b[0], a[1] - p[0]], MESH,
            np.array([np.sin(3 * MESH), 3 * np.cos(3 * MESH)]), p=[3.0], args=(q,), **PRECISE)  # fmt: skip
        return found.p[0]

    assert eigenvalue(0.0).item() == pytest.approx(np.pi, rel=1e-6)
    assert gs.grad(eigenvalue)(0.0).item() == pytest.approx(-1 / (4 * np.pi), rel=1e-5)


def test_what_has_no_solution_or_no_derivative():
    k = gs.tensor(1.0, requires_grad=True)
    with pytest.warns(RuntimeWarning, match="solve_bvp: did not converge .* its derivatives are NaN"):
        found = gs.scipy.integrate.solve_bvp(lambda x, y: [y[1], -k * gs.exp(9 * y[0])], lambda a, b: [a[0], b[0]], MESH, np.zeros((2, 5)), max_nodes=20)
    assert np.isnan(gs.autograd.grad(found.y.sum(), k)[0].item()) and found.status != 0
    with pytest.raises(NotImplementedError, match="solve_bvp: the singular term S has no derivative here"):
        gs.scipy.integrate.solve_bvp(lambda x, y: y, lambda a, b: a, MESH, np.zeros((1, 5)), S=np.zeros((1, 1)))
    with pytest.raises(RuntimeError, match="solve_bvp: x is a mesh, and y and p are guesses, which have no derivative"):
        gs.scipy.integrate.solve_bvp(lambda x, y: y, lambda a, b: a, gs.tensor(MESH, requires_grad=True), np.zeros((1, 5)))


def test_a_fine_mesh_has_a_sparse_matrix():
    """Of 4002 unknowns: the right slope, of both modes, in less memory than a tenth of a dense matrix."""
    mesh = np.linspace(0, 1, 2001)

    def middle(k):
        found = gs.scipy.integrate.solve_bvp(lambda x, y: [y[1], -k * y[0]], lambda a, b: [a[0], b[0] - 1], mesh, np.zeros((2, 2001)), max_nodes=2001)
        return found.sol(0.5)[0]

    slope = (closed(1 + 1e-5) - closed(1 - 1e-5)) / 2e-5
    tracemalloc.start()
    assert gs.grad(middle)(1.0).item() == pytest.approx(slope, rel=1e-8)
    assert gs.jvp(middle, (1.0,), (1.0,))[1].item() == pytest.approx(slope, rel=1e-8)
    assert tracemalloc.get_traced_memory()[1] < 4002**2 * 8 / 10
    tracemalloc.stop()


def test_an_equation_that_reads_other_places_is_refused():
    k = gs.tensor(1.0, requires_grad=True)
    found = gs.scipy.integrate.solve_bvp(lambda x, y: [y[1], -k * y[0] + 1e-3 * y[0][::-1]], lambda a, b: [a[0], b[0] - 1], MESH, np.zeros((2, 5)))
    with pytest.raises(RuntimeError, match="solve_bvp: fun reads y at other places of the mesh than its own"):
        gs.autograd.grad(found.y.sum(), k)
